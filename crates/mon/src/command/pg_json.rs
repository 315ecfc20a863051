//! Statistics of pgs, pools and OSDs as JSON dumps have them.

use sepiola_osdmap::Pool;
use sepiola_proto::{ObjectSums, StoreStatfs};
use sepiola_wire::{OsdId, PgId, UTime};
use serde_json::{Value, json};

use super::{
    Context,
    format::{numbers, primary},
};
use crate::service::stats::{KnownPg, PoolUsage, Space};

/// Sums over objects. What is not counted here is 0.
pub(super) fn stat_sum(sums: &ObjectSums) -> Value {
    let mut sum = json!({
        "num_bytes": sums.bytes,
        "num_objects": sums.objects,
        "num_object_clones": sums.object_clones,
        "num_object_copies": sums.object_copies,
        "num_objects_missing_on_primary": 0,
        "num_objects_missing": 0,
        "num_objects_degraded": sums.objects_degraded,
        "num_objects_misplaced": sums.objects_misplaced,
        "num_objects_unfound": sums.objects_unfound,
        "num_objects_dirty": sums.objects,
        "num_whiteouts": 0,
        "num_read": sums.reads,
        "num_read_kb": sums.read_kb,
        "num_write": sums.writes,
        "num_write_kb": sums.write_kb,
    });
    for name in [
        "num_scrub_errors",
        "num_shallow_scrub_errors",
        "num_deep_scrub_errors",
        "num_objects_recovered",
        "num_bytes_recovered",
        "num_keys_recovered",
    ] {
        sum[name] = 0.into();
    }
    sum["num_objects_omap"] = sums.objects_omap.into();
    for name in [
        "num_objects_hit_set_archive",
        "num_bytes_hit_set_archive",
        "num_flush",
        "num_flush_kb",
        "num_evict",
        "num_evict_kb",
        "num_promote",
        "num_flush_mode_high",
        "num_flush_mode_low",
        "num_evict_mode_some",
        "num_evict_mode_full",
        "num_objects_pinned",
        "num_legacy_snapsets",
        "num_large_omap_objects",
        "num_objects_manifest",
    ] {
        sum[name] = 0.into();
    }
    sum["num_omap_bytes"] = sums.omap_bytes.into();
    sum["num_omap_keys"] = sums.omap_keys.into();
    sum["num_objects_repaired"] = 0.into();
    sum
}

fn statfs(store: &StoreStatfs) -> Value {
    json!({
        "total": store.total,
        "available": store.available,
        "internally_reserved": store.internally_reserved,
        "allocated": store.allocated,
        "data_stored": store.data_stored,
        "data_compressed": 0,
        "data_compressed_allocated": 0,
        "data_compressed_original": 0,
        "omap_allocated": store.omap_allocated,
        "internal_metadata": store.internal_metadata,
    })
}

/// What pools and the cluster have about their pgs.
fn usage_json(usage: &PoolUsage) -> Value {
    json!({
        "stat_sum": stat_sum(&usage.sums),
        "store_stats": statfs(&StoreStatfs::default()),
        "log_size": usage.log_size,
        "ondisk_log_size": usage.log_size,
        "up": usage.up,
        "acting": usage.acting,
        "num_store_stats": 0,
    })
}

fn extended(mut object: Value, more: Value) -> Value {
    if let (Value::Object(object), Value::Object(more)) = (&mut object, more) {
        object.extend(more);
    }
    object
}

/// One pool.
pub(super) fn pool(cx: &Context<'_>, id: sepiola_wire::PoolId, pool: &Pool) -> Value {
    extended(json!({"poolid": id.0, "num_pg": pool.pg_num}), usage_json(&cx.stats.pool(id)))
}

/// All pools together.
pub(super) fn total(cx: &Context<'_>) -> Value {
    usage_json(&super::pg_list::total(cx))
}

/// What changed lately: rates are not measured.
pub(super) fn delta() -> Value {
    extended(usage_json(&PoolUsage::default()), json!({"stamp_delta": "0.000000"}))
}

fn osd_fields(space: &Space, store: &StoreStatfs, num_pgs: usize, num_osds: usize) -> Value {
    json!({
        "num_pgs": num_pgs,
        "num_osds": num_osds,
        "num_per_pool_osds": 0,
        "num_per_pool_omap_osds": 0,
        "kb": space.total / 1024,
        "kb_used": space.used() / 1024,
        "kb_used_data": space.data / 1024,
        "kb_used_omap": space.omap / 1024,
        "kb_used_meta": space.metadata / 1024,
        "kb_avail": space.available / 1024,
        "statfs": statfs(store),
        "hb_peers": [],
        "snap_trim_queue_len": 0,
        "num_snap_trimming": 0,
        "num_shards_repaired": 0,
        "op_queue_age_hist": {"histogram": [], "upper_bound": 1},
        "perf_stat": perf(),
        "alerts": [],
        "network_ping_times": [],
    })
}

