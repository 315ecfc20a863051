//! `pg ls`, `pg dump`, `pg map`: pgs by themselves.

use sepiola_messages::pg_state;
use sepiola_osdmap::Pool;
use sepiola_proto::ObjectSums;
use sepiola_wire::{Errno, OsdId, PgId, PoolId};
use serde_json::{Value, json};

use super::{
    Command, Context, Reply, Run,
    format::{
        Align::{self, Left, Right},
        Table, age, numbers, primary,
    },
    pg_json,
    signature::{Args, Kind, any, opt, req},
};
use crate::service::stats::{KnownPg, PoolUsage, add_sums};
use sepiola_config::units::bytes;

const STATES: super::Arg = any("states", Kind::Text);

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "pg ls",
        args: &[opt("pool", Kind::Int(0)), STATES],
        help: "pgs, of a pool or in states if so asked",
        module: "pg",
        perm: "r",
        run: Run::Read(|cx, args| ls(cx, args, |pg| of_pool(args, pg))),
    },
    Command {
        words: "pg ls-by-pool",
        args: &[req("poolstr", Kind::Text), STATES],
        help: "pgs of a pool",
        module: "pg",
        perm: "r",
        run: Run::Read(ls_by_pool),
    },
    Command {
        words: "pg ls-by-osd",
        args: &[req("osd", Kind::Osd), opt("pool", Kind::Int(0)), STATES],
        help: "pgs that an OSD serves",
        module: "pg",
        perm: "r",
        run: Run::Read(|cx, args| {
            let osd = OsdId(args.osd("osd").unwrap_or(-1));
            let on = |pg: &Pg<'_>| cx.state.osdmap().pg_to_up_acting(pg.id).acting.contains(&osd);
            ls(cx, args, |pg| of_pool(args, pg) && on(pg))
        }),
    },
    Command {
        words: "pg ls-by-primary",
        args: &[req("osd", Kind::Osd), opt("pool", Kind::Int(0)), STATES],
        help: "pgs that an OSD is the primary of",
        module: "pg",
        perm: "r",
        run: Run::Read(|cx, args| {
            let osd = args.osd("osd").map(OsdId);
            let on = |pg: &Pg<'_>| cx.state.osdmap().pg_to_up_acting(pg.id).acting_primary == osd;
            ls(cx, args, |pg| of_pool(args, pg) && on(pg))
        }),
    },
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
    Command {
        words: "pg map",
        args: &[req("pgid", Kind::Pg)],
        help: "OSDs that a pg is on",
        module: "pg",
        perm: "r",
        run: Run::Read(map),
    },
];

/// A pg that exists, with what is known of it.
struct Pg<'a> {
    id: PgId,
    pool: &'a Pool,
    state: String,
    known: Option<KnownPg<'a>>,
}

impl Pg<'_> {
    fn sums(&self) -> ObjectSums {
        self.known.and_then(|pg| pg.stats.sums).unwrap_or_default()
    }

    fn log_size(&self) -> u64 {
        self.known.map_or(0, |pg| pg.stats.log_size)
    }

    fn version(&self) -> String {
        self.known.map_or_else(|| "0'0".to_owned(), |pg| pg_json::version(pg.stats))
    }

    fn reported(&self) -> String {
        self.known.map_or_else(
            || "0:0".to_owned(),
            |pg| format!("{}:{}", pg.stats.reported_epoch, pg.stats.reported_seq),
        )
    }

    fn json(&self, cx: &Context<'_>) -> Value {
        pg_json::pg(cx, self.id, &self.state, self.known, self.pool.create_time)
    }

    fn has_state(&self, name: &str) -> bool {
        self.state.split('+').any(|state| state == name)
    }
}

/// All pgs, by pool and number.
fn pgs<'a>(cx: &'a Context<'_>) -> impl Iterator<Item = Pg<'a>> {
    let map = cx.state.osdmap();
    map.pgs().map(move |(id, pool)| {
        let state = pg_state::to_text(cx.stats.pg_state(id, |osd| map.is_up(osd)));
        Pg { id, pool, state, known: cx.stats.pg(id) }
    })
}

/// Sums over all pools.
pub(super) fn total(cx: &Context<'_>) -> PoolUsage {
    cx.state.osdmap().pools().fold(PoolUsage::default(), |mut total, (id, _)| {
        let pool = cx.stats.pool(id);
        add_sums(&mut total.sums, &pool.sums);
        total.log_size += pool.log_size;
        total.up += pool.up;
        total.acting += pool.acting;
        total
    })
}

/// A document, compact unless pretty JSON was asked for.
fn as_json(cx: &Context<'_>, value: &Value) -> Reply {
    cx.json(value, true)
}

