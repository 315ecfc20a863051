//! `sepiola bench` and `sepiola rados bench`: the benchmark of `rados bench`.

use std::{
    fs::File,
    io::{self, Write},
    time::{Duration, Instant},
};

use clap::Args;
use sepiola_client::IoCtx;
use sepiola_config::units::parse_size;
use sepiola_wire::Errno;
use serde_json::json;

use super::rados::{BenchFlags, RadosArgs};
use crate::{
    bench::{
        BenchError, BenchOptions, Columns, Destination, Workload, cleanup, json_row, json_summary,
        print_plain, run as run_workload, stamp,
    },
    cli::{ConnectArgs, Format},
    connect::{ConfigOptions, runtime},
    failure::{CmdResult, Failure},
    progress::Progress,
};

/// A size above 0, such as 4096, 4K or 4M.
pub fn size(text: &str) -> Result<u64, String> {
    parse_size(text)
        .filter(|size| *size > 0)
        .ok_or_else(|| format!("`{text}` is not a size: expected e.g. 4096, 4K or 4M"))
}

/// Flags of `sepiola bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// The pool.
    #[arg(short = 'p', long)]
    pub pool: String,
    /// Seconds.
    pub seconds: u64,
    /// write, seq or rand.
    pub workload: Workload,
    /// Bytes of an operation.
    #[arg(short = 'b', default_value = "4096", value_parser = size)]
    pub op_size: u64,
    #[command(flatten)]
    pub flags: BenchFlags,
    /// Microseconds to spin on a socket before sleeping.
    #[arg(long, default_value_t = 0)]
    pub spin_us: u64,
    /// cached, or per-message to show what caching cipher contexts is worth.
    #[arg(long, default_value = "cached")]
    pub crypto_context: String,
    /// Write what is printed to a file.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<std::path::PathBuf>,
    /// The form of output.
    #[arg(short = 'f', long, value_enum, default_value_t)]
    pub format: Format,
}

/// Runs the benchmark.
pub fn run(args: BenchArgs, mut options: ConfigOptions) -> CmdResult {
    let bench = settings(args.seconds, args.op_size, &args.flags);
    options.set_command_line("spin_us", args.spin_us.to_string());
    options.set_command_line("debug_crypto_context", args.crypto_context);
    let mut out = output(args.output.as_deref())?;
    runtime()?.block_on(async {
        let rados = args.connect.connect(&options).await?;
        let io = rados.open_ioctx(&args.pool).await?;
        measure(&io, args.workload, &bench, &args.flags, args.format, &mut *out).await
    })
}

/// `sepiola rados bench SECONDS WORKLOAD`.
pub fn run_rados(args: &RadosArgs, words: &[&[u8]], options: ConfigOptions) -> CmdResult {
    let usage = || {
        Failure::errno(Errno::EINVAL, "bench: expected SECONDS write|seq|rand; see `sepiola rados --help`")
    };
    let &[seconds, workload] = words else { return Err(usage()) };
    let text = |word| std::str::from_utf8(word).map_err(|_| usage());
    let seconds = text(seconds)?;
    let seconds: u64 = seconds
        .parse()
        .map_err(|_| Failure::errno(Errno::EINVAL, format!("Invalid value for seconds: '{seconds}'")))?;
    let workload: Workload =
        text(workload)?.parse().map_err(|why: String| Failure::errno(Errno::EINVAL, why))?;
    let flags = &args.bench;
    if workload != Workload::Write && args.op_size.is_some() {
        let why = "-b|--block_size option can be used only with 'write' bench test";
        return Err(Failure::errno(Errno::EINVAL, why));
    }
    if workload != Workload::Write && (flags.write_object || flags.write_omap || flags.write_xattr) {
        let why = "--write-object, --write-omap and --write-xattr options can only be used with the 'write' bench test";
        return Err(Failure::errno(Errno::EINVAL, why));
    }
    if args.output.is_some() && !args.format.is_json() {
        let why = "-o|--output option can only be used with '--format' option";
        return Err(Failure::errno(Errno::EINVAL, why));
    }
    let bench = settings(seconds, args.op_size(), flags);
    let mut out = output(args.output.as_deref())?;
    runtime()?.block_on(async {
        let rados = args.connect.connect(&options).await?;
        let io = super::rados::open_pool(&rados, args).await?;
        measure(&io, workload, &bench, flags, args.format, &mut *out).await
    })
}

