//! `osd blocklist`: clients that OSDs no longer serve.

use std::{fmt::Write as _, time::Duration};

use rand_core::CryptoRng;
use sepiola_wire::{AddrType, EntityAddr, Errno, UTime};
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
        help: "whom OSDs refuse, and until when",
        module: "osd",
        perm: "r",
        run: Run::Read(ls),
    },
    Command {
        words: "osd blocklist clear",
        args: &[],
        help: "let everybody in again whom OSDs refuse",
        module: "osd",
        perm: "rw",
        run: Run::Write(clear),
    },
    Command {
        words: "osd blocklist",
        args: &[
            opt("range", Kind::Chars("[range]")),
            req("blocklistop", Kind::Choice("add|rm")),
            req("addr", Kind::Addr),
            opt("expire", Kind::Float(0.0, f64::MAX)),
        ],
        help: "have OSDs refuse an address or a range for that many seconds, or let it in again",
        module: "osd",
        perm: "rw",
        run: Run::Write(change),
    },
];

const DEFAULT_EXPIRE: f64 = 3600.0;
/// Longer is as good as for ever, and stays within the clock's range.
const MAX_EXPIRE: f64 = 10.0 * 365.0 * 86_400.0;

fn ls(cx: &Context<'_>, _: &Args) -> Reply {
    let map = cx.state.osdmap();
    let (one, ranges) = (map.blocklist().collect::<Vec<_>>(), map.range_blocklist().collect::<Vec<_>>());
    let status = format!("listed {} entries", one.len() + ranges.len());
    if !cx.plain() {
        let text = |until: &UTime| until.to_string();
        let one = one.iter().map(|(addr, until)| json!({"addr": addr.to_string(), "until": text(until)}));
        let ranges = ranges.iter().map(|(addr, until)| {
            json!({"range": addr.to_string().trim_start_matches("cidr:"), "until": text(until)})
        });
        return cx.json(&one.chain(ranges).collect(), true).with_status(status);
    }
    let mut out = String::new();
    for (addr, until) in one.into_iter().chain(ranges) {
        let _ = writeln!(out, "{addr} {until}");
    }
    Reply::output(out).with_status(status)
}

fn clear(cx: &Context<'_>, _: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let map = cx.state.osdmap();
    publish(cx, " removed all blocklist entries", |inc| {
        inc.old_blocklist = map.blocklist().map(|(addr, _)| (*addr).into()).collect();
        inc.old_range_blocklist = map.range_blocklist().map(|(addr, _)| (*addr).into()).collect();
    })
}

fn change(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let (op, range) = (args.required("blocklistop"), args.text("range").is_some());
    let Ok(addr) = args.required("addr").parse::<EntityAddr>() else {
        return Reply::error(Errno::EINVAL, "the address does not parse").into();
    };
    // What stands behind the slash of a range is its prefix, and lies where others have their nonce.
    let widest = if addr.socket.is_some_and(|socket| socket.is_ipv6()) { 128 } else { 32 };
    if range && addr.nonce > widest {
        return Reply::error(Errno::EINVAL, format!("{addr} has a prefix that is too long")).into();
    }
    let addr = EntityAddr { kind: if range { AddrType::Cidr } else { AddrType::Any }, ..addr };
    let map = cx.state.osdmap();
    let listed = map.blocklist().chain(map.range_blocklist()).any(|(entry, _)| *entry == addr);
    if op == "rm" {
        if !listed {
            return Reply::done(format!("{addr} isn't blocklisted")).into();
        }
        return publish(cx, format!("un-blocklisting {addr}"), |inc| {
            if range { &mut inc.old_range_blocklist } else { &mut inc.old_blocklist }.push(addr.into());
        });
    }
    let expire = args.float("expire").filter(|e| *e > 0.0).unwrap_or(DEFAULT_EXPIRE).min(MAX_EXPIRE);
    let until = cx.now.saturating_add(Duration::from_secs_f64(expire));
    publish(cx, format!("blocklisting {addr} until {until} ({expire} sec)"), |inc| {
        let list = if range { &mut inc.new_range_blocklist } else { &mut inc.new_blocklist };
        list.insert(addr.into(), until);
    })
}
