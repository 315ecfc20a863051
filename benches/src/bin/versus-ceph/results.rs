//! Everything that was measured, and what comes of it.

use sepiola_benches::{Load, Machine, Op, Pinning, Spread, exchange::Ceiling};
use serde::Serialize;

use crate::{bench::Outcome, installed::Installed, side::Side};

/// How it was measured.
#[derive(Debug, Serialize)]
pub struct Settings {
    pub seconds: u64,
    pub rounds: usize,
    pub modes: Vec<String>,
    pub loads: Vec<Load>,
    pub pinning: Option<Pinning>,
    /// Of Sepiola's client and OSD.
    pub spin_us: u64,
    pub pg_num: u32,
    /// Allocation hints go with writes.
    pub hints: bool,
    /// Reads are compared with what was written.
    pub verify: bool,
}

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

/// A client's run on a cluster.
#[derive(Debug, Clone, Serialize)]
pub struct Sample {
    pub round: usize,
    pub mode: String,
    pub load: Load,
    pub op: Op,
    pub client: Side,
    pub osd: Side,
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Processor seconds of the client's process, its start included.
    pub client_cpu_s: f64,
    pub osd_cpu_s: f64,
    pub mon_cpu_s: f64,
}

impl Sample {
    /// Operations a second.
    pub fn iops(&self) -> f64 {
        self.outcome.iops()
    }

    fn per_1000_ops(&self, seconds: f64) -> f64 {
        seconds * 1e3 / self.outcome.ops as f64
    }
}

/// One kind of run over all rounds.
#[derive(Debug, Serialize)]
pub struct Row {
    pub mode: String,
    pub load: Load,
    pub op: Op,
    pub client: Side,
    pub osd: Side,
    pub iops: Spread,
    /// Of each round, against Ceph's client on Ceph's OSD in the same round.
    pub times_ceph: Spread,
    pub average_latency_s: Spread,
    pub client_cpu_s_per_1000: Spread,
    pub osd_cpu_s_per_1000: Spread,
}

/// Sepiola's client on its OSD against the ceiling of the same round.
#[derive(Debug, Serialize)]
pub struct Share {
    pub mode: String,
    pub load: Load,
    pub op: Op,
    pub ceiling_iops: Spread,
    pub share: Spread,
    /// Client and peer together.
    pub ceiling_cpu_s_per_1000: Spread,
}

/// All of it.
#[derive(Debug, Serialize)]
pub struct Results {
    pub machine: Machine,
    pub sepiola_version: String,
    pub ceph_version: String,
    pub settings: Settings,
    pub installed: Installed,
    pub rows: Vec<Row>,
    pub shares: Vec<Share>,
    pub starts: Vec<Start>,
    pub samples: Vec<Sample>,
    /// By round.
    pub ceilings: Vec<(usize, Ceiling)>,
}

type Kind<'a> = (&'a str, Load, Op, Side, Side);

fn kind(s: &Sample) -> Kind<'_> {
    (&s.mode, s.load, s.op, s.client, s.osd)
}

/// Medians of all rounds, Ceph on Ceph first within each mode, load and operation.
pub fn rows(samples: &[Sample]) -> Vec<Row> {
    let mut rows = Vec::new();
    for baseline in samples.iter().filter(|s| s.round == 0 && s.client == Side::Ceph && s.osd == Side::Ceph) {
        for (client, osd) in [
            (Side::Ceph, Side::Ceph),
            (Side::Sepiola, Side::Ceph),
            (Side::Ceph, Side::Sepiola),
            (Side::Sepiola, Side::Sepiola),
        ] {
            let wanted = (&*baseline.mode, baseline.load, baseline.op, client, osd);
            let runs = || samples.iter().filter(|s| kind(s) == wanted);
            let ratio = |s: &Sample| {
                let mut in_round = samples.iter().filter(|b| b.round == s.round);
                Some(s.iops() / in_round.find(|b| kind(b) == kind(baseline))?.iops())
            };
            rows.extend(row(baseline, client, osd, runs, Spread::of(runs().filter_map(ratio))));
        }
    }
    rows
}

