//! `df`: space by pool.

use sepiola_config::units::{bytes, count};
use sepiola_osdmap::Pool;
use serde_json::json;

use super::{
    Command, Context, Reply, Run,
    format::{Align, Table, percent},
    signature::{Args, Kind, opt},
    status::{OsdCounts, Usage},
};
use crate::service::stats::Space;

pub(super) const COMMANDS: &[Command] = &[Command {
    words: "df",
    args: &[opt("detail", Kind::Choice("detail"))],
    help: "how much is stored, in all and by pool, and how much more can be",
    module: "mon",
    perm: "r",
    run: Run::Read(df),
}];

/// What a pool can still take: what is free below the full ratio, divided by the copies.
fn max_avail(space: &Space, full_ratio: f32, pool: &Pool) -> u64 {
    let reserve = (space.total as f64 * (1.0 - f64::from(full_ratio))) as u64;
    space.available.saturating_sub(reserve) / u64::from(pool.size.max(1))
}

fn df(cx: &Context<'_>, args: &Args) -> Reply {
    let detail = args.text("detail").is_some();
    let map = cx.state.osdmap();
    let space = Usage::of(cx).space;
    let full = map.full_ratios().full;
    let pools = map.pools().map(|(id, pool)| {
        let name = map.pool_name(id).unwrap_or_default().to_owned();
        (id, name, pool, cx.stats.pool(id).sums, max_avail(&space, full, pool))
    });
    if !cx.plain() {
        let ratio = if space.total == 0 { 0.0 } else { space.used() as f64 / space.total as f64 };
        let pools: Vec<_> = pools
            .map(|(id, name, pool, sums, avail)| {
                let used = sums.bytes.saturating_mul(pool.size.into());
                let whole = used.saturating_add(avail);
                let percent_used = if whole == 0 { 0.0 } else { used as f64 / whole as f64 };
                let stats = if detail {
                    json!({
                        "stored": sums.bytes,
                        "stored_data": sums.bytes,
                        "stored_omap": sums.omap_bytes,
                        "objects": sums.objects,
                        "kb_used": used.div_ceil(1024),
                        "bytes_used": used,
                        "data_bytes_used": used,
                        "omap_bytes_used": sums.omap_bytes,
                        "percent_used": percent_used,
                        "max_avail": avail,
                        "quota_objects": pool.quota_max_objects,
                        "quota_bytes": pool.quota_max_bytes,
                        "dirty": 0,
                        "rd": sums.reads,
                        "rd_bytes": sums.read_kb.saturating_mul(1024),
                        "wr": sums.writes,
                        "wr_bytes": sums.write_kb.saturating_mul(1024),
                        "compress_bytes_used": 0,
                        "compress_under_bytes": 0,
                        "stored_raw": used,
                        "avail_raw": avail,
                    })
                } else {
                    json!({
                        "stored": sums.bytes,
                        "objects": sums.objects,
                        "kb_used": used.div_ceil(1024),
                        "bytes_used": used,
                        "percent_used": percent_used,
                        "max_avail": avail,
                    })
                };
                json!({"name": name, "id": id.0, "stats": stats})
            })
            .collect();
        let df = json!({
            "stats": {
                "total_bytes": space.total,
                "total_avail_bytes": space.available,
                "total_used_bytes": space.used(),
                "total_used_raw_bytes": space.used(),
                "total_used_raw_ratio": ratio,
                "num_osds": OsdCounts::of(cx).total,
                "num_per_pool_osds": 0,
                "num_per_pool_omap_osds": 0,
            },
            "stats_by_class": {},
            "pools": pools,
        });
        return cx.json(&df, true);
    }
    use Align::{Left, Right};
    let mut raw = Table::new(&[
        ("CLASS", Left, Left),
        ("SIZE", Right, Right),
        ("AVAIL", Right, Right),
        ("USED", Right, Right),
        ("RAW USED", Right, Right),
        ("%RAW USED", Right, Right),
    ]);
    raw.row([
        "TOTAL".to_owned(),
        bytes(space.total),
        bytes(space.available),
        bytes(space.used()),
        bytes(space.used()),
        percent(space.used(), space.total),
    ]);
    let mut columns = vec![("POOL", Left, Left), ("ID", Right, Right), ("PGS", Right, Right)];
    let parts = [("(DATA)", Right, Right), ("(OMAP)", Right, Right)];
    columns.push(("STORED", Right, Right));
    columns.extend(parts.iter().filter(|_| detail));
    columns.extend([("OBJECTS", Right, Right), ("USED", Right, Right)]);
    columns.extend(parts.iter().filter(|_| detail));
    columns.extend([("%USED", Right, Right), ("MAX AVAIL", Right, Right)]);
    if detail {
        let more = ["QUOTA OBJECTS", "QUOTA BYTES", "DIRTY", "USED COMPR", "UNDER COMPR"];
        columns.extend(more.map(|title| (title, Right, Right)));
    }
    let mut by_pool = Table::new(&columns);
    for (id, name, pool, sums, avail) in pools {
        let used = sums.bytes.saturating_mul(pool.size.into());
        let mut row = vec![name, id.to_string(), pool.pg_num.to_string(), bytes(sums.bytes)];
        let omap = bytes(sums.omap_bytes);
        row.extend([bytes(sums.bytes), omap.clone()].into_iter().filter(|_| detail));
        row.extend([count(sums.objects), bytes(used)]);
        row.extend([bytes(used), omap].into_iter().filter(|_| detail));
        row.extend([percent(used, used.saturating_add(avail)), bytes(avail)]);
        if detail {
            let quota = |limit: u64, text: fn(u64) -> String| {
                if limit == 0 { "N/A".to_owned() } else { text(limit) }
            };
            row.extend([
                quota(pool.quota_max_objects, count),
                quota(pool.quota_max_bytes, bytes),
                "N/A".to_owned(),
                bytes(0),
                bytes(0),
            ]);
        }
        by_pool.row(row);
    }
    Reply::output(format!("--- RAW STORAGE ---\n{} \n--- POOLS ---\n{}", raw.render(), by_pool.render()))
}
