//! `status`, `version` and their like: the cluster in one look.

use std::fmt::Write as _;

use sepiola_config::units;
use sepiola_messenger::VERSION;
use sepiola_wire::UTime;
use serde_json::{Value, json};

use super::{
    Command, Context, Reply, Run, format, health,
    mon::{ELECTION_EPOCH, quorum_names, release_name},
    signature::Args,
};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "status",
        args: &[],
        help: "the whole cluster on a page",
        module: "mon",
        perm: "r",
        run: Run::Read(status),
    },
    Command {
        words: "fsid",
        args: &[],
        help: "the UUID of the cluster",
        module: "mon",
        perm: "r",
        run: Run::Read(fsid),
    },
    Command {
        words: "version",
        args: &[],
        help: "what version this monitor is",
        module: "mon",
        perm: "r",
        run: Run::Read(version),
    },
];

fn fsid(cx: &Context<'_>, _: &Args) -> Reply {
    let fsid = cx.state.fsid().to_string();
    if cx.plain() { Reply::output(format!("{fsid}\n")) } else { cx.json(&json!({ "fsid": fsid }), true) }
}

fn version(cx: &Context<'_>, _: &Args) -> Reply {
    if cx.plain() {
        Reply::output(format!("{VERSION}\n"))
    } else {
        cx.json(&json!({ "version": VERSION }), true)
    }
}

/// How many OSDs there are, and since when.
pub(super) struct OsdCounts {
    pub total: usize,
    pub up: usize,
    pub inside: usize,
    up_since: UTime,
    in_since: UTime,
}

impl OsdCounts {
    pub fn of(cx: &Context<'_>) -> Self {
        let map = cx.state.osdmap();
        let (total, up, inside) = map.osd_counts();
        OsdCounts { total, up, inside, up_since: map.last_up_change(), in_since: map.last_in_change() }
    }

    /// `3 osds: 3 up (since 7s), 3 in (since 11s)`.
    pub fn text(&self, now: UTime) -> String {
        let since = |t: UTime| {
            if t.is_zero() {
                String::new()
            } else {
                format!(" (since {})", format::age(now.saturating_since(t).as_secs()))
            }
        };
        format!(
            "{} osds: {} up{}, {} in{}",
            self.total,
            self.up,
            since(self.up_since),
            self.inside,
            since(self.in_since)
        )
    }

    /// The same in JSON.
    pub fn json(&self, epoch: u32) -> Value {
        json!({
            "epoch": epoch,
            "num_osds": self.total,
            "num_up_osds": self.up,
            "osd_up_since": self.up_since.sec,
            "num_in_osds": self.inside,
            "osd_in_since": self.in_since.sec,
            "num_remapped_pgs": 0,
        })
    }
}

/// Sums over pools and stores.
pub(super) struct Usage {
    pub pools: usize,
    pub pgs: u64,
    /// By state, most first.
    pub states: Vec<(String, u64)>,
    pub objects: u64,
    pub bytes: u64,
    pub space: crate::service::stats::Space,
}

impl Usage {
    pub fn of(cx: &Context<'_>) -> Self {
        let map = cx.state.osdmap();
        let pools = || map.pools().map(|(id, pool)| (id, pool.pg_num));
        let mut usage = Usage {
            pools: pools().count(),
            pgs: pools().map(|(_, pg_num)| u64::from(pg_num)).sum(),
            states: cx.stats.pg_states(pools(), |osd| map.is_up(osd)),
            objects: 0,
            bytes: 0,
            space: cx.stats.space(),
        };
        for (id, _) in pools() {
            let sums = cx.stats.pool(id).sums;
            usage.objects = usage.objects.saturating_add(sums.objects);
            usage.bytes = usage.bytes.saturating_add(sums.bytes);
        }
        usage
    }

    /// `16 KiB used, 8.0 GiB / 8 GiB avail`.
    pub fn space_text(&self) -> String {
        let (used, avail, total) = (self.space.used(), self.space.available, self.space.total);
        format!("{} used, {} / {} avail", units::bytes(used), units::bytes(avail), units::bytes(total))
    }

    fn unknown(&self) -> u64 {
        self.states.iter().filter(|(state, _)| state == "unknown").map(|(_, n)| *n).sum()
    }

    fn json(&self) -> Value {
        let states: Vec<_> = self.states.iter().map(|(s, n)| json!({"state_name": s, "count": n})).collect();
        let mut json = json!({
            "pgs_by_state": states,
            "num_pgs": self.pgs,
            "num_pools": self.pools,
            "num_objects": self.objects,
            "data_bytes": self.bytes,
            "bytes_used": self.space.used(),
            "bytes_avail": self.space.available,
            "bytes_total": self.space.total,
        });
        if self.unknown() > 0 {
            json["unknown_pgs_ratio"] = json!(self.unknown() as f64 / self.pgs as f64);
        }
        json
    }

    fn pg_lines(&self) -> String {
        let mut lines = Vec::new();
        if self.unknown() > 0 {
            lines.push(format!("{:.3}% pgs unknown", self.unknown() as f64 * 100.0 / self.pgs as f64));
        }
        let width = self.states.iter().map(|(_, n)| n.to_string().len()).max().unwrap_or(0);
        lines.extend(self.states.iter().map(|(state, n)| format!("{n:<width$} {state}")));
        lines.join("\n             ")
    }
}

fn status(cx: &Context<'_>, _: &Args) -> Reply {
    let (osds, usage, health) = (OsdCounts::of(cx), Usage::of(cx), health::assess(cx));
    let monmap = cx.state.monmap();
    let names = quorum_names(monmap);
    let age = cx.now.saturating_since(cx.started).as_secs();
    if !cx.plain() {
        let status = json!({
            "fsid": cx.state.fsid().to_string(),
            "health": health.json(false),
            "election_epoch": ELECTION_EPOCH,
            "quorum": (0..names.len()).collect::<Vec<_>>(),
            "quorum_names": names,
            "quorum_age": age,
            "monmap": {
                "epoch": monmap.epoch.0,
                "min_mon_release_name": release_name(monmap.min_mon_release),
                "num_mons": monmap.mons.len(),
            },
            "osdmap": osds.json(cx.state.osdmap().epoch().0),
            "pgmap": usage.json(),
            "fsmap": {"epoch": 1, "by_rank": [], "up:standby": 0},
            "mgrmap": {"available": false, "num_standbys": 0, "modules": [], "services": {}},
            "servicemap": {"epoch": 1, "modified": monmap.created.to_string(), "services": {}},
            "progress_events": {},
        });
        return cx.json(&status, true);
    }
    let mut out = format!("  cluster:\n    id:     {}\n    health: {}\n", cx.state.fsid(), health.status());
    for summary in health.summaries() {
        let _ = writeln!(out, "            {summary}");
    }
    let _ = write!(
        out,
        " \n  services:\n    mon: {} daemons, quorum {} (age {})\n    mgr: no daemons active\n    osd: {}\n",
        monmap.mons.len(),
        names.join(","),
        format::age(age),
        osds.text(cx.now),
    );
    let _ = write!(
        out,
        " \n  data:\n    pools:   {} pools, {} pgs\n    objects: {} objects, {}\n    usage:   {}\n    pgs:     {}\n \n",
        usage.pools,
        usage.pgs,
        units::count(usage.objects),
        units::bytes(usage.bytes),
        usage.space_text(),
        usage.pg_lines(),
    );
    Reply::output(out)
}
