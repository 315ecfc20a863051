//! The load itself: a fixed number of operations in flight, in one task.

use std::{
    io,
    time::{Duration, Instant},
};

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, stream::FuturesUnordered};
use rand::RngExt;
use sepiola_client::{AllocHint, IoCtx, WriteOp};
use sepiola_wire::Errno;
use thiserror::Error;

use super::{
    names::{RunMetadata, host, prefix},
    report::Row,
    stats::{MIB, Recorder, Summary},
};

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workload {
    /// Writes new objects.
    Write,
    /// Reads what the last write left, in order.
    Seq,
    /// Reads it at random.
    Rand,
}

impl std::str::FromStr for Workload {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "write" => Ok(Workload::Write),
            "seq" => Ok(Workload::Seq),
            "rand" => Ok(Workload::Rand),
            _ => Err(format!("`{s}` is none of write, seq, rand")),
        }
    }
}

/// Where a write puts its bytes; several at once is possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Destination {
    /// The object's data.
    pub data: bool,
    /// A value of its omap.
    pub omap: bool,
    /// An attribute.
    pub xattr: bool,
}

/// Settings of a run.
#[derive(Debug, Clone)]
pub struct BenchOptions {
    /// How long.
    pub duration: Duration,
    /// Bytes of an operation.
    pub op_size: u64,
    /// Bytes of an object, at least `op_size`.
    pub object_size: u64,
    /// Operations in flight.
    pub concurrent: usize,
    /// The object that remembers the run.
    pub run_name: String,
    /// Write over the objects of the last run of this name.
    pub reuse: bool,
    /// What is written.
    pub destination: Destination,
    /// Send allocation hints with writes, as the stock tool does.
    pub hints: bool,
    /// Compare what is read.
    pub verify: bool,
    /// Objects after which a write ends; 0 is no limit.
    pub max_objects: u64,
}

impl Default for BenchOptions {
    fn default() -> Self {
        BenchOptions {
            duration: Duration::from_secs(1),
            op_size: 4096,
            object_size: 4096,
            concurrent: 16,
            run_name: super::DEFAULT_RUN_NAME.to_owned(),
            reuse: false,
            destination: Destination { data: true, omap: false, xattr: false },
            hints: true,
            verify: true,
            max_objects: 0,
        }
    }
}

