//! The newest release of Ceph, unpacked beside the installed one. Its programs run in a root of their own
//! and see [`share`] at the same path as everyone.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::{Failure, Programs, Result, program, share};

const SCRIPT: &str = "setup-newest-ceph.sh";

/// Unpacks it if need be.
pub(crate) fn set_up() -> Result<Programs> {
    let root = root();
    let version = program::set_up(SCRIPT, &[&root, &share()])?;
    Ok(programs(&root, &version))
}

/// Takes one that is unpacked already, without fetching anything.
pub(crate) fn unpacked(root: &Path) -> Result<Programs> {
    let root = fs::canonicalize(root).map_err(Failure::file(root))?;
    let version = program::set_up(SCRIPT, &[Path::new("--unpacked"), &root, &share()])?;
    Ok(programs(&root, &version))
}

fn programs(root: &Path, version: &str) -> Programs {
    let mut bin = root.to_owned().into_os_string();
    bin.push(".bin");
    Programs::new(bin, version)
}

/// Where it is kept from one run to the next: `SEPIOLA_NEWEST_CEPH`, or a folder in the target folder.
fn root() -> PathBuf {
    if let Some(root) = env::var_os("SEPIOLA_NEWEST_CEPH") {
        return root.into();
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from);
    target.join("newest-ceph")
}