fn output(file: Option<&std::path::Path>) -> Result<Box<dyn Write>, Failure> {
    Ok(match file {
        Some(file) => Box::new(File::create(file)?),
        None => Box::new(io::stdout()),
    })
}

fn settings(seconds: u64, op_size: u64, flags: &BenchFlags) -> BenchOptions {
    let object_size = flags.object_size.unwrap_or(op_size);
    BenchOptions {
        duration: Duration::from_secs(seconds),
        // Objects are no smaller than operations.
        op_size: op_size.min(object_size),
        object_size,
        concurrent: flags.concurrent.max(1),
        run_name: flags.run_name.clone(),
        reuse: flags.reuse_bench,
        destination: Destination {
            data: flags.write_object || !(flags.write_omap || flags.write_xattr),
            omap: flags.write_omap,
            xattr: flags.write_xattr,
        },
        hints: !flags.no_hints,
        verify: !flags.no_verify,
        max_objects: flags.max_objects,
    }
}

async fn measure(
    io: &IoCtx,
    workload: Workload,
    bench: &BenchOptions,
    flags: &BenchFlags,
    format: Format,
    out: &mut dyn Write,
) -> CmdResult {
    let progress = Progress::timed(bench.duration.as_secs());
    let now = || stamp(flags.show_time);
    let plain = !format.is_json();
    let write = workload == Workload::Write;
    if plain {
        writeln!(out, "hints = {}", u8::from(bench.hints))?;
        if write {
            writeln!(
                out,
                "{}Maintaining {} concurrent writes of {} bytes to objects of size {} for up to {} seconds or {} objects",
                now(),
                bench.concurrent,
                bench.op_size,
                bench.object_size,
                bench.duration.as_secs(),
                bench.max_objects
            )?;
            writeln!(out, "{}Object prefix: {}", now(), crate::bench::current_prefix())?;
        }
    }
    let mut rows = Vec::new();
    let mut columns = Columns::new(&mut *out, flags.show_time);
    let ran = run_workload(io, workload, bench, |row| {
        progress.at(row.second, format!("{} operations, {:.1} MB/s", row.finished, row.average));
        if plain {
            return progress.suspend(|| columns.row(row));
        }
        rows.push(json_row(row));
        Ok(())
    })
    .await;
    progress.finish();
    let summary = ran?;
    if plain {
        write!(out, "{}", now())?;
        print_plain(&mut *out, &summary, workload)?;
    } else {
        let mut report = serde_json::Map::new();
        if write {
            report.insert("concurrent_ios".to_owned(), bench.concurrent.into());
            report.insert("op_size".to_owned(), bench.op_size.into());
            report.insert("seconds_to_run".to_owned(), bench.duration.as_secs().into());
            report.insert("max_objects".to_owned(), bench.max_objects.into());
            report.insert("object_prefix".to_owned(), crate::bench::current_prefix().into());
        }
        report.insert("datas".to_owned(), rows.into());
        report.extend(json_summary(&summary, workload));
        writeln!(out, "{}", format.text(&json!(report)))?;
    }
    if write && !flags.no_cleanup {
        let start = Instant::now();
        if plain {
            writeln!(out, "{}Cleaning up (deleting benchmark objects)", now())?;
        }
        let removed = cleanup(io, &bench.run_name, bench.concurrent).await?.unwrap_or(0);
        if plain {
            writeln!(out, "{}Removed {removed} objects", now())?;
            let seconds = crate::number::six_digits(start.elapsed().as_secs_f64());
            writeln!(out, "{}Clean up completed and total clean up time :{seconds}", now())?;
        }
    }
    Ok(out.flush()?)
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        Failure::errno(error.errno(), error.to_string())
    }
}
