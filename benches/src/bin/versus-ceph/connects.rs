//! Connections one after the other: each authenticates at the monitor and at the OSD, does one operation
//! and ends. One process of either client for all of them.

use std::{fs, path::Path};

use sepiola_benches::{Pinning, beside};
use sepiola_tests::{Failure, Result};
use serde::{Deserialize, Serialize};

use crate::side::{FIRST_OBJECT, POOL, Side, Sides, in_seconds};

/// The stock client's loop, on the release's own Python binding.
const STOCK: &str = include_str!("connects.py");

/// What both loops print.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Connects {
    pub connects: u64,
    pub seconds: f64,
}

impl Connects {
    /// Connections a second.
    pub fn rate(&self) -> f64 {
        self.connects as f64 / self.seconds
    }
}

/// Runs a client's loop on a cluster that has its first object.
pub fn run(sides: &Sides, client: Side, conf: &Path, seconds: u64) -> Result<Connects> {
    let looping = match client {
        Side::Ceph => {
            let script = sides.scratch().join("connects.py");
            fs::write(&script, STOCK).map_err(Failure::file(&script))?;
            sides.ceph_program("python3").arg(script)
        }
        Side::Sepiola => beside("connects")?,
    };
    let looping = looping.arg(conf).args([POOL, FIRST_OBJECT, &seconds.to_string()]);
    let looping = match sides.pinning() {
        Some(pinning) => Pinning::pinned(pinning.client, looping),
        None => looping,
    };
    let output = looping.run(sides.scratch(), in_seconds(seconds + 60))?.success()?;
    serde_json::from_slice(&output.stdout)
        .map_err(|e| output.failure(&format!("printed something unexpected ({e})")))
}
