//! What secure mode costs in processor time. The difference between two modes is small beside what a machine
//! drifts in a minute, so they take turns of a second on two clusters that run side by side, and what loopback
//! needs is measured in between.

use sepiola_benches::{
    Load, Op, Parts,
    exchange::{Ceiling, Wait},
};
use sepiola_cluster::MsMode;
use sepiola_tests::Result;
use serde::Serialize;

use crate::{
    ceilings,
    plan::{Plan, Work},
    run::run,
    side::{Running, Side, Sides},
};

/// The load of all goals that name no other.
const LOAD: Load = Load { size: 4 << 10, depth: 16 };
/// Turns of each mode in a round.
pub const TURNS: usize = 5;
/// How long a turn takes.
pub const TURN_SECONDS: u64 = 1;

/// Microseconds of processor time per operation, both ends together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Pair {
    pub crc_us: f64,
    pub secure_us: f64,
}

impl Pair {
    /// What secure mode adds.
    pub fn added(self) -> f64 {
        self.secure_us - self.crc_us
    }
}

/// Neighbouring turns of both modes.
#[derive(Debug, Clone, Serialize)]
pub struct SecureCost {
    pub round: usize,
    pub op: Op,
    /// Sepiola's client and OSD.
    pub sepiola: Pair,
    /// The ends of a bare exchange.
    pub bare: Pair,
}

/// One round.
pub fn measure(sides: &Sides, plan: &Plan, round: usize) -> Result<Vec<SecureCost>> {
    let start = |mode| Ok(sides.start(Side::Sepiola, mode, 0, round)?.0);
    let mut clusters = [(MsMode::Crc, start(MsMode::Crc)?), (MsMode::Secure, start(MsMode::Secure)?)];
    let mut costs = Vec::new();
    for turn in 0..TURNS {
        for op in Op::ALL {
            let sepiola = in_turns(turn, &mut clusters, |_, cluster| on_cluster(sides, cluster, op))?;
            let bare = in_turns(turn, &mut clusters, |mode, _| bare(sides, plan, mode, op))?;
            costs.push(SecureCost { round, op, sepiola, bare });
        }
    }
    Ok(costs)
}

/// Neither mode always comes second.
fn in_turns(
    turn: usize,
    clusters: &mut [(MsMode, Running); 2],
    mut measure: impl FnMut(MsMode, &mut Running) -> Result<f64>,
) -> Result<Pair> {
    let [(crc, on_crc), (secure, on_secure)] = clusters;
    if turn.is_multiple_of(2) {
        let crc_us = measure(*crc, on_crc)?;
        Ok(Pair { crc_us, secure_us: measure(*secure, on_secure)? })
    } else {
        let secure_us = measure(*secure, on_secure)?;
        Ok(Pair { crc_us: measure(*crc, on_crc)?, secure_us })
    }
}

fn on_cluster(sides: &Sides, cluster: &mut Running, op: Op) -> Result<f64> {
    let (outcome, used) = run(sides, cluster, (Side::Sepiola, 0), (op, LOAD), TURN_SECONDS)?;
    Ok((used.client_cpu_s + used.osd_cpu_s) * 1e6 / outcome.ops as f64)
}

fn bare(sides: &Sides, plan: &Plan, mode: MsMode, op: Op) -> Result<f64> {
    let plan = Plan { seconds: TURN_SECONDS, ..plan.clone() };
    let work = Work { load: LOAD, spin_us: vec![0], ceiling: true };
    // The same parts in both modes, or their system calls would be in the difference.
    let measured = ceilings::measure(sides, &plan, mode, &work, &[op], &[Parts::Whole])?;
    let cpu = |c: &Ceiling| (c.client_cpu + c.peer_cpu) * 1e3;
    let found = measured.iter().find(|c| c.op == op && c.wait == Wait::Sleep);
    found
        .map(cpu)
        .ok_or_else(|| sepiola_tests::Failure::new("loopback did not measure what it was asked for"))
}
