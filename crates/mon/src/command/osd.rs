//! `osd`: questions about OSDs and placement.

use std::fmt::Write as _;

use sepiola_osdmap::CANONICAL_FEATURES;
use sepiola_wire::{Errno, OsdId};
use serde_json::json;

use super::{
    Command, Context, Reply, Run,
    format::{numbers, primary},
    osd_tree,
    signature::{Args, Kind, opt, req},
    status::OsdCounts,
};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "osd stat",
        args: &[],
        help: "how many OSDs there are, are up and are in",
        module: "osd",
        perm: "r",
        run: Run::Read(stat),
    },
    Command {
        words: "osd ls",
        args: &[opt("epoch", Kind::Int(0))],
        help: "numbers of the OSDs",
        module: "osd",
        perm: "r",
        run: Run::Read(ls),
    },
    Command {
        words: "osd map",
        args: &[req("pool", Kind::Pool), req("object", Kind::Object), opt("nspace", Kind::Text)],
        help: "the pg and the OSDs of an object, whether or not it exists",
        module: "osd",
        perm: "r",
        run: Run::Read(map),
    },
    Command {
        words: "osd getmap",
        args: &[opt("epoch", Kind::Int(0))],
        help: "the OSD map as bytes, for -o <file>",
        module: "osd",
        perm: "r",
        run: Run::Read(getmap),
    },
    Command {
        words: "osd getcrushmap",
        args: &[opt("epoch", Kind::Int(0))],
        help: "the CRUSH map as bytes, for -o <file>",
        module: "osd",
        perm: "r",
        run: Run::Read(getcrushmap),
    },
    Command {
        words: "osd getmaxosd",
        args: &[],
        help: "the number that all OSDs are below",
        module: "osd",
        perm: "r",
        run: Run::Read(getmaxosd),
    },
    Command {
        words: "osd ls-tree",
        args: &[opt("epoch", Kind::Int(0)), req("name", Kind::Text)],
        help: "numbers of the OSDs below a bucket",
        module: "osd",
        perm: "r",
        run: Run::Read(ls_tree),
    },
    Command {
        words: "osd erasure-code-profile ls",
        args: &[],
        help: "names of erasure code profiles",
        module: "osd",
        perm: "r",
        run: Run::Read(profiles),
    },
    Command {
        words: "osd erasure-code-profile get",
        args: &[req("name", Kind::Chars("[A-Za-z0-9-_.]"))],
        help: "what is in an erasure code profile",
        module: "osd",
        perm: "r",
        run: Run::Read(profile),
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
    list(cx, &ids(cx))
}

/// Numbers of OSDs: one a line, or in JSON.
pub(super) fn list(cx: &Context<'_>, ids: &[OsdId]) -> Reply {
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

fn getmap(cx: &Context<'_>, args: &Args) -> Reply {
    let maps = cx.state.osd_maps();
    if other_epoch(cx, args) {
        return Reply::error(Errno::ENOENT, "there is no full map for that epoch");
    }
    Reply::output(maps.encoded().clone()).with_status(format!("got osdmap epoch {}", maps.epoch()))
}

fn other_epoch(cx: &Context<'_>, args: &Args) -> bool {
    args.int("epoch").is_some_and(|e| e != 0 && e != i64::from(cx.state.osdmap().epoch().0))
}

fn getcrushmap(cx: &Context<'_>, args: &Args) -> Reply {
    if other_epoch(cx, args) {
        return Reply::error(Errno::ENOENT, "there is no full map for that epoch");
    }
    let map = cx.state.osdmap();
    Reply::output(sepiola_wire::encode_to_vec(map.crush(), CANONICAL_FEATURES))
        .with_status(map.crush_version().to_string())
}

fn getmaxosd(cx: &Context<'_>, _: &Args) -> Reply {
    let map = cx.state.osdmap();
    if cx.plain() {
        return Reply::output(format!("max_osd = {} in epoch {}\n", map.max_osd(), map.epoch()));
    }
    cx.json(&json!({"epoch": map.epoch().0, "max_osd": map.max_osd()}), true)
}

fn ls_tree(cx: &Context<'_>, args: &Args) -> Reply {
    let (map, name) = (cx.state.osdmap(), args.required("name"));
    let Some(top) = map.crush().item_by_name(name) else {
        return Reply::error(Errno::ENOENT, format!("\"{name}\" does not exist"));
    };
    let below = osd_tree::below(map.crush(), top);
    let ids: Vec<_> = ids(cx).into_iter().filter(|id| below.contains(&id.0)).collect();
    list(cx, &ids)
}

fn profiles(cx: &Context<'_>, _: &Args) -> Reply {
    let names: Vec<_> = cx.state.osdmap().erasure_code_profiles().keys().collect();
    if !cx.plain() {
        return cx.json(&json!(names), true);
    }
    Reply::output(names.iter().map(|name| format!("{name}\n")).collect::<String>())
}

fn profile(cx: &Context<'_>, args: &Args) -> Reply {
    let name = args.required("name");
    let Some(profile) = cx.state.osdmap().erasure_code_profiles().get(name) else {
        return Reply::error(Errno::ENOENT, format!("unknown erasure code profile '{name}'"));
    };
    if !cx.plain() {
        return cx.json(&json!(profile), true);
    }
    Reply::output(profile.iter().map(|(key, value)| format!("{key}={value}\n")).collect::<String>())
}
