//! The OSDMap's data and its questions.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use sepiola_wire::{EntityAddr, Epoch, Features, OsdId, PgId, PoolId, UTime, Uuid};

use crate::{
    BlocklistKey, MapFlags, Osd, OsdState, Pool, Release, SnapIntervals, crush::CrushMap,
    placement::PlacementTables,
};

/// The most OSDs in a map that is accepted; each takes some 200 bytes.
pub const MAX_OSDS: i32 = 1 << 16;

/// The features that decide a map's layout when Sepiola writes one: every client from 16.2 on reads the
/// result, so a map is encoded once for all of them.
pub const CANONICAL_FEATURES: Features = Features::from_bits(0x0f00_0880_1021_2a04);

/// One epoch of the cluster: pools, OSDs, and how objects are placed. It never changes; the next epoch
/// is another map, made by [`OsdMap::apply`].
#[derive(Debug, Clone)]
pub struct OsdMap {
    pub(crate) fsid: Uuid,
    pub(crate) epoch: Epoch,
    pub(crate) created: UTime,
    pub(crate) modified: UTime,
    pub(crate) pools: BTreeMap<PoolId, Arc<Pool>>,
    pub(crate) pool_names: BTreeMap<PoolId, String>,
    pub(crate) pool_max: i32,
    /// As encoded, without what the required release implies.
    pub(crate) flags: MapFlags,
    pub(crate) osds: Vec<Osd>,
    pub(crate) pg_temp: BTreeMap<PgId, Vec<OsdId>>,
    pub(crate) primary_temp: BTreeMap<PgId, OsdId>,
    /// By OSD, 16.16; empty when all have the default.
    pub(crate) primary_affinity: Vec<u32>,
    pub(crate) crush: Arc<CrushMap>,
    pub(crate) crush_version: i32,
    pub(crate) erasure_code_profiles: BTreeMap<String, BTreeMap<String, String>>,
    pub(crate) pg_upmap: BTreeMap<PgId, Vec<OsdId>>,
    pub(crate) pg_upmap_items: BTreeMap<PgId, Vec<(OsdId, OsdId)>>,
    pub(crate) pg_upmap_primaries: BTreeMap<PgId, OsdId>,
    pub(crate) new_removed_snaps: BTreeMap<PoolId, SnapIntervals>,
    pub(crate) new_purged_snaps: BTreeMap<PoolId, SnapIntervals>,
    pub(crate) last_up_change: UTime,
    pub(crate) last_in_change: UTime,

    pub(crate) blocklist: BTreeMap<BlocklistKey, UTime>,
    pub(crate) range_blocklist: BTreeMap<BlocklistKey, UTime>,
    pub(crate) cluster_snapshot: (Epoch, String),
    pub(crate) ratios: FullRatios,
    pub(crate) require_min_compat_client: Release,
    pub(crate) require_osd_release: Release,
    pub(crate) removed_snaps_queue: BTreeMap<PoolId, SnapIntervals>,
    pub(crate) crush_node_flags: BTreeMap<i32, u32>,
    pub(crate) device_class_flags: BTreeMap<i32, u32>,
    pub(crate) stretch: StretchMode,
    pub(crate) allow_crimson: bool,

    /// Derived: pools by name.
    pub(crate) by_name: HashMap<String, PoolId>,
    /// Derived: the OSDs' weights, as CRUSH wants them.
    pub(crate) weights: Vec<u32>,
    /// Derived on demand: where pgs are.
    pub(crate) tables: PlacementTables,
}

/// Shares of a full OSD at which the cluster warns, stops backfill, and stops writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FullRatios {
    /// Warn.
    pub nearfull: f32,
    /// Stop writes.
    pub full: f32,
    /// Stop backfill.
    pub backfillfull: f32,
}

impl Default for FullRatios {
    fn default() -> Self {
        FullRatios { nearfull: 0.85, full: 0.95, backfillfull: 0.9 }
    }
}

/// The state of a cluster that spans two sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub struct StretchMode {
    pub enabled: bool,
    pub bucket_count: u32,
    pub degraded: u32,
    pub recovering: u32,
    pub mode_bucket: i32,
}

impl OsdMap {
    /// The first map (epoch 1) of a new cluster: the default CRUSH root without OSDs, a rule for
    /// replicated pools (number 0) that spreads over OSDs, no pools.
    pub fn new(fsid: Uuid, created: UTime) -> Self {
        let mut crush = CrushMap::new_cluster();
        crush.add_replicated_rule("replicated_rule", 0).expect("the default root exists");
        Self::with_crush(fsid, created, crush)
    }

