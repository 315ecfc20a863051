//! Operating a cluster: options reach daemons and clients, the admin socket answers the stock tools, metrics
//! are served, and signals do what operators expect.

use std::{
    collections::BTreeSet,
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    time::Duration,
};

use sepiola_tests::{Deadline, Failure, Invocation, MiniCluster, Tool, WorkDir, sepiola_binary};
use serde_json::Value;

/// What has to happen soon, on a machine that is busy with other tests.
const SOON: Duration = Duration::from_secs(20);

fn asok(cluster: &MiniCluster, daemon: &str) -> String {
    cluster.scratch(&format!("cluster/run/{daemon}.asok")).to_string_lossy().into_owned()
}

/// `ceph daemon SOCKET ARGS` of the stock tool, its answer as JSON.
fn ask(cluster: &MiniCluster, daemon: &str, args: &[&str]) -> Value {
    let socket = asok(cluster, daemon);
    let output = cluster.run(Tool::Stock, "ceph", &[&["daemon", &socket], args].concat());
    let text = output.success().expect("ceph daemon").text();
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{args:?}: {e}: {text}"))
}

fn ceph(cluster: &MiniCluster, args: &[&str]) -> String {
    cluster.run(Tool::Stock, "ceph", args).success().expect("ceph").text()
}

/// Tries until `found` gives something.
fn soon<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let attempt = || found().ok_or_else(|| Failure::new(what.to_owned()));
    Deadline::after(SOON).retry(attempt).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn options_of_the_monitors_reach_running_daemons_and_clients_of_both_sides() {
    let cluster = MiniCluster::start(|options| options);
    let level = |daemon: &str| ask(&cluster, daemon, &["config", "get", "debug_osd"])["debug_osd"].clone();
    let rados = cluster.connect();
    for (who, name, value) in [
        ("osd", "debug_osd", "10"),
        ("client", "rados_osd_op_timeout", "17"),
        ("client.admin", "rados_mon_op_timeout", "19"),
    ] {
        ceph(&cluster, &["config", "set", who, name, value]);
    }
    soon("the OSD follows", || (level("osd.0") == "10/10").then_some(()));
    assert_eq!(level("mon.a"), "1/5", "it is no OSD's option");
    // Our client that was connected before.
    soon("the client follows", || {
        (rados.config_value("rados_osd_op_timeout").as_deref() == Some("17")).then_some(())
    });
    let script = "import rados, sys; c = rados.Rados(conffile=sys.argv[1]); c.connect(); \
                  print(c.conf_get('rados_osd_op_timeout'), c.conf_get('rados_mon_op_timeout'))";
    let conf = cluster.conf();
    let stock = cluster.program("python3", &["-c", script, &conf.to_string_lossy()]);
    assert_eq!(stock.success().expect("python3-rados").text(), "17 19\n");

    ceph(&cluster, &["config", "rm", "osd", "debug_osd"]);
    soon("the OSD goes back", || (level("osd.0") == "1/5").then_some(()));
    let refused = cluster.run(Tool::Stock, "ceph", &["config", "set", "osd", "nonsense", "1"]);
    assert_eq!(refused.status.code(), Some(22));
    assert!(refused.error_text().contains("unrecognized config option 'nonsense'"));
    // What a daemon is told itself counts more.
    ask(&cluster, "osd.0", &["config", "set", "debug_osd", "3"]);
    ceph(&cluster, &["config", "set", "osd.0", "debug_osd", "7"]);
    soon("the monitors' value is known", || {
        let diff = ask(&cluster, "osd.0", &["config", "diff"]);
        (diff["diff"]["debug_osd"]["mon"] == "7/7").then_some(())
    });
    assert_eq!(level("osd.0"), "3/3");
}

