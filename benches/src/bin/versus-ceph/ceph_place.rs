//! Which Ceph it is about.

use std::{convert::Infallible, path::PathBuf, str::FromStr};

use sepiola_tests::{Programs, Release, Result};

/// Where a release's programs come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CephPlace {
    /// The distribution's packages.
    Installed,
    /// The newest release, which the tests unpack.
    Newest,
    /// The same, unpacked here already.
    Unpacked(PathBuf),
}

impl FromStr for CephPlace {
    type Err = Infallible;

    fn from_str(text: &str) -> std::result::Result<Self, Infallible> {
        Ok(match text {
            "installed" => CephPlace::Installed,
            "newest" => CephPlace::Newest,
            root => CephPlace::Unpacked(root.into()),
        })
    }
}

impl CephPlace {
    /// Which release that is.
    pub fn release(&self) -> Release {
        match self {
            CephPlace::Installed => Release::Installed,
            CephPlace::Newest | CephPlace::Unpacked(_) => Release::Newest,
        }
    }

    /// Its programs, set up if need be; of an unpacked one nothing is fetched.
    pub fn programs(&self) -> Result<Programs> {
        match self {
            CephPlace::Unpacked(root) => Programs::unpacked(root),
            _ => self.release().programs(),
        }
    }
}
