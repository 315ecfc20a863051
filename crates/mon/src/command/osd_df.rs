//! `osd df`: how full OSDs are, by themselves or in their hierarchy.

use sepiola_config::units::bytes;
use sepiola_osdmap::crush::CrushMap;
use sepiola_wire::OsdId;
use serde_json::{Value, json};

use super::{
    Command, Context, Reply, Run,
    format::{
        Align::{Left, Right},
        Table, percentage, weight,
    },
    osd_tree::{Node, below, device_class, item_name, label, node_json, walk},
    signature::{Args, Kind, opt},
};
use crate::service::stats::Space;

pub(super) const COMMANDS: &[Command] = &[Command {
    words: "osd df",
    args: &[
        opt("output_method", Kind::Choice("plain|tree")),
        opt("filter_by", Kind::Choice("class|name")),
        opt("filter", Kind::Text),
    ],
    help: "how full OSDs are",
    module: "osd",
    perm: "r",
    run: Run::Read(df),
}];

struct Row {
    node: Node,
    space: Space,
    /// In percent.
    usage: f64,
    /// Usage over the average's.
    var: f64,
    pgs: usize,
}

fn share(space: &Space) -> f64 {
    if space.total == 0 { 0.0 } else { space.used() as f64 * 100.0 / space.total as f64 }
}

/// How full the OSDs are, in comparison with their average.
struct Utilization {
    rows: Vec<Row>,
    total: Space,
    average: f64,
}

impl Utilization {
    fn of(cx: &Context<'_>, args: &Args) -> Self {
        let map = cx.state.osdmap();
        let tree = args.text("output_method") == Some("tree");
        let wanted = |id: i32| map.exists(OsdId(id)) && passes(map.crush(), id, args);
        let mut nodes = walk(map.crush(), false);
        if !tree {
            nodes.retain(|node| node.id >= 0);
            nodes.sort_by_key(|node| node.id);
        }
        let held = |node: &Node| -> Vec<i32> {
            below(map.crush(), node.id).into_iter().filter(|id| *id >= 0 && wanted(*id)).collect()
        };
        nodes.retain(|node| !held(node).is_empty());
        let sum = |ids: &[i32]| {
            ids.iter().fold(Space::default(), |sum, id| sum.with(&cx.stats.space_of(OsdId(*id))))
        };
        let osds: Vec<_> = nodes.iter().map(|node| node.id).filter(|id| *id >= 0).collect();
        let total = sum(&osds);
        let average = share(&total);
        let row = |node: Node| {
            let space = sum(&held(&node));
            let usage = share(&space);
            let var = if average == 0.0 { 1.0 } else { usage / average };
            let pgs = if node.id < 0 { 0 } else { cx.stats.pgs_on(OsdId(node.id)) };
            Row { node, space, usage, var, pgs }
        };
        Utilization { rows: nodes.into_iter().map(row).collect(), total, average }
    }

    fn osds(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.node.id >= 0)
    }

    /// The least and the most of the OSDs' usages over the average.
    fn bounds(&self) -> (f64, f64) {
        let (mut min, mut max) = (f64::INFINITY, 0.0_f64);
        for row in self.osds() {
            (min, max) = (min.min(row.var), max.max(row.var));
        }
        (if min.is_finite() { min } else { 0.0 }, max)
    }

    fn deviation(&self) -> f64 {
        let squares: Vec<_> = self.osds().map(|row| (row.usage - self.average).powi(2)).collect();
        if squares.is_empty() { 0.0 } else { (squares.iter().sum::<f64>() / squares.len() as f64).sqrt() }
    }
}

/// Whether an OSD passes the command's filter.
fn passes(crush: &CrushMap, id: i32, args: &Args) -> bool {
    let filter = args.required("filter");
    match args.text("filter_by") {
        Some("class") => device_class(crush, OsdId(id)) == filter,
        Some(_) => {
            let node = crush.item_by_name(filter);
            node.is_some_and(|node| below(crush, node).contains(&id)) || item_name(crush, id) == filter
        }
        None => true,
    }
}

fn df(cx: &Context<'_>, args: &Args) -> Reply {
    let found = Utilization::of(cx, args);
    if cx.plain() { text(cx, args, &found) } else { cx.json(&document(cx, &found), true) }
}