fn row<'a, I: Iterator<Item = &'a Sample>>(
    like: &Sample,
    client: Side,
    osd: Side,
    runs: impl Fn() -> I,
    times_ceph: Option<Spread>,
) -> Option<Row> {
    Some(Row {
        mode: like.mode.clone(),
        load: like.load,
        op: like.op,
        client,
        osd,
        iops: Spread::of(runs().map(Sample::iops))?,
        times_ceph: times_ceph?,
        average_latency_s: Spread::of(runs().map(|s| s.outcome.average_latency_s))?,
        client_cpu_s_per_1000: Spread::of(runs().map(|s| s.per_1000_ops(s.client_cpu_s)))?,
        osd_cpu_s_per_1000: Spread::of(runs().map(|s| s.per_1000_ops(s.osd_cpu_s)))?,
    })
}

/// Sepiola's share of each ceiling.
pub fn shares(samples: &[Sample], ceilings: &[(usize, Ceiling)]) -> Vec<Share> {
    let ours = |round: usize, c: &Ceiling| {
        let wanted = (&*c.mode, c.load, c.op, Side::Sepiola, Side::Sepiola);
        samples.iter().find(|s| s.round == round && kind(s) == wanted).map(Sample::iops)
    };
    let share = |first: &Ceiling| {
        let what = |c: &Ceiling| (c.mode.clone(), c.load, c.op);
        let same = || ceilings.iter().filter(|(_, c)| what(c) == what(first));
        Some(Share {
            mode: first.mode.clone(),
            load: first.load,
            op: first.op,
            ceiling_iops: Spread::of(same().map(|(_, c)| c.iops))?,
            share: Spread::of(same().filter_map(|(round, c)| Some(ours(*round, c)? / c.iops)))?,
            ceiling_cpu_s_per_1000: Spread::of(same().map(|(_, c)| c.client_cpu + c.peer_cpu))?,
        })
    };
    ceilings.iter().filter(|(round, _)| *round == 0).filter_map(|(_, first)| share(first)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(round: usize, client: Side, osd: Side, ops: u64) -> Sample {
        Sample {
            round,
            mode: "secure".to_owned(),
            load: Load { size: 4096, depth: 16 },
            op: Op::Write,
            client,
            osd,
            outcome: Outcome { seconds: 2.0, ops, average_latency_s: 0.001, max_latency_s: 0.01 },
            client_cpu_s: 1.0,
            osd_cpu_s: 0.5,
            mon_cpu_s: 0.0,
        }
    }

    #[test]
    fn ratios_are_taken_within_each_round() {
        let (ceph, sepiola) = (Side::Ceph, Side::Sepiola);
        // The machine is twice as fast in the second round, which says nothing about the two sides.
        let samples = [
            sample(0, ceph, ceph, 1000),
            sample(0, sepiola, sepiola, 8000),
            sample(1, sepiola, sepiola, 16000),
            sample(1, ceph, ceph, 2000),
        ];
        let rows = rows(&samples);
        assert_eq!(rows.len(), 2, "only what was measured");
        assert_eq!((rows[0].client, rows[0].times_ceph.median), (ceph, 1.0));
        let ours = &rows[1];
        assert_eq!((ours.client, ours.osd), (sepiola, sepiola));
        assert_eq!(ours.times_ceph, Spread { median: 8.0, min: 8.0, max: 8.0 });
        assert_eq!(ours.iops, Spread { median: 6000.0, min: 4000.0, max: 8000.0 });
        assert_eq!(ours.client_cpu_s_per_1000.max, 0.125);
    }

    #[test]
    fn a_share_is_ours_over_the_ceiling_of_its_round() {
        let samples = [sample(0, Side::Sepiola, Side::Sepiola, 1000), sample(0, Side::Ceph, Side::Ceph, 100)];
        let ceiling = |op| Ceiling {
            mode: "secure".to_owned(),
            wait: sepiola_benches::exchange::Wait::Sleep,
            op,
            load: Load { size: 4096, depth: 16 },
            iops: 1000.0,
            client_cpu: 0.001,
            peer_cpu: 0.002,
        };
        let shares = shares(&samples, &[(0, ceiling(Op::Write)), (0, ceiling(Op::Rand))]);
        assert_eq!(shares.len(), 1, "no share of what was not measured");
        assert_eq!((shares[0].op, shares[0].share.median), (Op::Write, 0.5));
    }
}