fn of_pool(args: &Args, pg: &Pg<'_>) -> bool {
    args.int("pool").is_none_or(|pool| pool == pg.id.pool.0)
}

fn ls_by_pool(cx: &Context<'_>, args: &Args) -> Reply {
    let name = args.required("poolstr");
    match cx.state.osdmap().pool_by_name(name) {
        Some(pool) => ls(cx, args, |pg| pg.id.pool == pool),
        None => Reply::error(Errno::ENOENT, format!("pool {name} does not exist")),
    }
}

/// OSDs in brackets.
fn set(osds: &[OsdId]) -> String {
    let osds: Vec<_> = osds.iter().map(|osd| osd.0.to_string()).collect();
    format!("[{}]", osds.join(","))
}

fn table(first: (&str, Align, Align), titles: &[&str]) -> Table {
    let rest = titles.iter().map(|title| (*title, Left, Right));
    Table::new(&[first].into_iter().chain(rest).collect::<Vec<_>>())
}

/// What stands below tables with sums of omaps.
const OMAP_NOTE: &str = "\n* NOTE: OMAP_BYTES and OMAP_KEYS are what the primaries have reported; other clusters count them in deep scrubs.\n";

fn ls(cx: &Context<'_>, args: &Args, wanted: impl Fn(&Pg<'_>) -> bool) -> Reply {
    let states = args.texts("states");
    let in_state = |pg: &Pg<'_>| states.is_empty() || states.iter().any(|s| s == "all" || pg.has_state(s));
    let pgs = pgs(cx).filter(|pg| wanted(pg) && in_state(pg));
    if !cx.plain() {
        let pgs: Vec<_> = pgs.map(|pg| pg.json(cx)).collect();
        return as_json(cx, &json!({"pg_ready": true, "pg_stats": pgs}));
    }
    let mut table = table(
        ("PG", Left, Left),
        &[
            "OBJECTS",
            "DEGRADED",
            "MISPLACED",
            "UNFOUND",
            "BYTES",
            "OMAP_BYTES*",
            "OMAP_KEYS*",
            "LOG",
            "STATE",
            "SINCE",
            "VERSION",
            "REPORTED",
            "UP",
            "ACTING",
            "SCRUB_STAMP",
            "DEEP_SCRUB_STAMP",
        ],
    );
    for pg in pgs {
        let (sums, placed) = (pg.sums(), cx.state.osdmap().pg_to_up_acting(pg.id));
        let since = pg.known.map_or(pg.pool.create_time, |known| known.since);
        let stamp = pg.pool.create_time.to_string();
        table.row([
            pg.id.to_string(),
            sums.objects.to_string(),
            sums.objects_degraded.to_string(),
            sums.objects_misplaced.to_string(),
            sums.objects_unfound.to_string(),
            sums.bytes.to_string(),
            sums.omap_bytes.to_string(),
            sums.omap_keys.to_string(),
            pg.log_size().to_string(),
            pg.state.clone(),
            age(cx.now.saturating_since(since).as_secs()),
            pg.version(),
            pg.reported(),
            format!("{}p{}", set(&placed.up), primary(placed.up_primary)),
            format!("{}p{}", set(&placed.acting), primary(placed.acting_primary)),
            stamp.clone(),
            stamp,
        ]);
    }
    Reply::output(table.render() + OMAP_NOTE)
}

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
        "pgs_brief" => brief_table(cx),
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

fn brief_table(cx: &Context<'_>) -> String {
    let titles = ["STATE", "UP", "UP_PRIMARY", "ACTING", "ACTING_PRIMARY"];
    let mut table = table(("PG_STAT", Left, Left), &titles);
    for pg in pgs(cx) {
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
    let mut out = String::new();
    if !pgs.is_empty() {
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
        out = table.render();
    }
    Reply::output(out).with_status("ok")
}

fn map(cx: &Context<'_>, args: &Args) -> Reply {
    let (map, raw) = (cx.state.osdmap(), args.pg("pgid").unwrap_or(PgId::new(PoolId(-1), 0)));
    let Some(id) = map.fold_pg(raw) else {
        return Reply::error(Errno::ENOENT, format!("pg '{raw}' does not exist"));
    };
    let placed = map.pg_to_up_acting(id);
    if !cx.plain() {
        let found = json!({
            "epoch": map.epoch().0,
            "raw_pgid": raw.to_string(),
            "pgid": id.to_string(),
            "up": numbers(&placed.up),
            "acting": numbers(&placed.acting),
        });
        return cx.json(&found, true);
    }
    Reply::output(format!(
        "osdmap e{} pg {raw} ({id}) -> up {} acting {}\n",
        map.epoch(),
        set(&placed.up),
        set(&placed.acting)
    ))
}
