//! Folders of clusters, removed unless something failed.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    thread,
};

use crate::{Failure, Result};

/// The folder that programs of every release see at the same path. It is short, because sockets live
/// below it.
pub fn share() -> PathBuf {
    env::temp_dir().join("sepiola-interop")
}

/// A folder of its own; removed when dropped, unless it is kept or a test panics.
#[derive(Debug)]
pub struct WorkDir {
    path: PathBuf,
    keep: AtomicBool,
}

impl WorkDir {
    /// A new folder whose name starts with `name`.
    ///
    /// # Errors
    /// If it can't be made.
    pub fn new(name: &str) -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = share().join(format!("{name}-{}-{number}", process::id()));
        fs::create_dir_all(&path).map_err(Failure::file(&path))?;
        Ok(WorkDir { path, keep: AtomicBool::new(false) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves the folder where it is.
    pub fn keep(&self) -> PathBuf {
        self.keep.store(true, Ordering::Relaxed);
        self.path.clone()
    }
}

impl Drop for WorkDir {
    fn drop(&mut self) {
        if self.keep.load(Ordering::Relaxed) || thread::panicking() {
            eprintln!("kept: {}", self.path.display());
        } else {
            // A file that stays behind is no reason to fail a test.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}
