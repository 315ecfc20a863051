//! What clients of both sides meet when an OSD is full, has too few companions, is away, or no longer serves
//! them: they wait or fail as with Ceph's OSDs, and go on afterwards.

use std::{path::Path, time::Duration};

use sepiola_tests::{MiniCluster, Running, Tool, test_pool};
use sepiola_wire::Errno;

const SOON: Duration = Duration::from_secs(15);
const BOTH: [Tool; 2] = [Tool::Stock, Tool::Sepiola];

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn put(cluster: &MiniCluster, tool: Tool, object: &str, file: &Path) -> Running {
    cluster.begin(tool, "rados", &["-p", test_pool(), "put", object, text(file)])
}

fn rados(cluster: &MiniCluster, tool: Tool, args: &[&str]) -> sepiola_tests::Output {
    cluster.run(tool, "rados", &[&["-p", test_pool()], args].concat())
}

fn wait_for_health(cluster: &MiniCluster, what: &str, there: bool) {
    let health = || cluster.ceph(&["health", "detail"]).contains(what) == there;
    cluster.wait_for(what, SOON, || health().then_some(()));
}

fn wait_for_pool_flag(cluster: &MiniCluster, flag: &str, there: bool) {
    let flagged = || {
        let dump = cluster.ceph_json(&["osd", "dump"]);
        let pools = dump["pools"].as_array().unwrap();
        let pool = pools.iter().find(|pool| pool["pool_name"] == test_pool()).unwrap();
        pool["flags_names"].as_str().unwrap().split(',').any(|name| name == flag)
    };
    cluster.wait_for(flag, SOON, || (flagged() == there).then_some(()));
}

#[test]
fn writes_wait_for_room_and_deletes_make_it() {
    let cluster = MiniCluster::start(|options| options.setting("memstore_device_bytes", "33554432"));
    let four = cluster.file("four", vec![7; 4 << 20]);
    let fill = |name: &str, bytes: usize| {
        let file = cluster.file("fill", vec![1; bytes]);
        rados(&cluster, Tool::Stock, &["put", name, text(&file)]).success().unwrap();
    };
    for n in 0..7 {
        fill(&format!("object-{n}"), 4 << 20);
    }
    // 87.5 % of 32 MiB.
    wait_for_health(&cluster, "OSD_NEARFULL", true);
    wait_for_pool_flag(&cluster, "nearfull", true);
    fill("more", 2_750_000);
    wait_for_health(&cluster, "OSD_FULL", true);
    wait_for_pool_flag(&cluster, "full", true);

    let waiting = BOTH.map(|tool| put(&cluster, tool, &format!("late-{tool:?}"), &four));
    waiting.iter().for_each(Running::must_wait);
    // Reading goes on.
    assert_eq!(
        rados(&cluster, Tool::Stock, &["get", "object-0", "-"]).success().unwrap().stdout.len(),
        4 << 20
    );
    // 16.2's `rm` waits as well, unless it is forced: it puts the flag into the wrong place.
    rados(&cluster, Tool::Stock, &["rm", "object-0", "--force-full"]).success().unwrap();
    for n in 1..4 {
        rados(&cluster, Tool::Sepiola, &["rm", &format!("object-{n}")]).success().unwrap();
    }
    for (running, tool) in waiting.into_iter().zip(BOTH) {
        running.finish().success().unwrap();
        let read = rados(&cluster, tool, &["get", &format!("late-{tool:?}"), "-"]).success().unwrap();
        assert_eq!(read.stdout, vec![7; 4 << 20]);
    }
    wait_for_health(&cluster, "OSD_FULL", false);
    wait_for_pool_flag(&cluster, "full", false);
}

#[test]
fn what_can_never_fit_is_refused() {
    let cluster = MiniCluster::start(|options| options.setting("memstore_device_bytes", "33554432"));
    let large = cluster.file("large", vec![7; 40 << 20]);
    for tool in BOTH {
        // In pieces, of which some fit: the OSD is not full when the next one does not.
        let refused = put(&cluster, tool, "large", &large).finish().refused().unwrap();
        assert!(refused.error_text().contains("No space left"), "{}", refused.error_text());
        rados(&cluster, tool, &["rm", "large"]).success().unwrap();
    }
    let used = || cluster.ceph_json(&["df"])["stats"]["total_used_raw_bytes"].as_u64().unwrap();
    cluster.wait_for("the room", SOON, || (used() == 0).then_some(()));
}

