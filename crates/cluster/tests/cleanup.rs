//! Whatever happens to a test, its cluster leaves nothing behind. Daemons are threads here; the same for
//! processes is among the whole-system tests.

use std::{
    env,
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::Command,
};

use sepiola_cluster::{Cluster, ClusterOptions};
use sepiola_messenger::ReadyFile;
use tokio::runtime::Runtime;

async fn start() -> Cluster {
    ClusterOptions::temporary().unwrap().in_process().pool_with_pgs("test", 8).start().await.unwrap()
}

/// What has to be gone afterwards.
struct Traces {
    folder: PathBuf,
    ports: Vec<SocketAddr>,
}

impl Traces {
    fn of(cluster: &Cluster) -> Self {
        let port = |daemon| ReadyFile::read(&cluster.layout().ready(daemon)).unwrap().addrs.0[0].socket;
        let ports = ["mon.a", "osd.0"].map(|daemon| port(daemon).unwrap()).to_vec();
        let traces = Traces { folder: cluster.layout().dir().to_owned(), ports };
        assert!(traces.folder.is_dir());
        assert!(traces.ports.iter().all(|port| TcpStream::connect(port).is_ok()));
        traces
    }

    fn assert_gone(&self) {
        assert!(!self.folder.exists(), "{} is still there", self.folder.display());
        for port in &self.ports {
            assert!(TcpStream::connect(port).is_err(), "{port} still listens");
        }
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
    assert!(TcpStream::connect(traces.ports[0]).is_ok(), "daemons have runtimes of their own");
    // Another runtime can go on with it.
    Runtime::new().unwrap().block_on(async {
        let io = cluster.connect().await.unwrap().open_ioctx("test").await.unwrap();
        io.write_full("obj", "x").await.unwrap();
    });
    drop(cluster);
    traces.assert_gone();
}

#[tokio::test]
async fn an_aborted_task_leaves_nothing_behind() {
    let (tell, told) = tokio::sync::oneshot::channel();
    let task = tokio::spawn(async {
        let cluster = start().await;
        let _ = tell.send(Traces::of(&cluster));
        std::future::pending::<()>().await;
    });
    let traces = told.await.unwrap();
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    traces.assert_gone();
}

/// Set for the process that ends badly, with the file that it says in where its cluster is.
const ABORTS: &str = "SEPIOLA_TEST_ABORTS";

#[test]
fn the_next_cluster_removes_what_a_killed_process_left() {
    if let Some(note) = env::var_os(ABORTS) {
        let cluster = Runtime::new().unwrap().block_on(start());
        std::fs::write(note, cluster.layout().dir().to_str().unwrap()).unwrap();
        std::process::abort();
    }
    let scratch = tempfile::tempdir().unwrap();
    let note = scratch.path().join("note");
    let ended = Command::new(env::current_exe().unwrap())
        .args(["--exact", "the_next_cluster_removes_what_a_killed_process_left"])
        .env(ABORTS, &note)
        .output()
        .unwrap();
    assert!(!ended.status.success());
    let folder = std::fs::read_to_string(note).unwrap();
    // Other tests of this file may have removed it already, as this does.
    drop(ClusterOptions::temporary().unwrap());
    assert!(!Path::new(&folder).exists(), "{folder} is still there");
}
