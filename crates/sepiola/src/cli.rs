//! The command line, after options of ceph.conf were taken out of it.

use clap::{Args, Parser, Subcommand, ValueEnum};
use sepiola_messenger::indented;

use crate::cmd;

/// RADOS in Rust: a cluster in one small binary, wire-compatible with Ceph in both directions.
#[derive(Debug, Parser)]
#[command(name = "sepiola", version, max_term_width = 110)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start a cluster, measure 4 KiB writes and reads, plain and encrypted, and clean up.
    Demo(cmd::demo::DemoArgs),
    /// Start, stop and look at a mini-cluster of processes.
    Cluster(cmd::cluster::ClusterArgs),
    /// Run a monitor in the foreground.
    Mon(cmd::mon::MonArgs),
    /// Run an OSD in the foreground.
    Osd(cmd::osd::OsdArgs),
    /// Objects and pools: the verbs of `rados`.
    Rados(Box<cmd::rados::RadosArgs>),
    /// The write and read benchmark of `rados bench`.
    Bench(Box<cmd::bench::BenchArgs>),
    /// Ask the monitor: status, osd, pool and auth commands as `ceph` spells them.
    Ceph(cmd::ceph::CephArgs),
    /// Make and change keyrings: the flags of `ceph-authtool`.
    Authtool(cmd::authtool::AuthtoolArgs),
}

/// How to reach a cluster; the same flags as Ceph's tools.
#[derive(Debug, Clone, Default, Args)]
pub struct ConnectArgs {
    /// The configuration file.
    #[arg(short = 'c', long = "conf", value_name = "FILE", global = true)]
    pub conf: Option<std::path::PathBuf>,
    /// Who to be, e.g. client.admin.
    #[arg(short = 'n', long = "name", value_name = "TYPE.ID", global = true)]
    pub name: Option<String>,
    /// Who to be, without the type.
    #[arg(long = "id", alias = "user", value_name = "ID", global = true, conflicts_with = "name")]
    pub id: Option<String>,
    /// Where the key is.
    #[arg(short = 'k', long = "keyring", value_name = "FILE", global = true)]
    pub keyring: Option<std::path::PathBuf>,
    /// The monitors, instead of those of the configuration file; --mon-host is the same.
    #[arg(short = 'm', value_name = "ADDRESS", global = true)]
    pub mon: Option<String>,
    /// Read /etc/ceph/NAME.conf where no file is given.
    #[arg(long, value_name = "NAME", global = true)]
    pub cluster: Option<String>,
    /// Accepted for compatibility; the monitor's configuration is never required.
    #[arg(long = "no-mon-config", global = true, hide = true)]
    pub no_mon_config: bool,
}

/// What `--version` says.
pub fn version() -> String {
    format!("sepiola version {}", env!("CARGO_PKG_VERSION"))
}

/// The form of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Plain,
    /// For programs, on one line where the stock tool has one.
    Json,
    /// For programs and people.
    JsonPretty,
}

impl Format {
    /// Whether any form of JSON is wanted.
    pub fn is_json(self) -> bool {
        self != Format::Plain
    }

    /// Prints a value as JSON in this form.
    pub fn print(self, value: &serde_json::Value) {
        say!("{}", self.text(value));
    }

    /// A value as JSON in this form; indented as the stock tools indent.
    pub fn text(self, value: &serde_json::Value) -> String {
        match self {
            Format::JsonPretty => indented(value),
            Format::Plain | Format::Json => value.to_string(),
        }
    }
}
