//! Clusters of Sepiola, started as a user starts them.

use std::{
    env,
    path::{Path, PathBuf},
    sync::OnceLock,
    time::Duration,
};

use crate::{Cluster, Deadline, Failure, Invocation, KeyType, MsMode, Result, WorkDir, share};

/// The `sepiola` program: `SEPIOLA_BIN`, or the one of this build, which is built if need be.
///
/// # Errors
/// If it can't be built.
pub fn sepiola_binary() -> Result<PathBuf> {
    static BINARY: OnceLock<Result<PathBuf>> = OnceLock::new();
    BINARY.get_or_init(find_binary).clone()
}

fn find_binary() -> Result<PathBuf> {
    const BUILD_TIME: Duration = Duration::from_secs(40 * 60);
    if let Some(binary) = env::var_os("SEPIOLA_BIN") {
        return Ok(binary.into());
    }
    // The test is target/PROFILE/deps/NAME, a bench target/PROFILE/NAME; the program is built into the same
    // profile. An up-to-date one costs cargo a moment, and a stale one would test yesterday's code.
    let test = env::current_exe().map_err(|e| Failure::new(format!("where this test is: {e}")))?;
    let mut folders = test.ancestors().skip(1).filter(|folder| !folder.ends_with("deps"));
    let profile = folders.next().ok_or_else(|| Failure::new("this test is in no target folder"))?;
    let mut build = Invocation::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--quiet", "--package", "sepiola", "--manifest-path"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml"));
    if profile.file_name().is_some_and(|name| name == "release") {
        build = build.arg("--release");
    }
    let scratch = share();
    std::fs::create_dir_all(&scratch).map_err(Failure::file(&scratch))?;
    build.run(&scratch, Deadline::after(BUILD_TIME))?.success()?;
    Ok(profile.join("sepiola"))
}

/// A running cluster of Sepiola with one OSD that keeps its data in memory.
#[derive(Debug)]
pub struct SepiolaCluster {
    dir: WorkDir,
    cluster: PathBuf,
    conf: PathBuf,
    keyring: PathBuf,
}

impl SepiolaCluster {
    /// Starts a cluster that allows only one connection mode and has keys of one type, with these pools.
    ///
    /// # Errors
    /// If it doesn't come up. Its files are kept then.
    pub fn start(mode: MsMode, keys: KeyType, pools: &[&str]) -> Result<Self> {
        const TIME: Duration = Duration::from_secs(60);
        let dir = WorkDir::new(&format!("sepiola-{mode}-{keys}"))?;
        let cluster = dir.path().join("cluster");
        let (conf, keyring) = (cluster.join("ceph.conf"), cluster.join("ceph.client.admin.keyring"));
        let started = SepiolaCluster { dir, cluster, conf, keyring };
        let mut up =
            Invocation::new(sepiola_binary()?).args(["cluster", "up", "--dir"]).arg(&started.cluster);
        up = up.args(["--osds", "1", "--port", "0", "--ms-mode", &mode.to_string()]);
        up = up.args(["--key-type", &keys.to_string()]);
        for pool in pools {
            up = up.arg("--pool").arg(format!("{pool}:8"));
        }
        let ended = up.run(started.dir.path(), Deadline::after(TIME)).and_then(|output| output.success());
        ended.map_err(|e| e.context(format!("files kept in {}", started.keep_files().display())))?;
        Ok(started)
    }
}

impl Cluster for SepiolaCluster {
    fn conf(&self) -> &Path {
        &self.conf
    }
    fn keyring(&self) -> &Path {
        &self.keyring
    }
    fn scratch(&self) -> &Path {
        self.dir.path()
    }
    fn keep_files(&self) -> PathBuf {
        self.dir.keep()
    }
}

impl Drop for SepiolaCluster {
    fn drop(&mut self) {
        let down = sepiola_binary().and_then(|binary| {
            let down = Invocation::new(binary).args(["cluster", "down", "--dir"]).arg(&self.cluster);
            down.run(self.dir.path(), Deadline::after(Duration::from_secs(30)))?.success()
        });
        if let Err(e) = down {
            eprintln!("{e}");
        }
    }
}
