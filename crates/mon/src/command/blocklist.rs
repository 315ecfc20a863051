//! `osd blocklist`: clients that OSDs no longer serve.

use std::{fmt::Write as _, time::Duration};

use rand_core::CryptoRng;
use sepiola_wire::{AddrType, EntityAddr, Errno};
use serde_json::json;

use super::{
    Command, Context, Proposal, Reply, Run,
    pool::publish,
    signature::{Args, Kind, opt, req},
};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "osd blocklist ls",
        args: &[],
        help: "show blocklisted clients",
        module: "osd",
        perm: "r",
        run: Run::Read(ls),
    },
    Command {
        words: "osd blocklist clear",
        args: &[],
        help: "clear all blocklisted clients",
        module: "osd",
        perm: "rw",
        run: Run::Write(clear),
    },
    Command {
        words: "osd blocklist",
        args: &[
            req("blocklistop", Kind::Choice("add|rm")),
            req("addr", Kind::Addr),
            opt("expire", Kind::Float(0.0, f64::MAX)),
        ],
        help: "add (optionally until <expire> seconds from now) or remove <addr> from blocklist",
        module: "osd",
        perm: "rw",
        run: Run::Write(change),
    },
];

const DEFAULT_EXPIRE: f64 = 3600.0;
/// Longer is as good as for ever, and stays within the clock's range.
const MAX_EXPIRE: f64 = 10.0 * 365.0 * 86_400.0;

fn ls(cx: &Context<'_>, _: &Args) -> Reply {
    let entries: Vec<_> =
        cx.state.osdmap().blocklist().map(|(addr, until)| (addr.to_string(), until.to_string())).collect();
    let status = format!("listed {} entries", entries.len());
    if !cx.plain() {
        let list: Vec<_> =
            entries.iter().map(|(addr, until)| json!({"addr": addr, "until": until})).collect();
        return cx.json(&json!(list), true).with_status(status);
    }
    let mut out = String::new();
    for (addr, until) in entries {
        let _ = writeln!(out, "{addr} {until}");
    }
    Reply::output(out).with_status(status)
}

fn clear(cx: &Context<'_>, _: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let map = cx.state.osdmap();
    publish(cx, " removed all blocklist entries", |inc| {
        inc.old_blocklist = map.blocklist().map(|(addr, _)| (*addr).into()).collect();
    })
}

fn change(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    // Older tools name the argument after the command's older name.
    let op = args.required("blocklistop");
    let Ok(addr) = args.required("addr").parse::<EntityAddr>() else {
        return Reply::error(Errno::EINVAL, "the address does not parse").into();
    };
    let addr = EntityAddr { kind: AddrType::Any, ..addr };
    let map = cx.state.osdmap();
    let listed = map.blocklist().any(|(entry, _)| *entry == addr);
    if op == "rm" {
        if !listed {
            return Reply::done(format!("{addr} isn't blocklisted")).into();
        }
        return publish(cx, format!("un-blocklisting {addr}"), |inc| inc.old_blocklist.push(addr.into()));
    }
    let expire = args.float("expire").filter(|e| *e > 0.0).unwrap_or(DEFAULT_EXPIRE).min(MAX_EXPIRE);
    let until = cx.now.saturating_add(Duration::from_secs_f64(expire));
    publish(cx, format!("blocklisting {addr} until {until} ({expire} sec)"), |inc| {
        inc.new_blocklist.insert(addr.into(), until);
    })
}
