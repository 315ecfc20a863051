//! The difference between one epoch and the next.

mod apply;
mod decode;
mod edit;
mod encode;

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use sepiola_wire::{EntityAddrVec, Epoch, Features, OsdId, PgId, PoolId, UTime, Uuid};

use crate::{
    BlocklistKey, CANONICAL_FEATURES, MapFlags, OsdXInfo, Pool, Release, SnapIntervals, StretchMode,
};

pub use apply::Published;
pub use edit::OsdBoot;

/// Changes from one map to the next; what is empty or `None` stays as it is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Incremental {
    /// The cluster.
    pub fsid: Uuid,
    /// The epoch of the map that results.
    pub epoch: Epoch,
    /// When that map was published.
    pub modified: UTime,
    /// The highest pool id ever used.
    pub new_pool_max: Option<PoolId>,
    /// The flags.
    pub new_flags: Option<MapFlags>,
    /// An encoded full map that replaces everything; empty for none.
    pub full_map: Bytes,
    /// An encoded CRUSH map; empty for none.
    pub crush: Bytes,
    /// The number of OSD slots.
    pub new_max_osd: Option<i32>,
    /// New and changed pools, each in whole.
    pub new_pools: BTreeMap<PoolId, Pool>,
    /// Their names.
    pub new_pool_names: BTreeMap<PoolId, String>,
    /// Pools that are gone.
    pub old_pools: BTreeSet<PoolId>,
    /// OSDs that came up, with the addresses for clients.
    pub new_up_client: BTreeMap<OsdId, EntityAddrVec>,
    /// State bits that flip; 0 flips `up`.
    pub new_state: BTreeMap<OsdId, u32>,
    /// Weights, 16.16.
    pub new_weight: BTreeMap<OsdId, u32>,
    /// Temporary acting sets; an empty one removes the entry.
    pub new_pg_temp: BTreeMap<PgId, Vec<OsdId>>,
    /// Temporary primaries; -1 removes the entry.
    pub new_primary_temp: BTreeMap<PgId, OsdId>,
    /// Primary affinities, 16.16.
    pub new_primary_affinity: BTreeMap<OsdId, u32>,
    /// Erasure code profiles, new and changed.
    pub new_erasure_code_profiles: BTreeMap<String, BTreeMap<String, String>>,
    /// Erasure code profiles that are gone.
    pub old_erasure_code_profiles: Vec<String>,
    /// Explicit mappings.
    pub new_pg_upmap: BTreeMap<PgId, Vec<OsdId>>,
    /// Explicit mappings that are gone.
    pub old_pg_upmap: BTreeSet<PgId>,
    /// Explicit replacements.
    pub new_pg_upmap_items: BTreeMap<PgId, Vec<(OsdId, OsdId)>>,
    /// Explicit replacements that are gone.
    pub old_pg_upmap_items: BTreeSet<PgId>,
    /// Snapshots removed in this epoch.
    pub new_removed_snaps: BTreeMap<PoolId, SnapIntervals>,
    /// Snapshots purged in this epoch.
    pub new_purged_snaps: BTreeMap<PoolId, SnapIntervals>,
    /// When an OSD last came up or went down; zero for no change.
    pub new_last_up_change: UTime,
    /// When an OSD last came in or went out; zero for no change.
    pub new_last_in_change: UTime,
    /// Explicit primaries.
    pub new_pg_upmap_primaries: BTreeMap<PgId, OsdId>,
    /// Explicit primaries that are gone.
    pub old_pg_upmap_primaries: BTreeSet<PgId>,

    /// Heartbeat addresses of OSDs that came up.
    pub new_heartbeat_back: BTreeMap<OsdId, EntityAddrVec>,
    /// Up to when an OSD is known to have been up.
    pub new_up_thru: BTreeMap<OsdId, Epoch>,
    /// Intervals before clean shutdowns.
    pub new_last_clean_interval: BTreeMap<OsdId, (Epoch, Epoch)>,
    /// OSDs whose data is declared lost.
    pub new_lost: BTreeMap<OsdId, Epoch>,
    /// Clients to blocklist, with the entry's expiry.
    pub new_blocklist: BTreeMap<BlocklistKey, UTime>,
    /// Blocklist entries that are gone.
    pub old_blocklist: Vec<BlocklistKey>,
    /// Addresses for other OSDs of OSDs that came up.
    pub new_cluster_addrs: BTreeMap<OsdId, EntityAddrVec>,
    /// Unused.
    pub cluster_snapshot: String,
    /// Identities of stores.
    pub new_uuid: BTreeMap<OsdId, Uuid>,
    /// Statistics of OSDs.
    pub new_xinfo: BTreeMap<OsdId, OsdXInfo>,
    /// Heartbeat addresses of OSDs that came up.
    pub new_heartbeat_front: BTreeMap<OsdId, EntityAddrVec>,
    /// The features in whose layout the resulting map has [`Incremental::full_crc`].
    pub encode_features: Features,
    /// The nearfull ratio.
    pub new_nearfull_ratio: Option<f32>,
    /// The full ratio.
    pub new_full_ratio: Option<f32>,
    /// The backfillfull ratio.
    pub new_backfillfull_ratio: Option<f32>,
    /// The oldest clients that may connect.
    pub new_require_min_compat_client: Option<Release>,
    /// The oldest OSDs that may boot.
    pub new_require_osd_release: Option<Release>,
    /// Flags of CRUSH buckets; 0 removes the entry.
    pub new_crush_node_flags: BTreeMap<i32, u32>,
    /// Flags of device classes; 0 removes the entry.
    pub new_device_class_flags: BTreeMap<i32, u32>,
    /// The state of a two-site cluster.
    pub new_stretch: Option<StretchMode>,
    /// Networks to blocklist.
    pub new_range_blocklist: BTreeMap<BlocklistKey, UTime>,
    /// Network entries that are gone.
    pub old_range_blocklist: Vec<BlocklistKey>,
    /// Allows OSDs of the other implementation.
    pub allow_crimson: bool,
    /// The checksum of the resulting map. [`OsdMap::publish`](crate::OsdMap::publish) sets it.
    pub full_crc: u32,
}

