//! `osd tree` and `osd crush tree`: OSDs where CRUSH has them.

use std::collections::BTreeSet;

use sepiola_osdmap::crush::{Bucket, CrushMap};
use sepiola_wire::OsdId;
use serde_json::{Value, json};

use super::{
    Command, Context, Reply, Run,
    format::{Align, Table, weight},
    signature::{Args, Kind, any, opt},
};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "osd tree",
        args: &[opt("epoch", Kind::Int(0)), any("states", Kind::Choice("up|down|in|out|destroyed"))],
        help: "OSDs in the CRUSH hierarchy, with weights and states",
        module: "osd",
        perm: "r",
        run: Run::Read(tree),
    },
    Command {
        words: "osd crush tree",
        args: &[opt("shadow", Kind::Choice("--show-shadow"))],
        help: "the CRUSH hierarchy with its weights",
        module: "osd",
        perm: "r",
        run: Run::Read(crush_tree),
    },
];

/// The name of an OSD's device class; empty without one.
pub(super) fn device_class(crush: &CrushMap, osd: OsdId) -> String {
    let class = crush.item_classes.get(&osd.0).and_then(|class| crush.class_names.get(class));
    class.cloned().unwrap_or_default()
}

fn item_weight(bucket: &Bucket, item: i32) -> f64 {
    let at = bucket.items.iter().position(|i| *i == item);
    weight(at.and_then(|at| bucket.item_weight(at)).unwrap_or(0))
}

/// An item of the hierarchy.
pub(super) struct Node {
    pub id: i32,
    pub depth: usize,
    pub weight: f64,
}

/// Every root and what is below it, depth first; with the copies for device classes if they are wanted.
pub(super) fn walk(crush: &CrushMap, with_shadows: bool) -> Vec<Node> {
    let children: BTreeSet<i32> =
        crush.buckets.iter().flatten().flat_map(|b| b.items.iter().copied()).collect();
    let shown = |b: &&Bucket| !children.contains(&b.id) && (with_shadows || !crush.is_shadow(b.id));
    let roots = crush.buckets.iter().flatten().filter(shown);
    let mut stack: Vec<_> = roots.map(|b| Node { id: b.id, depth: 0, weight: weight(b.weight) }).collect();
    stack.reverse();
    let mut nodes = Vec::new();
    while let Some(node) = stack.pop() {
        if let Some(bucket) = crush.bucket(node.id) {
            let below = bucket.items.iter().rev().map(|item| Node {
                id: *item,
                depth: node.depth + 1,
                weight: crush.bucket(*item).map_or_else(|| item_weight(bucket, *item), |b| weight(b.weight)),
            });
            stack.extend(below);
        }
        nodes.push(node);
    }
    nodes
}

/// An item and everything below it.
pub(super) fn below(crush: &CrushMap, top: i32) -> BTreeSet<i32> {
    let (mut all, mut next) = (BTreeSet::new(), vec![top]);
    while let Some(item) = next.pop() {
        if all.insert(item) {
            next.extend(crush.bucket(item).into_iter().flat_map(|bucket| &bucket.items));
        }
    }
    all
}

/// The number and name of an item's type.
pub(super) fn type_name(crush: &CrushMap, id: i32) -> (i32, String) {
    let number = crush.bucket(id).map_or(0, |b| i32::from(b.type_id));
    (number, crush.type_names.get(&number).cloned().unwrap_or_default())
}

/// An item's name.
pub(super) fn item_name(crush: &CrushMap, id: i32) -> String {
    let nameless = || if id < 0 { format!("bucket{}", -1 - id) } else { format!("osd.{id}") };
    crush.item_names.get(&id).cloned().unwrap_or_else(nameless)
}

/// A node as tables show it: indented, buckets with their type.
pub(super) fn label(crush: &CrushMap, node: &Node) -> String {
    let (indent, name) = ("    ".repeat(node.depth), item_name(crush, node.id));
    if node.id < 0 { format!("{indent}{} {name}", type_name(crush, node.id).1) } else { indent + &name }
}

