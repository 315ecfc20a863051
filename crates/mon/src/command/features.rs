//! `features` and `sessions`: who is connected.

use std::collections::BTreeMap;

use sepiola_wire::{EntityType, Features};
use serde_json::{Map, Value, json};

use super::{Command, Context, Reply, Run, mon::addrvec_json, signature::Args};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "features",
        args: &[],
        help: "how many are connected with which features",
        module: "mon",
        perm: "r",
        run: Run::Read(features),
    },
    Command {
        words: "sessions",
        args: &[],
        help: "who is connected to this monitor",
        module: "mon",
        perm: "r",
        run: Run::Read(sessions),
    },
];

fn features(cx: &Context<'_>, _: &Args) -> Reply {
    let mut groups = BTreeMap::<(u32, u64), u64>::new();
    groups.insert((EntityType::Mon.as_u32(), Features::SUPPORTED.bits()), 1);
    for session in cx.sessions.all() {
        *groups.entry((session.caller.name.kind.as_u32(), session.features.bits())).or_default() += 1;
    }
    let mut by_kind = Map::new();
    for ((kind, bits), num) in groups {
        let kind = EntityType::from_u32(kind).map_or("unknown", EntityType::as_str);
        let group = json!({"features": format!("{bits:#x}"), "release": "luminous", "num": num});
        if let Value::Array(groups) = by_kind.entry(kind).or_insert_with(|| json!([])) {
            groups.push(group);
        }
    }
    cx.document(&Value::Object(by_kind))
}

fn sessions(cx: &Context<'_>, _: &Args) -> Reply {
    let sessions = cx.sessions.all().into_iter().map(|session| {
        let caller = &session.caller;
        let addrs = addrvec_json(&caller.addrs);
        json!({
            "name": format!("{}.{}", caller.name.kind, caller.global_id.0),
            "entity_name": caller.name.to_string(),
            "addrs": addrs,
            "con_features": session.features.bits(),
            "con_features_hex": format!("{:x}", session.features.bits()),
            "con_features_release": "luminous",
            "open": true,
            "authenticated": true,
            "global_id": caller.global_id.0,
            "session_for": cx.now.saturating_since(session.opened).as_secs_f64(),
        })
    });
    cx.document(&sessions.collect())
}
