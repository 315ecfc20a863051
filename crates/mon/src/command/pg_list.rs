//! `pg ls`: pgs by themselves.

use sepiola_messages::pg_state;
use sepiola_osdmap::Pool;
use sepiola_proto::ObjectSums;
use sepiola_wire::{Errno, OsdId, PgId};
use serde_json::{Value, json};

use super::{
    Command, Context, Reply, Run,
    format::{
        Align::{self, Left, Right},
        Table, age, primary,
    },
    pg_json,
    signature::{Args, Kind, any, opt, req},
};
use crate::service::stats::{KnownPg, PoolUsage, add_sums};

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
];

/// A pg that exists, with what is known of it.
pub(super) struct Pg<'a> {
    pub id: PgId,
    pub pool: &'a Pool,
    pub state: String,
    pub known: Option<KnownPg<'a>>,
}

impl Pg<'_> {
    pub fn sums(&self) -> ObjectSums {
        self.known.and_then(|pg| pg.stats.sums).unwrap_or_default()
    }

    pub fn log_size(&self) -> u64 {
        self.known.map_or(0, |pg| pg.stats.log_size)
    }

    pub fn version(&self) -> String {
        self.known.map_or_else(|| "0'0".to_owned(), |pg| pg_json::version(pg.stats))
    }

    pub fn reported(&self) -> String {
        self.known.map_or_else(
            || "0:0".to_owned(),
            |pg| format!("{}:{}", pg.stats.reported_epoch, pg.stats.reported_seq),
        )
    }

    pub fn json(&self, cx: &Context<'_>) -> Value {
        pg_json::pg(cx, self.id, &self.state, self.known, self.pool.create_time)
    }

    pub fn has_state(&self, name: &str) -> bool {
        self.state.split('+').any(|state| state == name)
    }
}

/// All pgs, by pool and number.
pub(super) fn pgs<'a>(cx: &'a Context<'_>) -> impl Iterator<Item = Pg<'a>> {
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
pub(super) fn as_json(cx: &Context<'_>, value: &Value) -> Reply {
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
pub(super) fn set(osds: &[OsdId]) -> String {
    let osds: Vec<_> = osds.iter().map(|osd| osd.0.to_string()).collect();
    format!("[{}]", osds.join(","))
}

pub(super) fn table(first: (&str, Align, Align), titles: &[&str]) -> Table {
    let rest = titles.iter().map(|title| (*title, Left, Right));
    Table::new(&[first].into_iter().chain(rest).collect::<Vec<_>>())
}

/// What stands below tables with sums of omaps.
pub(super) const OMAP_NOTE: &str = "\n* NOTE: OMAP_BYTES and OMAP_KEYS are what the primaries have reported; other clusters count them in deep scrubs.\n";

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
