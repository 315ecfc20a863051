//! Where a cluster keeps what.

use std::path::{Path, PathBuf};

use crate::ClusterError;

/// The files of one cluster, all inside one folder.
#[derive(Debug, Clone)]
pub struct Layout {
    dir: PathBuf,
}

impl Layout {
    /// The layout of the cluster in `dir`, which becomes absolute.
    ///
    /// # Errors
    /// If the path has characters that ceph.conf cannot carry.
    pub fn new(dir: &Path) -> Result<Self, ClusterError> {
        let dir = std::path::absolute(dir).map_err(ClusterError::file(dir))?;
        let usable =
            dir.to_str().is_some_and(|s| !s.contains([' ', '\t', '#', ';', ',', '"', '\'', '\\', '$']));
        if usable { Ok(Layout { dir }) } else { Err(ClusterError::PathNotUsable(dir)) }
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
    /// What clients and daemons read. Its presence means that there is a cluster, running or stopped.
    pub fn conf(&self) -> PathBuf {
        self.dir.join("ceph.conf")
    }
    /// The administrator's keyring.
    pub fn admin_keyring(&self) -> PathBuf {
        self.dir.join("ceph.client.admin.keyring")
    }
    /// The keyring that the monitor starts from.
    pub fn mon_keyring(&self) -> PathBuf {
        self.dir.join("ceph.mon.keyring")
    }
    /// A daemon's own folder, `mon.a` or `osd.0`.
    pub fn data(&self, daemon: &str) -> PathBuf {
        self.dir.join(daemon)
    }
    /// A daemon's log.
    pub fn log(&self, daemon: &str) -> PathBuf {
        self.dir.join("log").join(format!("{daemon}.log"))
    }
    /// Where a daemon says that it is ready, and at which address.
    pub fn ready(&self, daemon: &str) -> PathBuf {
        self.dir.join("run").join(format!("{daemon}.ready"))
    }
    /// A daemon's process id.
    pub fn pid(&self, daemon: &str) -> PathBuf {
        self.dir.join("run").join(format!("{daemon}.pid"))
    }

    /// The daemons that have a pid file, OSDs before monitors: the order of stopping.
    pub fn daemons(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.dir.join("run")) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .filter_map(|e| e.ok()?.file_name().to_str()?.strip_suffix(".pid").map(str::to_owned))
            .collect();
        names.sort_by_key(|n| (n.starts_with("mon."), n.clone()));
        names
    }
}
