//! Pools.

mod decode;
mod encode;

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use sepiola_wire::{EVersion, Epoch, PgId, PoolId, SnapId, UTime};

use crate::{
    PoolFlags, SnapIntervals,
    hash::{hash2, object_hash, stable_mask, stable_mod},
};

/// The most pgs that a pool may have in a map that is accepted. Monitors stop at 65536 by default; a
/// lookup table with an entry per pg is made on demand.
pub const MAX_PG_NUM: u32 = 1 << 20;

/// The object hash of every pool in use: rjenkins1 over the name.
pub const OBJECT_HASH_RJENKINS: u8 = 2;

/// How a pool keeps its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PoolKind {
    /// Full copies.
    Replicated = 1,
    /// Erasure-coded chunks; positions in a mapping are significant.
    Erasure = 3,
}

/// A pool: how its objects are placed, and its limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    /// Replicated or erasure-coded.
    pub kind: PoolKind,
    /// Copies or chunks.
    pub size: u8,
    /// Copies or chunks needed to serve.
    pub min_size: u8,
    /// The CRUSH rule.
    pub crush_rule: u8,
    /// The object name hash, [`OBJECT_HASH_RJENKINS`].
    pub object_hash: u8,
    /// Placement groups.
    pub pg_num: u32,
    /// Placement groups that are placed apart from each other.
    pub pgp_num: u32,
    /// The epoch of the last edit.
    pub last_change: Epoch,
    /// The newest snapshot id.
    pub snap_seq: SnapId,
    /// The epoch of the last snapshot change.
    pub snap_epoch: Epoch,
    /// Pool snapshots by id.
    pub snaps: BTreeMap<SnapId, PoolSnap>,
    /// Removed self-managed snapshots; only old maps use it.
    pub removed_snaps: SnapIntervals,
    /// The owner; unused since pools have no owners.
    pub auid: u64,
    /// Flags.
    pub flags: PoolFlags,
    /// Most bytes, 0 for no limit.
    pub quota_max_bytes: u64,
    /// Most objects, 0 for no limit.
    pub quota_max_objects: u64,
    /// Pools that are cache tiers of this one.
    pub tiers: BTreeSet<u64>,
    /// The pool that this one is a cache tier of, -1 for none.
    pub tier_of: PoolId,
    /// How a cache tier works; 0 for none.
    pub cache_mode: u8,
    /// The pool to read from instead, -1 for none.
    pub read_tier: PoolId,
    /// The pool to write to instead, -1 for none.
    pub write_tier: PoolId,
    /// Unused.
    pub properties: BTreeMap<String, String>,
    /// Hit set parameters as they are encoded; cache tiers use them.
    pub hit_set_params: Opaque,
    /// Seconds per hit set.
    pub hit_set_period: u32,
    /// Hit sets kept.
    pub hit_set_count: u32,
    /// Bytes per stripe of an erasure-coded pool.
    pub stripe_width: u32,
    /// Cache tier target.
    pub target_max_bytes: u64,
    /// Cache tier target.
    pub target_max_objects: u64,
    /// Cache tier threshold, millionths.
    pub cache_target_dirty_ratio_micro: u32,
    /// Cache tier threshold, millionths.
    pub cache_target_full_ratio_micro: u32,
    /// Cache tier age, seconds.
    pub cache_min_flush_age: u32,
    /// Cache tier age, seconds.
    pub cache_min_evict_age: u32,
    /// The erasure code profile's name.
    pub erasure_code_profile: String,
    /// See [`Pool::last_force_op_resend`]; what clients before Luminous read.
    pub last_force_op_resend_preluminous: Epoch,
    /// Cache tier recency.
    pub min_read_recency_for_promote: i32,
    /// A hint.
    pub expected_num_objects: u64,
    /// Cache tier threshold, millionths.
    pub cache_target_dirty_high_ratio_micro: u32,
    /// Cache tier recency.
    pub min_write_recency_for_promote: i32,
    /// Cache tier hit sets are stamped in GMT.
    pub use_gmt_hitset: bool,
    /// Erasure-coded reads take the fastest chunks.
    pub fast_read: bool,
    /// Cache tier temperature.
    pub hit_set_grade_decay_rate: i32,
    /// Cache tier temperature.
    pub hit_set_search_last_n: u32,
    /// Options by number.
    pub opts: BTreeMap<u32, PoolOpt>,
    /// See [`Pool::last_force_op_resend`]; what clients before Nautilus read.
    pub last_force_op_resend_prenautilus: Epoch,
    /// Applications that use the pool, each with its settings.
    pub application_metadata: BTreeMap<String, BTreeMap<String, String>>,
    /// When the pool was made.
    pub create_time: UTime,
    /// Where `pg_num` is going.
    pub pg_num_target: u32,
    /// Where `pgp_num` is going.
    pub pgp_num_target: u32,
    /// `pg_num` during a merge.
    pub pg_num_pending: u32,
    /// The epoch at whose arrival clients resend what they have in flight.
    pub last_force_op_resend: Epoch,
    /// 0 off, 1 warn, 2 on.
    pub pg_autoscale_mode: u8,
    /// The last merge of two pgs.
    pub last_pg_merge: PgMerge,
    /// Peering constraints of a stretch cluster.
    pub peering_crush: Option<PeeringCrush>,
    /// Shards that can never be primary, as a 128-bit set; erasure-coded pools of Tentacle.
    pub nonprimary_shards: [u64; 2],
}

