//! Ceph's own tests of librados, unmodified, on a cluster of Sepiola: the suites of the newest release, each
//! on a fresh cluster of one monitor and one OSD with keys of type 2.
//!
//! `cargo test -p sepiola-tests --test api_tests` runs them all; words behind `--` pick the suites that
//! contain them. A suite passes when exactly as many of its tests pass as are expected to, so a test that
//! disappears is noticed like one that fails. Tests of erasure-coded pools are left out everywhere; others
//! that cannot pass are named here with the reason. `docs/compatibility.md` compares with a real cluster.
//!
//! The connections are in crc mode, as those to the OSDs of the real cluster were: librados itself returns
//! ERANGE for an asynchronous call into a longer buffer when the reply was encrypted.

use std::{process::ExitCode, time::Duration};

use sepiola_tests::{
    Cell, Cluster, Deadline, Failure, Group, KeyType, MsMode, Release, Result, SepiolaCluster, run_matrix,
};

/// A test program and what is expected of it.
struct Suite {
    /// Its name without `ceph_test_`.
    name: &'static str,
    /// How many tests pass or, for one of them, skip themselves.
    pass: usize,
    /// Tests that are not run, and why.
    left_out: &'static [(&'static str, &'static str)],
}

const fn all(name: &'static str, pass: usize) -> Suite {
    Suite { name, pass, left_out: &[] }
}

const SUITES: &[Suite] = &[
    all("rados_api_io", 14),
    all("rados_api_io_pp", 22),
    all("rados_api_stat", 5),
    all("rados_api_stat_pp", 5),
    all("rados_api_c_read_operations", 17),
    all("rados_api_c_write_operations", 8),
    all("rados_api_aio", 29),
    // One of them, PoolEIOFlag, skips itself when all writes finish before the map changes.
    all("rados_api_aio_pp", 43),
    all("neorados_io", 14),
    all("neorados_read_operations", 15),
    all("neorados_write_operations", 8),
    all("neorados_misc", 12),
    all("neorados_pool", 6),
    Suite {
        name: "rados_api_list",
        pass: 6,
        left_out: &[
            ("LibRadosList.EnumerateObjects", PG_NUM),
            ("LibRadosList.EnumerateObjectsSplit", PG_NUM),
        ],
    },
    all("rados_api_misc", 12),
    // CopyScrubPP sleeps for a minute of it; it does not look at whether the scrubs that it asks for happen.
    all("rados_api_misc_pp", 29),
    all("rados_api_lock", 8),
    all("rados_api_lock_pp", 8),
    Suite {
        name: "rados_api_pool",
        pass: 8,
        left_out: &[("LibRadosPools.PoolGetBaseTier", "there are no cache tiers")],
    },
    all("rados_api_cmd", 4),
    all("rados_api_cmd_pp", 3),
    all("neorados_list", 3),
    all("neorados_cmd", 3),
    all("cls_lock", 11),
    all("cls_hello", 6),
    all("cls_numops", 4),
    Suite {
        name: "cls_refcount",
        pass: 4,
        left_out: &[("cls_refcount.test_put_snap", "there are no snapshots yet")],
    },
];

const PG_NUM: &str = "it changes pg_num, and pgs are neither split nor merged yet";

/// Suites of which nothing that matters can pass, and why.
const NOT_RUN: &[(&str, &str)] = &[
    ("rados_api_watch_notify, rados_api_watch_notify_pp, neorados_watch_notify", "no watch and notify yet"),
    ("rados_api_snapshots, rados_api_snapshots_pp, neorados_snapshots", "no snapshots yet"),
    ("rados_api_service, rados_api_service_pp", "services register with a manager, and there is none"),
    ("cls_rbd", "of class rbd only get_all_features and get_id exist"),
    ("cls_log", "there is no such class"),
];

/// Most suites end in seconds; others sleep, or wait for locks to expire by the clock.
const TIME: Duration = Duration::from_secs(180);

fn main() -> ExitCode {
    if !std::env::args().any(|arg| arg == "--list") {
        for (suites, why) in NOT_RUN {
            println!("# not run: {suites}: {why}");
        }
    }
    run_matrix("api_tests", SUITES.iter().map(group).collect())
}

fn group(suite: &'static Suite) -> Group {
    let start = || SepiolaCluster::start(MsMode::Crc, KeyType::Aes256k, &[]);
    let cell = Cell::new("tests", |cluster, deadline| run(suite, cluster, deadline)).within(TIME);
    Group::new(suite.name, start, vec![cell])
}

fn run(suite: &Suite, cluster: &SepiolaCluster, deadline: Deadline) -> Result<()> {
    let mut filter = String::from("--gtest_filter=-*EC*:*_ec");
    for (test, why) in suite.left_out {
        println!("# left out: {test}: {why}");
        filter += &format!(":{test}");
    }
    let program = Release::Newest.programs()?.program(&format!("ceph_test_{}", suite.name));
    let output = program.arg(filter).env("CEPH_CONF", cluster.conf()).run(cluster.scratch(), deadline)?;
    let text = output.text();
    let failed = failures(&text);
    if !failed.is_empty() {
        return Err(Failure::new(failed));
    }
    let passed = text.lines().filter(|line| is_end_of_test(line)).count();
    if passed == suite.pass {
        output.success().map(drop)
    } else {
        Err(output.failure(&format!("passed {passed} tests instead of {}", suite.pass)))
    }
}

/// The line that ends a test well: the summary at the end repeats names without times.
fn is_end_of_test(line: &str) -> bool {
    (line.starts_with("[       OK ]") || line.starts_with("[  SKIPPED ]")) && line.ends_with(" ms)")
}

/// What was printed by the tests that failed.
fn failures(text: &str) -> String {
    let mut failed = String::new();
    let mut test = String::new();
    for line in text.lines() {
        test += line;
        test.push('\n');
        if line.starts_with("[ RUN ") {
            test = format!("{line}\n");
        } else if line.starts_with("[  FAILED  ]") && line.ends_with(" ms)") {
            failed += &test;
        }
    }
    failed
}
