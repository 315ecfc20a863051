//! What daemons tell Prometheus. Where Ceph's own exporter has a metric, this has its name and labels.

use serde_json::{Value, json};

use super::exposition::{
    Kind::{self, CephCounter, Counter, Gauge},
    Metric,
};
use crate::admin::{
    Daemon,
    counters::{self, Reading},
};

type Labels = Vec<(&'static str, String)>;

fn one(name: &'static str, help: &'static str, kind: Kind, labels: &Labels, value: f64) -> Metric {
    Metric { name: name.into(), help, kind, samples: vec![(labels.clone(), value)] }
}

/// Everything that a daemon has to tell; nothing of itself before it has started and after it has ended.
pub fn metrics(daemon: &Daemon, name: &str) -> Vec<Metric> {
    let Some(counters) = counters::of_running(daemon) else { return Vec::new() };
    let own = vec![("ceph_daemon", name.to_owned())];
    let mut all: Vec<_> = counters.iter().flat_map(|counter| counted(counter, &own)).collect();
    if let Daemon::Mon(mon) = daemon {
        all.push(one("ceph_mon_quorum_status", "1 if the monitor is in the quorum", Gauge, &own, 1.0));
        all.extend(of_cluster(mon));
    }
    all
}

/// A counter as Prometheus has it: sums of times are two metrics.
fn counted(counter: &counters::Counter, own: &Labels) -> Vec<Metric> {
    if counter.metric.is_empty() {
        return Vec::new();
    }
    let grows = if counter.metric.starts_with("ceph_") { CephCounter } else { Counter };
    let metric = |suffix: &str, kind, value| Metric {
        name: [counter.metric, suffix].concat().into(),
        help: counter.about,
        kind,
        samples: vec![(own.clone(), value)],
    };
    match counter.reading {
        Reading::Count(n) => vec![metric("", grows, n as f64)],
        Reading::Level(n) => vec![metric("", Gauge, n as f64)],
        Reading::Times(n, sum) => vec![metric("_count", grows, n as f64), metric("_sum", grows, sum)],
    }
}

/// What a monitor knows of the whole cluster.
fn of_cluster(mon: &sepiola_mon::MonHandle) -> Vec<Metric> {
    let ask = |command: Value| mon.describe(&command).unwrap_or_default();
    let mut all = vec![health(&ask(json!({"prefix": "health"})))];
    all.extend(osds(&ask(json!({"prefix": "osd dump"}))));
    all.extend(usage(&ask(json!({"prefix": "df"}))));
    all
}

fn health(health: &Value) -> Metric {
    let status = match health["status"].as_str() {
        Some("HEALTH_OK") => 0.0,
        Some("HEALTH_WARN") => 1.0,
        _ => 2.0,
    };
    one("ceph_health_status", "0: HEALTH_OK, 1: HEALTH_WARN, 2: HEALTH_ERR", Gauge, &Vec::new(), status)
}

/// A metric over entries of a list, whose values are found by `value`.
fn over(
    name: &'static str,
    help: &'static str,
    kind: Kind,
    list: &Value,
    labels: impl Fn(&Value) -> Labels,
    value: impl Fn(&Value) -> Option<f64>,
) -> Metric {
    let entries = list.as_array().into_iter().flatten();
    let samples = entries.filter_map(|entry| Some((labels(entry), value(entry)?))).collect();
    Metric { name: name.into(), help, kind, samples }
}

fn osds(dump: &Value) -> Vec<Metric> {
    let list = &dump["osds"];
    let label = |osd: &Value| vec![("ceph_daemon", format!("osd.{}", osd["osd"]))];
    let pool = |pool: &Value| vec![("pool_id", pool["pool"].to_string())];
    vec![
        over("ceph_osd_up", "1 if the OSD is up", Gauge, list, label, |osd| osd["up"].as_f64()),
        over("ceph_osd_in", "1 if the OSD is in", Gauge, list, label, |osd| osd["in"].as_f64()),
        over("ceph_osd_weight", "Share of its data that an OSD gets", Gauge, list, label, |osd| {
            osd["weight"].as_f64()
        }),
        over("ceph_pool_quota_bytes", "Limit on bytes; 0 for none", Gauge, &dump["pools"], pool, |pool| {
            pool["quota_max_bytes"].as_f64()
        }),
        over(
            "ceph_pool_quota_objects",
            "Limit on objects; 0 for none",
            Gauge,
            &dump["pools"],
            pool,
            |pool| pool["quota_max_objects"].as_f64(),
        ),
        over("ceph_pg_total", "Placement groups", Gauge, &dump["pools"], pool, |pool| {
            pool["pg_num"].as_f64()
        }),
    ]
}

fn usage(df: &Value) -> Vec<Metric> {
    /// Name, help, and the field of `df`.
    const OF_POOLS: [(&str, &str, &str); 4] = [
        ("ceph_pool_stored", "Bytes that clients stored", "stored"),
        ("ceph_pool_objects", "Objects", "objects"),
        ("ceph_pool_bytes_used", "Bytes that this takes", "bytes_used"),
        ("ceph_pool_max_avail", "Bytes that can still be stored", "max_avail"),
    ];
    let stats = &df["stats"];
    let cluster = |name, help, field: &str| {
        one(name, help, Gauge, &Vec::new(), stats[field].as_f64().unwrap_or_default())
    };
    let label = |pool: &Value| vec![("pool_id", pool["id"].to_string())];
    let mut all = vec![
        cluster("ceph_cluster_total_bytes", "Capacity", "total_bytes"),
        cluster("ceph_cluster_total_used_bytes", "Used", "total_used_bytes"),
        over(
            "ceph_pool_metadata",
            "Names of pools; always 1",
            Gauge,
            &df["pools"],
            |pool| {
                let name = pool["name"].as_str().unwrap_or_default().to_owned();
                vec![("pool_id", pool["id"].to_string()), ("name", name)]
            },
            |_| Some(1.0),
        ),
    ];
    all.extend(OF_POOLS.map(|(name, help, field)| {
        over(name, help, Gauge, &df["pools"], label, |pool| pool["stats"][field].as_f64())
    }));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_has_the_kind_that_its_reading_and_its_name_ask_for() {
        let counted = |metric, reading| {
            let (group, name, nick) = ("g", "n", "");
            let counter = counters::Counter { group, name, nick, metric, about: "", bytes: false, reading };
            let metrics = counted(&counter, &Vec::new());
            metrics.into_iter().map(|m| (m.name.into_owned(), m.kind, m.samples[0].1)).collect::<Vec<_>>()
        };
        let named = |name: &str, kind, value| (name.to_owned(), kind, value);
        assert_eq!(counted("ceph_x", Reading::Count(1)), [named("ceph_x", CephCounter, 1.0)]);
        assert_eq!(counted("sepiola_x", Reading::Count(1)), [named("sepiola_x", Counter, 1.0)]);
        assert_eq!(counted("ceph_x", Reading::Level(1)), [named("ceph_x", Gauge, 1.0)]);
        assert_eq!(
            counted("ceph_x", Reading::Times(2, 0.5)),
            [named("ceph_x_count", CephCounter, 2.0), named("ceph_x_sum", CephCounter, 0.5)]
        );
        assert_eq!(counted("", Reading::Level(1)), []);
    }
}