/// Why a run ended early.
#[derive(Debug, Error)]
pub enum BenchError {
    /// An operation failed.
    #[error(transparent)]
    Op(#[from] sepiola_client::Error),
    /// Nothing to read.
    #[error("nothing to read: `bench SECONDS write --no-cleanup` leaves something")]
    NoData,
    /// Nothing to write over.
    #[error("nothing to write over: `bench SECONDS write --no-cleanup` leaves something")]
    NothingToReuse,
    /// The objects of the run before have another size.
    #[error("objects of {0} bytes cannot be written over with operations of {1} bytes")]
    OtherSize(u64, u64),
    /// What was read is not what was written.
    #[error("object {0} does not have the content that was written")]
    Corrupt(String),
    /// The rows could not be printed.
    #[error(transparent)]
    Output(#[from] std::io::Error),
}

impl BenchError {
    /// The errno for the exit status.
    pub fn errno(&self) -> Errno {
        match self {
            BenchError::Op(e) => e.errno(),
            BenchError::NoData | BenchError::NothingToReuse => Errno::ENOENT,
            BenchError::OtherSize(..) => Errno::EINVAL,
            BenchError::Corrupt(_) | BenchError::Output(_) => Errno::EIO,
        }
    }
}

/// The hint that the stock tool sends: sequential write and read, append only, immutable.
const HINT: AllocHint = AllocHint(0x35);

/// The content of operation `n`: its number as text, then filling. Written into `buffer`.
fn fill(buffer: &mut BytesMut, n: u64, op_size: usize) {
    let text = format!("I'm the {n:16}th op!\0");
    let head = text.len().min(op_size);
    if buffer.len() != op_size {
        buffer.clear();
        buffer.resize(op_size, b'z');
    }
    buffer[..head].copy_from_slice(&text.as_bytes()[..head]);
}

/// One write, as the stock tool makes it.
fn write_op(options: &BenchOptions, offset: u64, payload: &Bytes) -> WriteOp {
    let Destination { data, omap, xattr } = options.destination;
    let mut op = WriteOp::new();
    if data {
        if options.hints {
            op = op.alloc_hint(options.object_size, options.op_size, HINT).allow_failure();
        }
        op = op.write(offset, payload.clone());
    }
    if omap {
        op = op.omap_set([(format!("bench-omap-key-{offset}"), payload)]);
    }
    if xattr {
        op = op.set_xattr(format!("bench-xattr-key-{offset}"), payload);
    }
    op
}

struct Run<'a, R> {
    io: &'a IoCtx,
    options: &'a BenchOptions,
    /// Bytes of an operation: of reads, what was written.
    op_size: u64,
    recorder: Recorder,
    on_row: R,
    start: Instant,
    last_latency: Option<f64>,
    next_row: Instant,
    row: u64,
    row_finished: u64,
}

/// Runs a workload; `on_row` gets a row once a second.
pub async fn run<R: FnMut(&Row) -> io::Result<()>>(
    io: &IoCtx,
    workload: Workload,
    options: &BenchOptions,
    on_row: R,
) -> Result<Summary, BenchError> {
    let metadata = match workload {
        Workload::Write => None,
        Workload::Seq | Workload::Rand => Some(read_metadata(io, &options.run_name).await?),
    };
    let op_size = metadata.map_or(options.op_size, |m| m.op_size);
    let object_size = metadata.map_or(options.object_size, |m| m.object_size);
    let now = Instant::now();
    let mut run = Run {
        io,
        options,
        op_size,
        recorder: Recorder::new(op_size),
        on_row,
        start: now,
        last_latency: None,
        next_row: now,
        row: 0,
        row_finished: 0,
    };
    match metadata {
        None => run.write().await?,
        Some(metadata) => run.read(workload == Workload::Rand, metadata).await?,
    }
    Ok(run.recorder.summary(run.start.elapsed(), object_size))
}

pub(super) async fn read_metadata(io: &IoCtx, run_name: &str) -> Result<RunMetadata, BenchError> {
    match io.read(run_name, 0..24).await {
        Ok(bytes) => RunMetadata::decode(&bytes).map_err(|_| BenchError::NoData),
        Err(e) if e.errno() == Errno::ENOENT => Err(BenchError::NoData),
        Err(e) => Err(e.into()),
    }
}

impl<R: FnMut(&Row) -> io::Result<()>> Run<'_, R> {
    fn expired(&self) -> bool {
        self.start.elapsed() >= self.options.duration
    }

    /// Books one finished operation and prints a row when a second went by.
    fn finish_one(&mut self, started: Instant, in_flight: usize) -> Result<(), BenchError> {
        let now = Instant::now();
        let latency = now - started;
        self.last_latency = Some(latency.as_secs_f64());
        self.recorder.finished(latency);
        if now >= self.next_row {
            self.print_row(now, in_flight)?;
        }
        Ok(())
    }

    /// The row of second 0, before anything has finished.
    fn first_row(&mut self, in_flight: usize) -> Result<(), BenchError> {
        if self.row == 0 { self.print_row(self.start, in_flight) } else { Ok(()) }
    }

    fn print_row(&mut self, now: Instant, in_flight: usize) -> Result<(), BenchError> {
        if self.row > 0 {
            let seconds = (now - self.next_row).as_secs_f64() + 1.0;
            self.recorder.interval(self.recorder.count() - self.row_finished, seconds);
        }
        let finished = self.recorder.count();
        let elapsed = (now - self.start).as_secs_f64();
        let mib = |ops: u64| ops as f64 * self.op_size as f64 / MIB;
        (self.on_row)(&Row {
            second: self.row,
            in_flight: in_flight as u64,
            finished,
            average: if elapsed > 0.0 { mib(finished) / elapsed } else { 0.0 },
            current: mib(finished - self.row_finished),
            last_latency: self.last_latency,
            latency: self.recorder.latencies(),
        })?;
        self.row_finished = finished;
        self.row += 1;
        self.next_row = self.start + Duration::from_secs(self.row);
        Ok(())
    }

