//! What the programs take on disk.

use std::{fs, process::Command};

use sepiola_tests::Release;
use serde::Serialize;

use crate::side::Sides;

/// The packages without which a monitor, an OSD and the command line tools of the distribution's Ceph do
/// not run. Libraries of others that they need are not counted.
const PACKAGES: [&str; 9] = [
    "ceph-base",
    "ceph-common",
    "ceph-mon",
    "ceph-osd",
    "librados2",
    "libcephfs2",
    "python3-rados",
    "python3-ceph-argparse",
    "python3-ceph-common",
];

/// Sizes in bytes.
#[derive(Debug, Serialize)]
pub struct Installed {
    /// The program, which is all there is.
    pub sepiola: Option<u64>,
    /// The same without symbols and debug information.
    pub sepiola_stripped: Option<u64>,
    /// The installed size of the packages; none for a release that is not installed as packages.
    pub ceph: Option<u64>,
    pub ceph_packages: &'static [&'static str],
}

/// Looks at both sides. What can't be found out stays empty.
pub fn look(sides: &Sides, release: Release) -> Installed {
    let stripped = sides.scratch().join("stripped");
    let strip = Command::new("strip").arg("-o").arg(&stripped).arg(sides.sepiola()).status();
    let size = |path| fs::metadata(path).ok().map(|file| file.len());
    Installed {
        sepiola: size(sides.sepiola()),
        sepiola_stripped: strip.is_ok_and(|status| status.success()).then(|| size(&stripped)).flatten(),
        ceph: (release == Release::Installed).then(package_bytes).flatten(),
        ceph_packages: &PACKAGES,
    }
}

fn package_bytes() -> Option<u64> {
    let query = Command::new("dpkg-query").args(["-W", "-f", "${Installed-Size}\n"]).args(PACKAGES).output();
    let output = query.ok().filter(|output| output.status.success())?;
    let kib = String::from_utf8(output.stdout)
        .ok()?
        .lines()
        .map(|line| line.parse::<u64>().ok())
        .sum::<Option<u64>>()?;
    Some(kib << 10)
}
