//! `scale`: how Sepiola's figures change with the number of connections, OSDs and objects, and what each of
//! them takes of the daemons' memory.
#![forbid(unsafe_code)]

mod cluster;
mod connections;
mod load;
mod memory;
mod objects;
mod osds;
mod report;

use std::{fs, path::PathBuf, process::ExitCode, time::Duration};

use clap::{Parser, ValueEnum};
use sepiola_benches::Machine;
use sepiola_tests::{Failure, Result};

use crate::report::Report;

/// Measures Sepiola alone with growing numbers of connections, OSDs and objects.
#[derive(Debug, Parser)]
#[command(name = "scale", max_term_width = 110)]
struct Args {
    /// Seconds of writing and of reading, for each row.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Measures these parts alone.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PART")]
    only: Vec<Part>,
    /// Writes all figures to a file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Connections that share the operations in flight.
    Connections,
    /// OSDs under one client.
    Osds,
    /// Objects that exist already.
    Objects,
    /// Idle connections, for the daemons' memory.
    Memory,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("scale: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<()> {
    // One thread, as `sepiola rados` has: a client that is no larger than what users run.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(failed("starting a runtime"))?;
    let mut report = Report::new(Machine::now(), args.seconds);
    let ended = runtime.block_on(measure(args, &mut report));
    // What was measured until something failed is worth as much as before.
    print!("{}", report.markdown());
    if let Some(file) = &args.json {
        let json = serde_json::to_string_pretty(&report).map_err(failed("writing JSON"))?;
        fs::write(file, json).map_err(Failure::file(file))?;
    }
    ended
}

async fn measure(args: &Args, report: &mut Report) -> Result<()> {
    let time = Duration::try_from_secs_f64(args.seconds).map_err(failed("--seconds"))?;
    let wanted = |part| args.only.is_empty() || args.only.contains(&part);
    if wanted(Part::Connections) {
        connections::measure(time, &mut report.throughput).await?;
    }
    if wanted(Part::Osds) {
        osds::measure(time, &mut report.throughput).await?;
    }
    if wanted(Part::Objects) {
        objects::measure(time, &mut report.throughput, &mut report.memory).await?;
    }
    if wanted(Part::Memory) {
        memory::measure(&mut report.memory).await?;
    }
    Ok(())
}

/// Says what was being done when something failed.
fn failed<E: std::fmt::Display>(doing: &str) -> impl FnOnce(E) -> Failure {
    move |e| Failure::new(format!("{doing}: {e}"))
}
