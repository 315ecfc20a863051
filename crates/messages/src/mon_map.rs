//! The monitor map, MON_MAP and MON_GET_MAP.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use sepiola_wire::{
    Decode, DecodeError, Encode, EntityAddr, EntityAddrVec, Epoch, Features, Put, Reader, UTime, Uuid,
    decode_all,
};

use crate::{PRIORITY_HIGH, WireMessage, kind};

/// Persistent features of a monitor map: one bit a release, and two of their own.
pub mod features {
    /// All of 16.2.15, and what Sepiola's monitors set.
    pub const PACIFIC: u64 = 0xff;
    /// Clients wait for CONFIG.
    pub const MIMIC: u64 = 4;
}

/// One monitor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MonInfo {
    /// Its name, without `mon.`.
    pub name: String,
    /// Where it listens; nonces are 0.
    pub addrs: EntityAddrVec,
    /// Lower is tried first.
    pub priority: u16,
    /// Weight of the choice among equal priorities; all 0 is a fair choice.
    pub weight: u16,
    /// Where it stands.
    pub crush_location: BTreeMap<String, String>,
    /// When it joined; since Tentacle.
    pub time_added: UTime,
}

impl Encode for MonInfo {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        let tentacle = features.has(Features::SERVER_TENTACLE);
        out.put_versioned(if tentacle { 6 } else { 5 }, 1, |out| {
            self.name.encode(out, features);
            self.addrs.encode(out, features);
            out.put_u16(self.priority);
            out.put_u16(self.weight);
            self.crush_location.encode(out, features);
            if tentacle {
                self.time_added.encode(out, features);
            }
        });
    }
}

impl Decode for MonInfo {
    const MIN_SIZE: usize = 6;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("mon_info", 6)?;
        let (v, r) = (s.version, &mut s.body);
        let mut info =
            MonInfo { name: String::decode(r)?, addrs: EntityAddrVec::decode(r)?, ..MonInfo::default() };
        if v >= 2 {
            info.priority = r.u16()?;
        }
        if v >= 4 {
            info.weight = r.u16()?;
        }
        if v >= 5 {
            info.crush_location = Decode::decode(r)?;
        }
        if v >= 6 {
            info.time_added = Decode::decode(r)?;
        }
        Ok(info)
    }
}

/// Ciphers of keys and tickets, in maps of Tentacle and later: 1 `aes`, 2 `aes256k`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MonAuthCiphers {
    /// Grows when the ciphers change.
    pub epoch: u32,
    /// Cipher of service secrets.
    pub service: u32,
    /// Ciphers that keys may have.
    pub allowed: Vec<u32>,
    /// Cipher of new keys.
    pub preferred: u32,
}

/// The monitors of a cluster. Written as version 9, and as version 10 for peers with Tentacle's feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonMap {
    /// The cluster.
    pub fsid: Uuid,
    /// Version of the map, from 1; a client's own guess has 0.
    pub epoch: Epoch,
    /// Time of the last change.
    pub last_changed: UTime,
    /// Time of the first map.
    pub created: UTime,
    /// Features that clients can rely on for ever, see [`features`].
    pub persistent_features: u64,
    /// Features that may go away.
    pub optional_features: u64,
    /// By name.
    pub mons: BTreeMap<String, MonInfo>,
    /// Names in rank order.
    pub ranks: Vec<String>,
    /// Oldest release that a monitor may have; 16 is Pacific.
    pub min_mon_release: u8,
    /// Ranks whose monitors left with this map.
    pub removed_ranks: BTreeSet<u32>,
    /// 1 is classic.
    pub election_strategy: u8,
    /// Monitors that may not lead.
    pub disallowed_leaders: BTreeSet<String>,
    /// Stretch mode.
    pub stretch_mode: bool,
    /// Its tiebreaker.
    pub tiebreaker: String,
    /// Monitors that stretch mode marked down.
    pub stretch_marked_down: BTreeSet<String>,
    /// Ciphers, from maps of version 10.
    pub auth: Option<MonAuthCiphers>,
}