#[test]
fn the_admin_socket_and_tell_answer_the_stock_tools() {
    let cluster = MiniCluster::start(|options| options);
    let content = cluster.file("content", "some content").to_string_lossy().into_owned();
    cluster.rados(&["put", "object", &content]);
    for daemon in ["mon.a", "osd.0"] {
        let help = ask(&cluster, daemon, &["help"]);
        let listed: BTreeSet<&String> = help.as_object().unwrap().keys().collect();
        for command in ["config diff", "config unset", "git_version", "log reopen", "perf schema"] {
            assert!(listed.contains(&command.to_owned()), "{daemon} {command}");
        }
        let (dump, schema) =
            (ask(&cluster, daemon, &["perf", "dump"]), ask(&cluster, daemon, &["perf", "schema"]));
        for (group, counters) in schema.as_object().unwrap() {
            for (counter, described) in counters.as_object().unwrap() {
                assert!(!dump[group][counter].is_null(), "{group}.{counter}");
                assert!(described["type"].is_u64() && described["priority"].is_u64(), "{described}");
            }
        }
        assert_eq!(ask(&cluster, daemon, &["log", "reopen"]), serde_json::json!({}));
    }
    let writes = |args: &[&str]| ask(&cluster, "osd.0", args)["osd"]["op_w"].as_u64().unwrap();
    assert!(writes(&["perf", "dump"]) >= 1);
    let latency = &ask(&cluster, "osd.0", &["perf", "dump", "osd", "op_latency"])["osd"]["op_latency"];
    assert!(
        latency["avgcount"].as_u64().unwrap() >= 1 && latency["sum"].as_f64().unwrap() > 0.0,
        "{latency}"
    );
    ask(&cluster, "osd.0", &["perf", "reset", "osd"]);
    assert_eq!(writes(&["perf", "dump", "osd", "op_w"]), 0);
    assert_eq!(ask(&cluster, "osd.0", &["status"])["state"], "active");
    assert_eq!(ask(&cluster, "mon.a", &["mon_status"])["state"], "leader");
    let sessions = ask(&cluster, "mon.a", &["sessions"]);
    assert!(sessions.as_array().unwrap().iter().any(|s| s["entity_name"] == "osd.0"), "{sessions}");
    let perf = cluster.run(Tool::Stock, "ceph", &["daemonperf", &asok(&cluster, "osd.0"), "1", "1"]);
    assert!(perf.success().expect("ceph daemonperf").text().contains("ops"));

    for daemon in ["mon.a", "osd.0"] {
        let told: Value =
            serde_json::from_str(&ceph(&cluster, &["tell", daemon, "config", "get", "debug_ms"])).unwrap();
        assert_eq!(told["debug_ms"], "0/0", "{daemon}");
    }
    ceph(&cluster, &["tell", "osd.0", "config", "set", "debug_osd", "4"]);
    ceph(&cluster, &["tell", "osd.0", "injectargs", "--debug_ms=6/7"]);
    let shown = ask(&cluster, "osd.0", &["config", "show"]);
    assert_eq!((&shown["debug_osd"], &shown["debug_ms"]), (&"4/4".into(), &"6/7".into()));
    let refused = cluster.run(Tool::Stock, "ceph", &["tell", "osd.0", "config", "set", "osd_data", "/x"]);
    assert_eq!(refused.status.code(), Some(1), "{}", refused.error_text());
}

/// A cluster of processes that outlive the command that started them, with more lines in its ceph.conf.
struct Detached {
    dir: WorkDir,
}

impl Detached {
    fn start(name: &str, lines: &str) -> Self {
        let this = Detached { dir: WorkDir::new(name).expect("a folder") };
        this.sepiola(&["up", "--port", "0", "--pool", "test:8"]);
        this.sepiola(&["down"]);
        let conf = fs::read_to_string(this.path("ceph.conf")).expect("a ceph.conf");
        fs::write(this.path("ceph.conf"), format!("{conf}{lines}")).expect("it can be changed");
        this.sepiola(&["up"]);
        this
    }

    fn path(&self, file: &str) -> PathBuf {
        self.dir.path().join("cluster").join(file)
    }

    fn run(&self, program: Invocation) -> String {
        let output = program.run(self.dir.path(), Deadline::after(Duration::from_secs(60))).expect("it ends");
        output.success().expect("it succeeds").text()
    }

    fn sepiola(&self, args: &[&str]) -> String {
        let sepiola = Invocation::new(sepiola_binary().expect("the sepiola program"));
        self.run(sepiola.args(["cluster", "--dir"]).arg(self.path("")).args(args))
    }

