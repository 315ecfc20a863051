//! `osd tree`: OSDs where CRUSH has them.

use std::collections::BTreeSet;

use sepiola_osdmap::crush::{BucketKind, CrushMap};
use sepiola_wire::OsdId;
use serde_json::{Value, json};

use super::{
    Command, Context, Reply, Run,
    format::{Align, Table, weight},
    signature::{Args, Kind, any, opt},
};

pub(super) const COMMANDS: &[Command] = &[Command {
    words: "osd tree",
    args: &[opt("epoch", Kind::Int(0)), any("states", Kind::Choice("up|down|in|out|destroyed"))],
    help: "print OSD tree",
    module: "osd",
    perm: "r",
    run: Run::Read(tree),
}];

/// The name of an OSD's device class; empty without one.
pub(super) fn device_class(crush: &CrushMap, osd: OsdId) -> String {
    let class = crush.item_classes.get(&osd.0).and_then(|class| crush.class_names.get(class));
    class.cloned().unwrap_or_default()
}

/// An OSD's weight in its bucket.
pub(super) fn crush_weight(crush: &CrushMap, osd: OsdId) -> f64 {
    let shadows = shadows(crush);
    let bucket =
        crush.buckets.iter().flatten().find(|b| b.items.contains(&osd.0) && !shadows.contains(&b.id));
    bucket.map_or(0.0, |b| item_weight(b, osd.0))
}

fn item_weight(bucket: &sepiola_osdmap::crush::Bucket, item: i32) -> f64 {
    let at = bucket.items.iter().position(|i| *i == item);
    let fixed = match &bucket.kind {
        BucketKind::Straw2 { item_weights } => at.and_then(|at| item_weights.get(at)).copied(),
        // Other kinds are only ever in imported maps; their items share the bucket's weight.
        _ => u32::try_from(bucket.items.len()).ok().and_then(|n| bucket.weight.checked_div(n)),
    };
    weight(fixed.unwrap_or(0))
}

/// The copies of buckets for one device class, which trees leave out.
fn shadows(crush: &CrushMap) -> BTreeSet<i32> {
    crush.class_buckets.values().flat_map(|by_class| by_class.values().copied()).collect()
}

struct Node {
    id: i32,
    depth: usize,
    weight: f64,
}

/// Every root and what is below it, depth first.
fn walk(crush: &CrushMap) -> Vec<Node> {
    let shadows = shadows(crush);
    let children: BTreeSet<i32> =
        crush.buckets.iter().flatten().flat_map(|b| b.items.iter().copied()).collect();
    let roots =
        crush.buckets.iter().flatten().filter(|b| !children.contains(&b.id) && !shadows.contains(&b.id));
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

fn tree(cx: &Context<'_>, args: &Args) -> Reply {
    let map = cx.state.osdmap();
    let states = args.texts("states");
    let status = |osd: &sepiola_osdmap::Osd| if osd.is_up() { "up" } else { "down" };
    let wanted = |id: i32| {
        let Some(osd) = map.osd(OsdId(id)) else { return states.is_empty() };
        states.is_empty()
            || states.iter().any(|s| s == status(osd) || s == if osd.is_in() { "in" } else { "out" })
    };
    let nodes = walk(map.crush());
    let placed: BTreeSet<i32> = nodes.iter().map(|n| n.id).collect();
    let stray = super::osd::ids(cx).into_iter().filter(|id| !placed.contains(&id.0));
    let stray: Vec<_> = stray.map(|id| Node { id: id.0, depth: 0, weight: 0.0 }).collect();
    let osd_of = |id: i32| map.osd(OsdId(id)).filter(|osd| osd.exists());
    let type_name = |id: i32| {
        let number = map.crush().bucket(id).map_or(0, |b| i32::from(b.type_id));
        (number, map.crush().type_names.get(&number).cloned().unwrap_or_default())
    };
    let name = |id: i32| map.crush().item_names.get(&id).cloned().unwrap_or_else(|| format!("osd.{id}"));
    let shown = |n: &&Node| n.id < 0 && states.is_empty() || n.id >= 0 && wanted(n.id);

    if !cx.plain() {
        let json = |n: &Node| -> Value {
            let (type_id, kind) = type_name(n.id);
            if n.id < 0 {
                let children = map.crush().bucket(n.id).map(|b| b.items.iter().rev().collect::<Vec<_>>());
                return json!({"id": n.id, "name": name(n.id), "type": kind, "type_id": type_id,
                              "pool_weights": {}, "children": children});
            }
            json!({
                "id": n.id,
                "device_class": device_class(map.crush(), OsdId(n.id)),
                "name": name(n.id),
                "type": "osd",
                "type_id": 0,
                "crush_weight": n.weight,
                "depth": n.depth,
                "pool_weights": {},
                "exists": u8::from(osd_of(n.id).is_some()),
                "status": osd_of(n.id).map_or("down", status),
                "reweight": osd_of(n.id).map_or(0.0, |o| weight(o.weight)),
                "primary_affinity": weight(map.primary_affinity(OsdId(n.id))),
            })
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
        let indent = "    ".repeat(node.depth);
        let weight_text = format!("{:.5}", node.weight);
        if node.id < 0 {
            let label = format!("{indent}{} {}", type_name(node.id).1, name(node.id));
            let blank = String::new;
            table.row([node.id.to_string(), blank(), weight_text, label, blank(), blank(), blank()]);
            continue;
        }
        let osd = osd_of(node.id);
        table.row([
            node.id.to_string(),
            device_class(map.crush(), OsdId(node.id)),
            weight_text,
            format!("{indent}{}", name(node.id)),
            osd.map_or("DNE", status).to_owned(),
            format!("{:.5}", osd.map_or(0.0, |o| weight(o.weight))),
            format!("{:.5}", weight(map.primary_affinity(OsdId(node.id)))),
        ]);
    }
    Reply::output(table.render())
}
