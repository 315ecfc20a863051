//! The tools speak as the stock ones do: the same standard output and exit status on the same cluster, and
//! files that either side reads.

use std::collections::BTreeSet;

use sepiola_tests::{Bystander, MiniCluster, Output, Tool, test_pool};
use serde_json::Value;

fn both(cluster: &MiniCluster, program: &str, args: &[&str]) -> [Output; 2] {
    [Tool::Sepiola, Tool::Stock].map(|tool| cluster.run(tool, program, args))
}

/// Both print the same and end the same.
fn same(cluster: &MiniCluster, program: &str, args: &[&str]) -> String {
    let [ours, stock] = both(cluster, program, args);
    assert_eq!(ours.text(), stock.text(), "{program} {args:?}");
    assert_eq!(ours.status.code(), stock.status.code(), "{program} {args:?}: {}", ours.error_text());
    ours.text()
}

/// Both fail the same, and say the same errno on standard error.
fn same_failure(cluster: &MiniCluster, args: &[&str], errno: &str) {
    let [ours, stock] = both(cluster, "rados", &[&["-p", test_pool()], args].concat());
    for output in [&ours, &stock] {
        assert_eq!(output.status.code(), Some(1), "{args:?}: {}", output.error_text());
        let said = output.error_text() + &output.text();
        assert!(said.contains(errno), "{args:?} should have said {errno}: {said}");
    }
    assert_eq!(ours.text(), stock.text(), "{args:?}");
}

/// Objects of every kind.
fn furnish(cluster: &MiniCluster) {
    let content = cluster.file("content", "some content");
    let content = content.to_string_lossy();
    let large = cluster.file("large", (0..5_000_000_u32).map(|n| n.to_le_bytes()[1]).collect::<Vec<_>>());
    cluster.rados(&["put", "object", &content]);
    cluster.rados(&["put", "large", &large.to_string_lossy()]);
    cluster.rados(&["put", "name with blanks", &content]);
    cluster.rados(&["create", "empty"]);
    cluster.rados(&["-N", "space", "put", "inside", &content]);
    cluster.rados(&["--object-locator", "key", "put", "elsewhere", &content]);
    for (name, value) in [("colour", "sepia"), ("arms", "ten"), ("two\nlines", "three\nlines\n")] {
        cluster.rados(&["setxattr", "object", name, value]);
    }
    for (key, value) in
        [("a", "first"), ("b", "a value of more than sixteen bytes"), ("c", "\u{1}\u{7f}\n"), ("d", "")]
    {
        cluster.rados(&["setomapval", "object", key, value]);
    }
    cluster.rados(&["setomapheader", "object", "header of the map"]);
}

#[test]
fn rados_reads_and_lists_as_the_stock_tool() {
    let cluster = MiniCluster::start(|options| options.osds(2));
    furnish(&cluster);
    let pool = ["-p", test_pool()];
    for args in [
        &["ls"][..],
        &["ls", "-"],
        &["ls", "--all"],
        &["-N", "space", "ls"],
        &["-N", "nowhere", "ls"],
        &["stat", "object"],
        &["stat", "empty"],
        &["stat", "large"],
        &["stat2", "object"],
        &["get", "object", "-"],
        &["get", "empty", "-"],
        &["get", "large", "-"],
        &["-N", "space", "get", "inside", "-"],
        &["--object-locator", "key", "get", "elsewhere", "-"],
        &["listxattr", "object"],
        &["listxattr", "empty"],
        &["getxattr", "object", "colour"],
        &["getxattr", "object", "two\nlines"],
        &["listomapkeys", "object"],
        &["listomapkeys", "empty"],
        &["listomapvals", "object"],
        &["getomapval", "object", "b"],
        &["getomapval", "object", "d"],
        &["getomapheader", "object"],
        &["getomapheader", "empty"],
    ] {
        same(&cluster, "rados", &[&pool, args].concat());
    }
    same(&cluster, "rados", &["lspools"]);
    let [ours, stock] = both(&cluster, "rados", &["-p", test_pool(), "ls", "--format", "json"]);
    // Ours ends in a line end.
    assert_eq!(ours.text().trim_end(), stock.text());
    assert_eq!(serde_json::from_slice::<Value>(&ours.stdout).unwrap().as_array().unwrap().len(), 5);
}