    /// The first map (epoch 1) of a new cluster with a CRUSH map made elsewhere.
    pub fn with_crush(fsid: Uuid, created: UTime, crush: CrushMap) -> Self {
        OsdMap {
            fsid,
            epoch: Epoch(1),
            created,
            modified: created,
            pools: BTreeMap::new(),
            pool_names: BTreeMap::new(),
            pool_max: 0,
            flags: MapFlags::NEW_CLUSTER,
            osds: Vec::new(),
            pg_temp: BTreeMap::new(),
            primary_temp: BTreeMap::new(),
            primary_affinity: Vec::new(),
            crush: Arc::new(crush),
            crush_version: 1,
            erasure_code_profiles: BTreeMap::new(),
            pg_upmap: BTreeMap::new(),
            pg_upmap_items: BTreeMap::new(),
            pg_upmap_primaries: BTreeMap::new(),
            new_removed_snaps: BTreeMap::new(),
            new_purged_snaps: BTreeMap::new(),
            last_up_change: UTime::ZERO,
            last_in_change: UTime::ZERO,
            blocklist: BTreeMap::new(),
            range_blocklist: BTreeMap::new(),
            cluster_snapshot: (Epoch(0), String::new()),
            ratios: FullRatios::default(),
            require_min_compat_client: Release::LUMINOUS,
            require_osd_release: Release::PACIFIC,
            removed_snaps_queue: BTreeMap::new(),
            crush_node_flags: BTreeMap::new(),
            device_class_flags: BTreeMap::new(),
            stretch: StretchMode::default(),
            allow_crimson: false,
            by_name: HashMap::new(),
            weights: Vec::new(),
            tables: PlacementTables::default(),
        }
    }

    /// The cluster's id.
    pub fn fsid(&self) -> Uuid {
        self.fsid
    }

    /// The map's version.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// When the cluster was made.
    pub fn created(&self) -> UTime {
        self.created
    }

    /// When this epoch was published.
    pub fn modified(&self) -> UTime {
        self.modified
    }

    /// The cluster's flags, those included that the required release implies.
    pub fn flags(&self) -> MapFlags {
        let mut flags = self.flags;
        if self.require_osd_release >= Release::LUMINOUS {
            flags = flags.with(MapFlags::RECOVERY_DELETES);
        }
        if self.require_osd_release >= Release::NAUTILUS {
            flags = flags.with(MapFlags::PGLOG_HARDLIMIT);
        }
        flags
    }

