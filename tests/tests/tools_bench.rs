//! `sepiola rados bench` beside `rados bench`: the same lines, names and objects; more numbers.

use std::collections::BTreeSet;

use sepiola_tests::{MiniCluster, Tool, test_pool};
use serde_json::Value;

fn bench(cluster: &MiniCluster, tool: Tool, args: &[&str]) -> String {
    let args = [&["-p", test_pool(), "bench", "1"], args].concat();
    let output = cluster.run(tool, "rados", &args).success().unwrap();
    // Nothing shows progress where nobody is watching.
    assert_eq!(output.error_text(), "", "{tool:?}");
    output.text()
}

/// What stands before the numbers; the rows of seconds are one.
fn labels(text: &str) -> Vec<String> {
    let mut labels: Vec<String> = text
        .lines()
        .map(|line| match line.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
            true => "(a second)".to_owned(),
            false => line.chars().filter(|c| !c.is_ascii_digit()).collect::<String>(),
        })
        .map(|line| line.split(':').next().unwrap_or_default().trim_end().to_owned())
        .collect();
    labels.dedup();
    labels
}

const SMALL: &[&str] = &["-b", "4096", "-t", "4"];

#[test]
fn lines_are_the_stock_tools() {
    let cluster = MiniCluster::start(|options| options);
    let write = [&["write", "--no-cleanup"], SMALL].concat();
    let read = ["seq", "-t", "4"];
    for args in [&write[..], &read, &["rand", "-t", "4"]] {
        let [stock, ours] = [Tool::Stock, Tool::Sepiola].map(|tool| labels(&bench(&cluster, tool, args)));
        let ours: Vec<_> = ours.into_iter().filter(|label| !label.starts_with('p')).collect();
        assert_eq!(ours, stock, "{args:?}");
    }
    let timed = [&["write", "--show-time"], SMALL].concat();
    let ours = bench(&cluster, Tool::Sepiola, &timed);
    let stamped: Vec<&str> =
        ours.lines().filter(|line| line.starts_with("20") && line.contains("+0000 ")).collect();
    for what in ["Maintaining", "Object prefix", "sec Cur ops", "Total time run", "Cleaning up", "Removed"] {
        assert!(stamped.iter().any(|line| line.contains(what)), "{what}: {ours}");
    }
}

#[test]
fn json_has_the_stock_tools_names_and_percentiles() {
    let cluster = MiniCluster::start(|options| options);
    let json = |tool, args: &[&str]| -> Value {
        let text = bench(&cluster, tool, &[args, &["-f", "json"]].concat());
        // The stock tool says something in front.
        serde_json::from_str(text.trim_start_matches("hints = 1\n")).unwrap_or_else(|e| panic!("{e}: {text}"))
    };
    for args in [&[&["write", "--no-cleanup"], SMALL].concat()[..], &["seq"]] {
        let (stock, ours) = (json(Tool::Stock, args), json(Tool::Sepiola, args));
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
        let missing: Vec<_> = keys(&stock).difference(&keys(&ours)).cloned().collect();
        assert!(missing.is_empty(), "{args:?}: {missing:?}");
        assert_eq!(keys(&ours["datas"][0]), keys(&stock["datas"][0]), "{args:?}");
        let [p50, p99] = ["p50_latency", "p99_latency"].map(|name| ours[name].as_f64().unwrap());
        assert!(p50 > 0.0 && p50 <= p99, "{ours}");
    }
}

/// Where each puts its bytes, and who can go on with what the other has left.
#[test]
fn each_goes_on_with_the_others_objects() {
    let cluster = MiniCluster::start(|options| options);
    let object = |tool| {
        let list = cluster.rados(&["ls"]);
        let object = list
            .lines()
            .find(|name| name.ends_with("_object0"))
            .unwrap_or_else(|| panic!("{tool:?}: {list}"));
        object.to_owned()
    };
    let mut seen = Vec::new();
    for tool in [Tool::Sepiola, Tool::Stock] {
        let few = [&["write", "--no-cleanup", "--max-objects", "4", "-O", "8192"], SMALL].concat();
        bench(&cluster, tool, &[&few[..], &["--write-omap", "--write-xattr"]].concat());
        let object = object(tool);
        let keys = cluster.rados(&["listomapkeys", &object]);
        let attrs = cluster.rados(&["listxattr", &object]);
        let stat = cluster.rados(&["stat", &object]);
        seen.push((keys, attrs, stat.rsplit("size ").next().unwrap().to_owned()));
        cluster.rados(&["cleanup"]);

        bench(&cluster, tool, &few);
        let other = if tool == Tool::Stock { Tool::Sepiola } else { Tool::Stock };
        // The stock tool starts as many reads as may be in flight, even of objects that are not there.
        bench(&cluster, other, &["seq", "-t", "4"]);
        bench(&cluster, other, &[&few[..], &["--reuse-bench"]].concat());
        let prefix = ["-p", test_pool(), "cleanup", "--prefix", "benchmark_data"];
        let cleaned = cluster.run(Tool::Sepiola, "rados", &prefix).success().unwrap().text();
        assert!(cleaned.starts_with("Warning: using slow linear search\nRemoved "), "{other:?}: {cleaned}");
        assert_eq!(cluster.rados(&["ls"]), "benchmark_last_metadata\n", "{other:?}");
        cluster.rados(&["rm", "benchmark_last_metadata"]);
    }
    assert_eq!(seen[0], seen[1]);
}
