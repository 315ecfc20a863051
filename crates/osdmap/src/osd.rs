//! What the map knows about one OSD.

use sepiola_wire::{Decode, DecodeError, Encode, EntityAddrVec, Epoch, Features, Put, Reader, UTime, Uuid};

use crate::OsdState;

/// The weight of an OSD that is fully in, and the default primary affinity, 16.16.
pub const WEIGHT_IN: u32 = 0x1_0000;

/// One OSD: its entry in each of the map's per-OSD vectors.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Osd {
    /// Exists, up and the like.
    pub state: OsdState,
    /// In/out weight, 16.16: [`WEIGHT_IN`] is in, 0 is out.
    pub weight: u32,
    /// Where clients reach it; empty before the first boot.
    pub client_addrs: EntityAddrVec,
    /// Where other OSDs reach it.
    pub cluster_addrs: EntityAddrVec,
    /// Where it takes heartbeats on the cluster network.
    pub heartbeat_back_addrs: EntityAddrVec,
    /// Where it takes heartbeats on the public network.
    pub heartbeat_front_addrs: EntityAddrVec,
    /// Its comings and goings.
    pub info: OsdInfo,
    /// Statistics about them.
    pub xinfo: OsdXInfo,
    /// The identity of its store.
    pub uuid: Uuid,
}

impl Osd {
    /// True when the OSD is known and serves.
    pub fn is_up(&self) -> bool {
        self.state.has(OsdState::EXISTS.with(OsdState::UP))
    }

    /// True when the OSD is known.
    pub fn exists(&self) -> bool {
        self.state.has(OsdState::EXISTS)
    }

    /// True when it takes part in placement.
    pub fn is_in(&self) -> bool {
        self.weight > 0
    }
}

/// Epochs of an OSD's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OsdInfo {
    /// The interval before the last clean shutdown: begin.
    pub last_clean_begin: Epoch,
    /// The interval before the last clean shutdown: end.
    pub last_clean_end: Epoch,
    /// When it was last marked up.
    pub up_from: Epoch,
    /// Up to when it is known to have been up.
    pub up_thru: Epoch,
    /// When it was last marked down.
    pub down_at: Epoch,
    /// When its data was declared lost.
    pub lost_at: Epoch,
}

impl Encode for OsdInfo {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_u8(1);
        for epoch in [
            self.last_clean_begin,
            self.last_clean_end,
            self.up_from,
            self.up_thru,
            self.down_at,
            self.lost_at,
        ] {
            epoch.encode(out, features);
        }
    }
}

impl Decode for OsdInfo {
    const MIN_SIZE: usize = 25;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        r.u8()?;
        Ok(OsdInfo {
            last_clean_begin: Epoch::decode(r)?,
            last_clean_end: Epoch::decode(r)?,
            up_from: Epoch::decode(r)?,
            up_thru: Epoch::decode(r)?,
            down_at: Epoch::decode(r)?,
            lost_at: Epoch::decode(r)?,
        })
    }
}

/// How reliable an OSD has been, and what it supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OsdXInfo {
    /// When it was last marked down.
    pub down_stamp: UTime,
    /// The probability that it is just slow, times 2^32 - 1.
    pub laggy_probability: u32,
    /// How long it was slow, in seconds.
    pub laggy_interval: u32,
    /// The features of its sessions.
    pub features: u64,
    /// Its weight before it was marked out automatically.
    pub old_weight: u32,
    /// When purged snapshots were last scrubbed.
    pub last_purged_snaps_scrub: UTime,
    /// The epoch in which it was declared dead.
    pub dead_epoch: Epoch,
}

impl Encode for OsdXInfo {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        let octopus = features.has(Features::SERVER_OCTOPUS);
        out.put_versioned(if octopus { 4 } else { 3 }, 1, |out| {
            self.down_stamp.encode(out, features);
            out.put_u32(self.laggy_probability);
            out.put_u32(self.laggy_interval);
            out.put_u64(self.features);
            out.put_u32(self.old_weight);
            if octopus {
                self.last_purged_snaps_scrub.encode(out, features);
                self.dead_epoch.encode(out, features);
            }
        });
    }
}

impl Decode for OsdXInfo {
    const MIN_SIZE: usize = 22;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("osd_xinfo", 4)?;
        let r = &mut s.body;
        let mut xinfo = OsdXInfo {
            down_stamp: UTime::decode(r)?,
            laggy_probability: r.u32()?,
            laggy_interval: r.u32()?,
            ..OsdXInfo::default()
        };
        if s.version >= 2 {
            xinfo.features = r.u64()?;
        }
        if s.version >= 3 {
            xinfo.old_weight = r.u32()?;
        }
        if s.version >= 4 {
            xinfo.last_purged_snaps_scrub = UTime::decode(r)?;
            xinfo.dead_epoch = Epoch::decode(r)?;
        }
        Ok(xinfo)
    }
}
