//! AUTH and AUTH_REPLY: tickets renewed on an open monitor session. The first authentication of a
//! connection has frames of its own.

use std::fmt;

use bytes::Bytes;
use sepiola_wire::{Decode, DecodeError, Encode, Features, GlobalId, Put, Reader};

use crate::{PRIORITY_HIGH, PaxosHeader, WireMessage, kind};

/// Client to monitor. The payload holds sealed material, so `Debug` shows its length only.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Auth {
    /// 1 none, 2 cephx.
    pub protocol: u32,
    /// The protocol's request.
    pub payload: Bytes,
    /// Epoch of the monitor map that the client has.
    pub monmap_epoch: u32,
}

impl WireMessage for Auth {
    const TYPE: u16 = kind::AUTH;
    const VERSION: u16 = 1;
    const COMPAT: u16 = 1;

    fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        PaxosHeader::default().encode(out, features);
        out.put_u32(self.protocol);
        out.put_blob(&self.payload);
        out.put_u32(self.monmap_epoch);
    }

    fn decode(_: u16, front: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(front);
        PaxosHeader::decode(&mut r)?;
        let protocol = r.u32()?;
        let payload = Bytes::decode(&mut r)?;
        // Senders before the epoch was added leave it out.
        let monmap_epoch = if r.is_empty() { 0 } else { r.u32()? };
        Ok(Auth { protocol, payload, monmap_epoch })
    }
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Auth")
            .field("protocol", &self.protocol)
            .field("payload_len", &self.payload.len())
            .field("monmap_epoch", &self.monmap_epoch)
            .finish()
    }
}

/// Monitor to client. The payload holds sealed material, so `Debug` shows its length only.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct AuthReply {
    /// The protocol of the request; 0 is to be refused.
    pub protocol: u32,
    /// Negative errno on failure; other values mean success.
    pub result: i32,
    /// The session's global id.
    pub global_id: GlobalId,
    /// The protocol's reply.
    pub payload: Bytes,
    /// Text for people.
    pub message: String,
}

impl WireMessage for AuthReply {
    const TYPE: u16 = kind::AUTH_REPLY;
    const VERSION: u16 = 1;
    const COMPAT: u16 = 1;
    const PRIORITY: u16 = PRIORITY_HIGH;

    fn encode_front(&self, out: &mut Vec<u8>, _: Features) {
        out.put_u32(self.protocol);
        out.put_i32(self.result);
        out.put_u64(self.global_id.0);
        out.put_blob(&self.payload);
        out.put_blob(self.message.as_bytes());
    }

    fn decode(_: u16, front: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(front);
        Ok(AuthReply {
            protocol: r.u32()?,
            result: r.i32()?,
            global_id: GlobalId::decode(r)?,
            payload: Bytes::decode(r)?,
            message: String::decode(r)?,
        })
    }
}

impl fmt::Debug for AuthReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthReply")
            .field("protocol", &self.protocol)
            .field("result", &self.result)
            .field("global_id", &self.global_id)
            .field("payload_len", &self.payload.len())
            .field("message", &self.message)
            .finish()
    }
}
