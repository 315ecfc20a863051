//! Pools as they are listed: names, lines and JSON.

use sepiola_osdmap::{OsdMap, Pool, PoolFlags, PoolKind};
use sepiola_wire::PoolId;
use serde_json::{Value, json};

use super::{
    Command, Context, Reply, Run,
    signature::{Args, Kind, opt},
};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "osd lspools",
        args: &[],
        help: "numbers and names of pools",
        module: "osd",
        perm: "r",
        run: Run::Read(lspools),
    },
    Command {
        words: "osd pool ls",
        args: &[opt("detail", Kind::Choice("detail"))],
        help: "names of pools, or all there is to know of them",
        module: "osd",
        perm: "r",
        run: Run::Read(ls),
    },
];

fn name(map: &OsdMap, id: PoolId) -> &str {
    map.pool_name(id).unwrap_or("<unknown>")
}

fn lspools(cx: &Context<'_>, _: &Args) -> Reply {
    let map = cx.state.osdmap();
    let pools = map.pools().map(|(id, _)| (id, name(map, id)));
    if cx.plain() {
        return Reply::output(pools.map(|(id, name)| format!("{id} {name}\n")).collect::<String>());
    }
    let list: Vec<_> = pools.map(|(id, name)| json!({"poolnum": id.0, "poolname": name})).collect();
    cx.json(&json!(list), true)
}

fn ls(cx: &Context<'_>, args: &Args) -> Reply {
    let map = cx.state.osdmap();
    let detail = args.text("detail").is_some();
    if !cx.plain() {
        let one = |(id, pool): (PoolId, &Pool)| {
            if detail { listed(pool_json(map, id, pool)) } else { name(map, id).into() }
        };
        return cx.json(&Value::Array(map.pools().map(one).collect()), false);
    }
    if detail {
        return Reply::output(pool_lines(map) + "\n");
    }
    Reply::output(map.pools().map(|(id, _)| format!("{}\n", name(map, id))).collect::<String>())
}

/// A pool as lists have it: they call its number otherwise than dumps do.
fn listed(pool: Value) -> Value {
    let Value::Object(fields) = pool else { return pool };
    let renamed = fields.into_iter().map(|(key, value)| match key.as_str() {
        "pool" => ("pool_id".to_owned(), value),
        _ => (key, value),
    });
    Value::Object(renamed.collect())
}

/// One line a pool, as dumps and detailed lists have it.
pub(super) fn pool_lines(map: &OsdMap) -> String {
    map.pools().map(|(id, pool)| format!("pool {id} '{}' {}\n", name(map, id), pool_text(pool))).collect()
}

fn autoscale_mode(pool: &Pool) -> &'static str {
    match pool.pg_autoscale_mode {
        0 => "off",
        1 => "warn",
        2 => "on",
        _ => "???",
    }
}

fn pool_text(pool: &Pool) -> String {
    let kind = match pool.kind {
        PoolKind::Replicated => "replicated",
        PoolKind::Erasure => "erasure",
    };
    let mut text = format!(
        "{kind} size {} min_size {} crush_rule {} object_hash rjenkins pg_num {} pgp_num {} autoscale_mode {} \
         last_change {}",
        pool.size,
        pool.min_size,
        pool.crush_rule,
        pool.pg_num,
        pool.pgp_num,
        autoscale_mode(pool),
        pool.last_change,
    );
    if pool.flags != PoolFlags::NONE {
        text += &format!(" flags {}", pool.flags);
    }
    if pool.quota_max_bytes > 0 {
        text += &format!(" max_bytes {}", pool.quota_max_bytes);
    }
    if pool.quota_max_objects > 0 {
        text += &format!(" max_objects {}", pool.quota_max_objects);
    }
    text += &format!(" stripe_width {}", pool.stripe_width);
    if !pool.application_metadata.is_empty() {
        let apps: Vec<_> = pool.application_metadata.keys().map(String::as_str).collect();
        text += &format!(" application {}", apps.join(","));
    }
    text
}

