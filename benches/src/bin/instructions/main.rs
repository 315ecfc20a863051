//! `instructions`: how many instructions a 4 KiB operation takes, counted by callgrind, against the budget in
//! `instructions.txt`. Counts do not depend on what else the machine does, so a test can insist on them.
#![forbid(unsafe_code)]

mod budget;
mod callgrind;

use std::{hint::black_box, process::ExitCode};

use clap::{Parser, Subcommand};
use sepiola_benches::{Op, frames::Message, in_process::BothEnds};
use sepiola_cluster::MsMode;
use sepiola_crypto::{ContextPolicy, CryptoOptions, Engine};
use sepiola_wire::Epoch;

const SIZE: usize = 4096;
/// The engine of the count, whatever is fastest here: its code is chosen by what valgrind's processor has.
const CRYPTO: CryptoOptions = CryptoOptions { engine: Engine::Ring, context: ContextPolicy::Cached };

/// Counts instructions per 4 KiB operation in secure mode, client and OSD together, without sockets.
#[derive(Debug, Parser)]
#[command(name = "instructions")]
struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compares with the budget; what is done without a command.
    Check,
    /// Shows where an operation's instructions go.
    Profile {
        /// The operation.
        op: Op,
    },
    /// Only runs operations, for callgrind to watch.
    Run {
        /// The operation.
        op: Op,
        /// How often.
        count: u32,
    },
}

fn main() -> ExitCode {
    let done = match Args::parse().command.unwrap_or(Command::Check) {
        Command::Check => check(),
        Command::Profile { op } => callgrind::profile(op).map(|text| println!("{text}")),
        Command::Run { op, count } => {
            run(op, count);
            Ok(())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("instructions: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(op: Op, count: u32) {
    let mut both = BothEnds::new(MsMode::Secure, CRYPTO);
    let write = Message::request(Op::Write, SIZE, Epoch(2));
    let written = both.exchange(&write);
    let request = Message::request(op, SIZE, Epoch(2));
    for _ in 0..count {
        let came_back = both.exchange(black_box(&request));
        assert_eq!(op == Op::Rand, came_back > written + SIZE / 2, "an error is answered with nothing");
    }
}

fn check() -> Result<(), String> {
    let mut exceeded = Vec::new();
    for op in Op::ALL {
        let counted = callgrind::per_operation(op)?;
        let verdict = budget::judge(op, counted)?;
        println!("4 KiB {op}, secure, both ends: {verdict}");
        if verdict.exceeds() {
            exceeded.push(op.to_string());
        }
    }
    if exceeded.is_empty() {
        return Ok(());
    }
    Err(format!(
        "more than the budget allows: {}. `benches/instructions profile {}` shows where they go. If it is \
         worth them, raise the number in benches/instructions.txt and say why in the commit.",
        exceeded.join(", "),
        exceeded[0]
    ))
}
