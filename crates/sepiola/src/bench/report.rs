//! How a run is shown.

use std::io::{self, Write};

use sepiola_wire::UTime;
use serde_json::{Map, Value, json};

use super::{stats::Summary, workload::Workload};
use crate::number::six_digits;

/// How many rows stand under one header.
const ROWS_PER_HEADER: u64 = 20;

/// One second of a run. Seconds, MiB/s.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Seconds since the start.
    pub second: u64,
    /// Operations in flight.
    pub in_flight: u64,
    /// Operations that are done.
    pub finished: u64,
    /// Bandwidth since the start.
    pub average: f64,
    /// Bandwidth of the last second.
    pub current: f64,
    /// Latency of the last operation that finished.
    pub last_latency: Option<f64>,
    /// Shortest, longest and mean latency.
    pub latency: [f64; 3],
}

/// The rows that appear while a run goes on, one a second.
pub struct Columns<W> {
    out: W,
    row: u64,
    stamped: bool,
}

impl<W: Write> Columns<W> {
    /// Rows on `out`, each with date and time in front if `stamped`.
    pub fn new(out: W, stamped: bool) -> Self {
        Columns { out, row: 0, stamped }
    }

    /// Prints a row, with the header above it from time to time.
    pub fn row(&mut self, row: &Row) -> io::Result<()> {
        let stamp = stamp(self.stamped);
        let out = &mut self.out;
        if self.row.is_multiple_of(ROWS_PER_HEADER) {
            if self.row > 0 {
                let [min, max, mean] = row.latency.map(six_digits);
                writeln!(out, "{stamp}min lat: {min} max lat: {max} avg lat: {mean}")?;
            }
            writeln!(
                out,
                "{stamp}{:>5}{:>8}{:>10}{:>10}{:>10}{:>10}{:>12}{:>12}",
                "sec", "Cur ops", "started", "finished", "avg MB/s", "cur MB/s", "last lat(s)", "avg lat(s)"
            )?;
        }
        self.row += 1;
        writeln!(
            out,
            "{stamp}{:>5}{:>8}{:>10}{:>10}{:>10}{:>10}{:>12}{:>12}",
            row.second,
            row.in_flight,
            row.finished + row.in_flight,
            row.finished,
            six_digits(row.average),
            six_digits(row.current),
            row.last_latency.map_or_else(|| "-".to_owned(), six_digits),
            six_digits(row.latency[2]),
        )?;
        out.flush()
    }
}

/// Date and time and a blank, or nothing.
pub fn stamp(wanted: bool) -> String {
    if wanted { format!("{} ", UTime::now()) } else { String::new() }
}

/// A row under the stock tool's names.
pub fn json_row(row: &Row) -> Value {
    json!({
        "sec": row.second, "cur_ops": row.in_flight, "started": row.finished + row.in_flight,
        "finished": row.finished, "avg_bw": row.average, "cur_bw": row.current,
        "last_lat": row.last_latency.unwrap_or(0.0), "avg_lat": row.latency[2],
    })
}

/// The closing table under the stock tool's names, with percentiles behind it.
pub fn json_summary(s: &Summary, workload: Workload) -> Map<String, Value> {
    let (made, size) = match workload {
        Workload::Write => ("total_writes_made", "write_size"),
        Workload::Seq | Workload::Rand => ("total_reads_made", "read_size"),
    };
    let table = json!({
        "total_time_run": s.seconds, made: s.ops, size: s.op_size, "object_size": s.object_size,
        "bandwidth": s.bandwidth, "stddev_bandwidth": s.stddev_bandwidth, "max_bandwidth": s.max_bandwidth,
        "min_bandwidth": s.min_bandwidth, "average_iops": s.iops, "stddev_iops": s.stddev_iops,
        "max_iops": s.max_iops, "min_iops": s.min_iops, "average_latency": s.latency,
        "stddev_latency": s.stddev_latency, "max_latency": s.max_latency, "min_latency": s.min_latency,
        "p50_latency": s.p50_latency, "p99_latency": s.p99_latency, "p99.9_latency": s.p999_latency,
    });
    match table {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// The closing table of `rados bench`, with percentiles behind it.
pub fn print_plain(out: &mut (impl Write + ?Sized), s: &Summary, workload: Workload) -> io::Result<()> {
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
