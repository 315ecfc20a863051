//! One client's run and the processor time that it took.

use sepiola_benches::{
    Load, Op,
    process::{cpu, ended_children_cpu},
};
use sepiola_tests::Result;
use serde::Serialize;

use crate::{
    bench::{self, Client, Outcome},
    side::{Running, Side, Sides},
};

/// Processor seconds while a client ran.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Used {
    /// Of the client's process, from its start to its end.
    pub client_cpu_s: f64,
    pub osd_cpu_s: f64,
    pub mon_cpu_s: f64,
}

/// What a client that runs and ends in `during` uses, and what its cluster uses meanwhile.
pub fn used<T>(cluster: &mut Running, during: impl FnOnce() -> Result<T>) -> Result<(T, Used)> {
    let (osd, mon) = (cluster.osd_pid()?, cluster.mon_pid()?);
    let now = || Ok((ended_children_cpu()?, cpu(osd)?, cpu(mon)?));
    let before = now()?;
    let done = during()?;
    let after = now()?;
    let used = Used {
        client_cpu_s: (after.0 - before.0).as_secs_f64(),
        osd_cpu_s: (after.1 - before.1).as_secs_f64(),
        mon_cpu_s: (after.2 - before.2).as_secs_f64(),
    };
    Ok((done, used))
}

/// Runs a side's `rados bench` on a cluster.
pub fn run(
    sides: &Sides,
    cluster: &mut Running,
    (side, spin_us): (Side, u64),
    (op, load): (Op, Load),
    seconds: u64,
) -> Result<(Outcome, Used)> {
    let conf = cluster.conf();
    let client = Client { side, spin_us, conf: &conf };
    used(cluster, || bench::run(sides, client, op, load, seconds))
        .map_err(|e| e.context(format!("{side}'s client, {load} {op}")))
}
