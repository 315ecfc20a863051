//! WATCH_NOTIFY: what an OSD tells watchers and notifiers of an object.

use bytes::Bytes;
use sepiola_wire::{Cookie, Decode, DecodeError, Encode, Features, GlobalId, Put, Reader};

use crate::{WireMessage, kind};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum WatchNotifyOp {
    /// To a watcher: someone notified.
    Notify = 1,
    /// To the notifier: all watchers answered or timed out.
    NotifyComplete = 2,
    /// To a watcher: the watch is gone.
    Disconnect = 3,
}

/// OSD to client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchNotify {
    /// What happened.
    pub op: WatchNotifyOp,
    /// The watcher's or the notifier's own number for it.
    pub cookie: Cookie,
    /// The object's user version.
    pub version: u64,
    /// The notification: map epoch in the upper half, a counter in the lower.
    pub notify_id: u64,
    /// The notifier's text, for watchers.
    pub payload: Bytes,
    /// 0, or a negative errno (`ETIMEDOUT`) on completion.
    pub return_code: i32,
    /// The notifier.
    pub notifier: GlobalId,
    /// A completion's [`NotifyResult`], encoded.
    pub result: Bytes,
}

impl WireMessage for WatchNotify {
    const TYPE: u16 = kind::WATCH_NOTIFY;
    const VERSION: u16 = 3;
    const COMPAT: u16 = 1;

    fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        out.put_u8(1);
        out.put_u8(self.op as u8);
        self.cookie.encode(out, features);
        out.put_u64(self.version);
        out.put_u64(self.notify_id);
        out.put_blob(&self.payload);
        out.put_i32(self.return_code);
        self.notifier.encode(out, features);
    }

    fn data(&self) -> &[u8] {
        &self.result
    }

    fn decode(version: u16, front: &[u8], data: &[u8]) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(front);
        let inner = r.u8()?;
        let op = match r.u8()? {
            1 => WatchNotifyOp::Notify,
            2 => WatchNotifyOp::NotifyComplete,
            3 => WatchNotifyOp::Disconnect,
            _ => return Err(DecodeError::Invalid("unknown watch event")),
        };
        let (cookie, ver, notify_id) = (Cookie::decode(r)?, r.u64()?, r.u64()?);
        let payload = if inner >= 1 { Bytes::decode(r)? } else { Bytes::new() };
        let return_code = if version >= 2 { r.i32()? } else { 0 };
        let notifier = if version >= 3 { GlobalId::decode(r)? } else { GlobalId(0) };
        Ok(WatchNotify {
            op,
            cookie,
            version: ver,
            notify_id,
            payload,
            return_code,
            notifier,
            result: Bytes::copy_from_slice(data),
        })
    }
}

/// One watcher's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotifyAck {
    /// The watcher.
    pub client: GlobalId,
    /// Its watch.
    pub cookie: Cookie,
    /// What it answered.
    pub reply: Bytes,
}

/// Who answered a notification and who did not: the data of a completion.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NotifyResult {
    /// Answers.
    pub acks: Vec<NotifyAck>,
    /// Watches that timed out.
    pub timeouts: Vec<(GlobalId, Cookie)>,
}

impl Encode for NotifyAck {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        self.client.encode(out, features);
        self.cookie.encode(out, features);
        self.reply.encode(out, features);
    }
}

impl Decode for NotifyAck {
    const MIN_SIZE: usize = 20;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(NotifyAck { client: GlobalId::decode(r)?, cookie: Cookie::decode(r)?, reply: Bytes::decode(r)? })
    }
}

impl Encode for NotifyResult {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        self.acks.encode(out, features);
        self.timeouts.encode(out, features);
    }
}

impl Decode for NotifyResult {
    const MIN_SIZE: usize = 8;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(NotifyResult { acks: Decode::decode(r)?, timeouts: Decode::decode(r)? })
    }
}
