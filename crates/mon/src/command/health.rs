//! `health`: what is wrong, in codes that tools know.

use std::fmt::Write as _;

use sepiola_osdmap::{MapFlags, OsdMap, PoolFlags, WEIGHT_IN};
use serde_json::{Map, Value, json};

use super::{
    Command, Context, Reply, Run, Surroundings,
    signature::{Args, Kind, opt},
};

pub(super) const COMMANDS: &[Command] = &[Command {
    words: "health",
    args: &[opt("detail", Kind::Choice("detail"))],
    help: "whether all is well, and what is not",
    module: "mon",
    perm: "r",
    run: Run::Read(health),
}];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Severity {
    Warning,
    Error,
}

impl Severity {
    fn long(self) -> &'static str {
        match self {
            Severity::Warning => "HEALTH_WARN",
            Severity::Error => "HEALTH_ERR",
        }
    }
    fn short(self) -> &'static str {
        match self {
            Severity::Warning => "WRN",
            Severity::Error => "ERR",
        }
    }
}

struct Check {
    code: &'static str,
    severity: Severity,
    summary: String,
    count: u64,
    detail: Vec<String>,
}

/// The cluster's health: nothing found is HEALTH_OK.
pub(super) struct Health(Vec<Check>);

impl Health {
    /// `HEALTH_OK`, `HEALTH_WARN` or `HEALTH_ERR`.
    pub fn status(&self) -> &'static str {
        self.0.iter().map(|c| c.severity).max().map_or("HEALTH_OK", Severity::long)
    }

    /// One line a problem.
    pub fn summaries(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|c| c.summary.as_str())
    }

    /// As status and health show it.
    pub fn json(&self, detail: bool) -> Value {
        let checks: Map<_, _> = self
            .0
            .iter()
            .map(|c| {
                let mut check = json!({
                    "severity": c.severity.long(),
                    "summary": {"message": c.summary, "count": c.count},
                });
                if detail {
                    check["detail"] = c.detail.iter().map(|m| json!({ "message": m })).collect();
                }
                check["muted"] = false.into();
                (c.code.to_owned(), check)
            })
            .collect();
        json!({"status": self.status(), "checks": checks, "mutes": []})
    }
}

/// Looks for problems, in the order of their codes.
///
/// Two of Ceph's warnings are left out on purpose: that pools have one copy, as more do not exist yet, and
/// that pools have no application, as most pools of a test cluster have none.
pub(crate) fn assess(cx: &Surroundings<'_>) -> Health {
    let map = cx.state.osdmap();
    let mut checks = Vec::new();
    let raised = map.flags().without(MapFlags::NEW_CLUSTER);
    if raised != MapFlags::NONE {
        checks.push(Check {
            code: "OSDMAP_FLAGS",
            severity: Severity::Warning,
            summary: format!("{raised} flag(s) set"),
            count: raised.names().count() as u64,
            detail: Vec::new(),
        });
    }
    let down: Vec<_> = map
        .osds()
        .filter(|(_, osd)| osd.is_in() && !osd.is_up())
        .map(|(id, _)| format!("osd.{id} is down"))
        .collect();
    if !down.is_empty() {
        checks.push(Check {
            code: "OSD_DOWN",
            severity: Severity::Warning,
            summary: format!("{} osds down", down.len()),
            count: down.len() as u64,
            detail: down,
        });
    }
    checks.extend(unserved(map));
    checks.extend(fullness(cx));
    checks.extend(full_pools(map));
    let pools = map.pools().map(|(id, pool)| (id, pool.pg_num));
    let states = cx.stats.pg_states(pools, |osd| map.is_up(osd));
    let has = |state: &str, word| state.split('+').any(|s| s == word);
    let troubled = |state: &str| !has(state, "active") || has(state, "stale");
    let count_of = |wanted: &dyn Fn(&str) -> bool| -> u64 {
        states.iter().filter(|(state, _)| wanted(state)).map(|(_, n)| n).sum()
    };
    let (inactive, stale) = (count_of(&|s| !has(s, "active")), count_of(&|s| has(s, "stale")));
    if inactive + stale > 0 {
        let parts = [(inactive, "inactive"), (stale, "stale")].into_iter().filter(|(n, _)| *n > 0);
        let parts: Vec<_> = parts.map(|(n, what)| format!("{n} pgs {what}")).collect();
        checks.push(Check {
            code: "PG_AVAILABILITY",
            severity: Severity::Warning,
            summary: format!("Reduced data availability: {}", parts.join(", ")),
            count: count_of(&troubled),
            detail: states
                .iter()
                .filter(|(state, _)| troubled(state))
                .map(|(state, n)| format!("{n} pgs are {state}"))
                .collect(),
        });
    }
    if map.osds().next().is_none() {
        checks.push(Check {
            code: "TOO_FEW_OSDS",
            severity: Severity::Warning,
            summary: format!("OSD count 0 < osd_pool_default_size {}", cx.options.pool_default_size),
            count: 1,
            detail: Vec::new(),
        });
    }
    Health(checks)
}

