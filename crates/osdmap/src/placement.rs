//! From an object to its pg, and from a pg to its OSDs.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use sepiola_wire::{OsdId, PgId, PoolId};

use crate::{
    OsdMap, Pool, WEIGHT_IN, crush::ITEM_NONE, hash::hash2, map::same_placement, pool::OBJECT_HASH_RJENKINS,
};

/// The hole in an erasure-coded set where no OSD is.
pub const OSD_NONE: OsdId = OsdId(ITEM_NONE);

/// Where a pg is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UpActing {
    /// The OSDs that should hold it. Holes of an erasure-coded pg are [`OSD_NONE`].
    pub up: Vec<OsdId>,
    /// The first of them to serve.
    pub up_primary: Option<OsdId>,
    /// The OSDs that serve it now.
    pub acting: Vec<OsdId>,
    /// The one that operations go to.
    pub acting_primary: Option<OsdId>,
}

impl UpActing {
    /// The shard that operations name: -1 in a replicated pool, else the primary's place.
    pub fn primary_shard(&self, pool: &Pool) -> i8 {
        if !pool.is_erasure() {
            return -1;
        }
        let place = self.acting.iter().position(|osd| Some(*osd) == self.acting_primary);
        place.and_then(|place| i8::try_from(place).ok()).unwrap_or(-1)
    }
}

/// A pg of a pool that is not there.
static NOWHERE: UpActing =
    UpActing { up: Vec::new(), up_primary: None, acting: Vec::new(), acting_primary: None };

/// The places of one pool's pgs, each computed when first asked for.
type PoolTable = Arc<OnceLock<Box<[OnceLock<Box<UpActing>>]>>>;

/// The places of all pgs. Tables of pools that a new epoch places alike are shared with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct PlacementTables(BTreeMap<PoolId, PoolTable>);

impl PlacementTables {
    pub(crate) fn new(map: &OsdMap, previous: Option<&OsdMap>) -> Self {
        let previous = previous.filter(|previous| same_placement(previous, map));
        let table = |(id, pool): (&PoolId, &Arc<Pool>)| {
            let kept = previous.filter(|old| old.pools.get(id).is_some_and(|old| Arc::ptr_eq(old, pool)));
            (*id, kept.and_then(|old| old.tables.0.get(id)).cloned().unwrap_or_default())
        };
        PlacementTables(map.pools.iter().map(table).collect())
    }
}

impl OsdMap {
    /// The pg of an object; `None` when there is no such pool, or its hash is not known.
    ///
    /// `key` is the locator key, empty for most objects; `nspace` is empty for the default namespace.
    pub fn object_to_pg(&self, pool: PoolId, name: &[u8], key: &[u8], nspace: &[u8]) -> Option<PgId> {
        let id = pool;
        let pool = self.pool(id).filter(|pool| pool.object_hash == OBJECT_HASH_RJENKINS)?;
        Some(PgId::new(id, pool.fold(pool.object_hash(name, key, nspace))))
    }

    /// The pg that a raw one (whose `ps` is an object's full hash) falls into.
    pub fn fold_pg(&self, raw: PgId) -> Option<PgId> {
        Some(PgId::new(raw.pool, self.pool(raw.pool)?.fold(raw.ps)))
    }

    /// Where a pg is. Computed once per pg and map, afterwards a lookup; a `ps` beyond the pool's `pg_num`
    /// is folded. A pg of a missing pool is nowhere.
    pub fn pg_to_up_acting(&self, pg: PgId) -> &UpActing {
        let Some(pool) = self.pool(pg.pool) else { return &NOWHERE };
        let Some(table) = self.tables.0.get(&pg.pool) else { return &NOWHERE };
        let pg = PgId::new(pg.pool, pool.fold(pg.ps));
        let table = table.get_or_init(|| (0..pool.pg_num).map(|_| OnceLock::new()).collect());
        match table.get(pg.ps as usize) {
            Some(entry) => entry.get_or_init(|| Box::new(self.place(pool, pg))),
            None => &NOWHERE,
        }
    }

    /// What CRUSH alone says about a pg, OSDs that do not exist left out (or holes, in an erasure-coded
    /// pool).
    pub fn pg_to_raw(&self, pg: PgId) -> Vec<OsdId> {
        let Some(pool) = self.pool(pg.pool) else { return Vec::new() };
        let pg = PgId::new(pg.pool, pool.fold(pg.ps));
        self.raw(pool, pg, pool.placement_seed(pg))
    }

