//! What the project wants to reach, and whether this run did.

use std::fmt;

use sepiola_benches::{Load, Op, Spread, exchange::Wait};
use serde::Serialize;

use super::{
    Results,
    samples::{Cell, Kind, Sample, ratio},
};
use crate::{
    plan::FULL_SPIN_US,
    side::Side::{self, Ceph, Sepiola},
};

const MB: f64 = 1e6;
/// The mode of every goal but those that are about both.
const MODE: &str = "secure";
const SMALL: usize = 4 << 10;
const BIG: usize = 4 << 20;

/// On which side of a figure it is good to be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl Bound {
    fn holds(self, value: f64) -> bool {
        match self {
            Bound::AtLeast(bound) => value >= bound,
            Bound::AtMost(bound) => value <= bound,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::AtLeast(bound) => write!(f, "at least {bound}"),
            Bound::AtMost(bound) => write!(f, "at most {bound}"),
        }
    }
}

/// A goal that this run has a figure for.
#[derive(Debug, Serialize)]
pub struct Goal {
    pub what: String,
    pub goal: Bound,
    /// Behind the figures; empty for ratios.
    pub unit: &'static str,
    /// Over the rounds; its median is what counts.
    pub value: Spread,
    pub met: bool,
}

/// All goals of which everything was measured.
pub fn goals(results: &Results) -> Vec<Goal> {
    let mut goals = Vec::new();
    operations(&results.measured.samples, &mut goals);
    encryption(results, &mut goals);
    shares(results, &mut goals);
    connecting(results, &mut goals);
    standing(results, &mut goals);
    goals
}

fn add(goals: &mut Vec<Goal>, what: String, goal: Bound, unit: &'static str, value: Option<Spread>) {
    goals.extend(value.map(|value| Goal { what, goal, unit, value, met: goal.holds(value.median) }));
}

/// One figure of one cell over the same of another.
struct Comparison {
    what: &'static str,
    figure: fn(&Sample) -> f64,
    of: Cell,
    over: Cell,
    load: Load,
    /// The goals of a write and of a read.
    goals: [Bound; 2],
}

fn comparisons() -> [Comparison; 8] {
    use Bound::{AtLeast, AtMost};
    let cell = |client, osd| Cell { client, osd, spin_us: 0 };
    let spinning = Cell { spin_us: FULL_SPIN_US, ..Cell::SEPIOLA };
    let over_ceph = |what, of, size, depth, write, read| Comparison {
        what,
        figure: Sample::iops,
        of,
        over: Cell::CEPH,
        load: Load { size, depth },
        goals: [AtLeast(write), AtLeast(read)],
    };
    let cpu = |what, figure, of, over, goal| Comparison {
        what,
        figure,
        of,
        over,
        load: Load { size: SMALL, depth: 16 },
        goals: [AtMost(goal), AtMost(goal)],
    };
    let (ours, stock) = ("IOPS over Ceph", "IOPS of Ceph's client, our OSD over Ceph's");
    let (client, osd) =
        ("client CPU per op over librados, on Ceph's OSD", "OSD CPU per op over Ceph's, with Ceph's client");
    [
        over_ceph(ours, Cell::SEPIOLA, SMALL, 16, 8.0, 5.0),
        over_ceph(ours, Cell::SEPIOLA, SMALL, 64, 12.0, 8.0),
        over_ceph(ours, Cell::SEPIOLA, SMALL, 1, 1.8, 1.8),
        over_ceph("IOPS over Ceph, spinning", spinning, SMALL, 1, 8.0, 8.0),
        over_ceph(stock, cell(Ceph, Sepiola), SMALL, 16, 2.5, 1.6),
        cpu(client, Sample::client_cpu, cell(Sepiola, Ceph), Cell::CEPH, 0.35),
        cpu(osd, Sample::osd_cpu, cell(Ceph, Sepiola), Cell::CEPH, 0.2),
        over_ceph(ours, Cell::SEPIOLA, BIG, 16, 6.0, 2.0),
    ]
}