#[test]
fn rados_fails_as_the_stock_tool() {
    let cluster = MiniCluster::start(|options| options);
    furnish(&cluster);
    let output = cluster.scratch("output");
    for args in [
        &["stat", "missing"][..],
        &["get", "missing", &output.to_string_lossy()],
        &["rm", "missing"],
        &["listxattr", "missing"],
        &["getxattr", "missing", "name"],
        &["listomapkeys", "missing"],
        &["listomapvals", "missing"],
        &["getomapheader", "missing"],
        &["clearomap", "missing"],
        &["-N", "space", "stat", "object"],
    ] {
        same_failure(&cluster, args, "(2) No such file or directory");
    }
    // The stock tool leaves an empty file for an object that is not there; ours does not.
    std::fs::remove_file(&output).unwrap();
    let get = ["-p", test_pool(), "get", "missing", &output.to_string_lossy()];
    cluster.run(Tool::Sepiola, "rados", &get).refused().unwrap();
    assert!(!output.exists());
    same_failure(&cluster, &["create", "object"], "(17) File exists");
    same_failure(&cluster, &["getxattr", "object", "missing"], "(61) No data available");
    // Ours says it on standard error, where values are not expected.
    for output in both(&cluster, "rados", &["-p", test_pool(), "getomapval", "object", "missing"]) {
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(output.text() + &output.error_text(), "No such key: test/object/missing\n");
    }
    for output in both(&cluster, "rados", &["-p", "nowhere", "ls"]) {
        assert_eq!(output.status.code(), Some(1));
        assert!(output.error_text().starts_with("error opening pool nowhere: "), "{}", output.error_text());
    }
    for args in [&["no-such-verb"][..], &["put", "object"], &["ls"], &[]] {
        for output in both(&cluster, "rados", args) {
            assert_eq!(output.status.code(), Some(1), "{args:?}");
        }
    }
}

/// What changes objects: each tool does it once, the other one looks.
#[test]
fn rados_changes_what_the_stock_tool_sees() {
    let cluster = MiniCluster::start(|options| options);
    let file = cluster.file("file", "from a file ");
    let file = file.to_string_lossy();
    for (tool, object) in [(Tool::Sepiola, "ours"), (Tool::Stock, "stocks")] {
        let run = |args: &[&str]| {
            let args = [&["-p", test_pool()], args].concat();
            let output = cluster.run(tool, "rados", &args);
            (output.status.code(), output.text())
        };
        for (args, printed) in [
            (&["put", object, &file][..], ""),
            (&["append", object, &file], ""),
            (&["truncate", object, "20"], ""),
            (&["setxattr", object, "one", "1"], ""),
            (&["setxattr", object, "two", "2"], ""),
            (&["rmxattr", object, "one"], ""),
            // Removing what is not there is no failure to either.
            (&["rmxattr", object, "none"], ""),
            (&["setomapval", object, "key", "value"], ""),
            (&["setomapval", object, "other", "value"], ""),
            (&["rmomapkey", object, "other"], ""),
            (&["rmomapkey", object, "none"], ""),
            (&["setomapheader", object, "header"], ""),
        ] {
            assert_eq!(run(args), (Some(0), printed.to_owned()), "{tool:?} {args:?}");
        }
        assert_eq!(same(&cluster, "rados", &["-p", "test", "get", object, "-"]), "from a file from a f");
        assert_eq!(same(&cluster, "rados", &["-p", "test", "listxattr", object]), "two\n");
        assert_eq!(same(&cluster, "rados", &["-p", "test", "listomapkeys", object]), "key\n");
        assert_eq!(run(&["rm", object]), (Some(0), String::new()));
        assert_eq!(same(&cluster, "rados", &["-p", "test", "ls"]), "");
    }
}

#[test]
fn each_cleans_up_after_the_others_bench() {
    let cluster = MiniCluster::start(|options| options);
    let bench = ["-p", test_pool(), "bench", "1", "write", "-b", "4096", "-t", "4", "--no-cleanup"];
    for (writer, cleaner) in [(Tool::Sepiola, Tool::Stock), (Tool::Stock, Tool::Sepiola)] {
        cluster.run(writer, "rados", &bench).success().unwrap().prints("Average IOPS:").unwrap();
        cluster
            .run(cleaner, "rados", &["-p", test_pool(), "bench", "1", "seq", "-t", "4"])
            .success()
            .unwrap();
        let cleaned = cluster.run(cleaner, "rados", &["-p", test_pool(), "cleanup"]).success().unwrap();
        cleaned.prints("Removed ").unwrap();
        assert_eq!(cluster.rados(&["ls"]), "", "{writer:?} wrote, {cleaner:?} cleaned");
        // Once more, with nothing there.
        cluster.run(cleaner, "rados", &["-p", test_pool(), "cleanup"]).success().unwrap();
    }
}

