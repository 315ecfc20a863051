//! `loopback`: what two bare processes exchange over one TCP connection on this machine: frames of the
//! size of one operation's request and reply, nothing behind them. The ceiling for any client and OSD of
//! the same protocol with one connection.
#![forbid(unsafe_code)]

mod report;
mod run;

use std::{net::TcpStream, process::ExitCode, time::Duration};

use clap::{Parser, ValueEnum};
use sepiola_benches::{
    Load, Machine, Op, Parts, Pinning,
    exchange::{Exchange, Wait},
    parse_size,
};
use sepiola_cluster::MsMode;
use sepiola_tests::Result;

/// Exchanges operation-sized frames between two processes that do nothing else.
#[derive(Debug, Parser)]
#[command(name = "loopback", max_term_width = 110)]
struct Args {
    /// Seconds of one exchange.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Rounds through all exchanges.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Frames with checksums, encrypted ones, or both.
    #[arg(long, value_delimiter = ',', default_value = "crc,secure")]
    modes: Vec<MsMode>,
    /// What an end does while there is nothing to read.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "sleep,spin")]
    waits: Vec<Wait>,
    /// The messages of a write, of a read, or both.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "write,rand")]
    ops: Vec<Op>,
    /// Bytes of an operation.
    #[arg(long, value_parser = parse_size, default_value = "4K")]
    size: usize,
    /// Requests in flight.
    #[arg(long, value_delimiter = ',', default_value = "16")]
    qd: Vec<usize>,
    /// Messages that an end writes together: all it has (whole), a half or a quarter of those in flight (the
    /// latter at least 4 and at most 16), or a number.
    /// The best of these is reported. Messages of 1 MiB or more always leave one by one.
    #[arg(long, value_delimiter = ',', default_values_t = Parts::USUAL)]
    parts: Vec<Parts>,
    /// Binds the requesting process and the answering one to a processor each, e.g. 1:0.
    #[arg(long, value_name = "CLIENT:DAEMONS")]
    pin: Option<Pinning>,
    /// The form of output.
    #[arg(long, value_enum, default_value = "markdown")]
    format: Format,
    /// The address to answer at: this is the other process.
    #[arg(long, hide = true)]
    peer: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Markdown,
    Json,
}

impl Args {
    fn exchanges(&self) -> Vec<Exchange> {
        let mut exchanges = Vec::new();
        for &depth in &self.qd {
            for &wait in &self.waits {
                for &op in &self.ops {
                    let load = Load { size: self.size, depth };
                    let parts = Parts::distinct(&self.parts, load);
                    // Neighbours in time are compared.
                    for &mode in &self.modes {
                        exchanges.extend(parts.iter().map(|&part| Exchange { mode, wait, op, load, part }));
                    }
                }
            }
        }
        exchanges
    }
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("loopback: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<()> {
    let exchanges = args.exchanges();
    if let (Some(address), [exchange]) = (&args.peer, &exchanges[..]) {
        let stream = TcpStream::connect(address).map_err(run::failed("connecting"))?;
        return exchange.answer(stream);
    }
    let machine = Machine::now();
    let time = Duration::from_secs_f64(args.seconds);
    let mut ceilings = Vec::new();
    for _ in 0..args.rounds {
        for exchange in &exchanges {
            ceilings.push(run::measure(exchange, time, args.pin)?);
        }
    }
    match args.format {
        Format::Markdown => report::markdown(&machine, args.pin, args.rounds, args.seconds, &ceilings),
        Format::Json => report::json(&machine, args.pin, &ceilings),
    }
    Ok(())
}
