//! What class `lock` keeps and answers: the same bytes for the OSD that runs it and the client that asks.

use std::collections::BTreeMap;

use bytes::Bytes;
use sepiola_wire::{Decode, DecodeError, Encode, EntityAddr, EntityNum, Features, Put, Reader, UTime};

/// The class's name.
pub const CLASS: &str = "lock";

/// Kind: one holder.
pub const EXCLUSIVE: u8 = 1;
/// Kind: all holders that give the same tag.
pub const SHARED: u8 = 2;
/// Kind: exclusive, and the object goes with the lock.
pub const EXCLUSIVE_EPHEMERAL: u8 = 3;

/// Flag: locking again prolongs the lock.
pub const MAY_RENEW: u8 = 1;
/// Flag: only prolong a lock that is held already.
pub const MUST_RENEW: u8 = 2;

/// Who holds a lock: a client together with a cookie of its choice.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Holder {
    /// The client.
    pub name: EntityNum,
    /// Its cookie.
    pub cookie: Bytes,
}

impl Encode for Holder {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_versioned(1, 1, |out| {
            self.name.encode(out, features);
            self.cookie.encode(out, features);
        });
    }
}

impl Decode for Holder {
    const MIN_SIZE: usize = 19;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("locker_id", 1)?;
        Ok(Holder { name: Decode::decode(&mut s.body)?, cookie: Decode::decode(&mut s.body)? })
    }
}

/// How a holder came to hold a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// When it ends by itself; zero for never.
    pub until: UTime,
    /// Where the holder was.
    pub addr: EntityAddr,
    /// Its text.
    pub description: Bytes,
}

impl Encode for Hold {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_versioned(1, 1, |out| {
            self.until.encode(out, features);
            self.addr.encode(out, features);
            self.description.encode(out, features);
        });
    }
}

impl Decode for Hold {
    const MIN_SIZE: usize = 19;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("locker_info", 1)?;
        let r = &mut s.body;
        Ok(Hold { until: Decode::decode(r)?, addr: Decode::decode(r)?, description: Decode::decode(r)? })
    }
}

/// A lock as its attribute holds it and as `get_info` returns it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LockState {
    /// Who holds it; nobody if it is free.
    pub holders: BTreeMap<Holder, Hold>,
    /// [`EXCLUSIVE`], [`SHARED`] or [`EXCLUSIVE_EPHEMERAL`]; 0 if it was never taken.
    pub kind: u8,
    /// What all holders of a shared lock give.
    pub tag: Bytes,
}

impl Encode for LockState {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_versioned(1, 1, |out| {
            self.holders.encode(out, features);
            out.put_u8(self.kind);
            self.tag.encode(out, features);
        });
    }
}

impl Decode for LockState {
    const MIN_SIZE: usize = 15;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("lock_info", 1)?;
        let r = &mut s.body;
        Ok(LockState { holders: Decode::decode(r)?, kind: r.u8()?, tag: Decode::decode(r)? })
    }
}
