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
    help: "show cluster free space stats",
    module: "mon",
    perm: "r",
    run: Run::Read(df),
}];

/// What a pool can still take: what is free below the full ratio, divided by the copies.
fn max_avail(space: &Space, full_ratio: f32, pool: &Pool) -> u64 {
    let reserve = (space.total as f64 * (1.0 - f64::from(full_ratio))) as u64;
    space.available.saturating_sub(reserve) / u64::from(pool.size.max(1))
}

fn df(cx: &Context<'_>, _: &Args) -> Reply {
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
                json!({
                    "name": name,
                    "id": id.0,
                    "stats": {
                        "stored": sums.bytes,
                        "objects": sums.objects,
                        "kb_used": used.div_ceil(1024),
                        "bytes_used": used,
                        "percent_used": if whole == 0 { 0.0 } else { used as f64 / whole as f64 },
                        "max_avail": avail,
                    },
                })
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
    let mut by_pool = Table::new(&[
        ("POOL", Left, Left),
        ("ID", Right, Right),
        ("PGS", Right, Right),
        ("STORED", Right, Right),
        ("OBJECTS", Right, Right),
        ("USED", Right, Right),
        ("%USED", Right, Right),
        ("MAX AVAIL", Right, Right),
    ]);
    for (id, name, pool, sums, avail) in pools {
        let used = sums.bytes.saturating_mul(pool.size.into());
        by_pool.row([
            name,
            id.to_string(),
            pool.pg_num.to_string(),
            bytes(sums.bytes),
            count(sums.objects),
            bytes(used),
            percent(used, used.saturating_add(avail)),
            bytes(avail),
        ]);
    }
    Reply::output(format!("--- RAW STORAGE ---\n{} \n--- POOLS ---\n{}", raw.render(), by_pool.render()))
}