impl MonMap {
    /// The first map of a cluster, still without monitors.
    pub fn new(fsid: Uuid, created: UTime) -> Self {
        MonMap {
            fsid,
            epoch: Epoch(1),
            last_changed: created,
            created,
            persistent_features: features::PACIFIC,
            optional_features: 0,
            mons: BTreeMap::new(),
            ranks: Vec::new(),
            min_mon_release: 16,
            removed_ranks: BTreeSet::new(),
            election_strategy: 1,
            disallowed_leaders: BTreeSet::new(),
            stretch_mode: false,
            tiebreaker: String::new(),
            stretch_marked_down: BTreeSet::new(),
            auth: None,
        }
    }

    /// A monitor's rank by its name.
    pub fn rank_of(&self, name: &str) -> Option<usize> {
        self.ranks.iter().position(|known| known == name)
    }

    /// What a client assumes before it has a map: one monitor an address, named `noname-a`, `noname-b`, ...,
    /// in an epoch 0 map without an fsid.
    pub fn from_addrs(addrs: impl IntoIterator<Item = EntityAddrVec>) -> Self {
        let mut map = MonMap::new(Uuid::nil(), UTime::ZERO);
        map.epoch = Epoch(0);
        for (i, addrs) in addrs.into_iter().enumerate() {
            let name = match u8::try_from(i) {
                Ok(i) if i < 26 => format!("noname-{}", char::from(b'a' + i)),
                _ => format!("noname-{i}"),
            };
            map.add(name, addrs);
        }
        map
    }

    /// Adds a monitor with the last rank.
    pub fn add(&mut self, name: impl Into<String>, addrs: EntityAddrVec) {
        let name = name.into();
        let info = MonInfo { name: name.clone(), addrs, ..MonInfo::default() };
        if self.mons.insert(name.clone(), info).is_none() {
            self.ranks.push(name);
        }
    }

    /// Monitors in rank order.
    pub fn by_rank(&self) -> impl Iterator<Item = &MonInfo> {
        self.ranks.iter().filter_map(|name| self.mons.get(name))
    }

    /// The monitor that listens at an address.
    pub fn at_addr(&self, addr: &EntityAddr) -> Option<&MonInfo> {
        self.by_rank().find(|m| m.addrs.0.contains(addr))
    }
}

/// A feature set inside a struct of its own.
fn put_feature_set(out: &mut Vec<u8>, bits: u64) {
    out.put_versioned(1, 1, |out| out.put_u64(bits));
}

fn feature_set(r: &mut Reader<'_>) -> Result<u64, DecodeError> {
    r.versioned("mon_feature", 1)?.body.u64()
}

impl Encode for MonMap {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        let tentacle = features.has(Features::SERVER_TENTACLE);
        out.put_versioned(if tentacle { 10 } else { 9 }, 6, |out| {
            self.fsid.encode(out, features);
            self.epoch.encode(out, features);
            self.last_changed.encode(out, features);
            self.created.encode(out, features);
            put_feature_set(out, self.persistent_features);
            put_feature_set(out, self.optional_features);
            self.mons.encode(out, features);
            self.ranks.encode(out, features);
            out.put_u8(self.min_mon_release);
            self.removed_ranks.encode(out, features);
            out.put_u8(self.election_strategy);
            self.disallowed_leaders.encode(out, features);
            out.put_bool(self.stretch_mode);
            self.tiebreaker.encode(out, features);
            self.stretch_marked_down.encode(out, features);
            if tentacle {
                let none = MonAuthCiphers::default();
                let auth = self.auth.as_ref().unwrap_or(&none);
                out.put_u32(auth.epoch);
                out.put_u32(auth.service);
                auth.allowed.encode(out, features);
                out.put_u32(auth.preferred);
            }
        });
    }
}

