//! Starting and stopping a cluster of processes: every flavour works, nothing is left behind however it
//! ends, and an OSD that goes away is noticed.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use sepiola_cluster::{Auth, ClusterOptions, MsMode};
use sepiola_crypto::KeyType;
use sepiola_tests::{
    Deadline, Invocation, MiniCluster, Output, Tool, WorkDir, daemons_with, sepiola_binary, signal, test_pool,
};

const SOON: Duration = Duration::from_secs(15);
/// A dead OSD is marked down within this.
const DOWN_WITHIN: Duration = Duration::from_secs(5);

fn sepiola(scratch: &WorkDir, args: &[&str]) -> Output {
    let sepiola = Invocation::new(sepiola_binary().unwrap()).args(args);
    sepiola.run(scratch.path(), Deadline::after(Duration::from_secs(60))).unwrap()
}

fn wait_for(what: &str, within: Duration, mut there: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !there() {
        assert!(begun.elapsed() < within, "{what}: not within {within:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn up_down_and_up_again() {
    let scratch = WorkDir::new("up-down").unwrap();
    let dir = scratch.path().join("cluster");
    let conf = dir.join("ceph.conf");
    let up = ["cluster", "up", "--dir", text(&dir), "--port", "0", "--osds", "3", "--pool", "test:8"];
    sepiola(&scratch, &up).success().unwrap().prints(text(&conf)).unwrap();
    assert_eq!(daemons_with(text(&conf)).len(), 4);
    let rados =
        |args: &[&str]| sepiola(&scratch, &[&["rados", "-c", text(&conf), "-p", "test"], args].concat());
    rados(&["put", "before", text(&conf)]).success().unwrap();

    // A running cluster is not started over.
    let refused = sepiola(&scratch, &up).refused().unwrap();
    assert!(refused.error_text().contains("already holds a cluster"), "{}", refused.error_text());
    let status = sepiola(&scratch, &["cluster", "status", "--dir", text(&dir), "-f", "json"]);
    let status: serde_json::Value = serde_json::from_slice(&status.success().unwrap().stdout).unwrap();
    let daemons = status["daemons"].as_array().unwrap();
    assert!(daemons.len() == 4 && daemons.iter().all(|daemon| daemon["running"] == true), "{status}");

    sepiola(&scratch, &["cluster", "down", "--dir", text(&dir)]).success().unwrap().prints("4").unwrap();
    assert_eq!(daemons_with(text(&dir)), [0; 0]);
    let conf_before = fs::read_to_string(&conf).unwrap();

    sepiola(&scratch, &["cluster", "up", "--dir", text(&dir)]).success().unwrap();
    assert_eq!(daemons_with(text(&conf)).len(), 4, "as many OSDs as before");
    assert_eq!(fs::read_to_string(&conf).unwrap(), conf_before, "clients find it where it was");
    // The pool is the monitor's and there; objects were in memory.
    rados(&["stat", "before"]).refused().unwrap();
    rados(&["put", "after", text(&conf)]).success().unwrap();
    rados(&["ls"]).success().unwrap().prints("after").unwrap();

    sepiola(&scratch, &["cluster", "down", "--purge", "--dir", text(&dir)]).success().unwrap();
    assert_eq!(daemons_with(text(&dir)), [0; 0]);
    assert!(!dir.exists());
    let refused = sepiola(&scratch, &["cluster", "down", "--dir", text(&dir)]).refused().unwrap();
    assert!(refused.error_text().contains("holds no cluster"), "{}", refused.error_text());
}

#[test]
fn every_flavour_serves() {
    let serves = |cluster: &MiniCluster, tools: &[Tool]| {
        let file = cluster.file("file", "content");
        for tool in tools {
            let run = |args: &[&str]| {
                let args = [&["-p", test_pool()], args].concat();
                let done = cluster.run(*tool, "rados", &args).success();
                done.unwrap_or_else(|e| panic!("{tool:?}: {e}"))
            };
            run(&["put", "object", text(&file)]);
            assert_eq!(run(&["get", "object", "-"]).text(), "content");
            cluster.run(*tool, "ceph", &["-s"]).success().unwrap().prints("health:").unwrap();
        }
    };
    let both = [Tool::Sepiola, Tool::Stock];
    serves(&MiniCluster::start(|options| options.auth(Auth::None)), &both);
    serves(&MiniCluster::start(|options| options.ms_mode(MsMode::Crc)), &both);
    // 16.2 has no such keys; the interop matrix has clients that do.
    let cluster = MiniCluster::start(|options| options.key_type(KeyType::Aes256k));
    serves(&cluster, &[Tool::Sepiola]);
    // New users get keys of the cluster's type, and can use them.
    let keyring = cluster.user("client.new", &["mon", "allow r", "osd", "allow r"]);
    let args = ["-n", "client.new", "-k", text(&keyring), "-p", test_pool(), "get", "object", "-"];
    assert_eq!(cluster.run(Tool::Sepiola, "rados", &args).success().unwrap().text(), "content");
    let keyring = sepiola_cephx::Keyring::load(&keyring).unwrap();
    assert_eq!(keyring.key(&"client.new".parse().unwrap()).unwrap().kind(), KeyType::Aes256k);
    let stock = cluster.run(Tool::Stock, "rados", &["--client-mount-timeout=5", "-p", test_pool(), "ls"]);
    stock.refused().unwrap();
}

#[test]
fn contradictions_are_refused_and_start_nothing() {
    let scratch = WorkDir::new("contradictions").unwrap();
    let dir = scratch.path().join("cluster");
    for (args, reason) in [
        (&["--auth", "none", "--ms-mode", "secure"][..], "no keys to encrypt with"),
        (&["--osds", "0"], "--osds"),
        (&["--mons", "3"], "one monitor"),
        (&["--key-type", "des"], "--key-type"),
        (&["--ms-mode", "plain"], "--ms-mode"),
        (&["--pool", "name:many"], "NAME[:PGS]"),
    ] {
        let args = [&["cluster", "up", "--dir", text(&dir), "--port", "0"], args].concat();
        let refused = sepiola(&scratch, &args).refused().unwrap();
        assert!(refused.error_text().contains(reason), "{args:?}: {}", refused.error_text());
        assert_eq!(daemons_with(text(&dir)), [0; 0]);
    }
    // None of them has spoiled the folder.
    sepiola(&scratch, &["cluster", "up", "--dir", text(&dir), "--port", "0"]).success().unwrap();
    sepiola(&scratch, &["cluster", "down", "--dir", text(&dir)]).success().unwrap();
}

#[test]
fn a_port_that_is_taken_is_said_and_nothing_stays() {
    let scratch = WorkDir::new("taken").unwrap();
    let dir = scratch.path().join("cluster");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let up = ["cluster", "up", "--dir", text(&dir), "--port", &port];
    let refused = sepiola(&scratch, &up).refused().unwrap().error_text();
    assert!(refused.contains(&port) && refused.contains("in use"), "{refused}");
    assert_eq!(daemons_with(text(&dir)), [0; 0]);
    drop(taken);
    // Once the port is free the same command works.
    sepiola(&scratch, &up).success().unwrap();
    sepiola(&scratch, &["cluster", "down", "--dir", text(&dir)]).success().unwrap();
}

#[test]
fn a_handle_dropped_by_a_panic_takes_everything_with_it() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let panicked = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let options = ClusterOptions::temporary().unwrap().program(sepiola_binary().unwrap()).osds(2);
        let cluster = runtime.block_on(options.start()).unwrap();
        sender.send(cluster.layout().dir().to_owned()).unwrap();
        panic!("a test that fails, as this one is meant to");
    });
    let dir: PathBuf = receiver.recv().unwrap();
    assert!(panicked.join().is_err());
    assert_eq!(daemons_with(text(&dir)), [0; 0]);
    assert!(!dir.exists());
}