fn operations(samples: &[Sample], goals: &mut Vec<Goal>) {
    for wanted in comparisons() {
        for (op, goal) in Op::ALL.into_iter().zip(wanted.goals) {
            let kind = |cell| Kind { mode: MODE, load: wanted.load, op, cell };
            let value = ratio(samples, wanted.figure, kind(wanted.of), kind(wanted.over));
            add(goals, format!("{}, {} {MODE} {op}", wanted.what, wanted.load), goal, "", value);
        }
    }
}

/// Goals that are about 16 small operations in flight.
fn is_usual(load: Load) -> bool {
    load == Load { size: SMALL, depth: 16 }
}

fn encryption(results: &Results, goals: &mut Vec<Goal>) {
    for e in &results.encryption {
        let what = format!("CPU that secure mode adds over what it adds to bare frames, 4 KiB QD16 {}", e.op);
        add(goals, what, Bound::AtMost(1.3), "", e.ratio);
    }
}

fn shares(results: &Results, goals: &mut Vec<Goal>) {
    for s in results.shares.iter().filter(|s| is_usual(s.load) && s.mode == MODE) {
        let waiting = match s.wait {
            Wait::Sleep => "sleeping",
            Wait::Spin => "spinning",
        };
        let what = format!("share of what loopback allows {waiting}, {} {MODE} {}", s.load, s.op);
        add(goals, what, Bound::AtLeast(60.0), "%", Some(s.share.scaled(1e2)));
    }
}

fn connecting(results: &Results, goals: &mut Vec<Goal>) {
    for row in results.connecting.iter().filter(|row| row.mode == MODE && row.cluster == Sepiola) {
        let goal = match row.client {
            Ceph => Bound::AtLeast(2.0),
            Sepiola => Bound::AtLeast(5.0),
        };
        let what = format!("connections a second over Ceph's cluster, {}'s client, {MODE}", row.client);
        add(goals, what, goal, "", Some(row.times_ceph));
    }
}

fn standing(results: &Results, goals: &mut Vec<Goal>) {
    let starts = || results.measured.starts.iter().filter(|start| start.side == Side::Sepiola);
    let mut at_most = |what: &str, bound, unit, value| {
        add(goals, what.to_owned(), Bound::AtMost(bound), unit, value);
    };
    let first_put = Spread::of(starts().map(|start| start.start_to_first_put_s));
    at_most("from nothing to the first put", 0.25, "s", first_put);
    let resident = Spread::of(starts().map(|start| (start.mon_rss + start.osd_rss) as f64 / MB));
    at_most("idle monitor and OSD, resident", 25.0, "MB", resident);
    let installed = Spread::of(results.measured.installed.sepiola_stripped.map(|bytes| bytes as f64 / MB));
    at_most("installed size", 20.0, "MB", installed);
}

#[cfg(test)]
mod tests {
    use super::{super::samples::tests::sample, *};

    #[test]
    fn only_what_was_measured_is_judged_by_its_median() {
        let mut samples = Vec::new();
        for (round, ours) in [(0, 700), (1, 850), (2, 900)] {
            samples.extend([sample(round, Cell::CEPH, 100), sample(round, Cell::SEPIOLA, ours)]);
        }
        let mut goals = Vec::new();
        operations(&samples, &mut goals);
        let shown: Vec<(&str, f64, bool)> = goals.iter().map(|g| (&*g.what, g.value.median, g.met)).collect();
        assert_eq!(shown, [("IOPS over Ceph, 4 KiB QD16 secure write", 8.5, true)]);
        // One round more below the goal than above it.
        samples.retain(|s| s.round != 2);
        samples.extend([sample(2, Cell::CEPH, 100), sample(2, Cell::SEPIOLA, 200)]);
        goals.clear();
        operations(&samples, &mut goals);
        assert!(!goals[0].met);
    }

    #[test]
    fn less_is_better_where_the_goal_says_at_most() {
        let mut goals = Vec::new();
        for value in [0.2, 0.3] {
            add(&mut goals, String::new(), Bound::AtMost(0.25), "s", Spread::of([value]));
        }
        add(&mut goals, String::new(), Bound::AtMost(0.25), "s", None);
        assert_eq!(goals.iter().map(|g| g.met).collect::<Vec<_>>(), [true, false]);
    }
}
