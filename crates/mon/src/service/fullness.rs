//! Full OSDs: the map says which are, and flags the pools that have data on them, so that clients hold back
//! writes until there is room again.

use std::{collections::BTreeMap, sync::Arc};

use sepiola_osdmap::{FullRatios, Incremental, OsdMap, OsdState, PoolFlags};
use sepiola_wire::{OsdId, PgId, PoolId};
use tracing::{info, warn};

use super::{
    osd_step,
    stats::{ClusterStats, Space},
};
use crate::{
    core::{Outcome, Work},
    daemon::Monitor,
};

/// The states of an OSD, and the flags of its pools, of which one at most is set; the fullest first.
const LEVELS: [(OsdState, PoolFlags); 3] = [
    (OsdState::FULL, PoolFlags::FULL),
    (OsdState::BACKFILLFULL, PoolFlags::BACKFILLFULL),
    (OsdState::NEARFULL, PoolFlags::NEARFULL),
];

/// What the map should say and does not.
#[derive(Debug, Default, PartialEq)]
struct Due {
    /// Bits to turn over.
    osds: BTreeMap<OsdId, OsdState>,
    pools: BTreeMap<PoolId, PoolFlags>,
}

/// The change of the map that is due.
pub(crate) fn work(monitor: Arc<Monitor>) -> Work {
    Box::new(move |draft| {
        let map = draft.state.osdmap();
        let due = due(map, &monitor.stats.lock());
        if due == Due::default() {
            return Outcome::silent(vec![]);
        }
        info!(osds = ?due.osds, pools = ?due.pools, "fullness");
        let step = osd_step::step(map, draft.now, |inc| apply(map, inc, &due));
        let step = step.inspect_err(|e| warn!(error = %e, "the OSD map could not be changed"));
        Outcome::silent(step.into_iter().collect())
    })
}

fn apply(map: &OsdMap, incremental: &mut Incremental, due: &Due) {
    for (osd, turned) in &due.osds {
        incremental.new_state.insert(*osd, turned.0);
    }
    for (id, flags) in &due.pools {
        if let Some(pool) = incremental.edit_pool(map, *id) {
            pool.flags = *flags;
        }
    }
}

/// How full an OSD is; an index into [`LEVELS`].
fn level(space: Space, ratios: FullRatios) -> Option<usize> {
    if space.total == 0 {
        return None;
    }
    let share = space.used() as f64 / space.total as f64;
    [ratios.full, ratios.backfillfull, ratios.nearfull].iter().position(|ratio| share >= f64::from(*ratio))
}

fn due(map: &OsdMap, stats: &ClusterStats) -> Due {
    let mut due = Due::default();
    let mut levels = BTreeMap::new();
    let all = LEVELS.iter().fold(OsdState::default(), |all, (state, _)| all.with(*state));
    for (id, osd) in map.osds().filter(|(_, osd)| osd.is_up()) {
        let level = level(stats.space_of(id), map.full_ratios());
        levels.extend(level.map(|level| (id, level)));
        let wanted = level.map_or(OsdState::default(), |level| LEVELS[level].0);
        let turned = OsdState((osd.state.0 & all.0) ^ wanted.0);
        if turned != OsdState::default() {
            due.osds.insert(id, turned);
        }
    }
    let flags = LEVELS.iter().fold(PoolFlags::default(), |flags, (_, flag)| flags.with(*flag));
    for (id, pool) in map.pools() {
        // Without a full OSD and a flag there is nothing to look for. A quota has the flag for itself.
        let flagged = pool.flags.0 & flags.0 != 0;
        if pool.flags.has(PoolFlags::FULL_QUOTA) || (levels.is_empty() && !flagged) {
            continue;
        }
        let on = |ps| map.pg_to_up_acting(PgId::new(id, ps)).acting.iter().copied();
        let level = (0..pool.pg_num).flat_map(on).filter_map(|osd| levels.get(&osd)).min();
        let cleared = pool.flags.without(flags);
        let wanted = level.map_or(cleared, |level| cleared.with(LEVELS[*level].1));
        if wanted != pool.flags {
            due.pools.insert(id, wanted);
        }
    }
    due
}

#[cfg(test)]
mod tests {
    use sepiola_proto::{OsdStats, StoreStatfs};
    use sepiola_wire::UTime;
    use serde_json::json;

    use super::*;
    use crate::testing::TestMon;

    fn fill(stats: &mut ClusterStats, seq: u64, used: u64) {
        let statfs = StoreStatfs { total: 100, available: 100 - used, ..StoreStatfs::default() };
        stats.accept(OsdStats { seq, statfs: Some(statfs), ..OsdStats::default() }, UTime::from_secs(1));
    }

    #[test]
    fn an_osd_and_its_pools_are_as_full_as_the_osd_is() {
        let mut mon = TestMon::new();
        mon.boot(0);
        mon.output(json!({"prefix": "osd pool create", "pool": "p", "pg_num": 2}));
        let p = mon.state.osdmap().pool_by_name("p").unwrap();
        let mut map = OsdMap::clone(mon.state.osdmap());
        let mut stats = ClusterStats::default();
        assert_eq!(due(&map, &stats), Due::default());
        let states = |map: &OsdMap| {
            let osd = map.osd(OsdId(0)).unwrap().state;
            LEVELS.map(|(state, flag)| (osd.has(state), map.pool(p).unwrap().flags.has(flag)))
        };
        let (no, yes) = ((false, false), (true, true));
        for (seq, (used, expected)) in [
            (84, [no, no, no]),
            (86, [no, no, yes]),
            (91, [no, yes, no]),
            (96, [yes, no, no]),
            (100, [yes, no, no]),
            (10, [no, no, no]),
        ]
        .into_iter()
        .enumerate()
        {
            fill(&mut stats, seq as u64 + 1, used);
            let before = map.pool(p).unwrap().flags;
            let changes = due(&map, &stats);
            let mut incremental = map.next_incremental(mon.now);
            apply(&map, &mut incremental, &changes);
            map = map.publish(incremental).unwrap().map;
            assert_eq!(states(&map), expected, "at {used}");
            assert_eq!(due(&map, &stats), Due::default(), "it is said already");
            assert!(map.osd(OsdId(0)).unwrap().is_up());
            assert!(before.has(PoolFlags::HASHPSPOOL));
        }
    }

    #[test]
    fn a_pool_over_its_quota_stays_full() {
        let mut mon = TestMon::new();
        mon.boot(0);
        mon.output(json!({"prefix": "osd pool create", "pool": "p", "pg_num": 2}));
        let map = mon.state.osdmap();
        let p = map.pool_by_name("p").unwrap();
        let mut incremental = map.next_incremental(mon.now);
        let quota = PoolFlags::FULL.with(PoolFlags::FULL_QUOTA);
        incremental.edit_pool(map, p).unwrap().flags = quota;
        let map = map.publish(incremental).unwrap().map;
        assert_eq!(due(&map, &ClusterStats::default()), Due::default());
    }
}