/// Starts a cluster in the foreground; returns once it is up.
fn foreground(dir: &Path) -> Child {
    let mut child = Command::new(sepiola_binary().unwrap())
        .args(["cluster", "up", "--foreground", "--port", "0", "--osds", "2", "--dir", text(dir)])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().starts_with("stop it:")), "it never came up");
    child
}

#[test]
fn daemons_end_with_their_parent() {
    let scratch = WorkDir::new("parent").unwrap();
    let dir = scratch.path().join("cluster");
    let mut parent = foreground(&dir);
    assert!(daemons_with(text(&dir)).len() > 3, "the parent and three daemons");
    parent.kill().unwrap();
    parent.wait().unwrap();
    wait_for("no daemon", SOON, || daemons_with(text(&dir)).is_empty());

    // Asked to end, it stops them itself, and leaves with success.
    let mut parent = foreground(&dir);
    signal(parent.id(), "TERM");
    assert!(parent.wait().unwrap().success());
    assert_eq!(daemons_with(text(&dir)), [0; 0]);
}

/// Whatever the moment, an interrupted start leaves nothing running, even of a cluster that would stay.
#[test]
fn an_interrupted_start_is_undone() {
    let scratch = WorkDir::new("interrupted-start").unwrap();
    for (n, delay) in [5, 15, 25, 40, 60, 90].into_iter().enumerate() {
        let dir = scratch.path().join(format!("cluster-{n}"));
        let mut up = Command::new(sepiola_binary().unwrap())
            .args(["cluster", "up", "--port", "0", "--osds", "3", "--pool", "test", "--dir", text(&dir)])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(delay));
        signal(up.id(), "INT");
        let came_up = up.wait().unwrap().success();
        if came_up {
            sepiola(&scratch, &["cluster", "down", "--dir", text(&dir)]).success().unwrap();
        }
        assert_eq!(daemons_with(text(&dir)), [0; 0], "interrupted after {delay} ms, came up: {came_up}");
        // Nor does it spoil the folder for the next start.
        let again = ["cluster", "up", "--port", "0", "--osds", "3", "--pool", "test", "--dir", text(&dir)];
        sepiola(&scratch, &again).success().unwrap_or_else(|e| panic!("after {delay} ms: {e}"));
        sepiola(&scratch, &["cluster", "down", "--dir", text(&dir)]).success().unwrap();
    }
}

