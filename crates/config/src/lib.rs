//! ceph.conf, options and where keyrings are looked for.
//!
//! A [`Config`] is a stack of layers, in the order that Ceph documents: built-in default, monitor, file,
//! environment, command line, runtime. A later layer wins. Option names are Ceph's; spaces, dashes and
//! underscores in them are the same. Unknown options are kept (a newer tool's file must not break an older
//! one) and reported once by [`Config::unknown`].
#![forbid(unsafe_code)]

mod args;
mod check;
mod conf_file;
mod config;
mod keyring_path;
mod known;
mod metavariables;
mod mon_host;
mod options;
mod secret;
mod shared;
pub mod units;
mod value;

pub use args::{CephArgs, SplitArgs, split_ceph_args};
pub use check::WrongValue;
pub use conf_file::{ConfFile, ConfFileError, option_name};
pub use config::{Config, ConfigError, Layer};
pub use known::{KnownOption, known_option, known_options};
pub use mon_host::{MonEndpoint, ParseMonHostError, parse_mon_host};
pub use options::{OPTIONS, OptionInfo, OptionKind, option_info};
pub use secret::{HIDDEN, is_secret};
pub use shared::SharedConfig;
pub use value::parse_bool;
