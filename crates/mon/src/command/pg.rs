//! `pg stat` and `osd pool stats`: what the pgs report.

use sepiola_config::units;
use serde_json::json;

use super::{
    Command, Context, Reply, Run,
    signature::{Args, Kind, opt},
    status::Usage,
};
use sepiola_wire::Errno;

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "pg stat",
        args: &[],
        help: "how many pgs are in which state, and how much is in them",
        module: "pg",
        perm: "r",
        run: Run::Read(stat),
    },
    Command {
        words: "osd pool stats",
        args: &[opt("pool_name", Kind::Pool)],
        help: "what clients and recovery do in a pool, or in all",
        module: "osd",
        perm: "r",
        run: Run::Read(pool_stats),
    },
];

fn stat(cx: &Context<'_>, _: &Args) -> Reply {
    let usage = Usage::of(cx);
    if !cx.plain() {
        let states: Vec<_> = usage.states.iter().map(|(s, n)| json!({"name": s, "num": n})).collect();
        let stat = json!({
            "pg_ready": true,
            "pg_summary": {
                "num_pg_by_state": states,
                "num_pgs": usage.pgs,
                "num_bytes": usage.bytes,
                "total_bytes": usage.space.total,
                "total_avail_bytes": usage.space.available,
                "total_used_bytes": usage.space.used(),
                "total_used_raw_bytes": usage.space.used(),
            },
        });
        return cx.json(&stat, true);
    }
    // The rarest first: what is wrong stands in front.
    let states: Vec<_> = usage.states.iter().rev().map(|(state, n)| format!("{n} {state}")).collect();
    Reply::output(format!(
        "{} pgs: {}; {} data, {}\n",
        usage.pgs,
        states.join(", "),
        units::bytes(usage.bytes),
        usage.space_text(),
    ))
}

fn pool_stats(cx: &Context<'_>, args: &Args) -> Reply {
    let map = cx.state.osdmap();
    if let Some(name) = args.text("pool_name")
        && map.pool_by_name(name).is_none()
    {
        return Reply::error(Errno::ENOENT, format!("unrecognized pool '{name}'"));
    }
    let wanted = |name: &str| args.text("pool_name").is_none_or(|only| only == name);
    let pools = map.pools().filter_map(|(id, _)| Some((id, map.pool_name(id)?)));
    let pools: Vec<_> = pools.filter(|(_, name)| wanted(name)).collect();
    if !cx.plain() {
        let stats: Vec<_> = pools
            .iter()
            .map(|(id, name)| {
                json!({"pool_name": name, "pool_id": id.0, "recovery": {}, "recovery_rate": {}, "client_io_rate": {}})
            })
            .collect();
        return cx.json(&json!(stats), true);
    }
    let out: String =
        pools.iter().map(|(id, name)| format!("pool {name} id {id}\n  nothing is going on\n\n")).collect();
    Reply::output(out)
}