/// Every path to a value, with list elements under one path.
fn keys(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            let path = format!("{path}.{key}");
            found.insert(path.clone());
            keys(value, &path, found);
        }),
        Value::Array(items) => items.iter().for_each(|item| keys(item, &format!("{path}[]"), found)),
        _ => {}
    }
}

fn same_keys(ours: &Output, stock: &Output, what: &str) -> Value {
    let [ours, stock] = [ours, stock].map(|output| {
        let parsed = serde_json::from_slice::<Value>(&output.stdout);
        parsed.unwrap_or_else(|e| panic!("{what} printed no JSON ({e}): {}", output.text()))
    });
    let [mut ours_keys, mut stock_keys] = [BTreeSet::new(), BTreeSet::new()];
    keys(&ours, "", &mut ours_keys);
    keys(&stock, "", &mut stock_keys);
    assert_eq!(ours_keys, stock_keys, "{what}");
    ours
}

/// The columns are the stock tool's, and so are the numbers, once they stand still.
#[test]
fn usage_is_told_as_the_stock_tool_tells_it() {
    let cluster = MiniCluster::start(|options| options);
    furnish(&cluster);
    let args = ["df", "--format", "json"];
    // Each look counts as reads, so these two differ in every run.
    let moving = ["read_ops", "read_bytes"];
    cluster.wait_for("numbers that stand still", std::time::Duration::from_secs(15), || {
        let [ours, stock] = both(&cluster, "rados", &args);
        let ours_value = same_keys(&ours, &stock, "rados df");
        let mut values = [ours_value, serde_json::from_slice(&stock.stdout).unwrap()];
        for value in &mut values {
            for name in moving {
                value["pools"][0][name] = Value::Null;
            }
        }
        (values[0] == values[1] && values[0]["total_objects"] == 6).then_some(())
    });
    let [ours, stock] = both(&cluster, "rados", &["df"]).map(|output| output.success().unwrap().text());
    let words = |text: &str| {
        text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    let (ours, stock) = (words(&ours), words(&stock));
    assert_eq!(ours[0], stock[0], "the header");
    assert_eq!(ours[2..], stock[2..], "the totals");
}

#[test]
fn ceph_prints_what_the_stock_tool_prints() {
    let cluster = MiniCluster::start(|options| options.osds(2));
    cluster.user("client.user", &["mon", "allow r", "osd", "allow rw pool=test"]);
    let bystander = Bystander::start(&cluster);
    for args in [
        &["status"][..],
        &["health"],
        &["health", "detail"],
        &["osd", "tree"],
        &["osd", "stat"],
        &["osd", "ls"],
        &["osd", "dump"],
        &["osd", "lspools"],
        &["osd", "pool", "ls"],
        &["osd", "pool", "ls", "detail"],
        &["osd", "pool", "get", test_pool(), "pg_num"],
        &["osd", "map", test_pool(), "object"],
        &["auth", "get", "client.user"],
        &["auth", "ls"],
        &["auth", "print-key", "client.user"],
        &["mon", "dump"],
        &["df"],
        &["version"],
        &["fsid"],
    ] {
        let [ours, stock] = both(&cluster, "ceph", &[args, &["-f", "json"]].concat());
        let what = format!("ceph {args:?}");
        if stock.stdout.first().is_some_and(|_| serde_json::from_slice::<Value>(&stock.stdout).is_ok()) {
            same_keys(&ours, &stock, &what);
        } else {
            assert_eq!(ours.text().trim(), stock.text().trim(), "{what}");
        }
        assert_eq!((ours.status.code(), stock.status.code()), (Some(0), Some(0)), "{what}");
    }
    bystander.finish();

    // Nothing moves now but ages.
    for args in [
        &["health"][..],
        &["osd", "tree"],
        &["osd", "ls"],
        &["osd", "pool", "ls"],
        &["osd", "pool", "ls", "detail"],
        &["osd", "lspools"],
        &["auth", "get", "client.user"],
        &["auth", "print-key", "client.user"],
        &["mon", "dump"],
        &["version"],
        &["fsid"],
    ] {
        let [ours, stock] = both(&cluster, "ceph", args);
        assert_eq!(ours.text().trim_end(), stock.text().trim_end(), "ceph {args:?}");
        assert_eq!((ours.status.code(), stock.status.code()), (Some(0), Some(0)), "ceph {args:?}");
    }
}

#[test]
fn ceph_fails_as_the_stock_tool() {
    let cluster = MiniCluster::start(|options| options);
    for (args, said) in [
        (&["auth", "get", "client.nobody"][..], "Error ENOENT: "),
        (&["osd", "pool", "get", "nowhere", "size"], "Error ENOENT: "),
        (&["osd", "pool", "rm", test_pool()], "Error EPERM: "),
        (&["no", "such", "command"], "Error EINVAL: invalid command"),
    ] {
        let [ours, stock] = both(&cluster, "ceph", args);
        assert_eq!(ours.status.code(), stock.status.code(), "{args:?}: {}", ours.error_text());
        assert_ne!(ours.status.code(), Some(0));
        for output in [ours, stock] {
            assert!(output.error_text().contains(said), "{args:?}: {}", output.error_text());
        }
    }
}

/// The stock tool takes its own options anywhere, and scripts rely on it.
#[test]
fn ceph_takes_its_options_anywhere() {
    let cluster = MiniCluster::start(|options| options);
    let keyring = cluster.scratch("user.keyring").to_string_lossy().into_owned();
    for tool in [Tool::Sepiola, Tool::Stock] {
        let _ = std::fs::remove_file(&keyring);
        let made = ["auth", "get-or-create", "client.user", "mon", "allow r", "-o", &keyring];
        assert_eq!(cluster.run(tool, "ceph", &made).success().unwrap().text(), "");
        assert!(std::fs::read_to_string(&keyring).unwrap().starts_with("[client.user]\n\tkey = "));
        let args = ["osd", "tree", "--format=json", "-n", "client.user", "--keyring", &keyring];
        let tree = cluster.run(tool, "ceph", &args).success().unwrap();
        let tree: Value = serde_json::from_slice(&tree.stdout).unwrap();
        assert!(tree["nodes"].is_array(), "{tool:?}");
    }
    // It was the user's key that was used: the user may not do this.
    let args = ["auth", "ls", "-n", "client.user", "--keyring", &keyring];
    let refused = cluster.run(Tool::Sepiola, "ceph", &args);
    assert_eq!(refused.status.code(), Some(13), "{}", refused.error_text());
}

#[test]
fn keyrings_are_read_by_the_other_tool() {
    let cluster = MiniCluster::start(|options| options);
    let authtool = |tool, args: &[&str]| match tool {
        Tool::Sepiola => cluster.sepiola(&[&["authtool"], args].concat()),
        Tool::Stock => cluster.program("ceph-authtool", args),
    };
    let caps = ["--cap", "mon", "allow r", "--cap", "osd", "allow rw pool=test, allow r pool=other"];
    for (writer, reader) in [(Tool::Sepiola, Tool::Stock), (Tool::Stock, Tool::Sepiola)] {
        let path = cluster.scratch(&format!("{writer:?}.keyring")).to_string_lossy().into_owned();
        let name = ["-n", "client.made"];
        authtool(writer, &[&["-C", &path, "--gen-key"], &name[..], &caps].concat()).success().unwrap();
        let key = |tool| authtool(tool, &[&["-p", &path], &name[..]].concat()).success().unwrap().text();
        assert_eq!(key(reader), key(writer), "{writer:?} wrote");
        let list = |tool| authtool(tool, &["-l", &path]).success().unwrap().text();
        assert_eq!(list(reader), list(writer), "{writer:?} wrote");
        // Each adds to what the other has made, and takes the other's keys.
        let made = key(reader);
        let added = ["-n", "client.added", "--add-key", made.trim()];
        authtool(reader, &[&[&path[..]], &added[..]].concat()).success().unwrap();
        assert_eq!(list(reader), list(writer));
        assert!(list(writer).contains("[client.made]") && list(writer).contains("[client.added]"));

        // The monitor takes it as well, and then it opens a session.
        let imported = ["auth", "import", "-i", &path];
        cluster.run(reader, "ceph", &imported).success().unwrap();
        for tool in [Tool::Sepiola, Tool::Stock] {
            let keyring = if tool == Tool::Stock { "--keyring" } else { "-k" };
            let args = ["-n", "client.made", keyring, &path, "-s"];
            cluster.run(tool, "ceph", &args).success().unwrap();
        }
        for tool in [reader, writer] {
            let missing = authtool(tool, &["-p", &path, "-n", "client.missing"]);
            missing.refused().unwrap_or_else(|e| panic!("{tool:?}: {e}"));
        }
    }
}
