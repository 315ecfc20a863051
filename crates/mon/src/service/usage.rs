//! STATFS and GET_POOL_STATS: usage for clients.

use sepiola_messages::{
    GetPoolStats, GetPoolStatsReply, ObjectStatSum, PaxosHeader, PoolStat, Statfs, StatfsReply,
};

use super::stats::{ClusterStats, PoolUsage};
use crate::state::MonState;

fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn pool_stat(usage: &PoolUsage) -> PoolStat {
    let sums = &usage.sums;
    PoolStat {
        sum: ObjectStatSum {
            num_bytes: signed(sums.bytes),
            num_objects: signed(sums.objects),
            num_object_clones: signed(sums.object_clones),
            num_object_copies: signed(sums.object_copies),
            num_objects_degraded: signed(sums.objects_degraded),
            num_objects_misplaced: signed(sums.objects_misplaced),
            num_objects_unfound: signed(sums.objects_unfound),
            num_objects_omap: signed(sums.objects_omap),
            num_omap_bytes: signed(sums.omap_bytes),
            num_omap_keys: signed(sums.omap_keys),
            num_rd: signed(sums.reads),
            num_rd_kb: signed(sums.read_kb),
            num_wr: signed(sums.writes),
            num_wr_kb: signed(sums.write_kb),
            ..ObjectStatSum::default()
        },
        log_size: signed(usage.log_size),
        ondisk_log_size: signed(usage.log_size),
        up: i32::try_from(usage.up).unwrap_or(i32::MAX),
        acting: i32::try_from(usage.acting).unwrap_or(i32::MAX),
        ..PoolStat::default()
    }
}

/// Usage of the cluster or, if one is named, of a pool. The sizes of a pool are those of the cluster it
/// shares.
pub(crate) fn statfs(state: &MonState, stats: &ClusterStats, request: &Statfs) -> StatfsReply {
    let map = state.osdmap();
    let space = stats.space();
    let mut reply = StatfsReply {
        fsid: state.fsid(),
        version: stats.version(),
        kb: space.total / 1024,
        kb_used: space.used() / 1024,
        kb_avail: space.available / 1024,
        num_objects: 0,
    };
    let of_pool = |id| stats.pool(id).sums;
    match request.pool {
        Some(id) => {
            let sums = of_pool(id);
            (reply.kb_used, reply.num_objects) = (sums.bytes.div_ceil(1024), sums.objects);
            reply.kb = reply.kb_used.saturating_add(reply.kb_avail);
        }
        None => reply.num_objects = map.pools().map(|(id, _)| of_pool(id).objects).sum(),
    }
    reply
}

/// Statistics of the pools that are named and exist.
pub(crate) fn pool_stats(
    state: &MonState,
    stats: &ClusterStats,
    request: &GetPoolStats,
) -> GetPoolStatsReply {
    let map = state.osdmap();
    let pools = request.pools.iter().filter_map(|name| {
        let id = map.pool_by_name(name)?;
        Some((name.clone(), pool_stat(&stats.pool(id))))
    });
    GetPoolStatsReply {
        paxos: PaxosHeader { version: stats.version() },
        fsid: state.fsid(),
        pools: pools.collect(),
        per_pool: false,
    }
}
