//! STATFS and GET_POOL_STATS: space and usage.

use std::collections::BTreeMap;

use sepiola_wire::{Decode, DecodeError, Encode, Features, PoolId, Put, Reader, Uuid};

use crate::{PRIORITY_HIGH, PaxosHeader, WireMessage, kind};

/// Client to monitor: usage of the cluster or of one pool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statfs {
    /// Version of the statistics that the client has.
    pub paxos: PaxosHeader,
    /// The cluster.
    pub fsid: Uuid,
    /// Only this pool.
    pub pool: Option<PoolId>,
}

impl WireMessage for Statfs {
    const TYPE: u16 = kind::STATFS;
    const VERSION: u16 = 2;
    const COMPAT: u16 = 1;

    fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        self.paxos.encode(out, features);
        self.fsid.encode(out, features);
        self.pool.encode(out, features);
    }

    fn decode(version: u16, front: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(front);
        let (paxos, fsid) = (PaxosHeader::decode(r)?, Uuid::decode(r)?);
        let pool = if version >= 2 { Decode::decode(r)? } else { None };
        Ok(Statfs { paxos, fsid, pool })
    }
}

/// Monitor to client. Sizes are in KiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatfsReply {
    /// The cluster.
    pub fsid: Uuid,
    /// Version of the statistics.
    pub version: u64,
    /// Capacity.
    pub kb: u64,
    /// Used.
    pub kb_used: u64,
    /// Free.
    pub kb_avail: u64,
    /// Objects, clones included.
    pub num_objects: u64,
}

impl WireMessage for StatfsReply {
    const TYPE: u16 = kind::STATFS_REPLY;
    const VERSION: u16 = 1;
    const COMPAT: u16 = 1;
    const PRIORITY: u16 = PRIORITY_HIGH;

    fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        self.fsid.encode(out, features);
        for v in [self.version, self.kb, self.kb_used, self.kb_avail, self.num_objects] {
            out.put_u64(v);
        }
    }

    fn decode(_: u16, front: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(front);
        Ok(StatfsReply {
            fsid: Uuid::decode(r)?,
            version: r.u64()?,
            kb: r.u64()?,
            kb_used: r.u64()?,
            kb_avail: r.u64()?,
            num_objects: r.u64()?,
        })
    }
}

/// Client to monitor: statistics of pools.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GetPoolStats {
    /// Version of the statistics that the client has.
    pub paxos: PaxosHeader,
    /// The cluster.
    pub fsid: Uuid,
    /// Pool names.
    pub pools: Vec<String>,
}

impl WireMessage for GetPoolStats {
    const TYPE: u16 = kind::GET_POOL_STATS;
    const VERSION: u16 = 1;
    const COMPAT: u16 = 1;

    fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        self.paxos.encode(out, features);
        self.fsid.encode(out, features);
        self.pools.encode(out, features);
    }

    fn decode(_: u16, front: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(front);
        Ok(GetPoolStats { paxos: PaxosHeader::decode(r)?, fsid: Uuid::decode(r)?, pools: Decode::decode(r)? })
    }
}

/// Monitor to client. Pools that do not exist are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GetPoolStatsReply {
    /// Version of the statistics.
    pub paxos: PaxosHeader,
    /// The cluster.
    pub fsid: Uuid,
    /// By pool name.
    pub pools: BTreeMap<String, PoolStat>,
    /// True if [`PoolStat::store`] is filled, so that usage comes from it.
    pub per_pool: bool,
}

impl WireMessage for GetPoolStatsReply {
    const TYPE: u16 = kind::GET_POOL_STATS_REPLY;
    const VERSION: u16 = 2;
    const COMPAT: u16 = 1;
    const PRIORITY: u16 = PRIORITY_HIGH;

    fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        self.paxos.encode(out, features);
        self.fsid.encode(out, features);
        self.pools.encode(out, features);
        out.put_bool(self.per_pool);
    }

    fn decode(version: u16, front: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(front);
        let (paxos, fsid, pools) = (PaxosHeader::decode(r)?, Uuid::decode(r)?, Decode::decode(r)?);
        let per_pool = version >= 2 && r.bool()?;
        Ok(GetPoolStatsReply { paxos, fsid, pools, per_pool })
    }
}

/// Statistics of one pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PoolStat {
    /// Sums over its objects.
    pub sum: ObjectStatSum,
    /// Entries in pg logs.
    pub log_size: i64,
    /// Entries in pg logs on disk.
    pub ondisk_log_size: i64,
    /// Sum over pgs of OSDs in the up set.
    pub up: i32,
    /// Sum over pgs of OSDs in the acting set.
    pub acting: i32,
    /// Space in the stores.
    pub store: StoreStatfs,
    /// OSDs that contributed to `store`.
    pub num_store_stats: i32,
}

