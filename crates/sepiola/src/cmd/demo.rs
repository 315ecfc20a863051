//! `sepiola demo`: what a cluster does on this machine, and what encryption costs.

use std::time::{Duration, Instant};

use clap::Args;
use sepiola_cluster::{Cluster, ClusterOptions, MsMode};

use crate::{
    bench::{BenchOptions, Row, Summary, Workload, cleanup, run as run_workload},
    cli::Format,
    failure::{CmdResult, Failure},
};

/// Flags of `sepiola demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Seconds of each of the measurements, 30 at most: what is written stays in memory meanwhile.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=30))]
    pub seconds: u64,
    /// Operations in flight.
    #[arg(short = 't', long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub concurrent_ios: u16,
    /// The form of output.
    #[arg(short = 'f', long, value_enum, default_value_t)]
    pub format: Format,
}

/// Rounds that each measurement is split into, alternating between modes, so that a slow moment of the
/// machine does not fall on one mode alone.
const ROUNDS: usize = 3;
const POOL: &str = "demo";
const OP_SIZE: u64 = 4096;

struct Subject {
    mode: MsMode,
    cluster: Cluster,
    rados: sepiola_client::Rados,
    first_byte: Duration,
    write: Vec<Summary>,
    rand: Vec<Summary>,
}

/// Runs the demo.
pub fn run(args: DemoArgs) -> CmdResult {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        tokio::select! {
            // First, so that signals are caught before anything is started.
            biased;
            // Dropping the demo stops its clusters and removes their folders.
            _ = crate::daemon::interrupted() => Err(Failure::new("interrupted")),
            result = demo(&args) => result,
        }
    })
}

async fn demo(args: &DemoArgs) -> CmdResult {
    let say = |text: &str| {
        if !args.format.is_json() {
            eprintln!("{text}");
        }
    };
    let mut subjects = Vec::new();
    for mode in [MsMode::Secure, MsMode::Crc] {
        let subject = start(mode).await?;
        say(&format!(
            "{mode}: monitor and OSD started, first byte written after {:.0} ms",
            subject.first_byte.as_secs_f64() * 1e3
        ));
        subjects.push(subject);
    }
    let options = BenchOptions {
        duration: Duration::from_secs_f64(args.seconds as f64 / ROUNDS as f64),
        op_size: OP_SIZE,
        object_size: OP_SIZE,
        concurrent: args.concurrent_ios.into(),
        hints: false,
        ..BenchOptions::default()
    };
    for round in 1..=ROUNDS {
        say(&format!(
            "round {round} of {ROUNDS}: 4 KiB writes and random reads, {} in flight",
            options.concurrent
        ));
        for subject in &mut subjects {
            let io = subject.rados.open_ioctx(POOL).await?;
            let quiet = |_: &Row| Ok(());
            subject.write.push(run_workload(&io, Workload::Write, &options, quiet).await?);
            subject.rand.push(run_workload(&io, Workload::Rand, &options, quiet).await?);
            cleanup(&io, &options.run_name, options.concurrent).await?;
        }
    }
    report(args, &subjects);
    Ok(())
}

async fn start(mode: MsMode) -> Result<Subject, Failure> {
    let begun = Instant::now();
    let program = std::env::current_exe()?;
    let cluster = ClusterOptions::temporary()?.program(program).ms_mode(mode).pool(POOL).start().await?;
    let rados = cluster.connect().await?;
    let io = rados.open_ioctx(POOL).await?;
    io.write_full("first", "x").await?;
    let first_byte = begun.elapsed();
    Ok(Subject { mode, cluster, rados, first_byte, write: Vec::new(), rand: Vec::new() })
}

/// The run with the median throughput.
fn median(runs: &[Summary]) -> Summary {
    let mut sorted = runs.to_vec();
    sorted.sort_by(|a, b| a.iops.total_cmp(&b.iops));
    sorted[sorted.len() / 2]
}

fn report(args: &DemoArgs, subjects: &[Subject]) {
    let rows: Vec<_> = subjects.iter().map(|s| (s.mode, median(&s.write), median(&s.rand), s)).collect();
    let crc = rows.iter().find(|r| r.0 == MsMode::Crc).expect("both modes were measured");
    let secure = rows.iter().find(|r| r.0 == MsMode::Secure).expect("both modes were measured");
    let cost = |crc: f64, secure: f64| 100.0 * (1.0 - secure / crc);
    let write_cost = cost(crc.1.iops, secure.1.iops);
    let read_cost = cost(crc.2.iops, secure.2.iops);
    if args.format.is_json() {
        let modes: Vec<_> = rows
            .iter()
            .map(|(mode, write, rand, s)| {
                serde_json::json!({
                    "mode": mode.to_string(), "start_to_first_byte_s": s.first_byte.as_secs_f64(),
                    "write": write, "rand": rand,
                })
            })
            .collect();
        args.format.print(&serde_json::json!({
            "op_size": OP_SIZE, "concurrent": args.concurrent_ios, "rounds": ROUNDS, "auth": "cephx", "modes": modes,
            "secure_cost_percent": { "write": write_cost, "rand": read_cost },
        }));
        return;
    }
    say!(
        "\n4 KiB, {} in flight, cephx, one OSD in memory, client and daemons in processes of their own, nothing pinned",
        args.concurrent_ios
    );
    say!("{:<9}{:<8}{:>10}{:>11}{:>11}{:>9}", "mode", "", "IOPS", "avg ms", "p99 ms", "MB/s");
    for (mode, write, rand, _) in &rows {
        for (name, s) in [("write", write), ("rand", rand)] {
            say!(
                "{:<9}{name:<8}{:>10.0}{:>11.3}{:>11.3}{:>9.1}",
                mode.to_string(),
                s.iops,
                s.latency * 1e3,
                s.p99_latency * 1e3,
                s.bandwidth
            );
        }
    }
    // A negative cost is the machine's noise, not a gain.
    let text = |cost: f64| if cost < 0.0 { "nothing measurable".to_owned() } else { format!("{cost:.1} %") };
    say!("secure costs {} of the writes and {} of the reads a second", text(write_cost), text(read_cost));
}

impl std::fmt::Debug for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subject").field("mode", &self.mode).field("conf", &self.cluster.conf()).finish()
    }
}
