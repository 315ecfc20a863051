//! OSD_MAP: maps and the steps between them, as encoded blobs.

use std::collections::BTreeMap;

use bytes::Bytes;
use sepiola_wire::{Decode, DecodeError, Encode, Epoch, Features, Put, Reader, Uuid};

use crate::{PRIORITY_HIGH, WireMessage, kind};

/// Monitor or OSD to anyone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OsdMapMessage {
    /// The cluster.
    pub fsid: Uuid,
    /// Incremental maps by the epoch they lead to.
    pub incremental: BTreeMap<Epoch, Bytes>,
    /// Full maps by epoch.
    pub full: BTreeMap<Epoch, Bytes>,
    /// The oldest map that the sender still has: below it only a full map helps.
    pub oldest: Epoch,
    /// The newest map that the sender knows of.
    pub newest: Epoch,
}

impl OsdMapMessage {
    /// The lowest epoch in the message.
    pub fn first(&self) -> Option<Epoch> {
        let (a, b) = (self.incremental.keys().next(), self.full.keys().next());
        a.into_iter().chain(b).min().copied()
    }

    /// The highest epoch in the message.
    pub fn last(&self) -> Option<Epoch> {
        let (a, b) = (self.incremental.keys().next_back(), self.full.keys().next_back());
        a.into_iter().chain(b).max().copied()
    }
}

impl WireMessage for OsdMapMessage {
    const TYPE: u16 = kind::OSD_MAP;
    const VERSION: u16 = 4;
    const COMPAT: u16 = 3;
    const PRIORITY: u16 = PRIORITY_HIGH;

    fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        self.fsid.encode(out, features);
        self.incremental.encode(out, features);
        self.full.encode(out, features);
        self.oldest.encode(out, features);
        self.newest.encode(out, features);
        // An obsolete map of removed snapshots, always empty.
        out.put_u32(0);
    }

    fn decode(version: u16, front: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(front);
        let (fsid, incremental, full) = (Uuid::decode(r)?, Decode::decode(r)?, Decode::decode(r)?);
        let (oldest, newest) =
            if version >= 2 { (Epoch::decode(r)?, Epoch::decode(r)?) } else { Default::default() };
        Ok(OsdMapMessage { fsid, incremental, full, oldest, newest })
    }
}
