//! The `sepiola` program: a whole small RADOS cluster and the tools to use it, in one binary. One file a
//! subcommand under `cmd/`.
#![forbid(unsafe_code)]

mod admin;
mod bench;
mod cli;
mod cmd;
mod connect;
mod daemon;
mod failure;
mod logging;
mod number;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let args: Result<Vec<String>, _> = std::env::args_os().map(|a| a.into_string()).collect();
    let args = match args {
        Ok(args) => connect::take_config_options(args),
        Err(bytes) => {
            eprintln!(
                "argument {bytes:?} is not UTF-8: names of other bytes need the library, or python3-rados"
            );
            return failure::INVALID_USAGE;
        }
    };
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
