//! How many messages an end of an exchange writes together.
//!
//! Whoever writes once for all that was read makes both ends take turns; whoever writes each message by
//! itself pays for a system call each. What is fastest depends on the machine, so several are measured and
//! the best is the ceiling.

use std::{fmt, num::NonZeroUsize, str::FromStr};

use crate::{Load, Spread, exchange::Ceiling};

/// Messages of this size or more leave one by one: the other end has enough to do with one of them.
const LARGE: usize = 1 << 20;
/// The bounds of a quarter, those of Sepiola's own connections.
const QUARTER: (usize, usize) = (4, 16);

/// A choice of `--parts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// All that is there to be sent.
    Whole,
    /// Half of what is in flight.
    Half,
    /// A quarter of what is in flight, at least 4 messages and at most 16.
    Quarter,
    /// So many messages.
    Messages(NonZeroUsize),
}

impl Parts {
    /// What is measured unless something else is wanted. Each of these was the fastest of some exchange.
    pub const USUAL: [Parts; 3] = [Parts::Whole, Parts::Half, Parts::Quarter];

    /// The messages that leave together, at most. As many as are in flight are all that there can be.
    pub fn messages(self, load: Load) -> usize {
        let wanted = match self {
            _ if load.size >= LARGE => 1,
            Parts::Whole => load.depth,
            Parts::Half => load.depth.div_ceil(2),
            Parts::Quarter => (load.depth / 4).clamp(QUARTER.0, QUARTER.1),
            Parts::Messages(messages) => messages.get(),
        };
        wanted.min(load.depth)
    }

    /// The same for several choices, without those that come to the same.
    pub fn distinct(choices: &[Parts], load: Load) -> Vec<usize> {
        let mut distinct = Vec::new();
        for messages in choices.iter().map(|parts| parts.messages(load)) {
            if !distinct.contains(&messages) {
                distinct.push(messages);
            }
        }
        distinct
    }
}

impl FromStr for Parts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "whole" => Ok(Parts::Whole),
            "half" => Ok(Parts::Half),
            "quarter" => Ok(Parts::Quarter),
            _ => text
                .parse()
                .map(Parts::Messages)
                .map_err(|_| format!("`{text}` is none of `whole`, `half`, `quarter`, and no number from 1")),
        }
    }
}

impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Parts::Whole => f.write_str("whole"),
            Parts::Half => f.write_str("half"),
            Parts::Quarter => f.write_str("quarter"),
            Parts::Messages(messages) => messages.fmt(f),
        }
    }
}

/// Exchanges a second of each size of parts among these runs of one exchange, the best median first.
pub fn ranked<'a>(runs: impl Iterator<Item = &'a Ceiling> + Clone) -> Vec<(usize, Spread)> {
    let mut ranked: Vec<(usize, Spread)> = Vec::new();
    for run in runs.clone() {
        if ranked.iter().all(|(part, _)| *part != run.part) {
            let same = runs.clone().filter(|other| other.part == run.part);
            ranked.extend(Spread::of(same.map(|c| c.iops)).map(|spread| (run.part, spread)));
        }
    }
    ranked.sort_by(|(_, a), (_, b)| b.median.total_cmp(&a.median));
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Op, exchange::Wait};

    fn load(depth: usize) -> Load {
        Load { size: 4096, depth }
    }

    #[test]
    fn parts_have_bounds_and_nothing_exceeds_what_is_in_flight() {
        let quarters = [1, 2, 16, 32, 64, 256].map(|depth| Parts::Quarter.messages(load(depth)));
        assert_eq!(quarters, [1, 2, 4, 8, 16, 16]);
        assert_eq!([1, 3, 64].map(|depth| Parts::Half.messages(load(depth))), [1, 2, 32]);
        let eight: Parts = "8".parse().unwrap();
        assert_eq!([4, 64].map(|depth| eight.messages(load(depth))), [4, 8]);
    }

    #[test]
    fn what_comes_to_the_same_is_measured_once() {
        assert_eq!(Parts::distinct(&Parts::USUAL, load(64)), [64, 32, 16]);
        assert_eq!(Parts::distinct(&Parts::USUAL, load(1)), [1]);
        assert_eq!(Parts::distinct(&Parts::USUAL, Load { size: 4 << 20, depth: 16 }), [1]);
    }

    #[test]
    fn parts_are_read_as_they_are_shown() {
        for text in ["whole", "half", "quarter", "16"] {
            assert_eq!(text.parse::<Parts>().unwrap().to_string(), text);
        }
        for wrong in ["", "0", "-1", "third"] {
            assert!(wrong.parse::<Parts>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn one_lucky_run_does_not_make_the_ceiling() {
        let run = |part, iops| Ceiling {
            mode: "crc".to_owned(),
            wait: Wait::Sleep,
            op: Op::Write,
            load: load(16),
            part,
            iops,
            client_cpu: 0.0,
            peer_cpu: 0.0,
        };
        let runs = [run(16, 90.0), run(4, 50.0), run(16, 10.0), run(4, 60.0), run(16, 20.0), run(4, 40.0)];
        let ranked: Vec<_> = ranked(runs.iter()).iter().map(|(part, s)| (*part, s.median)).collect();
        assert_eq!(ranked, [(4, 50.0), (16, 20.0)]);
    }
}