impl Encode for PoolStat {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_versioned(7, 5, |out| {
            out.put_versioned(2, 2, |out| {
                self.sum.encode(out, features);
                out.put_u32(0); // sums by category, obsolete
            });
            out.put_i64(self.log_size);
            out.put_i64(self.ondisk_log_size);
            out.put_i32(self.up);
            out.put_i32(self.acting);
            self.store.encode(out, features);
            out.put_i32(self.num_store_stats);
        });
    }
}

impl Decode for PoolStat {
    const MIN_SIZE: usize = 12;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("pool_stat", 7)?;
        let (v, r) = (s.version, &mut s.body);
        let mut stat = PoolStat {
            sum: ObjectStatSum::decode(&mut r.versioned("object_stat_collection", 2)?.body)?,
            log_size: r.i64()?,
            ondisk_log_size: r.i64()?,
            ..PoolStat::default()
        };
        if v >= 6 {
            stat.up = r.i32()?;
            stat.acting = r.i32()?;
        }
        if v >= 7 {
            stat.store = StoreStatfs::decode(r)?;
            stat.num_store_stats = r.i32()?;
        }
        Ok(stat)
    }
}

/// A struct of integers only, each in a field of its own, in wire order.
macro_rules! counters {
    ($(#[$doc:meta])* $name:ident, $what:literal, v $version:literal, compat $compat:literal,
     { $($field:ident: $ty:ident, $fdoc:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name { $(#[doc = $fdoc] pub $field: $ty,)* }

        impl Encode for $name {
            fn encode(&self, out: &mut Vec<u8>, features: Features) {
                out.put_versioned($version, $compat, |out| { $(self.$field.encode(out, features);)* });
            }
        }

        impl Decode for $name {
            const MIN_SIZE: usize = 6;
            fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
                let mut s = r.versioned($what, $version)?;
                // A shorter, older struct leaves the later counters at zero.
                Ok($name { $($field: if s.body.is_empty() { 0 } else { s.body.$ty()? },)* })
            }
        }
    };
}

counters! {
    /// Space in object stores, in bytes.
    StoreStatfs, "store_statfs", v 1, compat 1, {
        total: i64, "Capacity.";
        available: i64, "Free.";
        internally_reserved: i64, "Kept back by the store.";
        allocated: i64, "Allocated for data.";
        data_stored: i64, "Data, before compression and rounding.";
        data_compressed: i64, "Data after compression.";
        data_compressed_allocated: i64, "Allocated for compressed data.";
        data_compressed_original: i64, "Data that was compressed.";
        omap_allocated: i64, "Allocated for omaps.";
        internal_metadata: i64, "The store's own metadata.";
    }
}

counters! {
    /// Sums over objects. Counters of operations only grow.
    ObjectStatSum, "object_stat_sum", v 20, compat 14, {
        num_bytes: i64, "Bytes of objects.";
        num_objects: i64, "Objects, clones included.";
        num_object_clones: i64, "Clones.";
        num_object_copies: i64, "Objects times copies.";
        num_objects_missing_on_primary: i64, "Objects that the primary lacks.";
        num_objects_degraded: i64, "Missing copies.";
        num_objects_unfound: i64, "Objects without a known copy.";
        num_rd: i64, "Reads.";
        num_rd_kb: i64, "KiB read.";
        num_wr: i64, "Writes.";
        num_wr_kb: i64, "KiB written.";
        num_scrub_errors: i64, "Scrub errors.";
        num_objects_recovered: i64, "Objects recovered.";
        num_bytes_recovered: i64, "Bytes recovered.";
        num_keys_recovered: i64, "Omap keys recovered.";
        num_shallow_scrub_errors: i64, "Errors of shallow scrubs.";
        num_deep_scrub_errors: i64, "Errors of deep scrubs.";
        num_objects_dirty: i64, "Objects not flushed to a base tier.";
        num_whiteouts: i64, "Heads kept only for their clones.";
        num_objects_omap: i64, "Objects with an omap.";
        num_objects_hit_set_archive: i64, "Hit set archive objects.";
        num_objects_misplaced: i64, "Copies on OSDs where they do not belong.";
        num_bytes_hit_set_archive: i64, "Bytes of the hit set archive.";
        num_flush: i64, "Flushes.";
        num_flush_kb: i64, "KiB flushed.";
        num_evict: i64, "Evictions.";
        num_evict_kb: i64, "KiB evicted.";
        num_promote: i64, "Promotions.";
        num_flush_mode_high: i32, "Pgs flushing at high speed.";
        num_flush_mode_low: i32, "Pgs flushing at low speed.";
        num_evict_mode_some: i32, "Pgs evicting some.";
        num_evict_mode_full: i32, "Pgs evicting as they are full.";
        num_objects_pinned: i64, "Pinned objects.";
        num_objects_missing: i64, "Missing objects.";
        num_legacy_snapsets: i64, "Snapsets in an old form.";
        num_large_omap_objects: i64, "Objects with a large omap.";
        num_objects_manifest: i64, "Manifest objects.";
        num_omap_bytes: i64, "Bytes of omaps.";
        num_omap_keys: i64, "Keys of omaps.";
        num_objects_repaired: i64, "Repaired objects.";
    }
}