/// What every list of nodes has about one.
pub(super) fn node_json(crush: &CrushMap, node: &Node) -> Value {
    let (type_id, kind) = type_name(crush, node.id);
    if node.id < 0 {
        let mut bucket =
            json!({"id": node.id, "name": item_name(crush, node.id), "type": kind, "type_id": type_id});
        if node.depth > 0 {
            bucket["pool_weights"] = json!({});
        }
        let children = crush.bucket(node.id).map(|b| b.items.iter().rev().collect::<Vec<_>>());
        bucket["children"] = json!(children);
        return bucket;
    }
    json!({
        "id": node.id,
        "device_class": device_class(crush, OsdId(node.id)),
        "name": item_name(crush, node.id),
        "type": "osd",
        "type_id": 0,
        "crush_weight": node.weight,
        "depth": node.depth,
        "pool_weights": {},
    })
}

fn crush_tree(cx: &Context<'_>, args: &Args) -> Reply {
    let crush = cx.state.osdmap().crush();
    let nodes = walk(crush, args.text("shadow").is_some());
    if !cx.plain() {
        let nodes: Vec<_> = nodes.iter().map(|node| node_json(crush, node)).collect();
        return cx.json(&json!({"nodes": nodes, "stray": []}), true);
    }
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("ID", Left, Right),
        ("CLASS", Left, Right),
        ("WEIGHT", Left, Right),
        ("TYPE NAME", Left, Left),
    ]);
    for node in &nodes {
        let class = if node.id < 0 { String::new() } else { device_class(crush, OsdId(node.id)) };
        table.row([node.id.to_string(), class, format!("{:.5}", node.weight), label(crush, node)]);
    }
    Reply::output(table.render())
}

fn tree(cx: &Context<'_>, args: &Args) -> Reply {
    let map = cx.state.osdmap();
    let states = args.texts("states");
    let status = |osd: &sepiola_osdmap::Osd| if osd.is_up() { "up" } else { "down" };
    let wanted = |id: i32| {
        let Some(osd) = map.osd(OsdId(id)) else { return states.is_empty() };
        states.is_empty()
            || states.iter().any(|s| s == status(osd) || s == if osd.is_in() { "in" } else { "out" })
    };
    let crush = map.crush();
    let nodes = walk(crush, false);
    let placed: BTreeSet<i32> = nodes.iter().map(|n| n.id).collect();
    let stray = super::osd::ids(cx).into_iter().filter(|id| !placed.contains(&id.0));
    let stray: Vec<_> = stray.map(|id| Node { id: id.0, depth: 0, weight: 0.0 }).collect();
    let osd_of = |id: i32| map.osd(OsdId(id)).filter(|osd| osd.exists());
    // Of the buckets, those that hold a wanted OSD.
    let shown =
        |n: &&Node| states.is_empty() || below(crush, n.id).into_iter().any(|item| item >= 0 && wanted(item));

    if !cx.plain() {
        let json = |n: &Node| -> Value {
            let mut node = node_json(crush, n);
            if n.id >= 0 {
                node["exists"] = u8::from(osd_of(n.id).is_some()).into();
                node["status"] = osd_of(n.id).map_or("down", status).into();
                node["reweight"] = osd_of(n.id).map_or(0.0, |o| weight(o.weight)).into();
                node["primary_affinity"] = weight(map.primary_affinity(OsdId(n.id))).into();
            }
            node
        };
        let list = |nodes: &[Node]| nodes.iter().filter(shown).map(json).collect::<Vec<_>>();
        return cx.json(&json!({"nodes": list(&nodes), "stray": list(&stray)}), true);
    }
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("ID", Left, Right),
        ("CLASS", Left, Right),
        ("WEIGHT", Left, Right),
        ("TYPE NAME", Left, Left),
        ("STATUS", Left, Right),
        ("REWEIGHT", Left, Right),
        ("PRI-AFF", Left, Right),
    ]);
    for node in nodes.iter().chain(&stray).filter(shown) {
        let weight_text = format!("{:.5}", node.weight);
        if node.id < 0 {
            let blank = String::new;
            let row = [node.id.to_string(), blank(), weight_text, label(crush, node)];
            table.row(row.into_iter().chain([blank(), blank(), blank()]));
            continue;
        }
        let osd = osd_of(node.id);
        table.row([
            node.id.to_string(),
            device_class(crush, OsdId(node.id)),
            weight_text,
            label(crush, node),
            osd.map_or("DNE", status).to_owned(),
            format!("{:.5}", osd.map_or(0.0, |o| weight(o.weight))),
            format!("{:.5}", weight(map.primary_affinity(OsdId(node.id)))),
        ]);
    }
    Reply::output(table.render())
}