    fn place(&self, pool: &Pool, pg: PgId) -> UpActing {
        let seed = pool.placement_seed(pg);
        let mut raw = self.raw(pool, pg, seed);
        self.apply_upmaps(pg, &mut raw);
        let mut up = self.only_up(pool, raw);
        let up_primary = self.apply_affinity(pool, seed, &mut up);
        let temp = self.pg_temp.get(&pg).map_or_else(Vec::new, |temp| self.only_up(pool, temp.clone()));
        let temp_primary = self.primary_temp.get(&pg).copied().or_else(|| first(&temp));
        let acting_primary = if temp_primary.is_some() { temp_primary } else { up_primary };
        let acting = if temp.is_empty() { up.clone() } else { temp };
        UpActing { up, up_primary, acting, acting_primary }
    }

    fn raw(&self, pool: &Pool, pg: PgId, seed: u32) -> Vec<OsdId> {
        let args = self.crush.choose_args_for(pg.pool.0);
        let items = self.crush.do_rule(pool.crush_rule.into(), seed, pool.size.into(), &self.weights, args);
        self.keep(pool, items.into_iter().map(OsdId).collect(), |osd| self.exists(osd))
    }

    fn only_up(&self, pool: &Pool, osds: Vec<OsdId>) -> Vec<OsdId> {
        self.keep(pool, osds, |osd| self.is_up(osd))
    }

    /// Drops the OSDs that do not qualify, or puts holes in their places.
    fn keep(&self, pool: &Pool, mut osds: Vec<OsdId>, qualifies: impl Fn(OsdId) -> bool) -> Vec<OsdId> {
        if pool.can_shift_osds() {
            osds.retain(|osd| qualifies(*osd));
        } else {
            osds.iter_mut().filter(|osd| !qualifies(**osd)).for_each(|osd| *osd = OSD_NONE);
        }
        osds
    }

    /// True for an OSD of the map that is out; explicit mappings to it are void.
    fn is_out(&self, osd: OsdId) -> bool {
        self.osd(osd).is_some_and(|osd| osd.weight == 0)
    }

    fn apply_upmaps(&self, pg: PgId, raw: &mut Vec<OsdId>) {
        if let Some(explicit) = self.pg_upmap.get(&pg) {
            if explicit.iter().any(|osd| self.is_out(*osd)) {
                return;
            }
            raw.clone_from(explicit);
        }
        for (from, to) in self.pg_upmap_items.get(&pg).into_iter().flatten() {
            let place = raw.iter().position(|osd| osd == from);
            if let Some(place) = place
                && !raw.contains(to)
                && !self.is_out(*to)
            {
                raw[place] = *to;
            }
        }
        if let Some(primary) = self.pg_upmap_primaries.get(&pg)
            && self.osd(*primary).is_some_and(|osd| osd.weight != 0)
            && let Some(place) = raw.iter().position(|osd| osd == primary)
        {
            raw.swap(0, place);
        }
    }

    /// The primary of an up set, which moves to the front where order is free.
    fn apply_affinity(&self, pool: &Pool, seed: u32, up: &mut [OsdId]) -> Option<OsdId> {
        let present = |osd: &OsdId| *osd != OSD_NONE;
        if up.iter().filter(|osd| present(osd)).all(|osd| self.primary_affinity(*osd) == WEIGHT_IN) {
            return first(up);
        }
        let mut chosen = None;
        for (place, osd) in up.iter().enumerate().filter(|(_, osd)| present(osd)) {
            let affinity = self.primary_affinity(*osd);
            if affinity < WEIGHT_IN && hash2(seed, osd.0 as u32) >> 16 >= affinity {
                // Turned down, but better than nobody.
                chosen = chosen.or(Some(place));
            } else {
                chosen = Some(place);
                break;
            }
        }
        let place = chosen?;
        let primary = up[place];
        if pool.can_shift_osds() {
            up[..=place].rotate_right(1);
        }
        Some(primary)
    }
}

fn first(osds: &[OsdId]) -> Option<OsdId> {
    osds.iter().copied().find(|osd| *osd != OSD_NONE)
}
