//! `pg dump` and its parts, and `pg dump_stuck`: tables of all pgs, pools and OSDs.

use sepiola_config::units::bytes;
use sepiola_proto::ObjectSums;
use serde_json::{Value, json};

use super::{
    Command, Context, Reply, Run,
    format::{Align::Left, primary},
    pg_json,
    pg_list::{OMAP_NOTE, Pg, as_json, pgs, set, table, total},
    signature::{Args, Kind, any, opt},
};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "pg dump",
        args: &[any("dumpcontents", Kind::Choice("all|summary|sum|delta|pools|osds|pgs|pgs_brief"))],
        help: "all that is known of pgs, or a part of it",
        module: "pg",
        perm: "r",
        run: Run::Read(dump),
    },
    Command {
        words: "pg dump_json",
        args: &[any("dumpcontents", Kind::Choice("all|summary|sum|pools|osds|pgs"))],
        help: "all that is known of pgs, as JSON",
        module: "pg",
        perm: "r",
        run: Run::Read(|cx, _| as_json(cx, &whole(cx)).with_status("dumped all")),
    },
    Command {
        words: "pg dump_pools_json",
        args: &[],
        help: "sums by pool, as JSON",
        module: "pg",
        perm: "r",
        run: Run::Read(|cx, _| as_json(cx, &part(cx, "pools")).with_status("dumped pools")),
    },
    Command {
        words: "pg dump_stuck",
        args: &[
            any("stuckops", Kind::Choice("inactive|unclean|stale|undersized|degraded")),
            opt("threshold", Kind::Int(0)),
        ],
        help: "pgs that stay as they should not",
        module: "pg",
        perm: "r",
        run: Run::Read(stuck),
    },
];

fn pool_list(cx: &Context<'_>) -> Vec<Value> {
    cx.state.osdmap().pools().map(|(id, pool)| pg_json::pool(cx, id, pool)).collect()
}

fn osd_list(cx: &Context<'_>) -> Vec<Value> {
    super::osd::ids(cx).into_iter().map(|id| pg_json::osd(cx, id)).collect()
}

fn whole(cx: &Context<'_>) -> Value {
    let mut map = sums(cx);
    map["pg_stats"] = pgs(cx).map(|pg| pg.json(cx)).collect();
    map["pool_stats"] = pool_list(cx).into();
    map["osd_stats"] = osd_list(cx).into();
    map["pool_statfs"] = json!([]);
    json!({"pg_ready": true, "pg_map": map})
}

fn sums(cx: &Context<'_>) -> Value {
    json!({
        "version": cx.stats.version(),
        "stamp": cx.now.to_string(),
        "last_osdmap_epoch": 0,
        "last_pg_scan": 0,
        "pg_stats_sum": pg_json::total(cx),
        "osd_stats_sum": pg_json::osd_total(cx),
        "pg_stats_delta": pg_json::delta(),
    })
}

fn part(cx: &Context<'_>, what: &str) -> Value {
    match what {
        "pools" => json!({"pg_ready": true, "pool_stats": pool_list(cx)}),
        "osds" => json!({"pg_ready": true, "osd_stats": osd_list(cx), "pool_statfs": []}),
        "pgs" => json!({"pg_ready": true, "pg_stats": pgs(cx).map(|pg| pg.json(cx)).collect::<Vec<_>>()}),
        "pgs_brief" => {
            let brief = |pg: Pg<'_>| {
                let mut whole = pg.json(cx);
                let fields = ["pgid", "state", "up", "acting", "up_primary", "acting_primary"];
                Value::Object(
                    fields.map(|field| (field.to_owned(), whole[field].take())).into_iter().collect(),
                )
            };
            json!({"pg_ready": true, "pg_stats": pgs(cx).map(brief).collect::<Vec<_>>()})
        }
        "summary" | "sum" | "delta" => json!({"pg_ready": true, "pg_map": sums(cx)}),
        _ => whole(cx),
    }
}

fn dump(cx: &Context<'_>, args: &Args) -> Reply {
    let what = args.texts("dumpcontents");
    let what = what.first().map_or("all", String::as_str);
    let status = format!("dumped {what}");
    if !cx.plain() {
        return as_json(cx, &part(cx, what)).with_status(status);
    }
    let head =
        format!("version {}\nstamp {}\nlast_osdmap_epoch 0\nlast_pg_scan 0\n", cx.stats.version(), cx.now);
    let out = match what {
        "pools" => pool_table(cx) + OMAP_NOTE,
        "osds" => osd_table(cx, true),
        "pgs" => pg_table(cx) + OMAP_NOTE,
        "pgs_brief" => brief_table(cx, pgs(cx)),
        "summary" | "sum" | "delta" => head + &sum_table(cx) + &osd_table(cx, false) + OMAP_NOTE,
        _ => {
            let tables = [pg_table(cx), pool_table(cx), sum_table(cx), osd_table(cx, true)];
            head + &tables.join("\n") + OMAP_NOTE
        }
    };
    Reply::output(out).with_status(status)
}

const SUMS: [&str; 10] = [
    "OBJECTS",
    "MISSING_ON_PRIMARY",
    "DEGRADED",
    "MISPLACED",
    "UNFOUND",
    "BYTES",
    "OMAP_BYTES*",
    "OMAP_KEYS*",
    "LOG",
    "DISK_LOG",
];

fn sum_cells(sums: &ObjectSums, log_size: u64) -> [String; 10] {
    [
        sums.objects,
        0,
        sums.objects_degraded,
        sums.objects_misplaced,
        sums.objects_unfound,
        sums.bytes,
        sums.omap_bytes,
        sums.omap_keys,
        log_size,
        log_size,
    ]
    .map(|n| n.to_string())
}

