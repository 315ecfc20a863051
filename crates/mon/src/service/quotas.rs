//! Pool quotas: a pool that uses as much as it may is flagged full, and no longer when it uses less.

use std::sync::Arc;

use sepiola_osdmap::{Incremental, OsdMap, Pool, PoolFlags};
use sepiola_wire::PoolId;
use tracing::{info, warn};

use super::{
    osd_step,
    stats::{ClusterStats, PoolUsage},
};
use crate::{
    core::{Outcome, Work},
    daemon::Monitor,
};

/// What clients look at, and why.
const FULL: PoolFlags = PoolFlags(PoolFlags::FULL.0 | PoolFlags::FULL_QUOTA.0);

/// The change of flags that is due.
pub(crate) fn work(monitor: Arc<Monitor>) -> Work {
    Box::new(move |draft| {
        let map = draft.state.osdmap();
        let due = due(map, &monitor.stats.lock());
        if due.is_empty() {
            return Outcome::silent(vec![]);
        }
        for (pool, full) in &due {
            let name = map.pool_name(*pool).unwrap_or_default();
            info!(pool = name, full, "pool quota");
        }
        let step = osd_step::step(map, draft.now, |inc| flag(map, inc, &due));
        let step = step.inspect_err(|e| warn!(error = %e, "the OSD map could not be changed"));
        Outcome::silent(step.into_iter().collect())
    })
}

fn flag(map: &OsdMap, incremental: &mut Incremental, due: &[(PoolId, bool)]) {
    for (id, full) in due {
        if let Some(pool) = incremental.edit_pool(map, *id) {
            pool.flags = if *full { pool.flags.with(FULL) } else { pool.flags.without(FULL) };
        }
    }
}

/// Pools whose flags do not say what their usage says.
fn due(map: &OsdMap, stats: &ClusterStats) -> Vec<(PoolId, bool)> {
    // A pool without quota and flag needs no sums.
    let concerned = |pool: &Pool| {
        pool.quota_max_bytes > 0 || pool.quota_max_objects > 0 || pool.flags.has(PoolFlags::FULL_QUOTA)
    };
    map.pools()
        .filter(|(_, pool)| concerned(pool))
        .map(|(id, pool)| (id, is_full(pool, &stats.pool(id)), pool.flags.has(PoolFlags::FULL_QUOTA)))
        .filter(|(_, full, flagged)| full != flagged)
        .map(|(id, full, _)| (id, full))
        .collect()
}

fn is_full(pool: &Pool, usage: &PoolUsage) -> bool {
    let reached = |limit: u64, used: u64| limit > 0 && used >= limit;
    reached(pool.quota_max_bytes, usage.sums.bytes) || reached(pool.quota_max_objects, usage.sums.objects)
}

#[cfg(test)]
mod tests {
    use sepiola_proto::ObjectSums;
    use serde_json::json;

    use super::*;
    use crate::testing::TestMon;

    #[test]
    fn a_pool_is_full_from_its_quota_on_and_no_longer_below_it() {
        let mut mon = TestMon::new();
        mon.boot(0);
        mon.output(json!({"prefix": "osd pool create", "pool": "p", "pg_num": 1}));
        let quota = |field: &str, val: &str| json!({"prefix": "osd pool set-quota", "pool": "p", "field": field, "val": val});
        let p = mon.state.osdmap().pool_by_name("p").unwrap();
        mon.report(0, 1, ObjectSums { bytes: 100, objects: 2, ..ObjectSums::default() });
        assert_eq!(due(mon.state.osdmap(), &mon.stats), [], "there is no quota");
        mon.output(quota("max_bytes", "101"));
        assert_eq!(due(mon.state.osdmap(), &mon.stats), [], "there is room");
        mon.output(quota("max_objects", "2"));
        let full = due(mon.state.osdmap(), &mon.stats);
        assert_eq!(full, [(p, true)]);

        let map = mon.state.osdmap();
        let mut incremental = map.next_incremental(mon.now);
        flag(map, &mut incremental, &full);
        let flagged = map.publish(incremental).unwrap().map;
        let flags = flagged.pool(p).unwrap().flags;
        assert!(flags.has(PoolFlags::FULL) && flags.has(PoolFlags::FULL_QUOTA));
        assert_eq!(due(&flagged, &mon.stats), [], "it is said already");
        mon.report(0, 1, ObjectSums { bytes: 50, objects: 1, ..ObjectSums::default() });
        assert_eq!(due(&flagged, &mon.stats), [(p, false)]);
    }
}
