//! `connects`: how often a second Sepiola's client connects, authenticates, does one operation and ends,
//! one connection after the other in one process. `versus-ceph` runs it; what it prints is for that.
#![forbid(unsafe_code)]

use std::{
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::Parser;
use sepiola_client::{Rados, Result};

/// Connects, stats one object and ends, again and again; prints how often as JSON.
#[derive(Debug, Parser)]
#[command(name = "connects")]
struct Args {
    /// The cluster's ceph.conf.
    conf: PathBuf,
    /// A pool.
    pool: String,
    /// An object in it.
    object: String,
    /// How long to go on.
    seconds: u64,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(repeat(&args)).map_err(|e| e.to_string()),
        Err(e) => Err(e.to_string()),
    };
    match done {
        Ok((connects, time)) => {
            println!("{}", serde_json::json!({ "connects": connects, "seconds": time.as_secs_f64() }));
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("connects: {e}");
            ExitCode::FAILURE
        }
    }
}

async fn repeat(args: &Args) -> Result<(u64, Duration)> {
    let (start, time) = (Instant::now(), Duration::from_secs(args.seconds));
    let mut connects = 0;
    loop {
        once(args).await?;
        connects += 1;
        let elapsed = start.elapsed();
        if elapsed >= time {
            return Ok((connects, elapsed));
        }
    }
}

/// Everything anew, from reading the configuration on; dropping the handle ends its connections.
async fn once(args: &Args) -> Result<()> {
    let rados = Rados::builder().conf_file(&args.conf)?.id("admin").connect().await?;
    rados.open_ioctx(&args.pool).await?.stat(&args.object).await?;
    Ok(())
}
