//! The `sepiola` program: a whole small RADOS cluster and the tools to use it, in one binary. One file a
//! subcommand under `cmd/`.
#![forbid(unsafe_code)]

#[macro_use]
mod output;

mod admin;
mod bench;
mod cli;
mod cmd;
mod connect;
mod daemon;
mod failure;
mod logging;
mod metrics;
mod number;
mod places;
mod progress;

use std::{ffi::OsString, path::Path, process::ExitCode};

use clap::Parser;

/// Objects in memory are allocated one by one; see docs/performance.md for what this one is worth.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let args = connect::take_config_options(as_subcommand(std::env::args_os().collect()));
    let cli = match cli::Cli::try_parse_from(&args.rest) {
        Ok(cli) => cli,
        Err(usage) => {
            // Help and version go to standard output and are no failure.
            let _ = usage.print();
            return if usage.use_stderr() { failure::INVALID_USAGE } else { ExitCode::SUCCESS };
        }
    };
    match cmd::run(cli.command, args.options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Called by the name of a stock tool, through a link, say, the program is that tool.
fn as_subcommand(mut args: Vec<OsString>) -> Vec<OsString> {
    let name = args.first().and_then(|program| Path::new(program).file_name()?.to_str());
    let tool = match name {
        Some("rados") => "rados",
        Some("ceph") => "ceph",
        Some("ceph-authtool") => "authtool",
        _ => return args,
    };
    args.insert(1, tool.into());
    args
}
