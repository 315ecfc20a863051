//! What daemons count: one table for the admin socket and for Prometheus.

use std::time::Duration;

use super::Daemon;

/// One counter's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reading {
    /// Only grows.
    Count(u64),
    /// Also falls.
    Level(u64),
    /// Times in seconds: how many, and their sum.
    Times(u64, f64),
}

/// One counter.
#[derive(Debug, Clone, Copy)]
pub struct Counter {
    pub group: &'static str,
    pub name: &'static str,
    /// A short name for columns of `daemonperf`.
    pub nick: &'static str,
    /// The name in Prometheus, that of Ceph's own exporter where it has the metric. Empty: it is not there.
    pub metric: &'static str,
    pub about: &'static str,
    pub bytes: bool,
    pub reading: Reading,
}

macro_rules! counters {
    ($($group:literal: {
        $($name:literal $nick:literal $metric:literal $kind:ident($($value:expr),+) $unit:ident $about:literal;)*
    })*) => {
        vec![$($(Counter {
            group: $group, name: $name, nick: $nick, metric: $metric, about: $about,
            bytes: stringify!($unit) == "bytes", reading: Reading::$kind($($value),+),
        }),*),*]
    };
}

fn of_connections(handshakes: u64, opened: u64, open: u64) -> Vec<Counter> {
    counters! {
        "connections": {
            "handshakes" "" "sepiola_handshakes" Count(handshakes) none "Connections that began to authenticate";
            "sessions_opened" "" "sepiola_sessions_opened" Count(opened) none "Connections that authenticated";
            "sessions" "" "sepiola_sessions" Level(open) none "Connections that are open";
        }
    }
}

fn of_osd(p: &sepiola_osd::OsdPerf) -> Vec<Counter> {
    let left = p.stat_bytes.saturating_sub(p.stat_bytes_used);
    let seconds = p.op_latency_nanos as f64 / 1e9;
    let mut all = counters! {
        "osd": {
            "op" "ops" "ceph_osd_op" Count(p.op) none "Operations of clients";
            "op_in_bytes" "wr" "ceph_osd_op_in_bytes" Count(p.op_in_bytes) bytes "Data that came with operations";
            "op_out_bytes" "rd" "ceph_osd_op_out_bytes" Count(p.op_out_bytes) bytes "Data that replies took along";
            "op_latency" "l" "ceph_osd_op_latency" Times(p.op, seconds) none
                "Seconds from an operation's arrival to its reply";
            "op_r" "" "ceph_osd_op_r" Count(p.op_r) none "Operations that only read";
            "op_w" "" "ceph_osd_op_w" Count(p.op_w) none "Operations that write";
            "numpg" "pgs" "ceph_osd_numpg" Level(p.numpg) none "PGs that are here";
            "objects" "" "sepiola_osd_objects" Level(p.objects) none "Objects that are here";
            "stat_bytes" "size" "ceph_osd_stat_bytes" Level(p.stat_bytes) bytes "What the store may take";
            "stat_bytes_used" "used" "ceph_osd_stat_bytes_used" Level(p.stat_bytes_used) bytes
                "What objects take of it";
            "stat_bytes_avail" "" "" Level(left) bytes "What is left of it";
            "osdmap_epoch" "" "sepiola_osdmap_epoch" Level(p.osdmap_epoch.into()) none "Epoch of the OSD map";
        }
    };
    all.extend(of_connections(p.handshakes, p.sessions_opened, p.sessions));
    all
}

fn of_mon(p: &sepiola_mon::MonPerf) -> Vec<Counter> {
    let mut all = counters! {
        "mon": {
            "num_sessions" "sess" "ceph_mon_num_sessions" Level(p.num_sessions) none "Sessions that are open";
            "log_index" "" "sepiola_mon_log_index" Count(p.log_index) none "Log entries applied";
            "osdmap_epoch" "" "sepiola_osdmap_epoch" Level(p.osdmap_epoch.into()) none "Epoch of the OSD map";
            "entities" "" "sepiola_mon_entities" Level(p.entities) none "Entities with a key";
        }
    };
    all.extend(of_connections(p.handshakes, p.sessions_opened, p.num_sessions));
    all
}

/// The counters of a daemon that runs; none before it has started and after it has ended.
pub fn of_running(daemon: &Daemon) -> Option<Vec<Counter>> {
    match daemon {
        Daemon::Mon(mon) => mon.perf().map(|perf| of_mon(&perf)),
        Daemon::Osd(osd) => osd.perf().map(|perf| of_osd(&perf)),
    }
}

/// The counters of a daemon, at zero if it does not run, and how long its process does.
pub fn of(daemon: &Daemon, uptime: Duration) -> Vec<Counter> {
    let mut all = of_running(daemon).unwrap_or_else(|| match daemon {
        Daemon::Mon(_) => of_mon(&Default::default()),
        Daemon::Osd(_) => of_osd(&Default::default()),
    });
    all.extend(counters! {
        "daemon": { "uptime" "" "" Level(uptime.as_secs()) none "Seconds since the start"; }
    });
    all
}