/// Latencies of a store in memory.
pub(super) fn perf() -> Value {
    json!({
        "commit_latency_ms": 0,
        "apply_latency_ms": 0,
        "commit_latency_ns": 0,
        "apply_latency_ns": 0,
    })
}

/// One OSD.
pub(super) fn osd(cx: &Context<'_>, id: OsdId) -> Value {
    let up_from = cx.state.osdmap().osd(id).map_or(0, |osd| osd.info.up_from.0);
    let store = cx.stats.statfs_of(id).copied().unwrap_or_default();
    extended(
        json!({"osd": id.0, "up_from": up_from, "seq": cx.stats.seq_of(id)}),
        osd_fields(&cx.stats.space_of(id), &store, cx.stats.pgs_on(id), 1),
    )
}

/// All OSDs together.
pub(super) fn osd_total(cx: &Context<'_>) -> Value {
    let ids = super::osd::ids(cx);
    let store =
        ids.iter().filter_map(|id| cx.stats.statfs_of(*id)).fold(StoreStatfs::default(), |mut sum, s| {
            sum.total = sum.total.saturating_add(s.total);
            sum.available = sum.available.saturating_add(s.available);
            sum.allocated = sum.allocated.saturating_add(s.allocated);
            sum.data_stored = sum.data_stored.saturating_add(s.data_stored);
            sum
        });
    let num_pgs = ids.iter().map(|id| cx.stats.pgs_on(*id)).sum();
    extended(json!({"up_from": 0, "seq": 0}), osd_fields(&cx.stats.space(), &store, num_pgs, ids.len()))
}

/// One pg. A pg that nobody has reported has no statistics; times that are not kept are those of its state.
pub(super) fn pg(
    cx: &Context<'_>,
    id: PgId,
    state: &str,
    known: Option<KnownPg<'_>>,
    created: UTime,
) -> Value {
    let map = cx.state.osdmap();
    let placed = map.pg_to_up_acting(id);
    let since = known.map_or(created, |pg| pg.since).to_string();
    let (created, stats) = (created.to_string(), known.map(|pg| pg.stats));
    let version = stats.map_or_else(|| "0'0".to_owned(), version);
    let log_size = stats.map_or(0, |s| s.log_size);
    let first = json!({
        "pgid": id.to_string(),
        "version": version,
        "reported_seq": stats.map_or(0, |s| s.reported_seq),
        "reported_epoch": stats.map_or(0, |s| s.reported_epoch),
        "state": state,
        "last_fresh": cx.now.to_string(),
        "last_change": since,
        "last_active": cx.now.to_string(),
        "last_peered": cx.now.to_string(),
        "last_clean": cx.now.to_string(),
        "last_became_active": since,
        "last_became_peered": since,
        "last_unstale": cx.now.to_string(),
        "last_undegraded": cx.now.to_string(),
        "last_fullsized": cx.now.to_string(),
        "mapping_epoch": stats.map_or(0, |s| s.created_epoch),
        "log_start": "0'0",
        "ondisk_log_start": "0'0",
        "created": stats.map_or(0, |s| s.created_epoch),
        "last_epoch_clean": stats.map_or(0, |s| s.created_epoch),
        "parent": "0.0",
        "parent_split_bits": 0,
        "last_scrub": "0'0",
        "last_scrub_stamp": created,
        "last_deep_scrub": "0'0",
        "last_deep_scrub_stamp": created,
        "last_clean_scrub_stamp": created,
        "log_size": log_size,
        "ondisk_log_size": log_size,
    });
    let second = json!({
        "stats_invalid": false,
        "dirty_stats_invalid": false,
        "omap_stats_invalid": false,
        "hitset_stats_invalid": false,
        "hitset_bytes_stats_invalid": false,
        "pin_stats_invalid": false,
        "manifest_stats_invalid": false,
        "snaptrimq_len": 0,
        "stat_sum": stat_sum(&stats.and_then(|s| s.sums).unwrap_or_default()),
        "up": numbers(&placed.up),
        "acting": numbers(&placed.acting),
        "avail_no_missing": [],
        "object_location_counts": [],
        "blocked_by": [],
        "up_primary": primary(placed.up_primary),
        "acting_primary": primary(placed.acting_primary),
        "purged_snaps": [],
    });
    extended(first, second)
}

/// The pg's newest change, `EPOCH'VERSION`.
pub(super) fn version(stats: &sepiola_proto::PgStats) -> String {
    format!("{}'{}", stats.last_update_epoch, stats.last_update_version)
}
