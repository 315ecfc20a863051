//! MON_SUBSCRIBE: which maps a monitor session wants, now and as they change.

use std::collections::BTreeMap;

use sepiola_wire::{Decode, DecodeError, Encode, Features, Put, Reader, Uuid};

use crate::{PRIORITY_HIGH, WireMessage, kind};

/// Bits of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SubscribeFlags(pub u8);

impl SubscribeFlags {
    /// Stays until the session ends.
    pub const CONTINUOUS: SubscribeFlags = SubscribeFlags(0);
    /// Forgotten after the first answer.
    pub const ONETIME: SubscribeFlags = SubscribeFlags(1);

    /// True if the subscription is forgotten after the first answer.
    pub const fn is_onetime(self) -> bool {
        self.0 & 1 != 0
    }
}

/// One wanted map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Subscription {
    /// The first version wanted; 0 for the newest, whole.
    pub start: u64,
    /// How long it lasts.
    pub flags: SubscribeFlags,
}

impl Encode for Subscription {
    fn encode(&self, out: &mut Vec<u8>, _: Features) {
        out.put_u64(self.start);
        out.put_u8(self.flags.0);
    }
}

impl Decode for Subscription {
    const MIN_SIZE: usize = 9;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Subscription { start: r.u64()?, flags: SubscribeFlags(r.u8()?) })
    }
}

/// Client to monitor. Answers come in key order; nothing is renewed while the session lives, and unknown
/// names are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MonSubscribe {
    /// By name: `config`, `monmap`, `mgrmap`, `osdmap`, ...
    pub what: BTreeMap<String, Subscription>,
    /// The sender's host, for people.
    pub hostname: String,
}

impl MonSubscribe {
    /// A request for one map.
    pub fn one(what: &str, start: u64, flags: SubscribeFlags) -> Self {
        MonSubscribe {
            what: BTreeMap::from([(what.to_owned(), Subscription { start, flags })]),
            hostname: String::new(),
        }
    }
}

impl WireMessage for MonSubscribe {
    const TYPE: u16 = kind::MON_SUBSCRIBE;
    const VERSION: u16 = 3;
    const COMPAT: u16 = 1;

    fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        self.what.encode(out, features);
        self.hostname.encode(out, features);
    }

    fn decode(version: u16, front: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
        // Version 1 counts epochs from what the client has; every supported release sends 3.
        if version < 2 {
            return Err(DecodeError::Invalid("subscribe message of a release before Jewel"));
        }
        let r = &mut Reader::new(front);
        let what = Decode::decode(r)?;
        let hostname = if version >= 3 { String::decode(r)? } else { String::new() };
        Ok(MonSubscribe { what, hostname })
    }
}

/// Monitor to clients without stateful subscriptions; Sepiola never sends it, and ignores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MonSubscribeAck {
    /// Seconds after which the subscription would end.
    pub interval: u32,
    /// The cluster.
    pub fsid: Uuid,
}

impl WireMessage for MonSubscribeAck {
    const TYPE: u16 = kind::MON_SUBSCRIBE_ACK;
    const VERSION: u16 = 1;
    const COMPAT: u16 = 1;
    const PRIORITY: u16 = PRIORITY_HIGH;

    fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        out.put_u32(self.interval);
        self.fsid.encode(out, features);
    }

    fn decode(_: u16, front: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(front);
        Ok(MonSubscribeAck { interval: r.u32()?, fsid: Uuid::decode(r)? })
    }
}
