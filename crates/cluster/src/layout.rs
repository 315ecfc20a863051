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
    /// Whether the folder holds a cluster, running or stopped. A ceph.conf alone does not make one: other
    /// people keep theirs in folders as well.
    pub fn is_cluster(&self) -> bool {
        self.conf().exists() && self.mon_keyring().exists() && self.data("mon.a").is_dir()
    }

    /// Removes the cluster's own files, and the folder if nothing else is in it.
    ///
    /// # Errors
    /// If one of them cannot be removed.
    pub fn remove(&self) -> Result<(), ClusterError> {
        let gone = |result: std::io::Result<()>, path: &Path| match result {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(ClusterError::file(path)(e)),
            _ => Ok(()),
        };
        let osds = (0..).map(|id| self.data(&format!("osd.{id}"))).take_while(|folder| folder.exists());
        let folders = ["log", "run", "mon.a"].into_iter().map(|name| self.dir.join(name));
        for folder in osds.chain(folders) {
            gone(std::fs::remove_dir_all(&folder), &folder)?;
        }
        for file in [self.conf(), self.admin_keyring(), self.mon_keyring()] {
            gone(std::fs::remove_file(&file), &file)?;
        }
        // Fails if somebody keeps something else here, which is theirs.
        let _ = std::fs::remove_dir(&self.dir);
        Ok(())
    }

    /// What clients and daemons read.
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn removing_a_cluster_leaves_what_is_not_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path()).unwrap();
        fs::write(layout.conf(), "[global]\n").unwrap();
        assert!(!layout.is_cluster(), "a ceph.conf alone is somebody else's");
        for folder in ["log", "run", "mon.a", "osd.0", "osd.1"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
            fs::write(dir.path().join(folder).join("file"), "x").unwrap();
        }
        fs::write(layout.mon_keyring(), "").unwrap();
        fs::write(dir.path().join("thesis"), "mine").unwrap();
        assert!(layout.is_cluster());
        layout.remove().unwrap();
        let left: Vec<_> = fs::read_dir(&dir).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["thesis"]);
        layout.remove().unwrap();
    }
}