/// `sepiola demo` with all temporary files below `tmp`.
fn demo(tmp: &Path, args: &[&str]) -> Invocation {
    Invocation::new(sepiola_binary().unwrap()).arg("demo").args(args).env("TMPDIR", tmp)
}

#[test]
fn the_demo_measures_and_leaves_nothing() {
    let scratch = WorkDir::new("demo").unwrap();
    let tmp = scratch.path().join("tmp");
    fs::create_dir(&tmp).unwrap();
    let demo = demo(&tmp, &["--seconds", "1", "--format", "json"]);
    let done = demo.run(scratch.path(), Deadline::after(Duration::from_secs(60))).unwrap().success().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    let modes = report["modes"].as_array().unwrap();
    let mut names: Vec<&str> = modes.iter().map(|mode| mode["mode"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["crc", "secure"]);
    for mode in modes {
        for workload in ["write", "rand"] {
            assert!(mode[workload]["iops"].as_f64().unwrap() > 0.0, "{report}");
        }
    }
    assert_eq!(daemons_with(text(&tmp)), [0; 0]);
    assert_eq!(fs::read_dir(&tmp).unwrap().count(), 0);
}

#[test]
fn a_demo_that_is_interrupted_leaves_nothing() {
    let scratch = WorkDir::new("demo-interrupted").unwrap();
    for (name, leaves_folders) in [("TERM", false), ("INT", false), ("KILL", true)] {
        let tmp = scratch.path().join(name);
        fs::create_dir(&tmp).unwrap();
        let mut running = demo(&tmp, &["--seconds", "30"]).daemon(&scratch.path().join("log")).unwrap();
        wait_for("daemons", SOON, || daemons_with(text(&tmp)).len() >= 4);
        signal(running.pid(), name);
        wait_for("no daemon", SOON, || daemons_with(text(&tmp)).is_empty());
        wait_for("the demo's end", SOON, || running.check().is_err());
        assert!(leaves_folders || fs::read_dir(&tmp).unwrap().count() == 0, "{name}");
    }
}

/// The OSD that has an object.
fn primary(cluster: &MiniCluster, object: &str) -> u64 {
    cluster.ceph_json(&["osd", "map", test_pool(), object])["acting_primary"].as_u64().unwrap()
}

/// An object on each of three OSDs.
fn spread(cluster: &MiniCluster) -> [String; 3] {
    [0, 1, 2].map(|osd| {
        let mut names = (0..1000).map(|n| format!("object-{n}"));
        names.find(|name| primary(cluster, name) == osd).expect("every OSD has placement groups")
    })
}

fn is_up(cluster: &MiniCluster, osd: u64) -> bool {
    let dump = cluster.ceph_json(&["osd", "dump"]);
    dump["osds"].as_array().unwrap().iter().any(|o| o["osd"] == osd && o["up"] == 1)
}

#[test]
fn an_osd_that_is_killed_is_marked_down_and_comes_back_empty() {
    let mut cluster = MiniCluster::start(|options| options.osds(3));
    let objects = spread(&cluster);
    let rados = cluster.connect();
    let io = cluster.block_on(rados.open_ioctx(test_pool())).unwrap();
    for object in &objects {
        cluster.block_on(io.write_full(object.as_str(), "before")).unwrap();
    }

    cluster.kill("osd.1");
    let killed = Instant::now();
    cluster.wait_for("osd.1 down", DOWN_WITHIN, || (!is_up(&cluster, 1)).then_some(()));
    println!("marked down after {:?}", killed.elapsed());
    assert!(cluster.ceph(&["-s"]).contains("2 up"));
    // The others go on, for this client and for new ones of either kind.
    let file = cluster.file("file", "meanwhile");
    for osd in [0, 2] {
        cluster.block_on(io.write_full(objects[osd].as_str(), "meanwhile")).unwrap();
        for tool in [Tool::Sepiola, Tool::Stock] {
            let args = ["-p", test_pool(), "put", &objects[osd], text(&file)];
            cluster.run(tool, "rados", &args).success().unwrap();
        }
    }

    cluster.restart("osd.1");
    wait_for("osd.1 up", SOON, || is_up(&cluster, 1));
    // What was in memory is gone, and the same client goes on with it.
    let missing = cluster.block_on(io.read(objects[1].as_str(), 0..100)).unwrap_err();
    assert_eq!(missing.errno(), sepiola_wire::Errno::ENOENT, "{missing}");
    cluster.block_on(io.write_full(objects[1].as_str(), "after")).unwrap();
    assert_eq!(cluster.block_on(io.read(objects[1].as_str(), 0..100)).unwrap(), "after");
    assert_eq!(cluster.block_on(io.read(objects[0].as_str(), 0..100)).unwrap(), "meanwhile");
}

/// An operation that is in flight, or is started, while its OSD is away is carried out when it is back.
#[test]
fn operations_wait_for_an_osd_that_is_away() {
    let mut cluster = MiniCluster::start(|options| options);
    let rados = cluster.connect();
    let io = cluster.block_on(rados.open_ioctx(test_pool())).unwrap();
    cluster.block_on(io.write_full("object", "before")).unwrap();
    cluster.kill("osd.0");
    cluster.wait_for("osd.0 down", DOWN_WITHIN * 2, || (!is_up(&cluster, 0)).then_some(()));
    let write = thread::spawn({
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let conf = cluster.conf();
        move || {
            runtime.block_on(async {
                let builder = sepiola_client::Rados::builder().conf_file(conf)?;
                let io = builder.connect().await?.open_ioctx(test_pool()).await?;
                io.write_full("object", "after").await
            })
        }
    });
    thread::sleep(Duration::from_millis(300));
    assert!(!write.is_finished(), "there is nobody to write to");
    cluster.restart("osd.0");
    write.join().unwrap().unwrap();
    assert_eq!(cluster.block_on(io.read("object", 0..100)).unwrap(), "after");
}

#[test]
fn an_osd_that_is_asked_to_end_says_so_and_exits_well() {
    let mut cluster = MiniCluster::start(|options| options.osds(2));
    cluster.kill("osd.1");
    cluster.wait_for("osd.1 down", DOWN_WITHIN * 2, || (!is_up(&cluster, 1)).then_some(()));
    let mut osd = Command::new(sepiola_binary().unwrap())
        .args(["osd", "-c", text(&cluster.conf()), "-i", "1"])
        .stderr(fs::File::create(cluster.scratch("osd.log")).unwrap())
        .spawn()
        .unwrap();
    wait_for("osd.1 up", SOON, || is_up(&cluster, 1));
    signal(osd.id(), "TERM");
    assert!(osd.wait().unwrap().success());
    // Not found out by its silence, but told: it is down by the time it has ended.
    assert!(!is_up(&cluster, 1));
    assert!(is_up(&cluster, 0));
    cluster.pool();
}
