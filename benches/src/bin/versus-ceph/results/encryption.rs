//! What encryption adds to an operation, beside what it adds to bare frames.

use sepiola_benches::{
    Load, Op, Spread,
    exchange::{Ceiling, Wait},
};
use serde::Serialize;

use super::{samples::Sample, shares::ours};

/// Processor time per operation in secure mode less that in crc mode, both ends together.
#[derive(Debug, Serialize)]
pub struct Encryption {
    pub load: Load,
    pub op: Op,
    /// Sepiola's client and OSD, in microseconds.
    pub added_us: Spread,
    /// The same of the ends of a bare exchange.
    pub bare_us: Spread,
    /// One over the other in each round where encryption cost the bare exchange something.
    pub ratio: Option<Spread>,
}

/// A round's two differences, in microseconds.
struct Added {
    ours: f64,
    bare: f64,
}

/// For each load whose ceiling was measured in both modes, sleeping: a spinning process takes all the time
/// that there is.
pub fn encryption(samples: &[Sample], ceilings: &[(usize, Ceiling)]) -> Vec<Encryption> {
    let mut all = Vec::new();
    for (_, first) in ceilings.iter().filter(|(round, c)| *round == 0 && is_secure(c)) {
        let same = ceilings.iter().filter(|(_, c)| is_secure(c) && (c.load, c.op) == (first.load, first.op));
        let added: Vec<Added> =
            same.filter_map(|(round, secure)| in_round(samples, ceilings, *round, secure)).collect();
        let spread = |of: fn(&Added) -> f64| Spread::of(added.iter().map(of));
        if let (Some(added_us), Some(bare_us)) = (spread(|a| a.ours), spread(|a| a.bare)) {
            let ratios = added.iter().filter(|a| a.bare > 0.0).map(|a| a.ours / a.bare);
            let (load, op, ratio) = (first.load, first.op, Spread::of(ratios));
            all.push(Encryption { load, op, added_us, bare_us, ratio });
        }
    }
    all
}

fn is_secure(c: &Ceiling) -> bool {
    c.mode == "secure" && c.wait == Wait::Sleep
}

fn in_round(
    samples: &[Sample],
    ceilings: &[(usize, Ceiling)],
    round: usize,
    secure: &Ceiling,
) -> Option<Added> {
    let mut in_round = ceilings.iter().filter(|(r, _)| *r == round).map(|(_, c)| c);
    let crc = in_round
        .find(|c| c.mode == "crc" && (c.load, c.op, c.wait) == (secure.load, secure.op, secure.wait))?;
    let cpu = |s: &Sample| s.client_cpu() + s.osd_cpu();
    let bare = |c: &Ceiling| c.client_cpu + c.peer_cpu;
    // Seconds per 1000 are milliseconds each.
    Some(Added {
        ours: (cpu(ours(samples, round, secure)?) - cpu(ours(samples, round, crc)?)) * 1e3,
        bare: (bare(secure) - bare(crc)) * 1e3,
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            samples::{Cell, tests::sample},
            shares::tests::ceiling,
        },
        *,
    };

    #[test]
    fn what_is_added_is_compared_with_what_is_added_to_bare_frames() {
        let secure = sample(0, Cell::SEPIOLA, 100_000);
        let crc = Sample { mode: "crc".to_owned(), client_cpu_s: 0.9, osd_cpu_s: 0.4, ..secure.clone() };
        let bare = ceiling(Op::Write, Wait::Sleep, 1000.0);
        let bare_crc = Ceiling { mode: "crc".to_owned(), client_cpu: 0.0, peer_cpu: 0.002, ..bare.clone() };
        let found = encryption(&[secure, crc], &[(0, bare_crc.clone()), (0, bare.clone())]);
        assert_eq!(found.len(), 1);
        let near = |value: f64, wanted: f64| assert!((value - wanted).abs() < 1e-9, "{value} {wanted}");
        near(found[0].added_us.median, 2.0);
        near(found[0].bare_us.median, 1.0);
        near(found[0].ratio.unwrap().median, 2.0);
        assert!(encryption(&[], &[(0, bare_crc), (0, bare)]).is_empty(), "not without runs of Sepiola");
    }
}