/// A pool snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolSnap {
    /// The id.
    pub id: SnapId,
    /// When it was taken.
    pub stamp: UTime,
    /// The name.
    pub name: String,
}

/// A versioned struct that is passed on without a look inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opaque {
    /// Layout version.
    pub version: u8,
    /// Oldest decoder.
    pub compat: u8,
    /// The body.
    pub body: Bytes,
}

/// The value of a pool option.
#[derive(Debug, Clone, PartialEq)]
pub enum PoolOpt {
    /// A text.
    Text(String),
    /// A number.
    Int(i64),
    /// A number.
    Float(f64),
}

/// The last merge of two pgs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct PgMerge {
    pub source: PgId,
    pub ready_epoch: Epoch,
    pub last_epoch_started: Epoch,
    pub last_epoch_clean: Epoch,
    pub source_version: EVersion,
    pub target_version: EVersion,
}

impl Default for PgMerge {
    fn default() -> Self {
        PgMerge {
            source: PgId::new(PoolId(0), 0),
            ready_epoch: Epoch(0),
            last_epoch_started: Epoch(0),
            last_epoch_clean: Epoch(0),
            source_version: EVersion::default(),
            target_version: EVersion::default(),
        }
    }
}

/// Peering constraints of a stretch cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct PeeringCrush {
    pub bucket_count: u32,
    pub bucket_target: u32,
    pub bucket_barrier: u32,
    pub mandatory_member: i32,
}

impl Pool {
    /// A replicated pool as a monitor makes it: as many pgs for placement as there are pgs, a minimum of
    /// more than half of the copies, no limits.
    pub fn replicated(size: u8, pg_num: u32, crush_rule: u8, created: UTime) -> Self {
        Pool {
            kind: PoolKind::Replicated,
            size,
            min_size: size - size / 2,
            crush_rule,
            object_hash: OBJECT_HASH_RJENKINS,
            pg_num,
            pgp_num: pg_num,
            last_change: Epoch(0),
            snap_seq: SnapId(0),
            snap_epoch: Epoch(0),
            snaps: BTreeMap::new(),
            removed_snaps: SnapIntervals::new(),
            auid: 0,
            flags: PoolFlags::HASHPSPOOL,
            quota_max_bytes: 0,
            quota_max_objects: 0,
            tiers: BTreeSet::new(),
            tier_of: PoolId(-1),
            cache_mode: 0,
            read_tier: PoolId(-1),
            write_tier: PoolId(-1),
            properties: BTreeMap::new(),
            hit_set_params: Opaque { version: 1, compat: 1, body: Bytes::from_static(&[0]) },
            hit_set_period: 0,
            hit_set_count: 0,
            stripe_width: 0,
            target_max_bytes: 0,
            target_max_objects: 0,
            cache_target_dirty_ratio_micro: 400_000,
            cache_target_full_ratio_micro: 800_000,
            cache_min_flush_age: 0,
            cache_min_evict_age: 0,
            erasure_code_profile: String::new(),
            last_force_op_resend_preluminous: Epoch(0),
            min_read_recency_for_promote: 0,
            expected_num_objects: 0,
            cache_target_dirty_high_ratio_micro: 600_000,
            min_write_recency_for_promote: 0,
            use_gmt_hitset: true,
            fast_read: false,
            hit_set_grade_decay_rate: 0,
            hit_set_search_last_n: 0,
            opts: BTreeMap::new(),
            last_force_op_resend_prenautilus: Epoch(0),
            application_metadata: BTreeMap::new(),
            create_time: created,
            pg_num_target: pg_num,
            pgp_num_target: pg_num,
            pg_num_pending: pg_num,
            last_force_op_resend: Epoch(0),
            pg_autoscale_mode: 0,
            last_pg_merge: PgMerge::default(),
            peering_crush: None,
            nonprimary_shards: [0; 2],
        }
    }

    /// True when positions in a mapping have a meaning and holes stay holes.
    pub fn is_erasure(&self) -> bool {
        self.kind == PoolKind::Erasure
    }

    /// True when the first missing OSD lets the others move up.
    pub fn can_shift_osds(&self) -> bool {
        self.kind == PoolKind::Replicated
    }

    /// The placement hash of an object before it is folded into a pg: of its locator key (its name when
    /// the key is empty) in its namespace.
    pub fn object_hash(&self, name: &[u8], key: &[u8], nspace: &[u8]) -> u32 {
        object_hash(name, key, nspace)
    }

    /// The pg number that a placement hash falls into.
    #[inline]
    pub fn fold(&self, hash: u32) -> u32 {
        stable_mod(hash, self.pg_num, stable_mask(self.pg_num))
    }

    /// The CRUSH input of a pg.
    pub fn placement_seed(&self, pg: PgId) -> u32 {
        let folded = stable_mod(pg.ps, self.pgp_num, stable_mask(self.pgp_num));
        // Pool ids enter with their low 32 bits.
        let pool = pg.pool.0 as u32;
        if self.flags.has(PoolFlags::HASHPSPOOL) { hash2(folded, pool) } else { folded.wrapping_add(pool) }
    }
}
