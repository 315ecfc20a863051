//! Folders of temporary clusters, and those that somebody left behind.
//!
//! A process that is killed cannot remove its folder. It holds a lock on a file in it instead, which ends
//! with the process: whoever looks later knows that the folder has no owner any more.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use crate::ClusterError;

const PREFIX: &str = "sepiola-";
const LOCK: &str = "owner.lock";

/// A folder that goes when this is dropped, or after the process has ended.
#[derive(Debug)]
pub(crate) struct TemporaryFolder {
    // The folder goes first, and the lock only then.
    dir: TempDir,
    _lock: File,
}

impl TemporaryFolder {
    pub(crate) fn new() -> Result<Self, ClusterError> {
        remove_abandoned();
        let dir = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir()
            .map_err(ClusterError::file(std::env::temp_dir()))?;
        // Locked before it has its name: nobody may find it without an owner.
        let path = dir.path().join("owner.new");
        let lock = File::create(&path).map_err(ClusterError::file(&path))?;
        lock.lock().map_err(ClusterError::file(&path))?;
        fs::rename(&path, dir.path().join(LOCK)).map_err(ClusterError::file(&path))?;
        Ok(TemporaryFolder { dir, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Leaves the folder to whoever comes next.
    pub(crate) fn keep(self) {
        let path = self.dir.keep();
        let _ = fs::remove_file(path.join(LOCK));
    }
}

/// Removes the temporary folders whose process has ended without doing so. A monitor that ends because its
/// parent did calls it, and each new temporary cluster.
pub fn remove_abandoned() {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return };
    for folder in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let is_ours = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
        if is_ours && has_no_owner(folder.join(LOCK)) {
            // Another process may be removing it as well; other users' folders stay.
            let _ = fs::remove_dir_all(&folder);
        }
    }
}

fn has_no_owner(lock: PathBuf) -> bool {
    // A folder without the file was never locked, or is not one of ours.
    File::open(lock).is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_its_owner_and_not_before() {
        let owned = TemporaryFolder::new().unwrap();
        let path = owned.path().to_owned();
        remove_abandoned();
        assert!(path.is_dir(), "it has an owner");

        // What a killed process leaves: the folder and the file, without the lock.
        let TemporaryFolder { dir, _lock } = owned;
        let _ = dir.keep();
        drop(_lock);
        remove_abandoned();
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_that_was_kept_is_not_taken_for_abandoned() {
        let kept = TemporaryFolder::new().unwrap();
        let path = kept.path().to_owned();
        kept.keep();
        remove_abandoned();
        assert!(path.is_dir());
        fs::remove_dir_all(path).unwrap();
    }
}
