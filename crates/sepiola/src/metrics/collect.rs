//! What daemons tell Prometheus. Where Ceph's own exporter has a metric, this has its name and labels.

use serde_json::{Value, json};

use super::exposition::{
    Kind::{self, CephCounter, Counter, Gauge},
    Metric,
};
use crate::admin::Daemon;

type Labels = Vec<(&'static str, String)>;

fn one(name: &'static str, help: &'static str, kind: Kind, labels: &Labels, value: f64) -> Metric {
    Metric { name, help, kind, samples: vec![(labels.clone(), value)] }
}

/// Everything that a daemon has to tell; nothing of itself before it has started and after it has ended.
pub fn metrics(daemon: &Daemon, name: &str) -> Vec<Metric> {
    match daemon {
        Daemon::Mon(mon) => of_monitor(mon, name),
        Daemon::Osd(osd) => osd.read().map_or(Vec::new(), |perf| of_osd(&perf, name)),
    }
}

fn of_osd(p: &sepiola_osd::OsdPerf, name: &str) -> Vec<Metric> {
    let own = vec![("ceph_daemon", name.to_owned())];
    let metric = |name, help, kind, value: u64| one(name, help, kind, &own, value as f64);
    vec![
        metric("ceph_osd_op", "Client operations", CephCounter, p.op),
        metric("ceph_osd_op_r", "Client read operations", CephCounter, p.op_r),
        metric("ceph_osd_op_w", "Client write operations", CephCounter, p.op_w),
        metric("ceph_osd_op_in_bytes", "Client operations total write size", CephCounter, p.op_in_bytes),
        metric("ceph_osd_op_out_bytes", "Client operations total read size", CephCounter, p.op_out_bytes),
        metric(
            "ceph_osd_op_latency_count",
            "Client operations with a measured time",
            CephCounter,
            p.op_latency_count,
        ),
        one(
            "ceph_osd_op_latency_sum",
            "Seconds from an operation's arrival to its reply",
            CephCounter,
            &own,
            p.op_latency_nanos as f64 / 1e9,
        ),
        metric("ceph_osd_numpg", "Placement groups", Gauge, p.numpg),
        metric("ceph_osd_stat_bytes", "What the store may take", Gauge, p.stat_bytes),
        metric("ceph_osd_stat_bytes_used", "What objects take of it", Gauge, p.stat_bytes_used),
        metric("sepiola_osd_objects", "Objects", Gauge, p.objects),
        metric("sepiola_osdmap_epoch", "Epoch of the OSD map", Gauge, p.osdmap_epoch.into()),
        metric("sepiola_handshakes", "Connections that began to authenticate", Counter, p.handshakes),
        metric("sepiola_sessions_opened", "Connections that authenticated", Counter, p.sessions_opened),
        metric("sepiola_sessions", "Open connections", Gauge, p.sessions),
    ]
}

fn of_monitor(mon: &sepiola_mon::PerfHandle, name: &str) -> Vec<Metric> {
    let Some(p) = mon.read() else { return Vec::new() };
    let ask = |command: Value| mon.describe(&command).unwrap_or_default();
    let own = vec![("ceph_daemon", name.to_owned())];
    let metric = |name, help, kind, value: u64| one(name, help, kind, &own, value as f64);
    let mut all = vec![
        metric("ceph_mon_num_sessions", "Open sessions", Gauge, p.num_sessions),
        metric("ceph_mon_quorum_status", "1 if the monitor is in the quorum", Gauge, 1),
        metric("sepiola_osdmap_epoch", "Epoch of the OSD map", Gauge, p.osdmap_epoch.into()),
        metric("sepiola_mon_entities", "Entities with a key", Gauge, p.entities),
        metric("sepiola_mon_log_index", "Log entries applied", Counter, p.log_index),
        metric("sepiola_handshakes", "Connections that began to authenticate", Counter, p.handshakes),
        metric("sepiola_sessions_opened", "Connections that authenticated", Counter, p.sessions_opened),
        metric("sepiola_sessions", "Open connections", Gauge, p.num_sessions),
    ];
    all.push(health(&ask(json!({"prefix": "health"}))));
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
    Metric { name, help, kind, samples }
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
