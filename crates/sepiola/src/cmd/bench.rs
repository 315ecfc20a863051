//! `sepiola bench`: the benchmark of `rados bench`.

use std::{
    io::{self, Write},
    time::{Duration, Instant},
};

use clap::Args;
use sepiola_client::IoCtx;
use sepiola_config::units::parse_size;

use crate::{
    bench::{
        BenchError, BenchOptions, Columns, Workload, cleanup, print_json, print_plain, run as run_workload,
    },
    cli::{ConnectArgs, Format},
    connect::{ConfigOptions, runtime},
    failure::{CmdResult, Failure},
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
    /// Bytes of an object; as -b if not given.
    #[arg(short = 'O', value_parser = size)]
    pub object_size: Option<u64>,
    /// Operations in flight.
    #[arg(short = 't', long, default_value_t = 16)]
    pub concurrent_ios: usize,
    /// Keep the objects that were written.
    #[arg(long)]
    pub no_cleanup: bool,
    /// The object that remembers the run.
    #[arg(long, default_value = crate::bench::DEFAULT_RUN_NAME)]
    pub run_name: String,
    /// Do not send allocation hints.
    #[arg(long)]
    pub no_hints: bool,
    /// Do not compare what is read.
    #[arg(long)]
    pub no_verify: bool,
    /// Microseconds to spin on a socket before sleeping.
    #[arg(long, default_value_t = 0)]
    pub spin_us: u64,
    /// cached, or per-message to show what caching cipher contexts is worth.
    #[arg(long, default_value = "cached")]
    pub crypto_context: String,
    /// The form of output.
    #[arg(short = 'f', long, value_enum, default_value_t)]
    pub format: Format,
}

/// Runs the benchmark.
pub fn run(args: BenchArgs, options: ConfigOptions) -> CmdResult {
    let bench = BenchOptions {
        duration: Duration::from_secs(args.seconds),
        op_size: args.op_size,
        object_size: object_size(args.op_size, args.object_size)?,
        concurrent: args.concurrent_ios.max(1),
        run_name: args.run_name,
        hints: !args.no_hints,
        verify: !args.no_verify,
        max_objects: 0,
    };
    let mut options = options;
    options.set_command_line("spin_us", args.spin_us.to_string());
    options.set_command_line("debug_crypto_context", args.crypto_context);
    runtime()?.block_on(async {
        let rados = args.connect.connect(&options).await?;
        let io = rados.open_ioctx(&args.pool).await?;
        measure(&io, args.workload, &bench, args.format, !args.no_cleanup).await
    })
}

/// `sepiola rados bench SECONDS WORKLOAD`.
pub fn run_rados(
    args: &super::rados::RadosArgs,
    seconds: &str,
    workload: &str,
    options: ConfigOptions,
) -> CmdResult {
    let seconds: u64 =
        seconds.parse().map_err(|_| Failure::new(format!("bench: `{seconds}` is not a number")))?;
    let workload: Workload = workload.parse().map_err(Failure::new)?;
    let bench = BenchOptions {
        duration: Duration::from_secs(seconds),
        op_size: args.op_size,
        object_size: object_size(args.op_size, args.object_size)?,
        concurrent: args.concurrent.max(1),
        run_name: args.run_name.clone(),
        hints: !args.no_hints,
        verify: !args.no_verify,
        max_objects: args.max_objects,
    };
    runtime()?.block_on(async {
        let rados = args.connect.connect(&options).await?;
        let pool =
            args.pool.as_deref().ok_or_else(|| Failure::new("pool name was not specified: give -p POOL"))?;
        let io = rados.open_ioctx(pool).await?;
        measure(&io, workload, &bench, args.format, !args.no_cleanup).await
    })
}

fn object_size(op_size: u64, object_size: Option<u64>) -> Result<u64, Failure> {
    let object_size = object_size.unwrap_or(op_size);
    if object_size < op_size || !object_size.is_multiple_of(op_size) {
        return Err(Failure::errno(
            sepiola_wire::Errno::EINVAL,
            format!("the object size {object_size} must be a multiple of the operation size {op_size}"),
        ));
    }
    Ok(object_size)
}

async fn measure(
    io: &IoCtx,
    workload: Workload,
    bench: &BenchOptions,
    format: Format,
    clean: bool,
) -> CmdResult {
    let mut out = io::stdout();
    let plain = !format.is_json();
    if plain {
        println!("hints = {}", u8::from(bench.hints));
        if workload == Workload::Write {
            println!(
                "Maintaining {} concurrent writes of {} bytes to objects of size {} for up to {} seconds or {} objects",
                bench.concurrent,
                bench.op_size,
                bench.object_size,
                bench.duration.as_secs(),
                bench.max_objects
            );
            println!("Object prefix: {}", crate::bench::current_prefix());
        }
    }
    let columns = plain.then(|| Columns::new(io::stdout()));
    let summary = run_workload(io, workload, bench, columns).await?;
    if plain {
        print_plain(&mut out, &summary, workload)?;
    } else {
        print_json(&mut out, &summary)?;
    }
    if workload == Workload::Write && clean {
        let start = Instant::now();
        if plain {
            println!("Cleaning up (deleting benchmark objects)");
        }
        let removed = cleanup(io, &bench.run_name, bench.concurrent).await?;
        if plain {
            println!("Removed {removed} objects");
            let seconds = crate::number::six_digits(start.elapsed().as_secs_f64());
            println!("Clean up completed and total clean up time :{seconds}");
        }
    }
    Ok(out.flush()?)
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        Failure::errno(error.errno(), error.to_string())
    }
}
