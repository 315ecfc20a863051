//! Clusters of Sepiola that a test takes apart: started through the library that users' own tests use,
//! driven with the command line tools of both sides.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use sepiola_client::{IoCtx, Rados};
use sepiola_cluster::{Cluster, ClusterOptions};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::{Deadline, Invocation, Output, Programs, Release, WorkDir, sepiola_binary};

/// No command of these tests may take longer. Refusals are due within seconds; the rest of it is for a
/// machine that is busy with other tests.
const COMMAND_TIME: Duration = Duration::from_secs(30);

/// The pool that every cluster here starts with.
pub fn test_pool() -> &'static str {
    "test"
}

/// Whose command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// `sepiola rados`, `sepiola ceph`.
    Sepiola,
    /// `rados`, `ceph` of the installed release.
    Stock,
}

/// A cluster whose daemons the test may kill and start again. Everything here panics when it fails: these
/// are steps of tests, and their failure is the test's. The files stay then.
pub struct MiniCluster {
    // Dropped in this order: the daemons, then what they live in.
    cluster: Option<Cluster>,
    runtime: Runtime,
    dir: WorkDir,
}

impl MiniCluster {
    /// A cluster with the pool [`test_pool`], and with what `change` adds to its settings.
    pub fn start(change: impl FnOnce(ClusterOptions) -> ClusterOptions) -> Self {
        let dir = WorkDir::new("mini").expect("a folder");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let options = ClusterOptions::new(dir.path().join("cluster"))
            .program(sepiola_binary().expect("the sepiola program"))
            .pool_with_pgs(test_pool(), 8);
        let started = runtime.block_on(change(options).start());
        let cluster = started.unwrap_or_else(|e| panic!("{e}; files kept in {}", dir.keep().display()));
        MiniCluster { cluster: Some(cluster), runtime, dir }
    }

    fn cluster(&mut self) -> &mut Cluster {
        self.cluster.as_mut().expect("until it is dropped")
    }

    /// Runs the future of a client.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(async {
            tokio::time::timeout(COMMAND_TIME, future).await.expect("it ends before the deadline")
        })
    }

    /// The cluster's ceph.conf.
    pub fn conf(&self) -> PathBuf {
        self.dir.path().join("cluster/ceph.conf")
    }

    /// The administrator's keyring.
    pub fn admin_keyring(&self) -> PathBuf {
        self.dir.path().join("cluster/ceph.client.admin.keyring")
    }

    /// A path for the test's own files.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A file with these bytes.
    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.scratch(name);
        fs::write(&path, bytes).expect("a file");
        path
    }

    /// A client of the library, as the administrator.
    pub fn connect(&self) -> Rados {
        let cluster = self.cluster.as_ref().expect("until it is dropped");
        self.block_on(cluster.connect()).expect("a client")
    }

    /// The test pool, through a client of its own.
    pub fn pool(&self) -> IoCtx {
        let rados = self.connect();
        self.block_on(rados.open_ioctx(test_pool())).expect("the pool")
    }

    /// `TOOL PROGRAM -c ceph.conf ARGS`.
    pub fn run(&self, tool: Tool, program: &str, args: &[impl AsRef<OsStr>]) -> Output {
        self.run_with(tool, program, &self.conf(), args)
    }

    /// The same with another configuration.
    pub fn run_with(&self, tool: Tool, program: &str, conf: &Path, args: &[impl AsRef<OsStr>]) -> Output {
        let invocation = invocation(tool, program).arg("-c").arg(conf).args(args);
        invocation.run(self.dir.path(), Deadline::after(COMMAND_TIME)).expect("it ends before the deadline")
    }

    /// The same beside the test.
    pub fn begin(&self, tool: Tool, program: &str, args: &[&str]) -> Running {
        let invocation = invocation(tool, program).arg("-c").arg(self.conf()).args(args);
        let dir = self.dir.path().to_owned();
        Running(thread::spawn(move || {
            invocation.run(&dir, Deadline::after(COMMAND_TIME)).expect("it ends before the deadline")
        }))
    }

    /// `sepiola ARGS`.
    pub fn sepiola(&self, args: &[impl AsRef<OsStr>]) -> Output {
        let sepiola = Invocation::new(sepiola_binary().expect("the sepiola program"));
        let ended = sepiola.args(args).run(self.dir.path(), Deadline::after(COMMAND_TIME));
        ended.expect("it ends before the deadline")
    }

    /// A stock program that needs no cluster.
    pub fn program(&self, name: &str, args: &[impl AsRef<OsStr>]) -> Output {
        let ended =
            invocation(Tool::Stock, name).args(args).run(self.dir.path(), Deadline::after(COMMAND_TIME));
        ended.expect("it ends before the deadline")
    }

    /// `sepiola rados -p test ARGS`, which must succeed; its output.
    pub fn rados(&self, args: &[&str]) -> String {
        let args = [&["-p", test_pool()], args].concat();
        self.run(Tool::Sepiola, "rados", &args).success().expect("sepiola rados").text()
    }

    /// `sepiola ceph ARGS`, which must succeed; its output.
    pub fn ceph(&self, args: &[&str]) -> String {
        self.run(Tool::Sepiola, "ceph", args).success().expect("sepiola ceph").text()
    }

    /// `sepiola ceph ARGS -f json`, which must succeed; its output.
    pub fn ceph_json(&self, args: &[&str]) -> Value {
        let text = self.ceph(&[args, &["-f", "json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{args:?} printed no JSON ({e}): {text}"))
    }

    /// Makes a user with these capabilities; its keyring.
    pub fn user(&self, name: &str, caps: &[&str]) -> PathBuf {
        let keyring = self.ceph(&[&["auth", "get-or-create", name], caps].concat());
        self.file(&format!("{name}.keyring"), keyring)
    }

    /// Kills a daemon with signal 9.
    pub fn kill(&mut self, daemon: &str) {
        self.cluster().kill(daemon);
    }

    /// Starts a killed daemon again.
    pub fn restart(&mut self, daemon: &str) {
        let cluster = self.cluster.as_mut().expect("until it is dropped");
        self.runtime.block_on(cluster.restart_daemon(daemon)).expect("the daemon comes up");
    }

    /// A daemon's process.
    pub fn pid(&mut self, daemon: &str) -> u32 {
        self.cluster().pid(daemon).expect("a daemon of this cluster")
    }

    /// Where a daemon listens, `v2:IP:PORT/NONCE`.
    pub fn address(&self, daemon: &str) -> String {
        let ready = self.dir.path().join(format!("cluster/run/{daemon}.ready"));
        let ready: Value = serde_json::from_slice(&fs::read(ready).expect("a ready file")).expect("JSON");
        ready["addrs"][0].as_str().expect("an address").to_owned()
    }

    /// Waits until `attempt` gives a value.
    pub fn wait_for<T>(&self, what: &str, within: Duration, mut attempt: impl FnMut() -> Option<T>) -> T {
        let attempt =
            || attempt().ok_or_else(|| crate::Failure::new(format!("{what}: not within {within:?}")));
        Deadline::after(within).retry(attempt).unwrap_or_else(|e| panic!("{e}"))
    }
}

