//! Every command of the monitor, bound by the stock tool's parser, sent by its library, and compared with what a
//! real 16.2.15 answered to the same command: result, and the shape of the JSON document.
//!
//! `data/monitor_commands.jsonl` holds what a cluster of one monitor, one OSD with a memory store, one manager
//! and the pool `bench` answered, one command a line, in the order in which they were asked: the result,
//! and the document with each value replaced by its kind and each list by its first item.

use std::{collections::BTreeSet, time::Duration};

use sepiola_tests::MiniCluster;
use serde_json::{Map, Value, json};

/// Objects that are filled according to the cluster, not to the format, by a pattern of their path.
const OPEN: &[&str] = &[
    // Keys are names: of versions, hosts, checks, options, modules.
    "*/health/checks",
    "health */checks",
    "health/checks",
    "*versions*",
    "*count-metadata*",
    "node ls*",
    "mon metadata*",
    "osd metadata*",
    "features",
    "quorum_status/features/quorum_mon",
    "status/mgrmap*",
    "status/health/checks",
    "status/pgmap*",
    "status/progress_events",
    "osd pool application get",
    "osd dump/erasure_code_profiles/default",
    "df*/stats_by_class",
    "auth ls/auth_dump/0/caps",
    "auth get client.admin/0/caps",
    "auth export client.admin/0/caps",
    // A host in a container.
    "osd find 0/container_name",
    "config dump*",
    "config get*",
    "log last*/addrs",
    "tell mon.a mon_status/feature_map",
    "tell mon.a mon_status/stretch_mode",
    "tell mon.a sessions*",
    // No device classes are given here, so there are no buckets of their own for them either.
    "osd crush dump/devices/0/class",
    "osd crush dump/choose_args",
];

/// Commands whose answers differ on purpose, and why.
const DIFFERENT: &[(&str, &str)] = &[
    ("pg ls-by-pool nosuch", "a real manager writes a document beside the error"),
    (
        "tell mon.a version",
        "a real monitor tells its release in fields of their own; here it is in the version",
    ),
];

fn open(path: &str) -> bool {
    OPEN.iter().any(|pattern| matches(pattern, path))
}

/// Whether a path has the pattern's parts in their order; `*` stands for anything.
fn matches(pattern: &str, path: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == path,
        Some((head, tail)) => {
            let Some(rest) = path.strip_prefix(head) else { return false };
            tail.is_empty()
                || (0..=rest.len()).any(|at| rest.is_char_boundary(at) && matches(tail, &rest[at..]))
        }
    }
}

fn shape(path: &str, value: &Value) -> Value {
    if open(path) {
        return json!("open");
    }
    match value {
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .filter(|(key, _)| !open(&format!("{path}/{key}")))
                .map(|(key, value)| (key.clone(), shape(&format!("{path}/{key}"), value)))
                .collect::<Map<_, _>>(),
        ),
        Value::Array(items) => {
            Value::Array(items.first().map(|item| shape(&format!("{path}/0"), item)).into_iter().collect())
        }
        Value::String(_) => "text".into(),
        Value::Number(_) => "number".into(),
        other => other.clone(),
    }
}

/// Whether two shapes agree; an empty list agrees with every list, null and false with every leaf.
fn agree(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            a.keys().collect::<BTreeSet<_>>() == b.keys().collect::<BTreeSet<_>>()
                && a.iter().all(|(key, value)| agree(value, &b[key]))
        }
        (Value::Array(a), Value::Array(b)) => a.iter().zip(b).all(|(a, b)| agree(a, b)),
        (Value::Bool(_), Value::Bool(_)) => true,
        (a, b) => a == b,
    }
}

#[test]
fn every_command_answers_the_stock_tool_as_a_real_monitor() {
    let cluster = MiniCluster::start(|options| options.osds(1).pool_with_pgs("bench", 32));
    let reported = || {
        let stats = cluster.ceph_json(&["pg", "stat"]);
        let states = stats["pg_summary"]["num_pg_by_state"].as_array().unwrap().clone();
        (states.len() == 1 && states[0]["name"] == "active+clean").then_some(())
    };
    cluster.wait_for("all pgs are reported", Duration::from_secs(20), reported);
    let recorded: Vec<Value> = include_str!("data/monitor_commands.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a JSON object a line"))
        .collect();
    let commands: Vec<_> = recorded.iter().map(|r| r["command"].as_str().expect("a command")).collect();
    let commands = cluster.file("commands", commands.join("\n"));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/ask_monitor.py");
    let (conf, commands) = (cluster.conf(), commands.to_string_lossy().into_owned());
    let answers = cluster.program("python3", &[script, &conf.to_string_lossy(), &commands]);
    let answers = answers.success().unwrap().text();
    assert_eq!(answers.lines().count(), recorded.len());
    let mut wrong = Vec::new();
    for (recorded, answer) in recorded.iter().zip(answers.lines()) {
        let answer: Value = serde_json::from_str(answer).expect("a JSON object a line");
        let command = recorded["command"].as_str().unwrap();
        assert_eq!(answer["command"], command);
        if DIFFERENT.iter().any(|(different, _)| *different == command) {
            continue;
        }
        if answer["code"] != recorded["code"] {
            let (ours, theirs) = (&answer["code"], &recorded["code"]);
            wrong.push(format!("{command}: {ours} instead of {theirs}: {}", answer["status"]));
            continue;
        }
        let theirs = &recorded["shape"];
        if theirs.is_null() {
            continue;
        }
        let text = answer["output"].as_str().unwrap();
        match serde_json::from_str::<Value>(text.trim()) {
            Err(_) => wrong.push(format!("{command}: no JSON: {text}")),
            Ok(document) => {
                let (ours, theirs) = (shape(command, &document), shape(command, theirs));
                if !agree(&ours, &theirs) {
                    wrong.push(format!("{command}:\n  ours  {ours}\n  real  {theirs}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn unknown_commands_are_told_their_neighbours() {
    let cluster = MiniCluster::start(|options| options.osds(1));
    let rados = cluster.connect();
    let reply = cluster.block_on(rados.mon_command(json!({"prefix": "osd pool lss"}).to_string(), ""));
    let error = reply.expect_err("there is no such command").to_string();
    assert!(error.contains("did you mean: osd pool ls"), "{error}");
}