impl Decode for MonMap {
    const MIN_SIZE: usize = 6;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("monmap", 10)?;
        let (v, r) = (s.version, &mut s.body);
        if v < 6 {
            return Err(DecodeError::Invalid("monitor map of a release before Nautilus"));
        }
        let mut map = MonMap::new(Uuid::decode(r)?, UTime::ZERO);
        map.epoch = Epoch::decode(r)?;
        map.last_changed = UTime::decode(r)?;
        map.created = UTime::decode(r)?;
        map.persistent_features = feature_set(r)?;
        map.optional_features = feature_set(r)?;
        map.mons = Decode::decode(r)?;
        map.ranks = Decode::decode(r)?;
        map.min_mon_release = if v >= 7 { r.u8()? } else { 0 };
        if v >= 8 {
            map.removed_ranks = Decode::decode(r)?;
            map.election_strategy = r.u8()?;
            map.disallowed_leaders = Decode::decode(r)?;
        }
        if v >= 9 {
            map.stretch_mode = r.bool()?;
            map.tiebreaker = Decode::decode(r)?;
            map.stretch_marked_down = Decode::decode(r)?;
        }
        if v >= 10 {
            map.auth = Some(MonAuthCiphers {
                epoch: r.u32()?,
                service: r.u32()?,
                allowed: Decode::decode(r)?,
                preferred: r.u32()?,
            });
        }
        Ok(map)
    }
}

/// Client to monitor: send the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MonGetMap;

impl WireMessage for MonGetMap {
    const TYPE: u16 = kind::MON_GET_MAP;
    const VERSION: u16 = 1;
    const COMPAT: u16 = 1;

    fn encode_front(&self, _: &mut Vec<u8>, _: Features) {}

    fn decode(_: u16, _: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
        Ok(MonGetMap)
    }
}

/// Monitor to client: the map, encoded for the peer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MonMapMessage {
    /// An encoded [`MonMap`].
    pub blob: Bytes,
}

impl MonMapMessage {
    /// A message with this map.
    pub fn new(map: &MonMap, features: Features) -> Self {
        MonMapMessage { blob: sepiola_wire::encode_to_vec(map, features).into() }
    }

    /// The map.
    ///
    /// # Errors
    /// If the blob is no monitor map.
    pub fn map(&self) -> Result<MonMap, DecodeError> {
        decode_all(&self.blob)
    }
}

impl WireMessage for MonMapMessage {
    const TYPE: u16 = kind::MON_MAP;
    const VERSION: u16 = 1;
    const COMPAT: u16 = 1;
    const PRIORITY: u16 = PRIORITY_HIGH;

    fn encode_front(&self, out: &mut Vec<u8>, _: Features) {
        out.put_blob(&self.blob);
    }

    fn decode(_: u16, front: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
        Ok(MonMapMessage { blob: Bytes::decode(&mut Reader::new(front))? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_of_both_releases_re_encode_exactly() {
        let newest = Features::from_bits(Features::SUPPORTED.bits() | Features::SERVER_TENTACLE.bits());
        let cases: [(&[u8], Features); 2] = [
            (include_bytes!("../tests/data/monmap_pacific.bin"), Features::SUPPORTED),
            (include_bytes!("../tests/data/monmap_tentacle.bin"), newest),
        ];
        for (bytes, features) in cases {
            let map: MonMap = decode_all(bytes).unwrap();
            let mon = map.by_rank().next().unwrap();
            assert_eq!(mon.addrs.to_string(), "[v2:127.0.0.1:3300/0,v1:127.0.0.1:6789/0]");
            assert_eq!(map.at_addr(mon.addrs.msgr2().unwrap()), Some(mon));
            assert_eq!(sepiola_wire::encode_to_vec(&map, features), bytes);
        }
    }

    #[test]
    fn a_guessed_map_names_monitors_by_letter() {
        let addr = |text: &str| EntityAddrVec::from(text.parse::<EntityAddr>().unwrap());
        let map = MonMap::from_addrs([addr("v2:10.0.0.1:3300/0"), addr("v2:10.0.0.2:3300/0")]);
        assert_eq!(map.ranks, ["noname-a", "noname-b"]);
        assert_eq!(map.epoch, Epoch(0));
    }
}
