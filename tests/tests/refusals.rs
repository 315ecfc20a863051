//! What cannot work says why, in one line of its own, with an exit status, within seconds. Where the reason
//! is the cluster's, the stock tools end as well and do not hang.

use std::{
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use sepiola_cluster::{Auth, MsMode};
use sepiola_tests::{MiniCluster, Output, Tool, test_pool};

/// "Within seconds": the default limit for a connection is 10 s, the rest is for a busy machine.
const SECONDS: Duration = Duration::from_secs(15);

/// Exit statuses of `ceph`, which are errnos.
const EPERM: i32 = 1;
const ENOENT: i32 = 2;
const EACCES: i32 = 13;
const ETIMEDOUT: i32 = 110;

/// The cluster's ceph.conf with other lines, under the same file name, as metavariables of it need.
fn changed_conf(cluster: &MiniCluster, folder: &str, change: impl Fn(&str) -> String) -> PathBuf {
    let conf = std::fs::read_to_string(cluster.conf()).unwrap();
    std::fs::create_dir_all(cluster.scratch(folder)).unwrap();
    cluster.file(&format!("{folder}/ceph.conf"), change(&conf))
}

/// A ceph.conf that names another monitor.
fn other_monitor(cluster: &MiniCluster, folder: &str, monitor: SocketAddr) -> PathBuf {
    changed_conf(cluster, folder, |conf| {
        let lines = conf.lines().map(|line| match line.trim_start().starts_with("mon host") {
            true => format!("mon host = [v2:{monitor}/0]"),
            false => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n") + "\n"
    })
}

/// Runs both tools of Sepiola; their reason, which must be one line and the same, and the exit status of `ceph`.
fn both_say(cluster: &MiniCluster, conf: &Path, args: &[&str]) -> (String, i32) {
    let line = |output: &Output| {
        assert_eq!(output.text(), "");
        let said = output.error_text();
        let (reason, hint) = said.trim_end().split_once('\n').unwrap_or((said.trim_end(), "hint: "));
        assert!(hint.starts_with("hint: ") && !hint.contains('\n'), "one line, and a hint at most: {said}");
        // `rados` says so first, as the stock one does.
        reason.trim_start_matches("couldn't connect to cluster: ").to_owned()
    };
    let begun = Instant::now();
    // At the same time, since some of them wait.
    let (rados, ceph) = thread::scope(|scope| {
        let rados = scope.spawn(|| {
            let args = [args, &["-p", test_pool(), "ls"]].concat();
            cluster.run_with(Tool::Sepiola, "rados", conf, &args)
        });
        let ceph = cluster.run_with(Tool::Sepiola, "ceph", conf, &[args, &["-s"]].concat());
        (rados.join().unwrap(), ceph)
    });
    assert!(begun.elapsed() < SECONDS);
    assert_eq!(rados.status.code(), Some(1), "rados has one exit status for failures");
    // They need not have waited equally long.
    let timeless = |line: String| -> Vec<String> {
        let is_time = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with("s:");
        line.split(' ').filter(|word| !is_time(word)).map(str::to_owned).collect()
    };
    assert_eq!(timeless(line(&rados)), timeless(line(&ceph)));
    (line(&ceph), ceph.status.code().unwrap())
}

/// Runs both stock tools, which must fail. `args` are in the spelling of `rados`.
fn stock_is_refused(cluster: &MiniCluster, conf: &Path, args: &[&str]) {
    let rados = [args, &["--client-mount-timeout=5", "-p", test_pool(), "ls"]].concat();
    let refused = cluster.run_with(Tool::Stock, "rados", conf, &rados).refused().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    let spelled = args.iter().map(|arg| if *arg == "-k" { "--keyring" } else { *arg });
    let ceph: Vec<&str> = spelled.chain(["--connect-timeout", "5", "-s"]).collect();
    cluster.run_with(Tool::Stock, "ceph", conf, &ceph).refused().unwrap();
}

#[test]
fn keys_that_are_wrong_unknown_or_missing() {
    let cluster = MiniCluster::start(|options| options);
    let made = |file: &str, name: &str| {
        let path = cluster.scratch(file).to_string_lossy().into_owned();
        cluster.sepiola(&["authtool", "-C", &path, "--gen-key", "-n", name]).success().unwrap();
        path
    };
    let monitor = cluster.address("mon.a");
    let monitor = monitor.trim_start_matches("v2:").split('/').next().unwrap();

    let wrong = made("wrong.keyring", "client.admin");
    let args = ["-k", &wrong];
    let refusal = both_say(&cluster, &cluster.conf(), &args);
    let expected = format!("access denied: key of client.admin refused by mon at {monitor}");
    assert_eq!(refusal, (expected, EACCES));
    stock_is_refused(&cluster, &cluster.conf(), &args);

    let unknown = made("unknown.keyring", "client.nobody");
    let args = ["-n", "client.nobody", "-k", &unknown];
    let refusal = both_say(&cluster, &cluster.conf(), &args);
    let expected = format!("access denied: key of client.nobody refused by mon at {monitor}");
    assert_eq!(refusal, (expected, EACCES));
    stock_is_refused(&cluster, &cluster.conf(), &args);

    // An entity that the keyring does not have is noticed here, not at the monitor.
    let args = ["-n", "client.other", "-k", &unknown];
    let (line, status) = both_say(&cluster, &cluster.conf(), &args);
    assert!(line.starts_with("no key for client.other: ") && line.contains(&unknown), "{line}");
    assert_eq!(status, ENOENT);
    stock_is_refused(&cluster, &cluster.conf(), &args);

    let missing = cluster.scratch("missing.keyring").to_string_lossy().into_owned();
    let args = ["-k", &missing];
    let (line, status) = both_say(&cluster, &cluster.conf(), &args);
    assert!(line.starts_with("no key for client.admin: ") && line.contains(&missing), "{line}");
    assert_eq!(status, ENOENT);
    stock_is_refused(&cluster, &cluster.conf(), &args);

    cluster.rados(&["ls"]);
}

#[test]
fn a_mode_that_the_cluster_does_not_allow() {
    for (cluster_mode, offered) in [(MsMode::Secure, MsMode::Crc), (MsMode::Crc, MsMode::Secure)] {
        let cluster = MiniCluster::start(|options| options.ms_mode(cluster_mode));
        let change = |line: &str| line.replace(&format!("= {cluster_mode}"), &format!("= {offered}"));
        let conf = changed_conf(&cluster, "other-mode", change);
        let (line, status) = both_say(&cluster, &conf, &[]);
        let expected =
            format!("the server allows connection mode {cluster_mode}, this side offers {offered} only");
        assert!(line.ends_with(&expected), "{line}");
        assert!(status > 1, "it has an errno of its own: {status}");
        stock_is_refused(&cluster, &conf, &[]);

        // Monitors that agree and OSDs that do not.
        let client_mode = |mode| format!("ms client mode = {mode}");
        let change = |line: &str| line.replace(&client_mode(cluster_mode), &client_mode(offered));
        let conf = changed_conf(&cluster, "other-osd-mode", change);
        let output = cluster.run_with(Tool::Sepiola, "rados", &conf, &["-p", test_pool(), "ls"]);
        let refused = output.refused().unwrap().error_text();
        assert!(refused.contains("osd.0") && refused.trim_end().ends_with(&expected), "{refused}");
        cluster.rados(&["ls"]);
    }
}

#[test]
fn an_authentication_method_that_the_cluster_does_not_allow() {
    let cluster = MiniCluster::start(|options| options.ms_mode(MsMode::Crc));
    let conf = changed_conf(&cluster, "none", |conf| conf.replace("= cephx", "= none"));
    let (line, status) = both_say(&cluster, &conf, &[]);
    assert!(line.contains("none") && line.contains("cephx"), "names both: {line}");
    assert!(status > 1, "{status}");
    stock_is_refused(&cluster, &conf, &[]);
    drop(cluster);

    let cluster = MiniCluster::start(|options| options.auth(Auth::None));
    let conf = changed_conf(&cluster, "cephx", |conf| conf.replace("= none", "= cephx"));
    let (line, _) = both_say(&cluster, &conf, &[]);
    assert!(line.contains("none") && line.contains("cephx"), "names both: {line}");
    stock_is_refused(&cluster, &conf, &[]);
}

#[test]
fn a_monitor_that_is_not_there() {
    let cluster = MiniCluster::start(|options| options);
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let conf = other_monitor(&cluster, "gone", gone);
    let (line, status) = both_say(&cluster, &conf, &[]);
    let expected = format!("cannot connect to {gone}: Connection refused");
    assert!(line.starts_with("no monitor reached within ") && line.contains(&expected), "{line}");
    assert_eq!(status, ETIMEDOUT);
    stock_is_refused(&cluster, &conf, &[]);
}

#[test]
fn a_monitor_that_accepts_and_stays_silent() {
    let cluster = MiniCluster::start(|options| options);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let conf = other_monitor(&cluster, "silent", address);
    let (line, status) = both_say(&cluster, &conf, &[]);
    let expected = "connected, but the peer does not finish the handshake";
    assert!(line.contains(&address.to_string()) && line.ends_with(expected), "{line}");
    assert_eq!(status, ETIMEDOUT);
    stock_is_refused(&cluster, &conf, &[]);
}

/// What a user may do, with both sides' `rados`.
struct User<'a> {
    cluster: &'a MiniCluster,
    name: &'static str,
    keyring: String,
}

impl<'a> User<'a> {
    fn new(cluster: &'a MiniCluster, name: &'static str, caps: &[&str]) -> Self {
        let keyring = cluster.user(name, caps).to_string_lossy().into_owned();
        User { cluster, name, keyring }
    }

    fn run(&self, tool: Tool, program: &str, args: &[&str]) -> Output {
        let keyring = if program == "ceph" && tool == Tool::Stock { "--keyring" } else { "-k" };
        let args = [&["-n", self.name, keyring, &self.keyring], args].concat();
        self.cluster.run(tool, program, &args)
    }

    fn may(&self, args: &[&str]) {
        for tool in [Tool::Sepiola, Tool::Stock] {
            self.run(tool, "rados", args).success().unwrap_or_else(|e| panic!("{tool:?}: {e}"));
        }
    }

    fn may_not(&self, args: &[&str]) {
        for tool in [Tool::Sepiola, Tool::Stock] {
            let refused = self.run(tool, "rados", args).refused().unwrap_or_else(|e| panic!("{tool:?}: {e}"));
            assert_eq!(refused.status.code(), Some(1));
            let said = refused.error_text();
            assert!(said.contains("Operation not permitted"), "{tool:?} {args:?}: {said}");
            assert_eq!(said.lines().count(), 1, "{tool:?} {args:?}: {said}");
        }
    }
}

#[test]
fn capabilities_that_do_not_reach() {
    let cluster = MiniCluster::start(|options| options);
    cluster.ceph(&["osd", "pool", "create", "other", "8"]);
    let file = cluster.file("file", "content");
    let file = file.to_string_lossy();
    cluster.rados(&["put", "object", &file]);

    // Nothing at the OSDs.
    let user = User::new(&cluster, "client.mon-only", &["mon", "allow r"]);
    user.may_not(&["-p", "test", "put", "mine", &file]);
    user.may_not(&["-p", "test", "get", "object", "-"]);
    user.may_not(&["-p", "test", "ls"]);
    let mkpool = user.run(Tool::Sepiola, "rados", &["mkpool", "mine"]).refused().unwrap();
    assert!(mkpool.error_text().contains("Operation not permitted"), "{}", mkpool.error_text());
    for tool in [Tool::Sepiola, Tool::Stock] {
        let refused = user.run(tool, "ceph", &["osd", "pool", "create", "mine"]);
        assert_eq!(refused.status.code(), Some(EACCES), "{tool:?}");
        assert!(refused.error_text().ends_with("Error EACCES: access denied\n"), "{}", refused.error_text());
        user.run(tool, "ceph", &["-s"]).success().unwrap();
    }

    let user = User::new(&cluster, "client.reader", &["mon", "allow r", "osd", "allow r"]);
    user.may(&["-p", "test", "get", "object", "-"]);
    user.may(&["-p", "test", "ls"]);
    user.may_not(&["-p", "test", "put", "mine", &file]);
    user.may_not(&["-p", "test", "rm", "object"]);
    user.may_not(&["-p", "test", "setxattr", "object", "name", "value"]);
    user.may_not(&["-p", "test", "setomapval", "object", "key", "value"]);

    let user = User::new(&cluster, "client.pool", &["mon", "allow r", "osd", "allow rw pool=other"]);
    user.may(&["-p", "other", "put", "mine", &file]);
    user.may(&["-p", "other", "ls"]);
    user.may_not(&["-p", "test", "put", "mine", &file]);
    user.may_not(&["-p", "test", "get", "object", "-"]);
    user.may_not(&["-p", "test", "ls"]);

    let user = User::new(&cluster, "client.space", &["mon", "allow r", "osd", "allow rw namespace=space"]);
    user.may(&["-p", "test", "-N", "space", "put", "mine", &file]);
    user.may(&["-p", "test", "-N", "space", "ls"]);
    user.may_not(&["-p", "test", "put", "mine", &file]);
    user.may_not(&["-p", "test", "-N", "other", "put", "mine", &file]);
    user.may_not(&["-p", "test", "ls"]);

    let user = User::new(&cluster, "client.prefix", &["mon", "allow r", "osd", "allow rw object_prefix my-"]);
    user.may(&["-p", "test", "put", "my-object", &file]);
    user.may(&["-p", "test", "get", "my-object", "-"]);
    user.may_not(&["-p", "test", "put", "object", &file]);
    user.may_not(&["-p", "test", "get", "object", "-"]);

    // None at the monitor is no session at all.
    let user = User::new(&cluster, "client.no-mon", &["osd", "allow *"]);
    for tool in [Tool::Sepiola, Tool::Stock] {
        let refused = user.run(tool, "rados", &["-p", "test", "ls"]).refused().unwrap();
        assert_eq!(refused.status.code(), Some(EPERM));
    }
    assert_eq!(cluster.rados(&["get", "object", "-"]), "content");
}
