//! Single runs, and ratios of two of the same round.

use sepiola_benches::{Load, Op, Spread};
use serde::Serialize;

use crate::{bench::Outcome, run::Used, side::Side};

/// A cluster's start.
#[derive(Debug, Clone, Serialize)]
pub struct Start {
    pub round: usize,
    pub mode: String,
    pub side: Side,
    pub start_to_first_put_s: f64,
    /// Resident bytes of the monitor a second after the first put.
    pub mon_rss: u64,
    /// The same of the OSD.
    pub osd_rss: u64,
}

/// Whose client on whose OSD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Cell {
    pub client: Side,
    pub osd: Side,
    /// Microseconds that Sepiola's side of it spins before it sleeps.
    pub spin_us: u64,
}

impl Cell {
    /// What everything is compared with.
    pub const CEPH: Cell = Cell { client: Side::Ceph, osd: Side::Ceph, spin_us: 0 };
    /// Sepiola on both sides, sleeping.
    pub const SEPIOLA: Cell = Cell { client: Side::Sepiola, osd: Side::Sepiola, spin_us: 0 };

    /// Whether all of it is Sepiola's.
    pub fn is_sepiola(self) -> bool {
        self.client == Side::Sepiola && self.osd == Side::Sepiola
    }
}

/// What a run is a repetition of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kind<'a> {
    pub mode: &'a str,
    pub load: Load,
    pub op: Op,
    pub cell: Cell,
}

/// A client's run on a cluster.
#[derive(Debug, Clone, Serialize)]
pub struct Sample {
    pub round: usize,
    pub mode: String,
    pub load: Load,
    pub op: Op,
    #[serde(flatten)]
    pub cell: Cell,
    #[serde(flatten)]
    pub outcome: Outcome,
    #[serde(flatten)]
    pub used: Used,
}

impl Sample {
    /// What this run repeats.
    pub fn kind(&self) -> Kind<'_> {
        Kind { mode: &self.mode, load: self.load, op: self.op, cell: self.cell }
    }

    /// Operations a second.
    pub fn iops(&self) -> f64 {
        self.outcome.iops()
    }

    /// Processor seconds of the client per 1000 operations.
    pub fn client_cpu(&self) -> f64 {
        self.used.client_cpu_s * 1e3 / self.outcome.ops as f64
    }

    /// The same of the OSD.
    pub fn osd_cpu(&self) -> f64 {
        self.used.osd_cpu_s * 1e3 / self.outcome.ops as f64
    }
}

/// All runs of a kind, one for each round.
pub fn runs<'a>(samples: &'a [Sample], kind: Kind<'a>) -> impl Iterator<Item = &'a Sample> {
    samples.iter().filter(move |sample| sample.kind() == kind)
}

/// A figure of one kind of run over that of another in the same round.
pub fn ratio(samples: &[Sample], figure: fn(&Sample) -> f64, of: Kind<'_>, over: Kind<'_>) -> Option<Spread> {
    let in_round = |sample: &Sample| {
        let other = figure(runs(samples, over).find(|other| other.round == sample.round)?);
        (other > 0.0).then(|| figure(sample) / other)
    };
    Spread::of(runs(samples, of).filter_map(in_round))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub const LOAD: Load = Load { size: 4096, depth: 16 };

    /// A run of 2 s.
    pub fn sample(round: usize, cell: Cell, ops: u64) -> Sample {
        Sample {
            round,
            mode: "secure".to_owned(),
            load: LOAD,
            op: Op::Write,
            cell,
            outcome: Outcome { seconds: 2.0, ops, average_latency_s: 0.001, max_latency_s: 0.01 },
            used: Used { client_cpu_s: 1.0, osd_cpu_s: 0.5, mon_cpu_s: 0.0 },
        }
    }

    #[test]
    fn nothing_is_said_of_what_used_no_time() {
        let mut samples = [sample(0, Cell::CEPH, 100), sample(0, Cell::SEPIOLA, 200)];
        let (ceph, sepiola) = (samples[0].clone(), samples[1].clone());
        let cpu = |samples: &[Sample]| ratio(samples, Sample::client_cpu, sepiola.kind(), ceph.kind());
        assert_eq!(cpu(&samples).map(|s| s.median), Some(0.5));
        samples[0].used.client_cpu_s = 0.0;
        assert_eq!(cpu(&samples), None, "no run was long enough for the kernel's clock");
    }
}