impl Incremental {
    /// No change, resulting in the map of `epoch`.
    pub fn new(fsid: Uuid, epoch: Epoch, modified: UTime) -> Self {
        Incremental {
            fsid,
            epoch,
            modified,
            new_pool_max: None,
            new_flags: None,
            full_map: Bytes::new(),
            crush: Bytes::new(),
            new_max_osd: None,
            new_pools: BTreeMap::new(),
            new_pool_names: BTreeMap::new(),
            old_pools: BTreeSet::new(),
            new_up_client: BTreeMap::new(),
            new_state: BTreeMap::new(),
            new_weight: BTreeMap::new(),
            new_pg_temp: BTreeMap::new(),
            new_primary_temp: BTreeMap::new(),
            new_primary_affinity: BTreeMap::new(),
            new_erasure_code_profiles: BTreeMap::new(),
            old_erasure_code_profiles: Vec::new(),
            new_pg_upmap: BTreeMap::new(),
            old_pg_upmap: BTreeSet::new(),
            new_pg_upmap_items: BTreeMap::new(),
            old_pg_upmap_items: BTreeSet::new(),
            new_removed_snaps: BTreeMap::new(),
            new_purged_snaps: BTreeMap::new(),
            new_last_up_change: UTime::ZERO,
            new_last_in_change: UTime::ZERO,
            new_pg_upmap_primaries: BTreeMap::new(),
            old_pg_upmap_primaries: BTreeSet::new(),
            new_heartbeat_back: BTreeMap::new(),
            new_up_thru: BTreeMap::new(),
            new_last_clean_interval: BTreeMap::new(),
            new_lost: BTreeMap::new(),
            new_blocklist: BTreeMap::new(),
            old_blocklist: Vec::new(),
            new_cluster_addrs: BTreeMap::new(),
            cluster_snapshot: String::new(),
            new_uuid: BTreeMap::new(),
            new_xinfo: BTreeMap::new(),
            new_heartbeat_front: BTreeMap::new(),
            encode_features: CANONICAL_FEATURES,
            new_nearfull_ratio: None,
            new_full_ratio: None,
            new_backfillfull_ratio: None,
            new_require_min_compat_client: None,
            new_require_osd_release: None,
            new_crush_node_flags: BTreeMap::new(),
            new_device_class_flags: BTreeMap::new(),
            new_stretch: None,
            new_range_blocklist: BTreeMap::new(),
            old_range_blocklist: Vec::new(),
            allow_crimson: false,
            full_crc: 0,
        }
    }
}
