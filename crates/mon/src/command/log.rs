//! `log`: lines for the cluster log, and its newest lines.

use std::fmt::Write as _;

use rand_core::CryptoRng;
use sepiola_messages::{LogEntry, LogLevel};
use sepiola_wire::EntityNum;
use serde_json::{Value, json};

use super::{
    Command, Context, Proposal, Reply, Run,
    mon::addrvec_json,
    signature::{Args, Kind, many, opt},
};
use crate::{
    service::cluster_log::{CLUSTER, shortened},
    state::change,
};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "log",
        args: &[many("logtext", Kind::Text)],
        help: "write a line to the cluster log",
        module: "mon",
        perm: "rw",
        run: Run::Write(log),
    },
    Command {
        words: "log last",
        args: &[
            opt("num", Kind::Int(1)),
            opt("level", Kind::Choice("debug|info|sec|warn|error")),
            opt("channel", Kind::Choice("*|cluster|audit|cephadm")),
        ],
        help: "newest lines of the cluster log",
        module: "mon",
        perm: "r",
        run: Run::Read(last),
    },
];

fn log(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let entry = LogEntry {
        name: cx.caller.name.clone(),
        rank: EntityNum::client(cx.caller.global_id),
        addrs: cx.caller.addrs.clone(),
        stamp: cx.now,
        seq: 0,
        level: LogLevel::INFO,
        text: shortened(&args.texts("logtext").join(" ")),
        channel: CLUSTER.to_owned(),
    };
    Proposal::new(Reply::default(), vec![change::cluster_log(&entry)])
}

const DEFAULT_LINES: i64 = 20;

fn last(cx: &Context<'_>, args: &Args) -> Reply {
    let num = usize::try_from(args.int("num").unwrap_or(DEFAULT_LINES)).unwrap_or(usize::MAX);
    let level = args.text("level").and_then(LogLevel::from_name).unwrap_or(LogLevel::INFO);
    let channel = args.text("channel").unwrap_or(CLUSTER);
    let wanted = |line: &&LogEntry| line.level >= level && (channel == "*" || line.channel == channel);
    let mut lines: Vec<_> = cx.state.cluster_log().newest().filter(wanted).take(num).collect();
    lines.reverse();
    if !cx.plain() {
        return cx.json(&lines.into_iter().map(to_json).collect::<Vec<_>>().into(), true);
    }
    Reply::output(lines.iter().fold(String::new(), |mut out, line| {
        let LogEntry { stamp, name, rank, seq, channel, level, text, .. } = line;
        let _ = writeln!(out, "{stamp} {name} ({rank}) {seq} : {channel} {level} {text}");
        out
    }))
}

fn to_json(line: &LogEntry) -> Value {
    json!({
        "name": line.name.to_string(),
        "rank": line.rank.to_string(),
        "addrs": addrvec_json(&line.addrs),
        "stamp": line.stamp.to_string(),
        "seq": line.seq,
        "channel": line.channel,
        "priority": line.level.to_string(),
        "message": line.text,
    })
}
