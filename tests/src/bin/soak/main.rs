//! `soak`: hours of mixed load on a cluster of Sepiola whose monitor is killed every minute and whose OSDs
//! come and go, judged at the end: no panic, no leak, no operation that hangs, no data that is wrong.
//! `docs/soak.md` says how to run it and how to read it.
#![forbid(unsafe_code)]

mod disturb;
mod load;
mod logs;
mod memory;
mod plan;
mod protocol;
mod report;
mod rust_client;

use std::{
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::{Parser, Subcommand, ValueEnum};
use sepiola_cluster::ClusterOptions;
use sepiola_tests::{Failure, Result, WorkDir, sepiola_binary};
use tokio::runtime::Runtime;

use crate::{disturb::Disturber, load::LoadClient, plan::Plan, report::Report};

/// OSDs of the cluster. The first is never restarted, so its memory tells of leaks.
const OSDS: u32 = 3;

/// Mixed load of two clients on three OSDs, under restarts.
#[derive(Debug, Parser)]
#[command(name = "soak", max_term_width = 110)]
struct Args {
    /// How long.
    #[arg(long, default_value_t = 60)]
    minutes: u64,
    /// Makes the sequence of restarts and of operations another one.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The form of the report.
    #[arg(long, value_enum, default_value = "plain")]
    format: Format,
    #[command(subcommand)]
    role: Option<Role>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Plain,
    Json,
}

#[derive(Debug, Subcommand)]
enum Role {
    /// What the program runs as its first client: Sepiola's library.
    #[command(hide = true)]
    Client {
        /// What to work on.
        plan: PathBuf,
    },
}

fn main() -> ExitCode {
    let args = Args::parse();
    if let Some(Role::Client { plan }) = &args.role {
        return rust_client::run(plan);
    }
    match soak(&args) {
        Ok(report) => {
            match args.format {
                Format::Plain => print!("{report}"),
                Format::Json => println!("{}", serde_json::to_string_pretty(&report).expect("plain data")),
            }
            if report.passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(e) => {
            eprintln!("soak: {e}");
            ExitCode::FAILURE
        }
    }
}

fn soak(args: &Args) -> Result<Report> {
    let dir = WorkDir::new("soak")?;
    let outcome = soak_in(&dir, args);
    if !outcome.as_ref().is_ok_and(Report::passed) {
        eprintln!("# files kept in {}", dir.keep().display());
    }
    outcome
}

fn soak_in(dir: &WorkDir, args: &Args) -> Result<Report> {
    let failure = |e: sepiola_cluster::ClusterError| Failure::new(e.to_string());
    let runtime = Runtime::new().map_err(|e| Failure::new(e.to_string()))?;
    let options = ClusterOptions::new(dir.path().join("cluster")).program(sepiola_binary()?).osds(OSDS);
    let options = options.pool_with_pgs(plan::POOL, plan::PGS);
    let cluster = runtime.block_on(options.start()).map_err(failure)?;

    let mut clients = Vec::new();
    for (name, workers) in [("sepiola", 8), ("python", 4)] {
        let plan = runtime.block_on(Plan::make(&cluster, name, workers, args.seed))?;
        let plan_file = dir.path().join(format!("{name}.plan"));
        plan.write(&plan_file)?;
        clients.push(LoadClient::start(name, &plan_file, dir.path())?);
    }

    let started = Instant::now();
    let length = Duration::from_secs(args.minutes * 60);
    let mut disturber = Disturber::new(cluster, &runtime, &mut clients, args.seed);
    let restarts = disturber.run_until(started + length)?;
    let (memory, cluster) = disturber.finish();
    for client in &mut clients {
        client.stop();
    }
    // Whatever has happened, the cluster must be whole for a newcomer.
    let whole = runtime.block_on(plan::all_up(&cluster));
    drop(cluster);
    Ok(Report::new(args, started.elapsed(), clients, restarts, &memory, logs::scan(dir.path())?, whole))
}