    /// The pools by id.
    pub fn pools(&self) -> impl Iterator<Item = (PoolId, &Pool)> + '_ {
        self.pools.iter().map(|(id, pool)| (*id, &**pool))
    }

    /// The placement groups with their pools, by pool and number.
    pub fn pgs(&self) -> impl Iterator<Item = (PgId, &Pool)> + '_ {
        self.pools().flat_map(|(id, pool)| (0..pool.pg_num).map(move |ps| (PgId::new(id, ps), pool)))
    }

    /// A pool.
    #[inline]
    pub fn pool(&self, id: PoolId) -> Option<&Pool> {
        self.pools.get(&id).map(|pool| &**pool)
    }

    /// A pool's name. A pool without one is legal.
    pub fn pool_name(&self, id: PoolId) -> Option<&str> {
        self.pool_names.get(&id).map(String::as_str)
    }

    /// The pool with this name.
    pub fn pool_by_name(&self, name: &str) -> Option<PoolId> {
        self.by_name.get(name).copied()
    }

    /// The highest pool id ever used, 0 or -1 if there was none.
    pub fn pool_max(&self) -> PoolId {
        PoolId(self.pool_max.into())
    }

    /// One more than the highest OSD number.
    pub fn max_osd(&self) -> i32 {
        // Bounded by `MAX_OSDS`.
        self.osds.len() as i32
    }

    /// An OSD below [`OsdMap::max_osd`], whether it exists or not.
    #[inline]
    pub fn osd(&self, id: OsdId) -> Option<&Osd> {
        usize::try_from(id.0).ok().and_then(|i| self.osds.get(i))
    }

    /// The OSDs that exist.
    pub fn osds(&self) -> impl Iterator<Item = (OsdId, &Osd)> + '_ {
        (0..).map(OsdId).zip(&self.osds).filter(|(_, osd)| osd.exists())
    }

    /// True when an OSD exists and is up.
    #[inline]
    pub fn is_up(&self, id: OsdId) -> bool {
        self.osd(id).is_some_and(Osd::is_up)
    }

    /// True when an OSD exists.
    pub fn exists(&self, id: OsdId) -> bool {
        self.osd(id).is_some_and(Osd::exists)
    }

    /// Counts of OSDs: existing, up, in.
    pub fn osd_counts(&self) -> (usize, usize, usize) {
        self.osds().fold((0, 0, 0), |(all, up, r#in), (_, osd)| {
            (all + 1, up + usize::from(osd.is_up()), r#in + usize::from(osd.is_in()))
        })
    }

    /// An OSD's primary affinity, 16.16.
    pub fn primary_affinity(&self, id: OsdId) -> u32 {
        let affinity = usize::try_from(id.0).ok().and_then(|i| self.primary_affinity.get(i));
        affinity.copied().unwrap_or(crate::WEIGHT_IN)
    }

    /// The CRUSH map.
    pub fn crush(&self) -> &CrushMap {
        &self.crush
    }

    /// Counts the changes of the CRUSH map.
    pub fn crush_version(&self) -> i32 {
        self.crush_version
    }

    /// Erasure code profiles by name.
    pub fn erasure_code_profiles(&self) -> &BTreeMap<String, BTreeMap<String, String>> {
        &self.erasure_code_profiles
    }

    /// Acting sets that override the up set until recovery is done.
    pub fn pg_temp(&self) -> &BTreeMap<PgId, Vec<OsdId>> {
        &self.pg_temp
    }

    /// Primaries that override the acting set's first.
    pub fn primary_temp(&self) -> &BTreeMap<PgId, OsdId> {
        &self.primary_temp
    }

    /// Explicit mappings that replace what CRUSH says.
    pub fn pg_upmap(&self) -> &BTreeMap<PgId, Vec<OsdId>> {
        &self.pg_upmap
    }

    /// Explicit replacements in what CRUSH says.
    pub fn pg_upmap_items(&self) -> &BTreeMap<PgId, Vec<(OsdId, OsdId)>> {
        &self.pg_upmap_items
    }

    /// Explicit primaries; clients before Reef ignore them.
    pub fn pg_upmap_primaries(&self) -> &BTreeMap<PgId, OsdId> {
        &self.pg_upmap_primaries
    }

    /// Snapshots that this epoch removed, by pool.
    pub fn new_removed_snaps(&self) -> &BTreeMap<PoolId, SnapIntervals> {
        &self.new_removed_snaps
    }

    /// Snapshots that this epoch declared purged, by pool.
    pub fn new_purged_snaps(&self) -> &BTreeMap<PoolId, SnapIntervals> {
        &self.new_purged_snaps
    }

    /// Snapshots that OSDs have to purge, by pool.
    pub fn removed_snaps_queue(&self) -> &BTreeMap<PoolId, SnapIntervals> {
        &self.removed_snaps_queue
    }

    /// When an OSD last came up or went down.
    pub fn last_up_change(&self) -> UTime {
        self.last_up_change
    }

    /// When an OSD last came in or went out.
    pub fn last_in_change(&self) -> UTime {
        self.last_in_change
    }

    /// Blocklisted clients and when their entry expires.
    pub fn blocklist(&self) -> impl Iterator<Item = (&EntityAddr, UTime)> + '_ {
        self.blocklist.iter().map(|(key, expires)| (key.addr(), *expires))
    }

    /// Blocklisted networks and when their entry expires.
    pub fn range_blocklist(&self) -> impl Iterator<Item = (&EntityAddr, UTime)> + '_ {
        self.range_blocklist.iter().map(|(key, expires)| (key.addr(), *expires))
    }

    /// Full ratios.
    pub fn full_ratios(&self) -> FullRatios {
        self.ratios
    }

    /// The oldest clients that may connect.
    pub fn require_min_compat_client(&self) -> Release {
        self.require_min_compat_client
    }

    /// The oldest OSDs that may boot.
    pub fn require_osd_release(&self) -> Release {
        self.require_osd_release
    }

    /// The state of a two-site cluster.
    pub fn stretch_mode(&self) -> StretchMode {
        self.stretch
    }

    /// Makes the derived parts fit the data.
    pub(crate) fn derive(&mut self, previous: Option<&OsdMap>) {
        self.by_name = self.pool_names.iter().map(|(id, name)| (name.clone(), *id)).collect();
        self.weights = self.osds.iter().map(|osd| osd.weight).collect();
        self.tables = PlacementTables::new(self, previous);
    }
}

/// True when two maps place the pgs of an unchanged pool alike.
pub(crate) fn same_placement(a: &OsdMap, b: &OsdMap) -> bool {
    let up = |osd: &Osd| osd.state.0 & OsdState::EXISTS.with(OsdState::UP).0;
    Arc::ptr_eq(&a.crush, &b.crush)
        && a.weights == b.weights
        && a.osds.len() == b.osds.len()
        && a.osds.iter().zip(&b.osds).all(|(a, b)| up(a) == up(b))
        && a.primary_affinity == b.primary_affinity
        && a.pg_temp == b.pg_temp
        && a.primary_temp == b.primary_temp
        && a.pg_upmap == b.pg_upmap
        && a.pg_upmap_items == b.pg_upmap_items
        && a.pg_upmap_primaries == b.pg_upmap_primaries
}
