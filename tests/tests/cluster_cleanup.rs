//! Clusters of processes leave nothing behind either, whatever becomes of the test that started them.

use std::{
    env,
    net::{SocketAddr, TcpStream},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use sepiola_cluster::{Cluster, ClusterError, ClusterOptions, RunningCluster};
use sepiola_tests::sepiola_binary;
use tokio::runtime::Runtime;

async fn start() -> Cluster {
    let program = sepiola_binary().unwrap();
    ClusterOptions::temporary().unwrap().program(program).pool_with_pgs("test", 8).start().await.unwrap()
}

/// What has to be gone afterwards: a folder, processes and ports, as lines of text.
struct Traces(String);

impl Traces {
    fn of(cluster: &Cluster) -> Self {
        let folder = cluster.layout().dir();
        let daemons = RunningCluster::open(folder).unwrap().daemons();
        assert_eq!(daemons.len(), 2);
        let mut lines = format!("{}\n", folder.display());
        for daemon in daemons {
            let addr = daemon.addr.unwrap();
            let socket = addr.trim_start_matches("v2:").split('/').next().unwrap();
            lines += &format!("{}\n{socket}\n", daemon.pid);
        }
        Traces(lines)
    }

    fn left(&self) -> Vec<String> {
        let mut lines = self.0.lines();
        let folder = lines.next().unwrap();
        let mut left: Vec<String> = Vec::new();
        if Path::new(folder).exists() {
            left.push(folder.to_owned());
        }
        while let (Some(pid), Some(socket)) = (lines.next(), lines.next()) {
            // A process that has ended and was not waited for has no command line.
            let running = std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty());
            if running {
                left.push(format!("process {pid}"));
            }
            if TcpStream::connect(socket.parse::<SocketAddr>().unwrap()).is_ok() {
                left.push(format!("port {socket}"));
            }
        }
        left
    }

    fn assert_gone(&self) {
        assert_eq!(self.left(), Vec::<String>::new());
    }
}

#[test]
fn a_panic_leaves_nothing_behind() {
    let (tell, told) = std::sync::mpsc::channel();
    let test = std::thread::spawn(move || {
        Runtime::new().unwrap().block_on(async {
            let cluster = start().await;
            tell.send(Traces::of(&cluster)).unwrap();
            panic!("as a failed assertion does");
        })
    });
    let traces = told.recv().unwrap();
    assert!(test.join().is_err());
    traces.assert_gone();
}

#[test]
fn a_runtime_that_goes_first_takes_nothing_with_it() {
    let runtime = Runtime::new().unwrap();
    let cluster = runtime.block_on(start());
    let traces = Traces::of(&cluster);
    drop(runtime);
    assert_eq!(traces.left().len(), 5, "all of it is still there");
    drop(cluster);
    traces.assert_gone();
}

/// Set for the process that ends badly, with the file that it writes its traces to.
const ABORTS: &str = "SEPIOLA_TEST_ABORTS";

#[test]
fn daemons_of_a_killed_process_end_and_take_the_folder_along() {
    if let Some(note) = env::var_os(ABORTS) {
        let cluster = Runtime::new().unwrap().block_on(start());
        std::fs::write(note, Traces::of(&cluster).0).unwrap();
        std::process::abort();
    }
    let scratch = tempfile::tempdir().unwrap();
    let note = scratch.path().join("note");
    let ended = Command::new(env::current_exe().unwrap())
        .args(["--exact", "daemons_of_a_killed_process_end_and_take_the_folder_along"])
        .env(ABORTS, &note)
        .env("SEPIOLA_BIN", sepiola_binary().unwrap())
        .output()
        .unwrap();
    assert!(!ended.status.success());
    let traces = Traces(std::fs::read_to_string(&note).unwrap());
    let deadline = Instant::now() + Duration::from_secs(20);
    while !traces.left().is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    traces.assert_gone();
}

#[tokio::test]
async fn what_an_unwrap_shows_says_what_to_do() {
    let scratch = tempfile::tempdir().unwrap();
    let error = RunningCluster::open(&scratch.path().join("no-such-cluster")).unwrap_err();
    assert!(format!("{error:?}").contains("sepiola cluster up --dir"), "{error:?}");
    let options = ClusterOptions::temporary().unwrap().in_process();
    let error = Cluster::start_detached(options).await.unwrap_err();
    assert!(matches!(error, ClusterError::Unsupported(_)), "{error:?}");
}
