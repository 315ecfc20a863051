//! `mon`: the monitors and their quorum.

use std::fmt::Write as _;

use sepiola_messages::{MonInfo, MonMap};
use sepiola_wire::{AddrType, EntityAddr, EntityAddrVec, Errno};
use serde_json::{Value, json};

use super::{
    Command, Context, Reply, Run, Surroundings,
    format::stamp_z,
    signature::{Args, Kind, opt},
};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "mon dump",
        args: &[opt("epoch", Kind::Int(0))],
        help: "monitors and their addresses",
        module: "mon",
        perm: "r",
        run: Run::Read(dump),
    },
    Command {
        words: "mon stat",
        args: &[],
        help: "monitors and their quorum, in a line",
        module: "mon",
        perm: "r",
        run: Run::Read(stat),
    },
    Command {
        words: "quorum_status",
        args: &[],
        help: "which monitors are in the quorum, and which one leads",
        module: "mon",
        perm: "r",
        run: Run::Read(quorum_status),
    },
    Command {
        words: "mon_status",
        args: &[],
        help: "state of this monitor, and the monitor map as it has it",
        module: "mon",
        perm: "r",
        run: Run::Read(|cx, _| cx.document(&status_json(cx))),
    },
    Command {
        words: "time-sync-status",
        args: &[],
        help: "how far the clocks of monitors differ",
        module: "mon",
        perm: "r",
        run: Run::Read(|cx, _| {
            let checks = json!({"epoch": ELECTION_EPOCH, "round": 0, "round_status": "finished"});
            cx.document(&json!({ "timechecks": checks }))
        }),
    },
    Command {
        words: "mon getmap",
        args: &[opt("epoch", Kind::Int(0))],
        help: "the monitor map as bytes, for -o <file>",
        module: "mon",
        perm: "r",
        run: Run::Read(getmap),
    },
    Command {
        words: "mon feature ls",
        args: &[opt("with_value", Kind::Choice("--with-value"))],
        help: "features that the monitor map asks for",
        module: "mon",
        perm: "r",
        run: Run::Read(feature_ls),
    },
    Command {
        words: "mon metadata",
        args: &[opt("id", Kind::Text)],
        help: "what a monitor tells of itself, or all of them",
        module: "mon",
        perm: "r",
        run: Run::Read(metadata),
    },
];

/// Nobody is elected among one monitor; the first quorum has this number.
pub(super) const ELECTION_EPOCH: u64 = 1;

const FEATURES: [(u64, &str); 12] = [
    (1, "kraken"),
    (2, "luminous"),
    (4, "mimic"),
    (8, "osdmap-prune"),
    (16, "nautilus"),
    (32, "octopus"),
    (64, "pacific"),
    (128, "elector-pinging"),
    (256, "quincy"),
    (512, "reef"),
    (1024, "squid"),
    (2048, "tentacle"),
];

pub(super) fn feature_names(bits: u64) -> Vec<&'static str> {
    FEATURES.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| *name).collect()
}

/// The name of a release number.
pub(super) fn release_name(release: u8) -> &'static str {
    const NAMES: [&str; 9] =
        ["luminous", "mimic", "nautilus", "octopus", "pacific", "quincy", "reef", "squid", "tentacle"];
    release.checked_sub(12).and_then(|i| NAMES.get(usize::from(i))).copied().unwrap_or("unknown")
}

/// `ip:port`, without type and nonce.
fn bare(addr: &EntityAddr) -> String {
    addr.socket.map_or_else(|| ":/0".to_owned(), |socket| socket.to_string())
}

/// An address vector as maps show it in JSON.
pub(super) fn addrvec_json(addrs: &EntityAddrVec) -> Value {
    let kind = |a: &EntityAddr| match a.kind {
        AddrType::None => "none",
        AddrType::Legacy => "v1",
        AddrType::Msgr2 => "v2",
        AddrType::Any => "any",
        AddrType::Cidr => "cidr",
    };
    let one = |a: &EntityAddr| json!({"type": kind(a), "addr": bare(a), "nonce": a.nonce});
    json!({ "addrvec": addrs.0.iter().map(one).collect::<Vec<_>>() })
}