/// A command that runs beside the test.
pub struct Running(thread::JoinHandle<Output>);

impl Running {
    /// Gives it a moment to end by mistake, and fails if it does.
    pub fn must_wait(&self) {
        thread::sleep(Duration::from_millis(700));
        assert!(!self.0.is_finished(), "it should wait");
    }

    /// Waits for its end.
    pub fn finish(self) -> Output {
        self.0.join().expect("it ended before the deadline")
    }
}

/// A program of either side.
fn invocation(tool: Tool, program: &str) -> Invocation {
    match tool {
        Tool::Sepiola => Invocation::new(sepiola_binary().expect("the sepiola program")).arg(program),
        Tool::Stock => {
            let stock: Programs = Release::Installed.programs().expect("the installed release");
            stock.program(program)
        }
    }
}

/// A client of the library that writes and reads objects all the time, on a thread of its own.
pub struct Bystander {
    stop: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
    thread: thread::JoinHandle<Result<(), sepiola_client::Error>>,
}

impl Bystander {
    /// Starts it, with the administrator's key; it is at work when this returns.
    pub fn start(cluster: &MiniCluster) -> Self {
        let (conf, stop, done) = (cluster.conf(), Arc::default(), Arc::default());
        let thread = thread::spawn({
            let (stop, done) = (Arc::clone(&stop), Arc::clone(&done));
            move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.expect("a runtime").block_on(write_and_read(&conf, &stop, &done))
            }
        });
        let bystander = Bystander { stop, done, thread };
        bystander.goes_on();
        bystander
    }

    /// Waits until one more of its operations is done. Panics if one has failed.
    pub fn goes_on(&self) {
        let before = self.done.load(Ordering::Relaxed);
        let deadline = Deadline::after(COMMAND_TIME);
        while self.done.load(Ordering::Relaxed) == before && !self.thread.is_finished() {
            assert!(!deadline.is_over(), "a client that did nothing wrong gets no further");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends it, after one more operation. Panics if one has failed.
    pub fn finish(self) {
        self.goes_on();
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.join().expect("the bystander's data is right");
        ended.unwrap_or_else(|e| panic!("an operation of a client that did nothing wrong: {e}"));
    }
}

async fn write_and_read(
    conf: &Path,
    stop: &AtomicBool,
    count: &AtomicU64,
) -> Result<(), sepiola_client::Error> {
    let io = Rados::builder().conf_file(conf)?.connect().await?.open_ioctx(test_pool()).await?;
    let mut done = 0_u64;
    while !stop.load(Ordering::Relaxed) {
        let object = format!("bystander-{}", done % 16);
        let bytes = vec![done.to_le_bytes()[0]; 4096];
        io.write_full(object.as_str(), bytes.clone()).await?;
        assert_eq!(io.read(object.as_str(), 0..8192).await?, bytes);
        done += 1;
        count.store(done, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}

/// Processes whose command line contains `text`: what a cluster in a folder of that name has left behind.
pub fn daemons_with(text: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("/proc");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let pids = pids.filter(|pid| *pid != std::process::id());
    pids.filter(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    })
    .collect()
}