fn pg_table(cx: &Context<'_>) -> String {
    let rest = [
        "STATE",
        "STATE_STAMP",
        "VERSION",
        "REPORTED",
        "UP",
        "UP_PRIMARY",
        "ACTING",
        "ACTING_PRIMARY",
        "LAST_SCRUB",
        "SCRUB_STAMP",
        "LAST_DEEP_SCRUB",
        "DEEP_SCRUB_STAMP",
        "SNAPTRIMQ_LEN",
    ];
    let mut table = table(("PG_STAT", Left, Left), &[&SUMS[..], &rest].concat());
    for pg in pgs(cx) {
        let placed = cx.state.osdmap().pg_to_up_acting(pg.id);
        let stamp = pg.pool.create_time.to_string();
        let since = pg.known.map_or(pg.pool.create_time, |known| known.since);
        let mut row = vec![pg.id.to_string()];
        row.extend(sum_cells(&pg.sums(), pg.log_size()));
        row.extend([
            pg.state.clone(),
            since.to_string(),
            pg.version(),
            pg.reported(),
            set(&placed.up),
            primary(placed.up_primary).to_string(),
            set(&placed.acting),
            primary(placed.acting_primary).to_string(),
            "0'0".to_owned(),
            stamp.clone(),
            "0'0".to_owned(),
            stamp,
            "0".to_owned(),
        ]);
        table.row(row);
    }
    table.render()
}

fn brief_table<'a>(cx: &Context<'_>, pgs: impl IntoIterator<Item = Pg<'a>>) -> String {
    let titles = ["STATE", "UP", "UP_PRIMARY", "ACTING", "ACTING_PRIMARY"];
    let mut table = table(("PG_STAT", Left, Left), &titles);
    for pg in pgs {
        let placed = cx.state.osdmap().pg_to_up_acting(pg.id);
        table.row([
            pg.id.to_string(),
            pg.state,
            set(&placed.up),
            primary(placed.up_primary).to_string(),
            set(&placed.acting),
            primary(placed.acting_primary).to_string(),
        ]);
    }
    table.render()
}

fn pool_table(cx: &Context<'_>) -> String {
    let mut table = table(("POOLID", Left, Left), &SUMS);
    for (id, _) in cx.state.osdmap().pools() {
        let usage = cx.stats.pool(id);
        table.row([id.to_string()].into_iter().chain(sum_cells(&usage.sums, usage.log_size)));
    }
    table.render()
}

fn sum_table(cx: &Context<'_>) -> String {
    let (mut table, total) = (table(("PG_STAT", Left, Left), &SUMS), total(cx));
    table.row(["sum".to_owned()].into_iter().chain(sum_cells(&total.sums, total.log_size)));
    table.render()
}

fn osd_table(cx: &Context<'_>, each: bool) -> String {
    let mut titles = vec!["USED", "AVAIL", "USED_RAW", "TOTAL"];
    if each {
        titles.extend(["HB_PEERS", "PG_SUM", "PRIMARY_PG_SUM"]);
    }
    let mut table = table(("OSD_STAT", Left, Left), &titles);
    let cells = |space: crate::service::stats::Space| {
        [space.used(), space.available, space.used(), space.total].map(bytes)
    };
    if each {
        for id in super::osd::ids(cx) {
            let primaries =
                pgs(cx).filter(|pg| cx.state.osdmap().pg_to_up_acting(pg.id).acting_primary == Some(id));
            let counts = [cx.stats.pgs_on(id), primaries.count()].map(|n| n.to_string());
            let row = [id.to_string()].into_iter().chain(cells(cx.stats.space_of(id)));
            table.row(row.chain(["[]".to_owned()]).chain(counts));
        }
    }
    let blanks = std::iter::repeat_n(String::new(), if each { 3 } else { 0 });
    table.row(["sum".to_owned()].into_iter().chain(cells(cx.stats.space())).chain(blanks));
    table.render()
}

/// For how long a pg must have been in its state to count as stuck: `mon_pg_stuck_threshold`.
const STUCK_SECONDS: i64 = 60;

fn stuck(cx: &Context<'_>, args: &Args) -> Reply {
    let kinds = args.texts("stuckops");
    let threshold = args.int("threshold").unwrap_or(STUCK_SECONDS);
    let is = |pg: &Pg<'_>, kind: &str| match kind {
        "inactive" => !pg.has_state("active"),
        "unclean" => !pg.has_state("clean"),
        state => pg.has_state(state),
    };
    let wanted = |pg: &Pg<'_>| match kinds.as_slice() {
        [] => is(pg, "unclean"),
        kinds => kinds.iter().any(|kind| is(pg, kind)),
    };
    let since = |pg: &Pg<'_>| pg.known.map_or(pg.pool.create_time, |known| known.since);
    let long =
        |pg: &Pg<'_>| i128::from(cx.now.saturating_since(since(pg)).as_secs()) >= i128::from(threshold);
    let pgs: Vec<_> = pgs(cx).filter(|pg| wanted(pg) && long(pg)).collect();
    if !cx.plain() {
        let stuck: Vec<_> = pgs.iter().map(|pg| pg.json(cx)).collect();
        return as_json(cx, &json!({"pg_ready": true, "stuck_pg_stats": stuck})).with_status("ok");
    }
    let out = if pgs.is_empty() { String::new() } else { brief_table(cx, pgs) };
    Reply::output(out).with_status("ok")
}
