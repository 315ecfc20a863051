//! What OSDs and monitors say about themselves: `osd metadata`, `osd find`, `versions`, `node ls`.

use std::collections::BTreeMap;

use sepiola_wire::{Errno, OsdId};
use serde_json::{Map, Value, json};

use super::{
    Command, Context, Reply, Run,
    mon::addrvec_json,
    osd_dump::{osd_json, osd_line},
    signature::{Args, Kind, opt, req},
};
use crate::state::Metadata;

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "osd metadata",
        args: &[opt("id", Kind::Osd)],
        help: "what an OSD tells of itself, or all of them",
        module: "osd",
        perm: "r",
        run: Run::Read(metadata),
    },
    Command {
        words: "osd find",
        args: &[req("id", Kind::Osd)],
        help: "where an OSD is, and its place in CRUSH",
        module: "osd",
        perm: "r",
        run: Run::Read(find),
    },
    Command {
        words: "osd info",
        args: &[opt("id", Kind::Osd)],
        help: "what the map has about OSDs",
        module: "osd",
        perm: "r",
        run: Run::Read(info),
    },
    Command {
        words: "osd versions",
        args: &[],
        help: "how many OSDs run which version",
        module: "osd",
        perm: "r",
        run: Run::Read(|cx, _| cx.document(&counts(osds(cx), VERSION))),
    },
    Command {
        words: "osd count-metadata",
        args: &[req("property", Kind::Text)],
        help: "how many OSDs have which value of a property",
        module: "osd",
        perm: "r",
        run: Run::Read(|cx, args| cx.document(&counts(osds(cx), args.required("property")))),
    },
    Command {
        words: "mon versions",
        args: &[],
        help: "how many monitors run which version",
        module: "mon",
        perm: "r",
        run: Run::Read(|cx, _| cx.document(&counts([cx.metadata], VERSION))),
    },
    Command {
        words: "mon count-metadata",
        args: &[req("property", Kind::Text)],
        help: "how many monitors have which value of a property",
        module: "mon",
        perm: "r",
        run: Run::Read(|cx, args| cx.document(&counts([cx.metadata], args.required("property")))),
    },
    Command {
        words: "versions",
        args: &[],
        help: "how many daemons of each kind run which version",
        module: "mon",
        perm: "r",
        run: Run::Read(versions),
    },
    Command {
        words: "node ls",
        args: &[opt("type", Kind::Choice("all|osd|mon|mds|mgr"))],
        help: "which daemons are on which host",
        module: "mon",
        perm: "r",
        run: Run::Read(nodes),
    },
];

const VERSION: &str = "ceph_version";
const HOST: &str = "hostname";

/// What the OSDs that are up have said.
fn osds<'a>(cx: &'a Context<'_>) -> impl Iterator<Item = &'a Metadata> {
    let up = cx.state.osdmap().osds().filter(|(_, osd)| osd.is_up());
    up.filter_map(|(id, _)| cx.state.osd_metadata(id))
}

/// How many daemons have each value of a property.
fn counts<'a>(daemons: impl IntoIterator<Item = &'a Metadata>, property: &str) -> Value {
    let mut counts = BTreeMap::<&str, u64>::new();
    for daemon in daemons {
        *counts.entry(daemon.get(property).map_or("unknown", String::as_str)).or_default() += 1;
    }
    json!(counts)
}

/// The OSD that a command names, `None` if it names none, or the reply that it does not exist.
fn named(cx: &Context<'_>, args: &Args) -> Result<Option<OsdId>, Reply> {
    match args.osd("id").map(OsdId) {
        Some(id) if !cx.state.osdmap().exists(id) => {
            Err(Reply::error(Errno::ENOENT, format!("osd.{id} does not exist")))
        }
        id => Ok(id),
    }
}

fn metadata(cx: &Context<'_>, args: &Args) -> Reply {
    let one = |id: OsdId| {
        let mut object = Map::from_iter([("id".to_owned(), id.0.into())]);
        let facts = cx.state.osd_metadata(id).into_iter().flatten().filter(|(name, _)| *name != "id");
        object.extend(facts.map(|(name, value)| (name.clone(), value.as_str().into())));
        Value::Object(object)
    };
    match named(cx, args) {
        Err(reply) => reply,
        Ok(Some(id)) => cx.document(&one(id)),
        Ok(None) => cx.document(&super::osd::ids(cx).into_iter().map(one).collect()),
    }
}

fn find(cx: &Context<'_>, args: &Args) -> Reply {
    let id = match named(cx, args) {
        Err(reply) => return reply,
        Ok(id) => id.unwrap_or(OsdId(-1)),
    };
    let map = cx.state.osdmap();
    let Some(osd) = map.osd(id) else { return Reply::error(Errno::ENOENT, "no such osd") };
    let host = cx.state.osd_metadata(id).and_then(|m| m.get(HOST)).cloned().unwrap_or_default();
    cx.document(&json!({
        "osd": id.0,
        "addrs": addrvec_json(&osd.client_addrs),
        "osd_fsid": osd.uuid.to_string(),
        "host": host,
        "crush_location": super::crush::location(map.crush(), id.0),
    }))
}

fn info(cx: &Context<'_>, args: &Args) -> Reply {
    let ids = match named(cx, args) {
        Err(reply) => return reply,
        Ok(Some(id)) => vec![id],
        Ok(None) => super::osd::ids(cx),
    };
    let map = cx.state.osdmap();
    let osds = ids.iter().filter_map(|id| Some((*id, map.osd(*id)?)));
    if cx.plain() {
        return Reply::output(osds.map(|(id, osd)| osd_line(map, id, osd)).collect::<String>());
    }
    let mut all: Vec<_> = osds.map(|(id, osd)| osd_json(map, id, osd)).collect();
    match args.osd("id") {
        Some(_) if all.len() == 1 => cx.json(&all.remove(0), true),
        _ => cx.json(&all.into(), true),
    }
}

fn versions(cx: &Context<'_>, _: &Args) -> Reply {
    let mons = || [cx.metadata];
    cx.document(&json!({
        "mon": counts(mons(), VERSION),
        "mgr": {},
        "osd": counts(osds(cx), VERSION),
        "mds": {},
        "overall": counts(mons().into_iter().chain(osds(cx)), VERSION),
    }))
}

fn nodes(cx: &Context<'_>, args: &Args) -> Reply {
    let host = |m: &Metadata| m.get(HOST).cloned().unwrap_or_else(|| "unknown".to_owned());
    let mon = json!({host(cx.metadata): [cx.options.name]});
    let mut by_host = BTreeMap::<String, Vec<i32>>::new();
    for id in super::osd::ids(cx) {
        by_host.entry(cx.state.osd_metadata(id).map_or_else(String::new, host)).or_default().push(id.0);
    }
    let osd = json!(by_host);
    cx.document(&match args.text("type") {
        Some("mon") => mon,
        Some("osd") => osd,
        Some("mgr" | "mds") => json!({}),
        _ => json!({"mon": mon, "osd": osd, "mgr": {}}),
    })
}