/// A pool as JSON dumps have it.
pub(super) fn pool_json(map: &OsdMap, id: PoolId, pool: &Pool) -> Value {
    let peering = pool.peering_crush;
    let snaps: Vec<_> = pool
        .snaps
        .values()
        .map(|snap| json!({"snapid": snap.id.0, "stamp": snap.stamp.to_string(), "name": snap.name}))
        .collect();
    let merge = &pool.last_pg_merge;
    let snap_mode = if pool.flags.has(PoolFlags::POOL_SNAPS) { "pool" } else { "selfmanaged" };
    json!({
        "pool": id.0,
        "pool_name": name(map, id),
        "create_time": pool.create_time.to_string(),
        "flags": pool.flags.0,
        "flags_names": pool.flags.to_string(),
        "type": pool.kind as u8,
        "size": pool.size,
        "min_size": pool.min_size,
        "crush_rule": pool.crush_rule,
        "peering_crush_bucket_count": peering.map_or(0, |p| p.bucket_count),
        "peering_crush_bucket_target": peering.map_or(0, |p| p.bucket_target),
        "peering_crush_bucket_barrier": peering.map_or(0, |p| p.bucket_barrier),
        "peering_crush_bucket_mandatory_member": peering.map_or(i32::MAX, |p| p.mandatory_member),
        "object_hash": pool.object_hash,
        "pg_autoscale_mode": autoscale_mode(pool),
        "pg_num": pool.pg_num,
        "pg_placement_num": pool.pgp_num,
        "pg_placement_num_target": pool.pgp_num_target,
        "pg_num_target": pool.pg_num_target,
        "pg_num_pending": pool.pg_num_pending,
        "last_pg_merge_meta": {
            "source_pgid": merge.source.to_string(),
            "ready_epoch": merge.ready_epoch.0,
            "last_epoch_started": merge.last_epoch_started.0,
            "last_epoch_clean": merge.last_epoch_clean.0,
            "source_version": merge.source_version.to_string(),
            "target_version": merge.target_version.to_string(),
        },
        "last_change": pool.last_change.to_string(),
        "last_force_op_resend": pool.last_force_op_resend.to_string(),
        "last_force_op_resend_prenautilus": pool.last_force_op_resend_prenautilus.to_string(),
        "last_force_op_resend_preluminous": pool.last_force_op_resend_preluminous.to_string(),
        "auid": pool.auid,
        "snap_mode": snap_mode,
        "snap_seq": pool.snap_seq.0,
        "snap_epoch": pool.snap_epoch.0,
        "pool_snaps": snaps,
        "removed_snaps": "[]",
        "quota_max_bytes": pool.quota_max_bytes,
        "quota_max_objects": pool.quota_max_objects,
        "tiers": pool.tiers,
        "tier_of": pool.tier_of.0,
        "read_tier": pool.read_tier.0,
        "write_tier": pool.write_tier.0,
        "cache_mode": "none",
        "target_max_bytes": pool.target_max_bytes,
        "target_max_objects": pool.target_max_objects,
        "cache_target_dirty_ratio_micro": pool.cache_target_dirty_ratio_micro,
        "cache_target_dirty_high_ratio_micro": pool.cache_target_dirty_high_ratio_micro,
        "cache_target_full_ratio_micro": pool.cache_target_full_ratio_micro,
        "cache_min_flush_age": pool.cache_min_flush_age,
        "cache_min_evict_age": pool.cache_min_evict_age,
        "erasure_code_profile": pool.erasure_code_profile,
        "hit_set_params": {"type": "none"},
        "hit_set_period": pool.hit_set_period,
        "hit_set_count": pool.hit_set_count,
        "use_gmt_hitset": pool.use_gmt_hitset,
        "min_read_recency_for_promote": pool.min_read_recency_for_promote,
        "min_write_recency_for_promote": pool.min_write_recency_for_promote,
        "hit_set_grade_decay_rate": pool.hit_set_grade_decay_rate,
        "hit_set_search_last_n": pool.hit_set_search_last_n,
        "grade_table": [],
        "stripe_width": pool.stripe_width,
        "expected_num_objects": pool.expected_num_objects,
        "fast_read": pool.fast_read,
        "options": {},
        "application_metadata": pool.application_metadata,
    })
}
