//! What encryption adds to an operation, beside what it adds to bare frames.

use sepiola_benches::{Op, Spread};
use serde::Serialize;

use crate::secure_cost::SecureCost;

/// Processor time per operation in secure mode less that in crc mode, both ends together.
#[derive(Debug, Serialize)]
pub struct Encryption {
    pub op: Op,
    /// Sepiola's client and OSD, in microseconds.
    pub added_us: Spread,
    /// The same of the ends of a bare exchange.
    pub bare_us: Spread,
    /// One over the other, by round; each round's figures are the medians of its turns. None if the machine
    /// was so unsteady that encryption seemed to cost nothing.
    pub ratio: Option<Spread>,
}

/// By operation.
pub fn encryption(costs: &[SecureCost]) -> Vec<Encryption> {
    Op::ALL.into_iter().filter_map(|op| of_op(costs, op)).collect()
}

fn of_op(costs: &[SecureCost], op: Op) -> Option<Encryption> {
    let rounds = costs.iter().map(|cost| cost.round).max()?;
    let added: Vec<(f64, f64)> = (0..=rounds).filter_map(|round| in_round(costs, op, round)).collect();
    let ratios =
        added.iter().filter(|(ours, bare)| *ours > 0.0 && *bare > 0.0).map(|(ours, bare)| ours / bare);
    Some(Encryption {
        op,
        added_us: Spread::of(added.iter().map(|(ours, _)| *ours))?,
        bare_us: Spread::of(added.iter().map(|(_, bare)| *bare))?,
        ratio: Spread::of(ratios),
    })
}

/// What it adds to ours and to bare frames.
fn in_round(costs: &[SecureCost], op: Op, round: usize) -> Option<(f64, f64)> {
    let turns = || costs.iter().filter(|cost| (cost.op, cost.round) == (op, round));
    let ours = Spread::of(turns().map(|cost| cost.sepiola.added()))?;
    let bare = Spread::of(turns().map(|cost| cost.bare.added()))?;
    Some((ours.median, bare.median))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secure_cost::Pair;

    fn cost(round: usize, ours: f64, bare: f64) -> SecureCost {
        let pair = |added| Pair { crc_us: 10.0, secure_us: 10.0 + added };
        SecureCost { round, op: Op::Write, sepiola: pair(ours), bare: pair(bare) }
    }

    #[test]
    fn what_is_added_is_compared_with_what_is_added_to_bare_frames() {
        // One turn of the first round was disturbed.
        let found =
            encryption(&[cost(0, 3.0, 2.0), cost(0, 90.0, 2.0), cost(0, 2.5, 2.0), cost(1, 4.0, 2.0)]);
        assert_eq!(found.len(), 1, "only what was measured");
        assert_eq!((found[0].op, found[0].added_us.median, found[0].bare_us.median), (Op::Write, 3.5, 2.0));
        assert_eq!(found[0].ratio, Some(Spread { median: 1.75, min: 1.5, max: 2.0 }));
    }

    #[test]
    fn encryption_for_nothing_is_noise() {
        assert_eq!(encryption(&[cost(0, -1.0, 2.0)])[0].ratio, None);
        assert_eq!(encryption(&[cost(0, 1.0, -2.0)])[0].ratio, None);
    }
}