/// The single address that old fields show: the legacy one, else the first.
pub(super) fn legacy_addr(addrs: &EntityAddrVec) -> String {
    let legacy = addrs.0.iter().find(|a| a.kind == AddrType::Legacy).or(addrs.0.first());
    legacy.map_or_else(|| ":/0".to_owned(), |a| format!("{}/{}", bare(a), a.nonce))
}

/// The quorum: every monitor, as there is one.
pub(super) fn quorum_names(map: &MonMap) -> Vec<&str> {
    map.by_rank().map(|mon| mon.name.as_str()).collect()
}

pub(super) fn monmap_json(map: &MonMap) -> Value {
    let mon = |(rank, mon): (usize, &MonInfo)| {
        json!({
            "rank": rank,
            "name": mon.name,
            "public_addrs": addrvec_json(&mon.addrs),
            "addr": legacy_addr(&mon.addrs),
            "public_addr": legacy_addr(&mon.addrs),
            "priority": mon.priority,
            "weight": mon.weight,
            "crush_location": "{}",
        })
    };
    json!({
        "epoch": map.epoch.0,
        "fsid": map.fsid.to_string(),
        "modified": stamp_z(map.last_changed),
        "created": stamp_z(map.created),
        "min_mon_release": map.min_mon_release,
        "min_mon_release_name": release_name(map.min_mon_release),
        "election_strategy": map.election_strategy,
        "disallowed_leaders: ": "",
        "stretch_mode": map.stretch_mode,
        "tiebreaker_mon": map.tiebreaker,
        "removed_ranks: ": "",
        "features": {
            "persistent": feature_names(map.persistent_features),
            "optional": feature_names(map.optional_features),
        },
        "mons": map.by_rank().enumerate().map(mon).collect::<Vec<_>>(),
    })
}

/// This monitor's part in the quorum.
pub(super) fn status_json(at: &Surroundings<'_>) -> Value {
    let map = at.state.monmap();
    json!({
        "name": at.options.name,
        "rank": at.rank(),
        "state": "leader",
        "election_epoch": ELECTION_EPOCH,
        "quorum": quorum_ranks(map),
        "quorum_age": at.now.saturating_since(at.started).as_secs(),
        "features": {
            "required_con": "0",
            "required_mon": feature_names(map.persistent_features),
            "quorum_con": sepiola_wire::Features::SUPPORTED.bits().to_string(),
            "quorum_mon": feature_names(map.persistent_features),
        },
        "outside_quorum": [],
        "extra_probe_peers": [],
        "sync_provider": [],
        "monmap": monmap_json(map),
    })
}

fn quorum_ranks(map: &MonMap) -> Vec<usize> {
    (0..map.by_rank().count()).collect()
}

fn getmap(cx: &Context<'_>, args: &Args) -> Reply {
    let map = cx.state.monmap();
    if args.int("epoch").is_some_and(|epoch| epoch != 0 && epoch != i64::from(map.epoch.0)) {
        return Reply::error(Errno::ENOENT, "there is no map for that epoch");
    }
    let encoded = sepiola_wire::encode_to_vec(&**map, sepiola_wire::Features::SUPPORTED);
    Reply::output(encoded).with_status(format!("got monmap epoch {}", map.epoch))
}

fn feature_ls(cx: &Context<'_>, _: &Args) -> Reply {
    let map = cx.state.monmap();
    let names = feature_names(map.persistent_features);
    let optional = feature_names(map.optional_features);
    if !cx.plain() {
        return cx.json(
            &json!({
                "all": {"supported": names, "persistent": names},
                "monmap": {"persistent": names, "optional": optional, "required": names},
            }),
            true,
        );
    }
    let list = names.join(",");
    Reply::output(format!(
        "all features\n\tsupported: [{list}]\n\tpersistent: [{list}]\non current monmap (epoch {})\n\t\
         persistent: [{list}]\n\trequired: [{list}]\n",
        map.epoch
    ))
}