/// OSDs that are up with less than their full weight. Nothing moves objects yet: those of the pgs that other
/// OSDs serve now are out of reach until the weight is back. Ceph, which moves them, has no such check.
fn unserved(map: &OsdMap) -> Option<Check> {
    let detail: Vec<_> = map
        .osds()
        .filter(|(_, osd)| osd.is_up() && osd.weight < WEIGHT_IN)
        .map(|(id, osd)| {
            let back = if osd.is_in() { "ceph osd reweight N 1" } else { "ceph osd in N" };
            format!("osd.{id}: objects of the pgs that it gave up cannot be reached before `{back}`")
        })
        .collect();
    (!detail.is_empty()).then(|| Check {
        code: "OSD_UNSERVED",
        severity: Severity::Warning,
        summary: format!("{} osd(s) hold objects that are not served", detail.len()),
        count: detail.len() as u64,
        detail,
    })
}

/// Pools that take no writes.
fn full_pools(map: &OsdMap) -> Option<Check> {
    let full = map.pools().filter(|(_, pool)| pool.flags.has(PoolFlags::FULL));
    let detail: Vec<_> = full
        .map(|(id, pool)| {
            let why = if pool.flags.has(PoolFlags::FULL_QUOTA) { "quota reached" } else { "no space" };
            format!("pool '{}' is full ({why})", map.pool_name(id).unwrap_or_default())
        })
        .collect();
    (!detail.is_empty()).then(|| Check {
        code: "POOL_FULL",
        severity: Severity::Warning,
        summary: format!("{} pool(s) full", detail.len()),
        count: detail.len() as u64,
        detail,
    })
}

/// OSDs that run out of space, by the fullest limit that they have passed.
fn fullness(cx: &Surroundings<'_>) -> Vec<Check> {
    let map = cx.state.osdmap();
    let ratios = map.full_ratios();
    let share = |id| {
        let space = cx.stats.space_of(id);
        if space.total == 0 { 0.0 } else { space.used() as f64 / space.total as f64 }
    };
    let between = |from: f32, to: f32| -> Vec<String> {
        let (from, to) = (f64::from(from), f64::from(to));
        let osds = map.osds().map(|(id, _)| (id, share(id))).filter(|(_, share)| (from..to).contains(share));
        osds.map(|(id, share)| format!("osd.{id} is {:.0}% full", share * 100.0)).collect()
    };
    let check = |code, severity, word, detail: Vec<String>| Check {
        code,
        severity,
        summary: format!("{} {word} osd(s)", detail.len()),
        count: detail.len() as u64,
        detail,
    };
    [
        check("OSD_FULL", Severity::Error, "full", between(ratios.full, f32::INFINITY)),
        check("OSD_NEARFULL", Severity::Warning, "nearfull", between(ratios.nearfull, ratios.full)),
    ]
    .into_iter()
    .filter(|check| check.count > 0)
    .collect()
}

fn health(cx: &Context<'_>, args: &Args) -> Reply {
    let (health, detail) = (assess(cx), args.text("detail").is_some());
    if !cx.plain() {
        return cx.json(&health.json(detail), true);
    }
    let mut out = health.status().to_owned();
    for (i, summary) in health.summaries().enumerate() {
        let _ = write!(out, "{} {summary}", if i > 0 { ";" } else { "" });
    }
    out.push('\n');
    if detail {
        for check in &health.0 {
            let _ = writeln!(out, "[{}] {}: {}", check.severity.short(), check.code, check.summary);
            for line in &check.detail {
                let _ = writeln!(out, "    {line}");
            }
        }
    }
    Reply::output(out)
}
