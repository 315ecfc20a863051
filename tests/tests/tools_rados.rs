//! `sepiola rados` beside `rados`: every verb and flag of the stock tool on the same cluster.

use std::{collections::BTreeSet, ffi::OsStr};

use sepiola_tests::{Accepted, MiniCluster, Part, SideBySide, Tool, bytes, test_pool};

const NO_SNAPSHOTS: &str = "snapshots are not supported";
const IS_A_FAILURE: &str = "a file that cannot be read is a failure; the stock tool ends with success";
const FROM_FILE: &str =
    "--input-file holds for every value; with setxattr the stock tool reads standard input";
const EXPLAINS: &str = "says in other words what was wrong";

const ACCEPTED: &[Accepted] = &[
    Accepted { words: &["lssnap"], part: Part::Status, why: NO_SNAPSHOTS },
    Accepted { words: &["mapext"], part: Part::Words, why: "OSDs here do not tell extents" },
    Accepted { words: &["listwatchers"], part: Part::Words, why: "watch and notify are not supported" },
    Accepted { words: &["-f", "xml"], part: Part::Status, why: "no XML" },
    Accepted { words: &["put", "object", "no-such-file"], part: Part::Status, why: IS_A_FAILURE },
    Accepted { words: &["append", "object", "no-such-file"], part: Part::Status, why: IS_A_FAILURE },
    Accepted { words: &["mkpool"], part: Part::Status, why: "the verb of earlier releases is kept" },
    Accepted { words: &["get", "object", "no-folder/file"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["rmpool"], part: Part::Words, why: "the verb of earlier releases is kept" },
    Accepted { words: &["-x"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["--pool"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["getxattr", "OWN", "from-file"], part: Part::Output, why: FROM_FILE },
    Accepted { words: &["cp", "OWN"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["cppool", "test", "test"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["cppool", "test", "nowhere"], part: Part::Words, why: "warns in other words" },
    Accepted { words: &["purge", "other"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["ls", "file"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["--prefix", "nonsense"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["no-such-verb"], part: Part::Words, why: EXPLAINS },
    Accepted { words: &["--lock-type", "bogus"], part: Part::Words, why: "names the types that there are" },
];

/// The pool's flag and then `args`.
fn in_pool<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&["-p", test_pool()], args].concat()
}

#[test]
fn verbs_and_flags_do_what_the_stock_tools_do() {
    let cluster = MiniCluster::start(|options| options.pool_with_pgs("other", 4));
    let content = cluster.file("content", "some content\n").to_string_lossy().into_owned();
    let binary = cluster.file("binary", "a\nkey").to_string_lossy().into_owned();
    let mut both = SideBySide::new(&cluster, "rados", ACCEPTED);
    let out = cluster.scratch("OWN.out").to_string_lossy().into_owned();
    for line in [
        // Each on an object of its own.
        &["put", "OWN", &content][..],
        &["put", "OWN", &content, "--offset", "5"],
        &["append", "OWN", &content],
        &["get", "OWN", "-"],
        &["get", "OWN", "-", "-b", "3"],
        &["get", "OWN", &out],
        &["truncate", "OWN", "10"],
        &["touch", "OWN", "1000000000"],
        &["stat2", "OWN"],
        &["touch", "OWN-new", "1000000001"],
        &["stat", "OWN-new"],
        &["stat2", "OWN-new"],
        &["create", "OWN-created"],
        &["create", "OWN-created"],
        &["setxattr", "OWN", "name", "value"],
        &["setxattr", "OWN", "number", "-5"],
        &["setxattr", "OWN", "from-file", "--input-file", &content],
        &["listxattr", "OWN"],
        &["getxattr", "OWN", "name"],
        &["getxattr", "OWN", "number"],
        &["getxattr", "OWN", "from-file"],
        &["getxattr", "OWN", "missing"],
        &["rmxattr", "OWN", "name"],
        &["setomapheader", "OWN", "header"],
        &["getomapheader", "OWN"],
        &["getomapheader", "OWN", &out],
        &["setomapval", "OWN", "key", "value"],
        &["setomapval", "OWN", "from-file", "--input-file", &content],
        &["--omap-key-file", &binary, "setomapval", "OWN", "value"],
        &["--omap-key-file", &binary, "getomapval", "OWN"],
        &["listomapkeys", "OWN"],
        &["listomapvals", "OWN"],
        &["getomapval", "OWN", "key"],
        &["getomapval", "OWN", "key", &out],
        &["getomapval", "OWN", "missing"],
        &["rmomapkey", "OWN", "key"],
        &["cp", "OWN", "OWN-copy"],
        &["cp", "OWN", "OWN-copy"],
        &["stat", "OWN-copy"],
        &["cp", "OWN-new", "OWN-new-copy"],
        &["stat2", "OWN-new-copy"],
        &["listomapvals", "OWN-copy"],
        &["getomapheader", "OWN-copy"],
        &["listxattr", "OWN-copy"],
        &[
            "cp",
            "OWN",
            "OWN-else",
            "--target-pool",
            "other",
            "--target-nspace",
            "space",
            "--target-locator",
            "key",
        ],
        &["cp", "OWN"],
        &["cp", "missing", "OWN"],
        &["cp", "OWN", "x", "--target-pool", "nowhere"],
        &["clearomap", "OWN"],
        &["listomapkeys", "OWN"],
        &["set-alloc-hint", "OWN", "4096", "4096"],
        &["lock", "get", "OWN", "lock"],
        &["lock", "get", "OWN", "lock"],
        &[
            "lock",
            "get",
            "OWN",
            "shared",
            "--lock-type",
            "shared",
            "--lock-tag",
            "tag",
            "--lock-cookie",
            "cookie",
        ],
        &["lock", "list", "OWN"],
        &["lock", "info", "OWN", "missing", "-f", "json-pretty"],
        &["lock", "get", "OWN", "x", "--lock-type", "bogus"],
        &["lock", "list", "missing"],
        &["lock", "info", "missing", "lock"],
        &["lock", "break", "OWN", "lock", "client.1"],
        &["lock", "break", "OWN"],
        &["lock", "frobnicate", "OWN"],
        &["lock"],
        &["rm", "OWN-copy", "OWN-created"],
        &["rm", "OWN-copy"],
        &["rm", "OWN-copy", "--force-full"],
        // Nothing changes from here on.
        &["put", "object", "no-such-file"],
        &["append", "object", "no-such-file"],
    ] {
        both.check(&in_pool(line));
    }
    let [ours, stock] = ["ours.out", "stock.out"].map(|name| std::fs::read(cluster.scratch(name)).unwrap());
    assert_eq!(ours, stock, "the file that getomapval wrote last");
    cluster.rados(&["put", "object", &content]);
    let obj_name = cluster.file("name", "object").to_string_lossy().into_owned();
    for line in [
        &["get", "object", "no-folder/file"][..],
        &["--obj-name-file", &obj_name, "stat"],
        &["truncate", "object", "x"],
        &["truncate", "object", "-5"],
        &["touch", "object", "then"],
        &["stat", "missing"],
        &["stat"],
        &["lssnap"],
        &["mapext", "object"],
        &["listwatchers", "object"],
        &["ls", "file"],
        &["ls", "-f", "json-pretty"],
        &["ls", "-o", &out],
        &["ls", "--all"],
        &["ls", "--all", "--default"],
        &["ls", "-f", "xml"],
        &["ls", "--pgid", "1.3"],
        &["ls", "--pgid", "99.0"],
        &["ls", "--pgid", "nonsense"],
        &["--create", "ls"],
        &["cleanup", "--prefix", "nonsense"],
        &["cleanup", "--prefix", "benchmark_data"],
        &["cleanup"],
        &["bench", "x", "write"],
        &["bench", "1", "frobnicate"],
        &["bench", "1", "seq", "-b", "4096"],
        &["bench", "1", "rand", "--write-omap"],
        &["bench", "1", "write", "-o", &out],
        &["-x", "ls"],
        &["setomapval", "object", "key", "value", "extra"],
    ] {
        both.check(&in_pool(line));
    }
    let pgs: Vec<String> = (0..8).map(|pg| format!("1.{pg}")).collect();
    for line in [
        &["lspools"][..],
        &["no-such-verb"],
        &[],
        &["--pool"],
        &["-p", "nowhere", "ls"],
        &["stat", "object"],
        &["lock", "list", "object"],
        &["cppool", "test", "test"],
        &["cppool", "test", "nowhere"],
        &["purge", "other"],
        &["purge", "nowhere", "--yes-i-really-really-mean-it"],
        &["purge"],
        &["mkpool", "made"],
        &["rmpool", "made"],
        // Without a pool, what pgs hold.
        &["ls", "--pgid", &pgs[0]],
        &["ls", "--pgid", &pgs[1]],
        &["ls", "--pgid", &pgs[2]],
        &["ls", "--pgid", &pgs[3]],
        &["ls", "--pgid", &pgs[7]],
    ] {
        both.check(line);
    }
    both.finish();
}

/// Names, keys and values are bytes to both.
#[test]
fn names_are_bytes() {
    let cluster = MiniCluster::start(|options| options);
    let content = cluster.file("content", "content");
    let mut both = SideBySide::new(&cluster, "rados", &[]);
    let [name, key, value] = [&b"\xff\xfe/name"[..], b"\xfdkey", b"\xfcvalue"].map(bytes);
    let word = OsStr::new;
    for line in [
        &[word("put"), name, content.as_os_str()][..],
        &[word("get"), name, word("-")],
        &[word("stat"), name],
        &[word("setxattr"), name, key, value],
        &[word("getxattr"), name, key],
        &[word("listxattr"), name],
        &[word("setomapval"), name, key, value],
        &[word("getomapval"), name, key],
        &[word("getomapval"), name, bytes(b"\xff")],
        &[word("listomapkeys"), name],
        &[word("listomapvals"), name],
        &[word("cp"), name, bytes(b"\xff-copy")],
        &[word("ls")],
        &[word("-N"), bytes(b"\xffspace"), word("put"), name, content.as_os_str()],
        &[word("-N"), bytes(b"\xffspace"), word("ls")],
        &[word("ls"), word("--all")],
        &[word("stat"), bytes(b"\xffmissing")],
    ] {
        let args: Vec<&OsStr> =
            [word("-p"), word(test_pool())].into_iter().chain(line.iter().copied()).collect();
        both.check(&args);
    }
    both.finish();
}

/// What one exports the other imports, into another pool; both list, read and copy the same then.
#[test]
fn pools_travel_in_files_and_copies() {
    let cluster = MiniCluster::start(|options| {
        options.pool_with_pgs("a", 4).pool_with_pgs("b", 4).pool_with_pgs("c", 4).pool_with_pgs("d", 4)
    });
    let large: Vec<u8> = (0..9_000_000_u32).map(|n| n.to_le_bytes()[1]).collect();
    let (content, large) = (cluster.file("content", "content"), cluster.file("large", large));
    let (content, large) = (content.to_string_lossy(), large.to_string_lossy());
    for line in [
        &["put", "plain", &content][..],
        &["put", "large", &large],
        &["create", "empty"],
        &["-N", "space", "put", "inside", &content],
        &["setxattr", "plain", "colour", "sepia"],
        &["setomapheader", "plain", "header"],
        &["setomapval", "plain", "key", "value"],
        &["-N", "space", "setomapval", "inside", "other", "value"],
    ] {
        cluster.rados(line);
    }
    // More entries than one section holds.
    let entries: Vec<(String, Vec<u8>)> = (0..1500).map(|n| (format!("key{n:04}"), vec![7; 20])).collect();
    cluster.block_on(cluster.pool().omap_set("many", entries)).unwrap();

    let run = |tool, args: &[&str]| cluster.run(tool, "rados", args).success().unwrap().text();
    let file = |name: &str| cluster.scratch(name).to_string_lossy().into_owned();
    for (exporter, importer, pool) in [(Tool::Sepiola, Tool::Stock, "a"), (Tool::Stock, Tool::Sepiola, "b")] {
        let file = file(pool);
        run(exporter, &["-p", test_pool(), "export", &file]);
        let dry = run(importer, &["-p", pool, "import", "--dry-run", &file]);
        assert_eq!(run(importer, &["-p", pool, "ls", "--all"]), "", "{importer:?} wrote in a dry run");
        assert_eq!(run(importer, &["-p", pool, "import", &file]), dry);
        same_content(&cluster, pool, exporter);
        // And again, over what is there.
        let mut both = SideBySide::new(&cluster, "rados", &[]);
        both.check(&["-p", pool, "import", "--dry-run", &file]);
        both.check(&["-p", pool, "import", "--no-overwrite", &file]);
        both.check(&["-p", pool, "import", &file]);
        both.finish();
        same_content(&cluster, pool, exporter);
    }
    for (tool, pool) in [(Tool::Sepiola, "c"), (Tool::Stock, "d")] {
        run(tool, &["cppool", test_pool(), pool]);
        same_content(&cluster, pool, tool);
    }
    // A file that is none, or that ends in the middle.
    let whole = std::fs::read(cluster.scratch("a")).unwrap();
    cluster.file("cut", &whole[..whole.len() / 2]);
    let explains = [Accepted { words: &["import"], part: Part::Words, why: EXPLAINS }];
    let mut both = SideBySide::new(&cluster, "rados", &explains);
    both.check(&["-p", "c", "import", &*content]);
    both.check(&["-p", "c", "import", "/dev/null"]);
    both.check(&["-p", "c", "import", &file("cut")]);
    both.finish();

    for (tool, pool) in [(Tool::Sepiola, "a"), (Tool::Stock, "b")] {
        let purged = run(tool, &["purge", pool, "--yes-i-really-really-mean-it"]);
        assert_eq!(
            purged,
            format!(
                "Warning: using slow linear search\nRemoved 5 objects\nsuccessfully purged pool {pool}\n"
            )
        );
        assert_eq!(run(Tool::Stock, &["-p", pool, "ls", "--all"]), "", "{tool:?}");
    }
}

/// A pool holds what the test pool holds.
fn same_content(cluster: &MiniCluster, pool: &str, how: Tool) {
    let look = |pool: &str, args: &[&str]| {
        let output = cluster.run(Tool::Sepiola, "rados", &[&["-p", pool], args].concat()).success().unwrap();
        output.stdout
    };
    let sorted = |pool: &str| {
        let list = String::from_utf8(look(pool, &["ls", "--all"])).unwrap();
        list.lines().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    assert_eq!(sorted(pool), sorted(test_pool()), "{how:?}");
    for args in [
        &["get", "plain", "-"][..],
        &["get", "large", "-"],
        &["get", "empty", "-"],
        &["-N", "space", "get", "inside", "-"],
        &["-N", "space", "listomapvals", "inside"],
        &["listxattr", "plain"],
        &["getxattr", "plain", "colour"],
        &["getomapheader", "plain"],
        &["listomapvals", "plain"],
        &["listomapvals", "many"],
    ] {
        assert!(look(pool, args) == look(test_pool(), args), "{how:?} {args:?}");
    }
}

/// Flags of the stock tool that are for verbs which are missing, or for daemons.
const MISSING_FLAGS: &[&str] = &[
    "--max-backlog",
    "--max-object-size",
    "--max-op-len",
    "--max-ops",
    "--min-object-size",
    "--min-op-len",
    "--num-objects",
    "--offset-align",
    "--read-percent",
    "--run-length",
    "--target-throughput",
    "--setgroup",
    "--setuser",
    "--snap",
    "--striper",
    "--with-clones",
    "--with-reference",
];

/// Every verb and flag that the stock tool's help names is here, or is missing on purpose and says so.
#[test]
fn what_is_missing_says_so() {
    let cluster = MiniCluster::start(|options| options);
    let help = cluster.program("rados", &["--help"]).text();
    let ours = cluster.sepiola(&["rados", "--help"]).text();
    let documented = include_str!("../../docs/compatibility.md");
    let verbs: BTreeSet<&str> = help
        .lines()
        .take_while(|line| !line.starts_with("GLOBAL OPTIONS"))
        .filter(|line| line.starts_with("   ") && !line.starts_with("    "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| {
            word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
                && !word.starts_with('-')
        })
        .filter(|word| !["options", "default"].contains(word))
        .collect();
    assert!(verbs.len() > 50, "{verbs:?}");
    for verb in verbs {
        let answer = cluster.run(Tool::Sepiola, "rados", &in_pool(&[verb]));
        let said = answer.error_text();
        assert!(!said.contains("unrecognized command"), "{verb}: {said}");
        if said.contains("not supported") || said.contains("use `") {
            assert_eq!(answer.status.code(), Some(1), "{verb}");
            assert_eq!(said.lines().count(), 1, "{verb}: {said}");
            assert!(documented.contains(&format!("`{verb}`")), "{verb} is not in docs/compatibility.md");
        }
    }
    let flags = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| c.is_whitespace() || "[]=|/,".contains(c));
        words.filter(|w| w.starts_with("--") && w.len() > 2).map(str::to_owned).collect()
    };
    let hidden = ["--force-full", "--yes-i-really-mean-it"].map(str::to_owned);
    let missing: Vec<String> =
        flags(&help).difference(&flags(&ours)).filter(|f| !hidden.contains(f)).cloned().collect();
    let mut expected: Vec<&str> = MISSING_FLAGS.to_vec();
    expected.sort_unstable();
    assert_eq!(missing, expected);
    for flag in MISSING_FLAGS {
        assert!(documented.contains(&format!("`{flag}`")), "{flag} is not in docs/compatibility.md");
    }
}