fn document(cx: &Context<'_>, found: &Utilization) -> Value {
    let map = cx.state.osdmap();
    let node = |row: &Row| {
        let mut node = node_json(map.crush(), &row.node);
        let osd = map.osd(OsdId(row.node.id));
        // The children of a bucket come last.
        let children = node.as_object_mut().and_then(|fields| fields.shift_remove("children"));
        let space = &row.space;
        for (name, value) in [
            ("reweight", osd.map_or(json!(-1), |osd| json!(weight(osd.weight)))),
            ("kb", json!(space.total / 1024)),
            ("kb_used", json!(space.used() / 1024)),
            ("kb_used_data", json!(space.data / 1024)),
            ("kb_used_omap", json!(space.omap / 1024)),
            ("kb_used_meta", json!(space.metadata / 1024)),
            ("kb_avail", json!(space.available / 1024)),
            ("utilization", json!(row.usage)),
            ("var", json!(row.var)),
            ("pgs", json!(row.pgs)),
        ] {
            node[name] = value;
        }
        match (children, osd) {
            (Some(children), _) => node["children"] = children,
            (None, osd) => node["status"] = if osd.is_some_and(|o| o.is_up()) { "up" } else { "down" }.into(),
        }
        node
    };
    let (min, max) = found.bounds();
    let total = &found.total;
    json!({
        "nodes": found.rows.iter().map(node).collect::<Vec<_>>(),
        "stray": [],
        "summary": {
            "total_kb": total.total / 1024,
            "total_kb_used": total.used() / 1024,
            "total_kb_used_data": total.data / 1024,
            "total_kb_used_omap": total.omap / 1024,
            "total_kb_used_meta": total.metadata / 1024,
            "total_kb_avail": total.available / 1024,
            "average_utilization": found.average,
            "min_var": min,
            "max_var": max,
            "dev": found.deviation(),
        },
    })
}

fn sizes(space: &Space) -> [String; 6] {
    [space.total, space.used(), space.data, space.omap, space.metadata, space.available].map(bytes)
}

fn text(cx: &Context<'_>, args: &Args, found: &Utilization) -> Reply {
    let map = cx.state.osdmap();
    let tree = args.text("output_method") == Some("tree");
    let right = [
        "ID", "CLASS", "WEIGHT", "REWEIGHT", "SIZE", "RAW USE", "DATA", "OMAP", "META", "AVAIL", "%USE",
        "VAR", "PGS", "STATUS",
    ];
    let mut columns: Vec<_> = right.map(|title| (title, Left, Right)).into();
    if tree {
        columns.push(("TYPE NAME", Left, Left));
    }
    let mut table = Table::new(&columns);
    for row in &found.rows {
        let (node, osd) = (&row.node, map.osd(OsdId(row.node.id)));
        let status = osd.map_or("", |osd| if osd.is_up() { "up" } else { "down" });
        let class = osd.map(|_| device_class(map.crush(), OsdId(node.id))).unwrap_or_default();
        let mut cells = vec![
            node.id.to_string(),
            class,
            format!("{:.5}", node.weight),
            osd.map_or_else(|| "-".to_owned(), |osd| format!("{:.5}", weight(osd.weight))),
        ];
        cells.extend(sizes(&row.space));
        let pgs = osd.map_or_else(|| "-".to_owned(), |_| row.pgs.to_string());
        cells.extend([percentage(row.usage), format!("{:.2}", row.var), pgs, status.to_owned()]);
        if tree {
            cells.push(label(map.crush(), node));
        }
        table.row(cells);
    }
    let blank = String::new;
    let mut total = vec![blank(), blank(), blank(), "TOTAL".to_owned()];
    total.extend(sizes(&found.total));
    total.extend([percentage(found.average), blank(), blank(), blank()]);
    if tree {
        total.push(blank());
    }
    table.row(total);
    let (min, max) = found.bounds();
    Reply::output(format!(
        "{}MIN/MAX VAR: {min:.2}/{max:.2}  STDDEV: {}\n",
        table.render(),
        percentage(found.deviation())
    ))
}
