//! What is to be measured, and how long that takes.

use std::time::Duration;

use sepiola_benches::{Load, Op, Parts, Pinning, exchange::Wait};
use sepiola_cluster::MsMode;
use serde::{Serialize, Serializer};

use crate::{
    secure_cost::{TURN_SECONDS, TURNS},
    side::PG_NUM,
};

/// Operations of this size or more are large: so fast in bytes that memory would run out before the time is
/// up, and what loopback allows says little about them.
pub const LARGE: usize = 1 << 20;
/// How long Sepiola spins in the full matrix, where it does.
pub const FULL_SPIN_US: u64 = 50;

/// One load, on fresh clusters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Work {
    pub load: Load,
    /// Microseconds that Sepiola's client and OSD spin before they sleep: in all runs, and then once more
    /// for each further value in runs of Sepiola's client on its own OSD.
    pub spin_us: Vec<u64>,
    /// Also what loopback allows.
    pub ceiling: bool,
}

/// All of it, as the report and the JSON say it.
#[derive(Debug, Clone, Serialize)]
pub struct Plan {
    /// Of one run.
    pub seconds: u64,
    pub rounds: usize,
    #[serde(serialize_with = "as_text")]
    pub modes: Vec<MsMode>,
    pub work: Vec<Work>,
    /// Also connections a second.
    pub connects: bool,
    /// Also what secure mode costs.
    pub secure_cost: bool,
    pub pinning: Option<Pinning>,
    pub pg_num: u32,
    /// Allocation hints go with writes.
    pub hints: bool,
    /// Reads are compared with what was written.
    pub verify: bool,
}

impl Plan {
    /// A plan with both modes and nothing to do yet.
    pub fn new(seconds: u64, rounds: usize) -> Self {
        Plan {
            seconds,
            rounds,
            modes: vec![MsMode::Crc, MsMode::Secure],
            work: Vec::new(),
            connects: false,
            secure_cost: false,
            pinning: None,
            pg_num: PG_NUM,
            hints: true,
            verify: true,
        }
    }

    /// Each size at each depth.
    #[must_use]
    pub fn with(mut self, sizes: &[usize], depths: &[usize], spin_us: &[u64], ceiling: bool) -> Self {
        for &size in sizes {
            self.work.extend(depths.iter().map(|&depth| Work {
                load: Load { size, depth },
                spin_us: spin_us.to_vec(),
                ceiling,
            }));
        }
        self
    }

    /// Everything that a goal is about.
    #[must_use]
    pub fn full(mut self) -> Self {
        let work = |size, depth, spin: &[u64]| Work {
            load: Load { size, depth },
            spin_us: [&[0], spin].concat(),
            ceiling: size < LARGE,
        };
        self.work = vec![
            work(4 << 10, 1, &[FULL_SPIN_US]),
            work(4 << 10, 16, &[FULL_SPIN_US]),
            work(4 << 10, 64, &[]),
            work(4 << 20, 16, &[]),
        ];
        (self.connects, self.secure_cost) = (true, true);
        self
    }

    /// About how long it takes, without setting up Ceph.
    pub fn time(&self) -> Duration {
        let run = Duration::from_secs(self.seconds) + RUN_OVERHEAD;
        let in_mode: Duration = self.work.iter().map(|work| work.time(run)).sum();
        let connects = if self.connects { run * 4 } else { Duration::ZERO };
        let turn = Duration::from_secs(TURN_SECONDS) + RUN_OVERHEAD;
        // Two modes of two operations, of Sepiola and of bare frames.
        let secure_cost = if self.secure_cost { turn * 8 * TURNS as u32 } else { Duration::ZERO };
        ((in_mode + connects) * self.modes.len() as u32 + secure_cost) * self.rounds as u32
    }
}

/// What a client needs around a run, and a start of each cluster with the second of standing idle.
const RUN_OVERHEAD: Duration = Duration::from_millis(200);
const CEPH_START: Duration = Duration::from_millis(6000);
const SEPIOLA_START: Duration = Duration::from_millis(1300);

impl Work {
    fn time(&self, run: Duration) -> Duration {
        let ops = Op::ALL.len() as u32;
        let further = self.spin_us.len().saturating_sub(1) as u32;
        let parts = Parts::distinct(&Parts::USUAL, self.load).len() as u32;
        let ceilings = if self.ceiling { self.waits().len() as u32 * ops * parts } else { 0 };
        let starts = (CEPH_START + SEPIOLA_START) * if self.is_large() { 2 } else { 1 };
        starts + (SEPIOLA_START + run * ops) * further + run * (4 * ops + ceilings)
    }

    /// Whether each client gets clusters of its own: whoever writes second would find less memory that is
    /// quickly had, and take twice as long.
    pub fn is_large(&self) -> bool {
        self.load.size >= LARGE
    }

    /// How the ends of an exchange wait that is to be compared with: spinning or not.
    pub fn waits(&self) -> Vec<Wait> {
        let wanted = |wait| self.spin_us.iter().any(|&spin| Wait::of_spin(spin) == wait);
        [Wait::Sleep, Wait::Spin].into_iter().filter(|&wait| wanted(wait)).collect()
    }
}

fn as_text<S: Serializer>(modes: &[MsMode], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(modes.iter().map(MsMode::to_string))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_spins_too_is_compared_with_spinning() {
        let work = |spin_us: &[u64]| Work {
            load: Load { size: 4096, depth: 1 },
            spin_us: spin_us.to_vec(),
            ceiling: true,
        };
        assert_eq!(work(&[0]).waits(), [Wait::Sleep]);
        assert_eq!(work(&[50]).waits(), [Wait::Spin]);
        assert_eq!(work(&[0, 50, 100]).waits(), [Wait::Sleep, Wait::Spin]);
    }

    #[test]
    fn time_grows_with_what_is_to_do() {
        let full = Plan::new(5, 3).full();
        assert!(full.time() > Plan::new(5, 2).full().time());
        let mut less = full.clone();
        less.connects = false;
        assert!(full.time() > less.time());
        let with_spin = less.time();
        less.work[0].spin_us.truncate(1);
        assert!(with_spin > less.time());
        (less.modes, less.secure_cost) = (vec![], false);
        assert_eq!(less.time(), Duration::ZERO);
    }
}