    fn pid(&self, daemon: &str) -> String {
        fs::read_to_string(self.path(&format!("run/{daemon}.pid"))).expect("a pid").trim().to_owned()
    }

    fn signal(&self, daemon: &str, signal: &str) {
        self.run(Invocation::new("kill").args([signal, &self.pid(daemon)]));
    }

    fn option(&self, daemon: &str, option: &str) -> String {
        let socket = self.path(&format!("run/{daemon}.asok"));
        let ask = Invocation::new("ceph").arg("daemon").arg(socket).args(["config", "get", option]);
        let answer: Value = serde_json::from_str(&self.run(ask)).expect("JSON");
        answer[option].as_str().expect("a value").to_owned()
    }
}

impl Drop for Detached {
    fn drop(&mut self) {
        self.sepiola(&["down"]);
    }
}

/// A response to a GET, head and body.
fn get(addr: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(addr).expect("a server");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").expect("a request");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("a response");
    response
}

#[test]
fn every_metric_of_the_board_is_served() {
    let cluster = Detached::start("metrics", "[global]\n\tprometheus addr = 127.0.0.1:0\n");
    let mut served = BTreeSet::new();
    for daemon in ["mon.a", "osd.0"] {
        let addr = cluster.option(daemon, "prometheus_addr");
        let metrics = soon("statistics have come", || {
            let text = get(&addr, "/metrics");
            (daemon != "mon.a" || text.contains("ceph_pool_stored{")).then_some(text)
        });
        assert!(metrics.starts_with("HTTP/1.1 200 OK\r\n") && metrics.ends_with("# EOF\n"), "{metrics}");
        assert!(get(&addr, "/").starts_with("HTTP/1.1 404 "));
        let lines = metrics.lines().filter(|line| !line.starts_with('#'));
        served.extend(lines.filter_map(|line| line.split(['{', ' ']).next()).map(str::to_owned));
        // One that says nothing does not keep others out.
        let _silent: Vec<_> = (0..3).map(|_| TcpStream::connect(&addr).unwrap()).collect();
        assert!(get(&addr, "/metrics").starts_with("HTTP/1.1 200 OK\r\n"));
    }
    let board = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/grafana/sepiola.json");
    let board: Value = serde_json::from_str(&fs::read_to_string(board).unwrap()).unwrap();
    let mut asked = BTreeSet::new();
    for panel in board["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().unwrap() {
            let words =
                target["expr"].as_str().unwrap().split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let names = words.filter(|word| word.starts_with("ceph_") || word.starts_with("sepiola_"));
            asked.extend(names.map(str::to_owned));
        }
    }
    assert!(asked.len() > 20, "{asked:?}");
    let missing: Vec<_> = asked.difference(&served).collect();
    assert!(missing.is_empty(), "the board asks for {missing:?}, served are {served:?}");
}

#[test]
fn sighup_opens_the_log_anew_and_sigterm_ends_an_osd_that_has_said_so() {
    let cluster = Detached::start("signals", "[osd]\n\tlog file = $data_dir/osd.log\n");
    let (log, moved) = (cluster.path("osd.0/osd.log"), cluster.path("osd.0/osd.log.1"));
    soon("the log has lines", || fs::read_to_string(&log).ok().filter(|text| text.contains("OSD is ready")));
    fs::rename(&log, &moved).unwrap();
    cluster.signal("osd.0", "-HUP");
    soon("the log is opened anew", || log.exists().then_some(()));
    cluster.signal("osd.0", "-TERM");
    soon("the map shows the OSD down", || {
        let conf = cluster.path("ceph.conf");
        let stat = cluster.run(Invocation::new("ceph").arg("-c").arg(conf).args(["osd", "stat"]));
        stat.contains(" 0 up").then_some(())
    });
    let end = soon("it says that it stops", || {
        fs::read_to_string(&log).ok().filter(|text| text.contains("OSD is stopping"))
    });
    assert!(!end.contains("no monitor has confirmed"), "{end}");
}
