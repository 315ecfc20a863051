//! What loopback allows, measured by the program beside this one.

use std::env;

use sepiola_benches::{
    Load,
    exchange::{Ceiling, Wait},
};
use sepiola_cluster::MsMode;
use sepiola_tests::{Failure, Invocation, Result};
use serde::Deserialize;

use crate::{
    results::Settings,
    side::{Sides, in_seconds},
};

#[derive(Deserialize)]
struct Printed {
    ceilings: Vec<Ceiling>,
}

/// One round of `loopback` for a write's messages and a read's, waiting as Sepiola does.
pub fn measure(sides: &Sides, settings: &Settings, mode: MsMode, load: Load) -> Result<Vec<Ceiling>> {
    let this = env::current_exe().map_err(|e| Failure::new(format!("where this program is: {e}")))?;
    let program = this.with_file_name("loopback");
    if !program.is_file() {
        return Err(Failure::new("`loopback` is not built: cargo build --release -p sepiola-benches --bins"));
    }
    let wait = if settings.spin_us > 0 { Wait::Spin } else { Wait::Sleep };
    let mut loopback = Invocation::new(program).args(["--rounds", "1", "--format", "json"]);
    for (option, value) in [
        ("--seconds", settings.seconds.to_string()),
        ("--modes", mode.to_string()),
        ("--waits", wait.to_string()),
        ("--size", load.size.to_string()),
        ("--qd", load.depth.to_string()),
    ] {
        loopback = loopback.args([option, &value]);
    }
    if let Some(pinning) = settings.pinning {
        loopback = loopback.arg("--pin").arg(format!("{}:{}", pinning.client, pinning.daemons));
    }
    let output = loopback.run(sides.scratch(), in_seconds(4 * settings.seconds + 60))?.success()?;
    let printed: Printed = serde_json::from_slice(&output.stdout)
        .map_err(|e| output.failure(&format!("printed something unexpected ({e})")))?;
    for ceiling in &printed.ceilings {
        eprintln!("  loopback ({wait}): {} {:.0} exchanges/s", ceiling.op, ceiling.iops);
    }
    Ok(printed.ceilings)
}
