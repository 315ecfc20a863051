//! What stopping or removing OSDs would mean, and how evenly they are used.

use sepiola_wire::{Errno, OsdId};
use serde_json::json;

use super::{
    Command, Context, Reply, Run,
    format::{
        Align::{Left, Right},
        Table, numbers,
    },
    osd_state::osd_id,
    pg_json,
    signature::{Args, Kind, many, opt},
};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "osd ok-to-stop",
        args: &[many("ids", Kind::Text), opt("max", Kind::Int(0))],
        help: "whether all data stays available when these OSDs stop",
        module: "osd",
        perm: "r",
        run: Run::Read(ok_to_stop),
    },
    Command {
        words: "osd safe-to-destroy",
        args: &[many("ids", Kind::Text)],
        help: "whether these OSDs hold nothing that is needed",
        module: "osd",
        perm: "r",
        run: Run::Read(safe_to_destroy),
    },
    Command {
        words: "osd utilization",
        args: &[],
        help: "how evenly pgs are spread",
        module: "osd",
        perm: "r",
        run: Run::Read(utilization),
    },
    Command {
        words: "osd perf",
        args: &[],
        help: "latencies of OSDs",
        module: "osd",
        perm: "r",
        run: Run::Read(perf),
    },
    Command {
        words: "osd blocked-by",
        args: &[],
        help: "which OSDs others wait for",
        module: "osd",
        perm: "r",
        run: Run::Read(blocked_by),
    },
];

/// Numbers as given, with `osd.` or without; OSDs that do not exist are numbers too.
fn ids(args: &Args) -> Result<Vec<OsdId>, Reply> {
    args.texts("ids").iter().map(|text| osd_id(text)).collect()
}

fn ok_to_stop(cx: &Context<'_>, args: &Args) -> Reply {
    let osds = match ids(args) {
        Ok(osds) => osds,
        Err(reply) => return reply,
    };
    let map = cx.state.osdmap();
    let (mut ok, mut bad) = (0_usize, Vec::new());
    for (pg, pool) in map.pgs() {
        let acting = &map.pg_to_up_acting(pg).acting;
        if !acting.iter().any(|osd| osds.contains(osd)) {
            continue;
        }
        let left = acting.iter().filter(|osd| !osds.contains(osd)).count();
        if left >= usize::from(pool.min_size) && left > 0 { ok += 1 } else { bad.push(pg.to_string()) }
    }
    let mut found = json!({
        "ok_to_stop": bad.is_empty(),
        "osds": numbers(&osds),
        "num_ok_pgs": ok,
        "num_not_ok_pgs": bad.len(),
    });
    if bad.is_empty() {
        return cx.json(&found, true);
    }
    let status =
        format!("unsafe to stop osd(s) at this time ({} PGs are or would become offline)", bad.len());
    found["bad_become_inactive"] = json!(bad);
    let output = cx.json(&found, true).output;
    Reply { output, ..Reply::error(Errno::EBUSY, status) }
}

fn safe_to_destroy(cx: &Context<'_>, args: &Args) -> Reply {
    let osds = match ids(args) {
        Ok(osds) => osds,
        Err(reply) => return reply,
    };
    let map = cx.state.osdmap();
    let holds =
        |osd: &OsdId| map.pgs().filter(|(pg, _)| map.pg_to_up_acting(*pg).acting.contains(osd)).count();
    let (safe, active): (Vec<_>, Vec<_>) = osds.iter().partition(|osd| holds(osd) == 0);
    let list = |osds: &[OsdId]| osds.iter().map(|osd| osd.0.to_string()).collect::<Vec<_>>().join(",");
    let (status, failed) = if active.is_empty() {
        (format!("OSD(s) {} are safe to destroy without reducing data durability.", list(&safe)), false)
    } else {
        let held: usize = active.iter().map(holds).sum();
        (format!("OSD(s) {} have {held} pgs currently mapped to them. ", list(&active)), true)
    };
    if cx.plain() {
        return if failed { Reply::error(Errno::EBUSY, status) } else { Reply::done(status) };
    }
    let found = json!({
        "safe_to_destroy": numbers(&safe),
        "active": numbers(&active),
        "missing_stats": [],
        "stored_pgs": [],
    });
    let reply = cx.json(&found, true);
    // Programs read the document; a failure would hide it from them.
    if failed { reply } else { reply.with_status(status) }
}

fn utilization(cx: &Context<'_>, _: &Args) -> Reply {
    let map = cx.state.osdmap();
    let inside: Vec<_> = map.osds().filter(|(_, osd)| osd.is_in()).map(|(id, _)| id).collect();
    let count =
        |osd: &OsdId| map.pgs().filter(|(pg, _)| map.pg_to_up_acting(*pg).acting.contains(osd)).count();
    let counts: Vec<_> = inside.iter().map(|osd| (*osd, count(osd))).collect();
    let (Some(min), Some(max)) = (counts.iter().min_by_key(|(_, n)| n), counts.iter().max_by_key(|(_, n)| n))
    else {
        return if cx.plain() { Reply::default() } else { cx.json(&json!({}), true) };
    };
    let n = counts.len() as f64;
    let total: usize = counts.iter().map(|(_, n)| n).sum();
    let mean = total as f64 / n;
    let deviation = (counts.iter().map(|(_, c)| (*c as f64 - mean).powi(2)).sum::<f64>() / n).sqrt();
    let expected = (total as f64 / n * (1.0 - 1.0 / n)).sqrt();
    if !cx.plain() {
        let found = json!({
            "avg_pgs": total / counts.len(),
            "std_dev": deviation,
            "expected_baseline_std_dev": expected,
            "min_osd": min.0.0,
            "min_osd_pgs": min.1,
            "max_osd": max.0.0,
            "max_osd_pgs": max.1,
        });
        return cx.json(&found, true);
    }
    let times = |c: usize| if mean == 0.0 { 1.0 } else { c as f64 / mean };
    Reply::output(format!(
        "avg {}\nstddev {deviation} (expected baseline {expected})\nmin osd.{} with {} pgs ({} * mean)\n\
         max osd.{} with {} pgs ({} * mean)\n",
        total / counts.len(),
        min.0,
        min.1,
        times(min.1),
        max.0,
        max.1,
        times(max.1),
    ))
}

fn perf(cx: &Context<'_>, _: &Args) -> Reply {
    let ids = super::osd::ids(cx);
    if !cx.plain() {
        let infos: Vec<_> = ids.iter().map(|id| json!({"id": id.0, "perf_stats": pg_json::perf()})).collect();
        return cx.json(&json!({"pg_ready": true, "osdstats": {"osd_perf_infos": infos}}), true);
    }
    let columns = ["osd", "commit_latency(ms)", "apply_latency(ms)"].map(|title| (title, Left, Right));
    let mut table = Table::new(&columns);
    for id in ids {
        table.row([id.to_string(), "0".to_owned(), "0".to_owned()]);
    }
    Reply::output(table.render())
}

fn blocked_by(cx: &Context<'_>, _: &Args) -> Reply {
    // No OSD waits for another one: there is no replication yet.
    if !cx.plain() {
        let none = json!({"osd_blocked_by_infos": []});
        return cx.json(&json!({"pg_ready": true, "osd_blocked_by": none}), true);
    }
    Reply::output(Table::new(&["osd", "num_blocked"].map(|title| (title, Left, Right))).render())
}
