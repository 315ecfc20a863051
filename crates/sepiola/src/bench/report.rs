//! How a run is shown.

use std::io::{self, Write};

use crate::number::six_digits;

use super::{
    stats::{MIB, Recorder, Summary},
    workload::Workload,
};

/// How many rows stand under one header.
const ROWS_PER_HEADER: u64 = 20;

/// The rows that appear while a run goes on, one a second.
pub struct Columns<W> {
    out: W,
    row: u64,
    last_finished: u64,
}

impl<W: Write> Columns<W> {
    /// Rows on `out`.
    pub fn new(out: W) -> Self {
        Columns { out, row: 0, last_finished: 0 }
    }

    pub(super) fn row(
        &mut self,
        second: u64,
        in_flight: u64,
        recorder: &Recorder,
        elapsed: f64,
        op_size: u64,
        last_latency: Option<f64>,
    ) -> io::Result<()> {
        if self.row.is_multiple_of(ROWS_PER_HEADER) {
            if self.row > 0 {
                let (min, max) = recorder.latency_bounds();
                writeln!(
                    self.out,
                    "min lat: {} max lat: {} avg lat: {}",
                    six_digits(min),
                    six_digits(max),
                    six_digits(recorder.average_latency())
                )?;
            }
            writeln!(
                self.out,
                "{:>5}{:>8}{:>10}{:>10}{:>10}{:>10}{:>12}{:>12}",
                "sec", "Cur ops", "started", "finished", "avg MB/s", "cur MB/s", "last lat(s)", "avg lat(s)"
            )?;
        }
        self.row += 1;
        let finished = recorder.count();
        let average = if elapsed > 0.0 { finished as f64 * op_size as f64 / elapsed / MIB } else { 0.0 };
        let current = (finished - self.last_finished) as f64 * op_size as f64 / MIB;
        self.last_finished = finished;
        writeln!(
            self.out,
            "{second:>5}{in_flight:>8}{:>10}{finished:>10}{:>10}{:>10}{:>12}{:>12}",
            finished + in_flight,
            six_digits(average),
            six_digits(current),
            last_latency.map_or_else(|| "-".to_owned(), six_digits),
            six_digits(recorder.average_latency()),
        )?;
        self.out.flush()
    }
}

/// The closing table of `rados bench`, with percentiles behind it.
pub fn print_plain(out: &mut impl Write, s: &Summary, workload: Workload) -> io::Result<()> {
    let write = workload == Workload::Write;
    let width = if write { 24 } else { 22 };
    let mut line = |label: &str, value: String| writeln!(out, "{label:<width$}{value}");
    let verb = if write { "write" } else { "read" };
    line("Total time run:", six_digits(s.seconds))?;
    line(&format!("Total {verb}s made:"), s.ops.to_string())?;
    line(if write { "Write size:" } else { "Read size:" }, s.op_size.to_string())?;
    line("Object size:", s.object_size.to_string())?;
    line("Bandwidth (MB/sec):", six_digits(s.bandwidth))?;
    if write {
        line("Stddev Bandwidth:", six_digits(s.stddev_bandwidth))?;
        // What the stock tool prints when no second went by.
        let (max, min) = if s.intervals == 0 { (0.0, f64::MAX) } else { (s.max_bandwidth, s.min_bandwidth) };
        line("Max bandwidth (MB/sec):", six_digits(max))?;
        line("Min bandwidth (MB/sec):", six_digits(min))?;
    }
    line("Average IOPS:", format!("{:.0}", s.iops.floor()))?;
    line("Stddev IOPS:", six_digits(s.stddev_iops))?;
    line("Max IOPS:", format!("{:.0}", s.max_iops.floor()))?;
    line("Min IOPS:", format!("{:.0}", s.min_iops.floor()))?;
    line("Average Latency(s):", six_digits(s.latency))?;
    if write {
        line("Stddev Latency(s):", six_digits(s.stddev_latency))?;
    }
    line("Max latency(s):", six_digits(s.max_latency))?;
    line("Min latency(s):", six_digits(s.min_latency))?;
    line("p50 latency(s):", six_digits(s.p50_latency))?;
    line("p99 latency(s):", six_digits(s.p99_latency))?;
    line("p99.9 latency(s):", six_digits(s.p999_latency))
}

/// The same as JSON.
pub fn print_json(out: &mut impl Write, s: &Summary) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, s)?;
    writeln!(out)
}
