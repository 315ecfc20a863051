//! The subcommands.

pub mod authtool;
pub mod bench;
pub mod ceph;
pub mod cluster;
pub mod demo;
pub mod mon;
pub mod osd;
pub mod rados;

use crate::{cli::Command, connect::ConfigOptions, failure::CmdResult};

/// Runs one subcommand; `options` are what the command line and `CEPH_ARGS` say in ceph.conf's terms.
pub fn run(command: Command, options: ConfigOptions) -> CmdResult {
    match command {
        Command::Demo(args) => demo::run(args),
        Command::Cluster(args) => cluster::run(args),
        Command::Mon(args) => mon::run(args, options),
        Command::Osd(args) => osd::run(args, options),
        Command::Rados(args) => rados::run(*args, options),
        Command::Bench(args) => bench::run(*args, options),
        Command::Ceph(args) => ceph::run(args, options),
        Command::Authtool(args) => authtool::run(args),
    }
}
