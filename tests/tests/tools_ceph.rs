//! `sepiola ceph` beside `ceph`: where options go, how commands fail, and who can be asked.

use sepiola_tests::{Accepted, MiniCluster, Part, SideBySide, Tool, test_pool};

const NEAREST: &str = "the nearest commands are those that look like what was typed";
const EXPLAINS: &str = "says in other words what was wrong";

const ACCEPTED: &[Accepted] = &[
    Accepted { words: &["frobnicate"], part: Part::Words, why: NEAREST },
    Accepted { words: &["osd", "frob"], part: Part::Words, why: NEAREST },
    Accepted { words: &["osd", "pool", "create"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["pg_num", "extra"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["tell", "osd.9"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["--yes-i-really-mean-it"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["daemon", "osd.0"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["daemon", "/no/such/socket"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["-i", "no-such-file"], part: Part::Words, why: EXPLAINS },
    Accepted {
        words: &["-f", "bogus"],
        part: Part::Status,
        why: "EINVAL, as for every other wrong argument",
    },
];

#[test]
fn commands_fail_as_the_stock_tools_do() {
    let cluster = MiniCluster::start(|options| options);
    let mut both = SideBySide::new(&cluster, "ceph", ACCEPTED);
    for line in [
        &["frobnicate"][..],
        &["osd", "frob"],
        &["osd", "pool", "create"],
        &["osd", "pool", "get", test_pool(), "pg_num", "extra"],
        &["osd", "pool", "set", test_pool(), "size", "many"],
        &["osd", "pool", "rm", test_pool()],
        &["osd", "pool", "rm", test_pool(), test_pool(), "--yes-i-really-mean-it"],
        &["osd", "pool", "get", "nowhere", "size"],
        &["auth", "get", "client.nobody"],
        &["auth", "import", "-i", "no-such-file"],
        &["config-key", "get", "nothing"],
        &["tell", "osd.9", "version"],
        &["daemon", "/no/such/socket", "version"],
        &["daemon", "osd.0"],
        &["-f", "bogus", "fsid"],
        &["--connect-timeout", "5", "fsid"],
        &["fsid", "--connect-timeout", "5"],
        &["osd", "pool", "ls", "-o", "-"],
        &["osd", "pool", "ls", "detail"],
        &["health"],
    ] {
        both.check(line);
    }
    both.finish();
}

/// What a release makes of a command is in its descriptions; help comes from there.
#[test]
fn help_lists_what_the_monitor_has() {
    let cluster = MiniCluster::start(|options| options);
    let help = |args: &[&str]| cluster.run(Tool::Sepiola, "ceph", args).success().unwrap().text();
    let all = help(&["help"]);
    for command in ["osd pool create <pool>", "auth get-or-create <entity>", "status"] {
        assert!(all.contains(command), "{all}");
    }
    let some = help(&["help", "osd", "pool"]);
    assert!(
        some.lines().filter(|line| !line.starts_with(' ')).all(|line| line.starts_with("osd pool")),
        "{some}"
    );
    assert_eq!(help(&["osd", "pool", "-h"]), some);
    let none = cluster.run(Tool::Sepiola, "ceph", &["help", "frobnicate"]);
    assert_eq!(none.status.code(), Some(22));
}

/// OSDs and admin sockets answer both tools the same.
#[test]
fn single_daemons_answer() {
    let cluster = MiniCluster::start(|options| options);
    let version = |tool, args: &[&str]| cluster.run(tool, "ceph", args).success().unwrap().text();
    for args in
        [&["tell", "osd.0", "version"][..], &["daemon", "osd.0", "version"], &["daemon", "mon.a", "version"]]
    {
        let [ours, stock] = [Tool::Sepiola, Tool::Stock].map(|tool| version(tool, args));
        assert_eq!(ours.trim(), stock.trim(), "{args:?}");
        assert!(ours.contains("version"), "{ours}");
    }
    let ping = cluster.run(Tool::Sepiola, "ceph", &["ping", "mon.a"]).success().unwrap();
    assert!(serde_json::from_slice::<serde_json::Value>(&ping.stdout).unwrap()["health"].is_object());
}
