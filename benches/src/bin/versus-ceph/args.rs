//! The command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use sepiola_benches::{Pinning, parse_size};
use sepiola_cluster::MsMode;

use crate::{ceph_place::CephPlace, plan::Plan};

const SECONDS: u64 = 5;
const ROUNDS: usize = 3;
const DEPTH: usize = 16;
const SIZE: usize = 4 << 10;

/// Measures Sepiola beside real Ceph.
#[derive(Debug, Parser)]
#[command(name = "versus-ceph", max_term_width = 110, after_help = times())]
pub struct Args {
    /// Everything that there is a goal for: 4 KiB with 1, 16 and 64 in flight, 4 MiB with 16, Sepiola also
    /// spinning 50 us with 1 and 16, what loopback allows, connections a second, and what secure mode costs.
    #[arg(long, conflicts_with_all = ["qd", "sizes", "spin_us", "ceiling", "connects", "secure_cost"])]
    full: bool,
    /// Seconds of one run.
    #[arg(long, default_value_t = SECONDS, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Rounds through all measurements; the order of the sides alternates.
    #[arg(long, default_value_t = ROUNDS)]
    rounds: usize,
    /// Connection modes.
    #[arg(long, value_delimiter = ',', default_value = "crc,secure")]
    modes: Vec<MsMode>,
    /// Operations in flight.
    #[arg(long, value_delimiter = ',', default_values_t = [DEPTH])]
    qd: Vec<usize>,
    /// Bytes of an operation and of an object, e.g. 4K,4M.
    #[arg(long, value_parser = parse_size, value_delimiter = ',', default_values_t = [SIZE])]
    sizes: Vec<usize>,
    /// Binds clients and daemons to a processor each, e.g. 1:0; without it nothing is bound.
    #[arg(long, value_name = "CLIENT:DAEMONS")]
    pin: Option<Pinning>,
    /// Microseconds that Sepiola's client and OSD spin before they sleep; Ceph has no such option. Further
    /// values, as in 0,50, add runs of Sepiola's client on its own OSD.
    #[arg(long, value_delimiter = ',', default_value = "0")]
    spin_us: Vec<u64>,
    /// The release of Ceph: `installed` for the distribution's, `newest` for the newest one that the tests
    /// unpack, or the folder that one is unpacked in.
    #[arg(long, value_name = "installed|newest|ROOT", default_value = "installed")]
    pub ceph: CephPlace,
    /// Also measure what loopback allows in the same rounds, and print our share of it.
    #[arg(long)]
    ceiling: bool,
    /// Also measure how often a second each client connects, does one operation and ends.
    #[arg(long)]
    connects: bool,
    /// Also measure what secure mode adds to the processor time of an operation and of bare frames.
    #[arg(long)]
    secure_cost: bool,
    /// The form of output.
    #[arg(long, value_enum, default_value = "markdown")]
    pub format: Format,
    /// Also writes everything as JSON, raw rounds included, to this file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[allow(missing_docs)]
pub enum Format {
    Markdown,
    Json,
}

impl Args {
    /// What these options ask for.
    pub fn plan(&self) -> Plan {
        let mut plan = Plan::new(self.seconds, self.rounds);
        plan.modes.clone_from(&self.modes);
        plan.pinning = self.pin;
        if self.full {
            return plan.full();
        }
        (plan.connects, plan.secure_cost) = (self.connects, self.secure_cost);
        plan.with(&self.sizes, &self.qd, &self.spin_us, self.ceiling)
    }
}

/// How long it takes, computed, so that the help does not grow old.
fn times() -> String {
    format!(
        "It takes about {} minutes without options, {} with --full, {} with --full --seconds 2.",
        minutes(&Plan::new(SECONDS, ROUNDS).with(&[SIZE], &[DEPTH], &[0], false)),
        minutes(&Plan::new(SECONDS, ROUNDS).full()),
        minutes(&Plan::new(2, ROUNDS).full()),
    )
}

/// A plan's time, rounded up.
pub fn minutes(plan: &Plan) -> u64 {
    plan.time().as_secs().div_ceil(60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(options: &[&str]) -> Result<Args, clap::Error> {
        Args::try_parse_from(["versus-ceph"].iter().chain(options))
    }

    #[test]
    fn large_operations_are_measured_at_one_depth_in_the_full_matrix() {
        let plan = parse(&["--full", "--modes", "secure"]).unwrap().plan();
        let loads: Vec<String> = plan.work.iter().map(|work| work.load.to_string()).collect();
        assert_eq!(loads, ["4 KiB QD1", "4 KiB QD16", "4 KiB QD64", "4 MiB QD16"]);
        assert_eq!(plan.modes, [MsMode::Secure]);
        assert!(plan.connects && plan.secure_cost && !plan.work[3].ceiling);
    }

    #[test]
    fn sizes_and_depths_are_multiplied_and_not_mixed_with_the_full_matrix() {
        let args =
            parse(&["--qd", "1,16", "--sizes", "4K,4M", "--spin-us", "0,50", "--ceph", "x/y"]).unwrap();
        let plan = args.plan();
        assert_eq!(plan.work.len(), 4);
        assert!(plan.work.iter().all(|work| work.spin_us == [0, 50] && !work.ceiling));
        assert_eq!(args.ceph, CephPlace::Unpacked("x/y".into()));
        for mixed in ["--qd", "--spin-us"] {
            assert!(parse(&["--full", mixed, "1"]).is_err(), "{mixed}");
        }
    }
}
