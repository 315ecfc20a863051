//! How near Sepiola is to what loopback allows.

use sepiola_benches::{
    Load, Op, Spread,
    exchange::{Ceiling, Wait},
    ranked,
};
use serde::Serialize;

use super::samples::Sample;

/// Sepiola's client on its OSD against the ceiling of the same round.
#[derive(Debug, Serialize)]
pub struct Share {
    pub mode: String,
    pub load: Load,
    pub op: Op,
    /// How both waited.
    pub wait: Wait,
    /// Messages that the ends wrote together: of what was measured, what was fastest over all rounds.
    pub ceiling_part: usize,
    pub ceiling_iops: Spread,
    pub share: Spread,
    /// Client and peer together.
    pub ceiling_cpu_s_per_1000: Spread,
}

/// Sepiola's share of each ceiling: sleeping of that of sleeping ends, spinning of that of spinning ones.
pub fn shares(samples: &[Sample], ceilings: &[(usize, Ceiling)]) -> Vec<Share> {
    let share = |first: &Ceiling| {
        let like = || ceilings.iter().filter(|(_, c)| c.is_like(first));
        let (part, iops) = *ranked(like().map(|(_, c)| c)).first()?;
        let same = || like().filter(|(_, c)| c.part == part);
        Some(Share {
            mode: first.mode.clone(),
            load: first.load,
            op: first.op,
            wait: first.wait,
            ceiling_part: part,
            ceiling_iops: iops,
            share: Spread::of(
                same().filter_map(|(round, c)| Some(ours(samples, *round, c)?.iops() / c.iops)),
            )?,
            ceiling_cpu_s_per_1000: Spread::of(same().map(|(_, c)| c.client_cpu + c.peer_cpu))?,
        })
    };
    let is_first = |i: usize, c: &Ceiling| !ceilings[..i].iter().any(|(_, earlier)| earlier.is_like(c));
    let rows = ceilings.iter().enumerate().filter(|(i, (_, c))| is_first(*i, c));
    rows.filter_map(|(_, (_, first))| share(first)).collect()
}

/// The run that a ceiling is for.
fn ours<'a>(samples: &'a [Sample], round: usize, c: &Ceiling) -> Option<&'a Sample> {
    samples.iter().find(|s| {
        (s.round, &s.mode, s.load, s.op) == (round, &c.mode, c.load, c.op)
            && s.cell.is_sepiola()
            && Wait::of_spin(s.cell.spin_us) == c.wait
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::samples::{
            Cell,
            tests::{LOAD, sample},
        },
        *,
    };

    fn ceiling(op: Op, wait: Wait, iops: f64) -> Ceiling {
        let mode = "secure".to_owned();
        Ceiling { mode, wait, op, load: LOAD, part: 16, iops, client_cpu: 0.001, peer_cpu: 0.002 }
    }

    #[test]
    fn a_share_is_ours_over_the_ceiling_of_its_round() {
        let samples = [sample(0, Cell::SEPIOLA, 1000), sample(0, Cell::CEPH, 100)];
        let measured = [
            (0, ceiling(Op::Write, Wait::Sleep, 1000.0)),
            (0, ceiling(Op::Rand, Wait::Sleep, 1000.0)),
            (0, ceiling(Op::Write, Wait::Spin, 1000.0)),
        ];
        let shares = shares(&samples, &measured);
        assert_eq!(shares.len(), 1, "no share of what was not measured");
        assert_eq!((shares[0].op, shares[0].share.median), (Op::Write, 0.5));
    }

    #[test]
    fn the_ceiling_is_what_was_fastest_over_all_rounds() {
        let part = |part, iops| Ceiling { part, ..ceiling(Op::Write, Wait::Sleep, iops) };
        let samples = [0, 1, 2].map(|round| sample(round, Cell::SEPIOLA, 1000));
        let (whole, quarters) = ([1000.0, 4000.0, 1000.0], [2000.0, 2000.0, 2000.0]);
        let measured: Vec<_> = (0..3)
            .flat_map(|round| [(round, part(16, whole[round])), (round, part(4, quarters[round]))])
            .collect();
        let shares = shares(&samples, &measured);
        assert_eq!(shares.len(), 1, "one row for all parts");
        assert_eq!(
            (shares[0].ceiling_part, shares[0].ceiling_iops.max, shares[0].share.max),
            (4, 2000.0, 0.25)
        );
    }

    #[test]
    fn spinning_is_compared_with_spinning() {
        let spinning = Cell { spin_us: 50, ..Cell::SEPIOLA };
        let samples = [sample(0, Cell::SEPIOLA, 1000), sample(0, spinning, 6000)];
        let measured =
            [(0, ceiling(Op::Write, Wait::Sleep, 1000.0)), (0, ceiling(Op::Write, Wait::Spin, 4000.0))];
        let shown: Vec<f64> = shares(&samples, &measured).iter().map(|s| s.share.median).collect();
        assert_eq!(shown, [0.5, 0.75]);
    }
}
