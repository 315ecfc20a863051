//! `versus-ceph`: Sepiola and real Ceph on this machine, in alternating rounds: both clients on both OSDs,
//! and what starting and standing still costs.
#![forbid(unsafe_code)]

mod bench;
mod ceilings;
mod installed;
mod markdown;
mod measure;
mod results;
mod side;

use std::{fs, path::PathBuf, process::ExitCode};

use clap::{Parser, ValueEnum};
use sepiola_benches::{Load, Pinning, parse_size};
use sepiola_cluster::MsMode;
use sepiola_tests::{Failure, Release, Result};

/// Measures Sepiola beside real Ceph.
#[derive(Debug, Parser)]
#[command(name = "versus-ceph", max_term_width = 110)]
struct Args {
    /// Seconds of one measurement.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Rounds through all measurements; the order of the sides alternates.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Connection modes.
    #[arg(long, value_delimiter = ',', default_value = "crc,secure")]
    modes: Vec<MsMode>,
    /// Operations in flight.
    #[arg(long, value_delimiter = ',', default_value = "16")]
    qd: Vec<usize>,
    /// Bytes of an operation and of an object, e.g. 4K,4M.
    #[arg(long, value_parser = parse_size, value_delimiter = ',', default_value = "4K")]
    sizes: Vec<usize>,
    /// Binds clients and daemons to a processor each, e.g. 1:0; without it nothing is bound.
    #[arg(long, value_name = "CLIENT:DAEMONS")]
    pin: Option<Pinning>,
    /// Microseconds that Sepiola's client and OSD spin before they sleep; Ceph has no such option.
    #[arg(long, default_value_t = 0)]
    spin_us: u64,
    /// The release of Ceph: the distribution's, or the newest one that the tests set up.
    #[arg(long, value_enum, default_value = "installed")]
    ceph: CephRelease,
    /// Also measure what loopback allows in the same rounds, and print our share of it.
    #[arg(long)]
    ceiling: bool,
    /// The form of output.
    #[arg(long, value_enum, default_value = "markdown")]
    format: Format,
    /// Also writes everything as JSON, raw rounds included, to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum CephRelease {
    Installed,
    Newest,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Markdown,
    Json,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("versus-ceph: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<()> {
    let release = match args.ceph {
        CephRelease::Installed => Release::Installed,
        CephRelease::Newest => Release::Newest,
    };
    let loads = args.sizes.iter().flat_map(|&size| args.qd.iter().map(move |&depth| Load { size, depth }));
    let settings = results::Settings {
        seconds: args.seconds,
        rounds: args.rounds,
        modes: args.modes.iter().map(MsMode::to_string).collect(),
        loads: loads.collect(),
        pinning: args.pin,
        spin_us: args.spin_us,
        pg_num: side::PG_NUM,
        hints: true,
        verify: true,
    };
    let results = measure::everything(settings, &args.modes, release, args.ceiling)?;
    let json = serde_json::to_string_pretty(&results).map_err(|e| Failure::new(e.to_string()))?;
    if let Some(file) = &args.json {
        fs::write(file, &json).map_err(Failure::file(file))?;
    }
    match args.format {
        Format::Markdown => print!("{}", markdown::report(&results)),
        Format::Json => println!("{json}"),
    }
    Ok(())
}
