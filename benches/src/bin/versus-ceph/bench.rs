//! One run of a client's `rados bench`, with the same arguments for both clients.

use std::path::Path;

use sepiola_benches::{Load, Op};
use sepiola_tests::Result;
use serde::Serialize;

use crate::{
    plan::LARGE,
    side::{Side, Sides, in_seconds},
};

/// What a write of large operations leaves behind at most.
const LARGE_TOTAL: usize = 2 << 30;

/// What the tool says at its end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Outcome {
    /// As the tool measured it, without its start.
    pub seconds: f64,
    pub ops: u64,
    pub average_latency_s: f64,
    pub max_latency_s: f64,
}

/// Whose client, how long it spins if it is Sepiola's, and the cluster.
#[derive(Clone, Copy)]
pub struct Client<'a> {
    pub side: Side,
    pub spin_us: u64,
    pub conf: &'a Path,
}

/// Runs a client against a cluster. Reads read what the last write left.
pub fn run(sides: &Sides, client: Client<'_>, op: Op, load: Load, seconds: u64) -> Result<Outcome> {
    let mut rados = sides.rados(client.side, client.conf, client.spin_us).args([
        "bench",
        &seconds.to_string(),
        &op.to_string(),
    ]);
    rados = rados.args(["-t", &load.depth.to_string()]);
    // The stock tool takes the size of reads from what was written, and refuses to be told.
    if op == Op::Write {
        rados = rados.args(["-b", &load.size.to_string(), "--no-cleanup"]);
        if load.size >= LARGE {
            rados = rados.args(["--max-objects", &(LARGE_TOTAL / load.size).to_string()]);
        }
    }
    let output = rados.run(sides.scratch(), in_seconds(seconds + 120))?.success()?;
    // Allocation hints are a second operation in each write: both clients send them, or neither.
    let output = if op == Op::Write { output.prints("hints = 1")? } else { output };
    parse(&output.text()).ok_or_else(|| output.failure("printed no results"))
}

fn parse(text: &str) -> Option<Outcome> {
    let value = |labels: &[&str]| {
        let mut lines = text.lines();
        lines.find_map(|line| {
            labels.iter().find_map(|label| line.strip_prefix(label))?.trim().parse::<f64>().ok()
        })
    };
    let outcome = Outcome {
        seconds: value(&["Total time run:"])?,
        ops: value(&["Total writes made:", "Total reads made:"])? as u64,
        average_latency_s: value(&["Average Latency(s):"])?,
        max_latency_s: value(&["Max latency(s):"])?,
    };
    (outcome.seconds > 0.0 && outcome.ops > 0).then_some(outcome)
}

impl Outcome {
    /// Operations a second.
    pub fn iops(&self) -> f64 {
        self.ops as f64 / self.seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOCK: &str = "\
hints = 1
Maintaining 16 concurrent writes of 4096 bytes to objects of size 4096 for up to 1 seconds or 0 objects
Object prefix: benchmark_data_host_4711
  sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)
    0       0         0         0         0         0           -           0
    1      16      8123      8107   31.6632   31.668   0.0015    0.00196
Total time run:         1.00187
Total writes made:      8123
Write size:             4096
Object size:            4096
Bandwidth (MB/sec):     31.6709
Average IOPS:           8107
Stddev IOPS:            0
Average Latency(s):     0.00197046
Stddev Latency(s):      0.000512
Max latency(s):         0.0123
Min latency(s):         0.0007
";

    #[test]
    fn the_tool_s_closing_lines_are_read() {
        let expected =
            Outcome { seconds: 1.00187, ops: 8123, average_latency_s: 0.001_970_46, max_latency_s: 0.0123 };
        assert_eq!(parse(STOCK), Some(expected));
        assert_eq!(parse(&STOCK.replace("writes made", "reads made")), Some(expected));
        assert_eq!(parse(&STOCK.replace("8123", "0")), None, "nothing was done");
        assert_eq!(parse("error: pool not found"), None);
    }
}
