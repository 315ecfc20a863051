//! `osd`: questions about OSDs and placement.

use std::fmt::Write as _;

use sepiola_config::units::bytes;
use sepiola_wire::{Errno, OsdId};
use serde_json::{Value, json};

use super::{
    Command, Context, Reply, Run, format,
    format::{Align, Table},
    osd_tree,
    signature::{Args, Kind, opt, req},
    status::OsdCounts,
};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "osd stat",
        args: &[],
        help: "print summary of OSD map",
        module: "osd",
        perm: "r",
        run: Run::Read(stat),
    },
    Command {
        words: "osd ls",
        args: &[opt("epoch", Kind::Int(0))],
        help: "show all OSD ids",
        module: "osd",
        perm: "r",
        run: Run::Read(ls),
    },
    Command {
        words: "osd map",
        args: &[req("pool", Kind::Pool), req("object", Kind::Object), opt("nspace", Kind::Text)],
        help: "find pg for <object> in <pool> with [namespace]",
        module: "osd",
        perm: "r",
        run: Run::Read(map),
    },
    Command {
        words: "osd getmap",
        args: &[opt("epoch", Kind::Int(0))],
        help: "get OSD map",
        module: "osd",
        perm: "r",
        run: Run::Read(getmap),
    },
    Command {
        words: "osd df",
        args: &[
            opt("output_method", Kind::Choice("plain|tree")),
            opt("filter_by", Kind::Choice("class|name")),
            opt("filter", Kind::Text),
        ],
        help: "show OSD utilization",
        module: "osd",
        perm: "r",
        run: Run::Read(df),
    },
];

fn stat(cx: &Context<'_>, _: &Args) -> Reply {
    let (counts, epoch) = (OsdCounts::of(cx), cx.state.osdmap().epoch());
    if cx.plain() {
        Reply::output(format!("{}; epoch: e{epoch}\n", counts.text(cx.now)))
    } else {
        cx.json(&counts.json(epoch.0), true)
    }
}

/// The OSDs that exist.
pub(super) fn ids(cx: &Context<'_>) -> Vec<OsdId> {
    cx.state.osdmap().osds().map(|(id, _)| id).collect()
}

fn ls(cx: &Context<'_>, _: &Args) -> Reply {
    let ids = ids(cx);
    if !cx.plain() {
        return cx.json(&ids.iter().map(|id| id.0).collect::<Vec<_>>().into(), true);
    }
    Reply::output(ids.iter().fold(String::new(), |mut out, id| {
        let _ = writeln!(out, "{id}");
        out
    }))
}

fn map(cx: &Context<'_>, args: &Args) -> Reply {
    let (map, name, object) = (cx.state.osdmap(), args.required("pool"), args.required("object"));
    let nspace = args.required("nspace");
    let Some((id, pool)) = super::pool::find(map, name) else {
        return Reply::error(Errno::ENOENT, format!("pool {name} does not exist"));
    };
    let hash = pool.object_hash(object.as_bytes(), b"", nspace.as_bytes());
    let raw = sepiola_wire::PgId::new(id, hash);
    let pg = sepiola_wire::PgId::new(id, pool.fold(hash));
    let placed = map.pg_to_up_acting(pg);
    let numbers = |osds: &[OsdId]| osds.iter().map(|o| o.0).collect::<Vec<_>>();
    let (up, acting) = (numbers(&placed.up), numbers(&placed.acting));
    let (up_primary, acting_primary) = (primary(placed.up_primary), primary(placed.acting_primary));
    let shown = if nspace.is_empty() { object.to_owned() } else { format!("{nspace}/{object}") };
    if !cx.plain() {
        let found = json!({
            "epoch": map.epoch().0,
            "pool": name,
            "pool_id": id.0,
            "objname": shown,
            "raw_pgid": raw.to_string(),
            "pgid": pg.to_string(),
            "up": up,
            "up_primary": up_primary,
            "acting": acting,
            "acting_primary": acting_primary,
        });
        return cx.json(&found, false);
    }
    let list = |osds: &[i32]| osds.iter().map(i32::to_string).collect::<Vec<_>>().join(",");
    Reply::output(format!(
        "osdmap e{} pool '{name}' ({id}) object '{shown}' -> pg {raw} ({pg}) -> up ([{}], p{up_primary}) acting ([{}], p{acting_primary})\n",
        map.epoch(),
        list(&up),
        list(&acting),
    ))
}

fn primary(osd: Option<OsdId>) -> i32 {
    osd.map_or(-1, |osd| osd.0)
}

