//! Where a release's programs are.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::OnceLock,
    time::Duration,
};

use crate::{Deadline, Failure, Invocation, Result, newest_ceph, share};

/// Releases of Ceph that Sepiola is tested with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// The distribution's: 16.2.15.
    Installed,
    /// The newest that Debian has: 20.2.4 or later.
    Newest,
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Release::Installed => "16.2",
            Release::Newest => "20.2",
        })
    }
}

/// The programs of one release.
#[derive(Debug, Clone)]
pub struct Programs {
    folder: PathBuf,
    version: String,
}

impl Release {
    /// The release's programs, which are set up if they are missing.
    ///
    /// # Errors
    /// If they can't be.
    pub fn programs(self) -> Result<Programs> {
        static INSTALLED: OnceLock<Result<Programs>> = OnceLock::new();
        static NEWEST: OnceLock<Result<Programs>> = OnceLock::new();
        match self {
            Release::Installed => INSTALLED.get_or_init(installed).clone(),
            Release::Newest => NEWEST.get_or_init(newest_ceph::set_up).clone(),
        }
    }
}

impl Programs {
    pub(crate) fn new(folder: impl Into<PathBuf>, version: &str) -> Self {
        Programs { folder: folder.into(), version: version.trim().to_owned() }
    }

    /// Those of [`Release::Newest`] that were unpacked into a folder by whoever made it.
    ///
    /// # Errors
    /// If the folder holds no such release.
    pub fn unpacked(root: &Path) -> Result<Self> {
        newest_ceph::unpacked(root)
    }

    /// `rados --version`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// A program of the release.
    pub fn program(&self, name: &str) -> Invocation {
        Invocation::new(self.folder.join(name))
    }
}

fn installed() -> Result<Programs> {
    Ok(Programs::new("/usr/bin", &set_up("setup-ceph.sh", &[])?))
}

/// Runs a script of `tests/scripts`; the version that it prints at its end.
pub(crate) fn set_up(script: &str, args: &[&Path]) -> Result<String> {
    const TIME: Duration = Duration::from_secs(20 * 60);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join(script);
    let scratch = share();
    std::fs::create_dir_all(&scratch).map_err(Failure::file(&scratch))?;
    let output = Invocation::new(path).args(args).run(&scratch, Deadline::after(TIME))?.success()?;
    Ok(output.text().lines().last().unwrap_or_default().to_owned())
}
