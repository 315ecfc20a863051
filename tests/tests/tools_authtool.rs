//! `sepiola authtool` beside `ceph-authtool`: the same command lines on a keyring of each tool's own.

use std::os::unix::fs::PermissionsExt;

use sepiola_tests::{Accepted, MiniCluster, Part, SideBySide};

const SECRET: &str = "the stock tool repeats what might be a key but for a letter";
const QUIET: &str = "keys are printed only when that is asked for";
const EXPLAINS: &str = "says in other words what was wrong";

const ACCEPTED: &[Accepted] = &[
    Accepted { words: &["--add-key", KEY], part: Part::Output, why: QUIET },
    Accepted { words: &["-a", KEY], part: Part::Output, why: QUIET },
    Accepted { words: &["--add-key", "nonsense"], part: Part::Words, why: SECRET },
    Accepted { words: &["--add-key", "AQBxxg=="], part: Part::Words, why: SECRET },
    Accepted { words: &["--mode", "x"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["--cap", "mon"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["-n", "nonsense"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["-n", "other.x"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["--caps", "no-such-file"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["no-folder/keyring"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["-h"], part: Part::Status, why: "asking for help is no failure" },
];

const KEY: &str = "AQAE+A1rOYM5ChAAkyEVNsejq/SgcGWpL4OK9w==";

#[test]
fn keyrings_come_out_the_same() {
    let cluster = MiniCluster::start(|options| options);
    let path = |name: &str| cluster.scratch(name).to_string_lossy().into_owned();
    let caps = cluster.file("caps", "[global]\nmon = \"allow *\"\nosd = allow rw pool=x\nother = y\n");
    let caps = caps.to_string_lossy();
    let (own, second) = (path("OWN.keyring"), path("OWN.second"));
    let mut both = SideBySide::new(&cluster, "ceph-authtool", ACCEPTED);
    let list = [&own[..], "-l"];
    for line in [
        &["-l"][..],
        &[&own],
        &[&own, "-l"],
        &["-C", &own, "--mode", "0644"],
        &list,
        &[
            &own,
            "-n",
            "client.a",
            "--add-key",
            KEY,
            "--cap",
            "mon",
            "allow r",
            "--cap",
            "osd",
            "allow rw pool=\"x y\"",
        ],
        &list,
        // Capabilities are replaced, not added to.
        &[&own, "-n", "client.a", "--cap", "mgr", "allow r"],
        &list,
        &[&own, "-n", "client.a", "--caps", &caps],
        &list,
        &[&own, "-n", "client.b", "-a", KEY],
        &[&own, "-a", KEY],
        &list,
        // A new key comes without capabilities.
        &[&own, "-n", "client.a", "-a", KEY],
        &list,
        &[&own, "-p", "-n", "client.a"],
        &[&own, "-p"],
        &[&own, "-p", "-n", "client.missing"],
        &["-C", &second, "--import-keyring", &own],
        &[&second, "-l"],
        &[&second, "--import-keyring", "no-such-file"],
        &[&second, "-n", "client.missing", "--cap", "mon", "allow r"],
        &[&second, "-n", "nonsense", "-g"],
        &[&second, "-n", "other.x", "-g"],
        &[&second, "-g", "--add-key", KEY],
        &[&second, "--add-key", "nonsense"],
        &[&second, "--add-key", "AQBxxg=="],
        &[&second, "--mode", "x", "-g"],
        &[&second, "--mode", "0600"],
        &[&second, "--frobnicate"],
        &[&second, "--set-uid=5"],
        &[&second, "--cap", "mon"],
        &[&second, "-n", "client.b", "--caps", "no-such-file"],
        &[&second, &own, "-l"],
        &["-C", "no-folder/keyring", "-g"],
        &["no-such-file", "-l"],
        &["-h"],
    ] {
        both.check(line);
    }
    both.finish();
    // Made with --mode, and written over since.
    for tool in ["ours", "stock"] {
        let mode =
            std::fs::metadata(cluster.scratch(&format!("{tool}.second"))).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{tool}");
    }
}

/// Keys that are made are keys to the other one, and differ each time.
#[test]
fn made_keys_are_keys() {
    let cluster = MiniCluster::start(|options| options);
    let file = cluster.scratch("keyring").to_string_lossy().into_owned();
    let mut made = std::collections::BTreeSet::new();
    for _ in 0..2 {
        let ours = cluster.sepiola(&["authtool", "--gen-print-key"]).success().unwrap().text();
        let stock = cluster.program("ceph-authtool", &["--gen-print-key"]).success().unwrap().text();
        for key in [&ours, &stock] {
            let add = ["-C", &file, "-n", "client.x", "--add-key", key.trim()];
            cluster.program("ceph-authtool", &add).success().unwrap();
            cluster.sepiola(&[&["authtool"], &add[..]].concat()).success().unwrap();
            assert_eq!(cluster.program("ceph-authtool", &["-p", &file, "-n", "client.x"]).text(), *key);
        }
        made.extend([ours, stock]);
    }
    assert_eq!(made.len(), 4);
    let mode = ["authtool", "-C", &file, "-g", "--mode", "0640"];
    cluster.sepiola(&mode).success().unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
}