    async fn write(&mut self) -> Result<(), BenchError> {
        let options = self.options;
        let reused = match options.reuse {
            true => Some(read_metadata(self.io, &options.run_name).await.map_err(|e| match e {
                BenchError::NoData => BenchError::NothingToReuse,
                other => other,
            })?),
            false => None,
        };
        if let Some(before) = reused
            && (before.object_size < options.op_size
                || !before.object_size.is_multiple_of(options.op_size.max(1)))
        {
            return Err(BenchError::OtherSize(before.object_size, options.op_size));
        }
        let object_size = reused.map_or(options.object_size, |before| before.object_size);
        let pid = reused.map_or_else(std::process::id, |before| before.pid);
        let prefix = prefix(&host(), pid);
        let op_size = usize::try_from(options.op_size).unwrap_or(usize::MAX);
        let per_object = (object_size / options.op_size.max(1)).max(1);
        let limit = if options.max_objects == 0 { u64::MAX } else { options.max_objects * per_object };
        let mut in_flight = FuturesUnordered::new();
        // Buffers go round: an operation's payload becomes the next one's once its reply is there.
        let mut spare: Vec<BytesMut> = Vec::with_capacity(options.concurrent);
        let mut next = 0;
        loop {
            while in_flight.len() < options.concurrent && next < limit && !self.expired() {
                let mut buffer = spare.pop().unwrap_or_default();
                fill(&mut buffer, next, op_size);
                let payload = buffer.freeze();
                let oid = format!("{prefix}_object{}", next / per_object);
                let offset = next % per_object * options.op_size;
                let request = self.io.operate(oid, write_op(options, offset, &payload));
                in_flight.push(async move {
                    let started = Instant::now();
                    (started, payload, request.await)
                });
                next += 1;
            }
            self.first_row(in_flight.len())?;
            let Some((started, payload, result)) = in_flight.next().await else { break };
            result?;
            self.finish_one(started, in_flight.len())?;
            spare.extend(payload.try_into_mut().ok());
        }
        let metadata = RunMetadata {
            object_size,
            finished: u32::try_from(next).unwrap_or(u32::MAX),
            pid,
            op_size: options.op_size,
        };
        self.io.write_full(options.run_name.as_str(), metadata.encode()).await?;
        Ok(())
    }

    async fn read(&mut self, random: bool, metadata: RunMetadata) -> Result<(), BenchError> {
        let options = self.options;
        let prefix = prefix(&host(), metadata.pid);
        let per_object = metadata.ops_per_object();
        let total = u64::from(metadata.finished);
        if total == 0 {
            return Err(BenchError::NoData);
        }
        let mut expected = BytesMut::new();
        let mut in_flight = FuturesUnordered::new();
        let mut next = 0;
        loop {
            while in_flight.len() < options.concurrent && (random || next < total) && !self.expired() {
                let n = if random { rand::rng().random_range(0..total) } else { next };
                let oid = format!("{prefix}_object{}", n / per_object);
                let offset = n % per_object * metadata.op_size;
                let request = self.io.read(oid, offset..offset + metadata.op_size);
                in_flight.push(async move {
                    let started = Instant::now();
                    (n, started, request.await)
                });
                next += 1;
            }
            self.first_row(in_flight.len())?;
            let Some((n, started, result)) = in_flight.next().await else { break };
            let data: Bytes = result?;
            self.finish_one(started, in_flight.len())?;
            if options.verify {
                fill(&mut expected, n, metadata.op_size as usize);
                if data != expected {
                    return Err(BenchError::Corrupt(format!("{prefix}_object{}", n / per_object)));
                }
            }
        }
        Ok(())
    }
}