#[test]
fn commands_wait_for_an_osd_that_was_killed_and_find_it_empty() {
    let mut cluster = MiniCluster::start(|options| options);
    let file = cluster.file("file", "content");
    rados(&cluster, Tool::Stock, &["put", "before", text(&file)]).success().unwrap();
    cluster.kill("osd.0");
    // Started while the map still says that the OSD is up.
    let early = BOTH.map(|tool| put(&cluster, tool, &format!("early-{tool:?}"), &file));
    cluster.wait_for("osd.0 down", SOON, || cluster.ceph(&["-s"]).contains("0 up").then_some(()));
    let late = BOTH.map(|tool| put(&cluster, tool, &format!("late-{tool:?}"), &file));
    early.iter().chain(&late).for_each(Running::must_wait);
    cluster.restart("osd.0");
    for running in early.into_iter().chain(late) {
        running.finish().success().unwrap();
    }
    for tool in BOTH {
        for name in ["early-Stock", "early-Sepiola", "late-Stock", "late-Sepiola"] {
            assert_eq!(rados(&cluster, tool, &["get", name, "-"]).success().unwrap().text(), "content");
        }
        // What was in memory is gone.
        rados(&cluster, tool, &["stat", "before"]).refused().unwrap();
    }
}

#[test]
fn a_blocklisted_client_fails_in_the_middle_of_its_work() {
    let cluster = MiniCluster::start(|options| options);
    let io = cluster.pool();
    cluster.block_on(io.write_full("object", "content")).unwrap();
    let args = ["-p", test_pool(), "bench", "25", "write", "-b", "4096", "-t", "2", "--no-cleanup"];
    let bench = cluster.begin(Tool::Stock, "rados", &args);
    bench.must_wait();
    // Everybody on this machine.
    cluster.ceph(&["osd", "blocklist", "add", "127.0.0.1:0/0"]);
    let ended = bench.finish().refused().unwrap();
    let said = ended.text() + &ended.error_text();
    assert!(said.contains("(108)") || said.contains("-108"), "{said}");
    let refused = cluster.wait_for("the refusal", SOON, || cluster.block_on(io.read("object", 0..9)).err());
    assert_eq!(refused.errno(), Errno::ESHUTDOWN, "{refused}");
    cluster.ceph(&["osd", "blocklist", "rm", "127.0.0.1:0/0"]);
    let read = cluster.wait_for("the end of it", SOON, || cluster.block_on(io.read("object", 0..9)).ok());
    assert_eq!(read, "content");
}

#[test]
fn sizes_are_limited_by_the_configuration_and_refused_as_ceph_does() {
    let cluster = MiniCluster::start(|options| {
        options
            .setting("osd_max_object_size", "1000000")
            .setting("osd_max_attr_size", "100")
            .setting("osd_max_attr_name_len", "20")
            .setting("osd_max_object_name_len", "50")
            .setting("osd_max_object_namespace_len", "10")
    });
    let file = cluster.file("file", vec![0; 1_000_001]);
    let small = cluster.file("small", "x");
    let refused = |args: &[&str], reason: &str| {
        let refused = rados(&cluster, Tool::Stock, args).refused().unwrap();
        assert!(refused.error_text().contains(reason), "{args:?}: {}", refused.error_text());
    };
    refused(&["put", "object", text(&file)], "File too large");
    refused(&["put", &"n".repeat(51), text(&small)], "File name too long");
    refused(&["-N", "a-namespace", "put", "object", text(&small)], "File name too long");
    rados(&cluster, Tool::Stock, &["-N", "namespace-", "put", &"n".repeat(50), text(&small)])
        .success()
        .unwrap();
    rados(&cluster, Tool::Stock, &["put", "object", text(&small)]).success().unwrap();
    refused(&["setxattr", "object", "a", &"v".repeat(101)], "File too large");
    refused(&["setxattr", "object", &"a".repeat(21), "v"], "File name too long");
    rados(&cluster, Tool::Stock, &["setxattr", "object", "a", &"v".repeat(100)]).success().unwrap();
    // Only setting one looks at the length of its name.
    refused(&["getxattr", "object", &"a".repeat(21)], "No data available");
}