fn dump(cx: &Context<'_>, args: &Args) -> Reply {
    let map = cx.state.monmap();
    if args.int("epoch").is_some_and(|epoch| epoch != 0 && epoch != i64::from(map.epoch.0)) {
        return Reply::error(Errno::ENOENT, "there is no map for that epoch");
    }
    let status = format!("dumped monmap epoch {}", map.epoch);
    if !cx.plain() {
        let mut dump = monmap_json(map);
        dump["quorum"] = json!(quorum_ranks(map));
        return cx.json(&dump, true).with_status(status);
    }
    let mut out = format!(
        "epoch {}\nfsid {}\nlast_changed {}\ncreated {}\nmin_mon_release {} ({})\nelection_strategy: {}\n",
        map.epoch,
        map.fsid,
        map.last_changed,
        map.created,
        map.min_mon_release,
        release_name(map.min_mon_release),
        map.election_strategy,
    );
    for (rank, mon) in map.by_rank().enumerate() {
        let _ = writeln!(out, "{rank}: {} mon.{}", mon.addrs, mon.name);
    }
    Reply::output(out).with_status(status)
}

fn stat(cx: &Context<'_>, _: &Args) -> Reply {
    let map = cx.state.monmap();
    let names = quorum_names(map);
    let leader = names.first().copied().unwrap_or_default();
    if !cx.plain() {
        let quorum: Vec<_> =
            names.iter().enumerate().map(|(rank, name)| json!({"rank": rank, "name": name})).collect();
        let stat = json!({
            "epoch": map.epoch.0,
            "min_mon_release_name": release_name(map.min_mon_release),
            "num_mons": names.len(),
            "leader": leader,
            "quorum": quorum,
        });
        return cx.json(&stat, false);
    }
    let mons: Vec<_> = map.by_rank().map(|mon| format!("{}={}", mon.name, mon.addrs)).collect();
    let ranks: Vec<_> = quorum_ranks(map).iter().map(usize::to_string).collect();
    Reply::output(format!(
        "e{}: {} mons at {{{}}} removed_ranks: {{}}, election epoch {ELECTION_EPOCH}, leader 0 {leader}, quorum {} {}\n",
        map.epoch,
        names.len(),
        mons.join(","),
        ranks.join(","),
        names.join(","),
    ))
}

fn quorum_status(cx: &Context<'_>, _: &Args) -> Reply {
    let map = cx.state.monmap();
    let names = quorum_names(map);
    let status = json!({
        "election_epoch": ELECTION_EPOCH,
        "quorum": quorum_ranks(map),
        "quorum_names": names,
        "quorum_leader_name": names.first(),
        "quorum_age": cx.now.saturating_since(cx.started).as_secs(),
        "features": {
            "quorum_con": sepiola_wire::Features::SUPPORTED.bits().to_string(),
            "quorum_mon": feature_names(map.persistent_features),
        },
        "monmap": monmap_json(map),
    });
    cx.json(&status, true)
}

fn metadata(cx: &Context<'_>, args: &Args) -> Reply {
    let map = cx.state.monmap();
    let facts = || {
        let addrs = map.mons.get(&cx.options.name).map(|mon| mon.addrs.to_string()).unwrap_or_default();
        let facts = cx.metadata.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
        [("addrs".to_owned(), addrs.into())].into_iter().chain(facts)
    };
    match args.text("id") {
        None => {
            let name = ("name".to_owned(), cx.options.name.as_str().into());
            cx.document(&json!([Value::Object([name].into_iter().chain(facts()).collect())]))
        }
        Some(id) if id == cx.options.name => cx.document(&Value::Object(facts().collect())),
        Some(_) => Reply::error(Errno::ENOENT, "requested mon not found"),
    }
}
