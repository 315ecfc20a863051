//! What loopback allows, measured by the program beside this one.

use sepiola_benches::{Op, Parts, beside, exchange::Ceiling};
use sepiola_cluster::MsMode;
use sepiola_tests::Result;
use serde::Deserialize;

use crate::{
    plan::{Plan, Work},
    side::{Sides, in_seconds},
};

#[derive(Deserialize)]
struct Printed {
    ceilings: Vec<Ceiling>,
}

/// One round of `loopback` with the messages of these operations in each of these parts, waiting as Sepiola
/// does.
pub fn measure(
    sides: &Sides,
    plan: &Plan,
    mode: MsMode,
    work: &Work,
    ops: &[Op],
    parts: &[Parts],
) -> Result<Vec<Ceiling>> {
    let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
    let ops: Vec<String> = ops.iter().map(ToString::to_string).collect();
    let waits: Vec<String> = work.waits().iter().map(ToString::to_string).collect();
    let mut loopback = beside("loopback")?.args(["--rounds", "1", "--format", "json"]);
    for (option, value) in [
        ("--seconds", plan.seconds.to_string()),
        ("--modes", mode.to_string()),
        ("--waits", waits.join(",")),
        ("--ops", ops.join(",")),
        ("--size", work.load.size.to_string()),
        ("--qd", work.load.depth.to_string()),
        ("--parts", parts.join(",")),
    ] {
        loopback = loopback.args([option, &value]);
    }
    if let Some(pinning) = plan.pinning {
        loopback = loopback.arg("--pin").arg(format!("{}:{}", pinning.client, pinning.daemons));
    }
    let output = loopback.run(sides.scratch(), in_seconds(12 * plan.seconds + 60))?.success()?;
    let printed: Printed = serde_json::from_slice(&output.stdout)
        .map_err(|e| output.failure(&format!("printed something unexpected ({e})")))?;
    Ok(printed.ceilings)
}