fn getmap(cx: &Context<'_>, args: &Args) -> Reply {
    let maps = cx.state.osd_maps();
    if args.int("epoch").is_some_and(|e| e != 0 && e != i64::from(maps.epoch().0)) {
        return Reply::error(Errno::ENOENT, "there is no full map for that epoch");
    }
    Reply::output(maps.encoded().clone()).with_status(format!("got osdmap epoch {}", maps.epoch()))
}

fn df(cx: &Context<'_>, _: &Args) -> Reply {
    let map = cx.state.osdmap();
    let total = cx.stats.space();
    let share = |used: u64, total: u64| if total == 0 { 0.0 } else { used as f64 * 100.0 / total as f64 };
    let average = share(total.used(), total.total);
    let rows: Vec<_> = map
        .osds()
        .map(|(id, osd)| {
            let space = cx.stats.space_of(id);
            let usage = share(space.used(), space.total);
            let var = if average == 0.0 { 1.0 } else { usage / average };
            (id, osd, osd_tree::crush_weight(map.crush(), id), space, usage, var)
        })
        .collect();
    if !cx.plain() {
        let nodes: Vec<Value> = rows
            .iter()
            .map(|(id, osd, weight, space, usage, var)| {
                json!({
                    "id": id.0,
                    "device_class": osd_tree::device_class(map.crush(), *id),
                    "name": format!("osd.{id}"),
                    "type": "osd",
                    "type_id": 0,
                    "crush_weight": weight,
                    "depth": 0,
                    "pool_weights": {},
                    "reweight": format::weight(osd.weight),
                    "kb": space.total / 1024,
                    "kb_used": space.used() / 1024,
                    "kb_used_data": space.data / 1024,
                    "kb_used_omap": space.omap / 1024,
                    "kb_used_meta": space.metadata / 1024,
                    "kb_avail": space.available / 1024,
                    "utilization": usage,
                    "var": var,
                    "pgs": cx.stats.pgs_on(*id),
                    "status": if osd.is_up() { "up" } else { "down" },
                })
            })
            .collect();
        let df = json!({
            "nodes": nodes,
            "stray": [],
            "summary": {
                "total_kb": total.total / 1024,
                "total_kb_used": total.used() / 1024,
                "total_kb_used_data": total.data / 1024,
                "total_kb_used_omap": total.omap / 1024,
                "total_kb_used_meta": total.metadata / 1024,
                "total_kb_avail": total.available / 1024,
                "average_utilization": average,
            },
        });
        return cx.json(&df, true);
    }
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("ID", Left, Right),
        ("CLASS", Left, Right),
        ("WEIGHT", Left, Right),
        ("REWEIGHT", Left, Right),
        ("SIZE", Left, Right),
        ("RAW USE", Left, Right),
        ("DATA", Left, Right),
        ("OMAP", Left, Right),
        ("META", Left, Right),
        ("AVAIL", Left, Right),
        ("%USE", Left, Right),
        ("VAR", Left, Right),
        ("PGS", Left, Right),
        ("STATUS", Left, Right),
    ]);
    let percent = |p: f64| if p < 0.01 { "0".to_owned() } else { format!("{p:.2}") };
    for (id, osd, weight, space, usage, var) in &rows {
        table.row([
            id.to_string(),
            osd_tree::device_class(map.crush(), *id),
            format!("{weight:.5}"),
            format!("{:.5}", format::weight(osd.weight)),
            bytes(space.total),
            bytes(space.used()),
            bytes(space.data),
            bytes(space.omap),
            bytes(space.metadata),
            bytes(space.available),
            percent(*usage),
            format!("{var:.2}"),
            cx.stats.pgs_on(*id).to_string(),
            if osd.is_up() { "up" } else { "down" }.to_owned(),
        ]);
    }
    table.row([
        String::new(),
        String::new(),
        String::new(),
        "TOTAL".to_owned(),
        bytes(total.total),
        bytes(total.used()),
        bytes(total.data),
        bytes(total.omap),
        bytes(total.metadata),
        bytes(total.available),
        percent(average),
        String::new(),
        String::new(),
        String::new(),
    ]);
    let vars = || rows.iter().map(|row| row.5);
    let (min, max) = (vars().fold(f64::INFINITY, f64::min), vars().fold(0.0, f64::max));
    let min = if min.is_finite() { min } else { 0.0 };
    let spread = rows.iter().map(|row| (row.4 - average).powi(2)).sum::<f64>();
    let deviation = if rows.is_empty() { 0.0 } else { (spread / rows.len() as f64).sqrt() };
    Reply::output(format!(
        "{}MIN/MAX VAR: {min:.2}/{max:.2}  STDDEV: {}\n",
        table.render(),
        percent(deviation)
    ))
}
