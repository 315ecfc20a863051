//! `versus-ceph`: Sepiola and real Ceph on this machine, in alternating rounds: both clients on both OSDs,
//! what starting, connecting and standing still costs, and which goals that reaches.
#![forbid(unsafe_code)]

mod args;
mod bench;
mod ceilings;
mod ceph_place;
mod connects;
mod installed;
mod measure;
mod plan;
mod report;
mod results;
mod run;
mod secure_cost;
mod side;

use std::{fs, process::ExitCode};

use clap::Parser;
use sepiola_tests::{Failure, Result};

use crate::{
    args::{Args, Format, minutes},
    results::Results,
};

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
    let plan = args.plan();
    eprintln!("this takes about {} min", minutes(&plan));
    let results = Results::of(measure::everything(plan, &args.ceph)?);
    let json = serde_json::to_string_pretty(&results).map_err(|e| Failure::new(e.to_string()))?;
    if let Some(file) = &args.json {
        fs::write(file, &json).map_err(Failure::file(file))?;
    }
    match args.format {
        Format::Markdown => print!("{}", report::markdown(&results)),
        Format::Json => println!("{json}"),
    }
    match results.measured.ended_early {
        Some(why) => Err(Failure::new(why)),
        None => Ok(()),
    }
}
