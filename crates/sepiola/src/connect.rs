//! From flags, `CEPH_ARGS` and ceph.conf to a connected client.

use std::{ffi::OsString, path::PathBuf};

use sepiola_client::{Error, MonError, Rados};
use sepiola_config::{CephArgs, Config, Layer, split_ceph_args};
use sepiola_wire::EntityName;

use crate::{cli::ConnectArgs, failure::Failure};

/// Options of ceph.conf by the layer that they belong to.
#[derive(Default)]
pub struct ConfigOptions {
    /// Its file and name count where the command line has none.
    environment: CephArgs,
    command_line: Vec<(String, String)>,
}

/// The program's arguments without options of ceph.conf.
pub struct TakenArgs {
    /// What clap parses.
    pub rest: Vec<OsString>,
    /// The options.
    pub options: ConfigOptions,
}

/// Takes options of ceph.conf (`--ms_client_mode=secure`) out of the arguments, and reads `CEPH_ARGS`.
pub fn take_config_options(args: impl IntoIterator<Item = OsString>) -> TakenArgs {
    let split = split_ceph_args(args);
    let options = ConfigOptions { environment: CephArgs::from_env(), command_line: split.options };
    TakenArgs { rest: split.rest, options }
}

impl ConnectArgs {
    fn entity(&self, options: &ConfigOptions) -> Result<EntityName, Failure> {
        match (self.name.as_ref(), &self.id) {
            (None, Some(id)) => Ok(EntityName::client(id)),
            (name, _) => match name.or(options.environment.name.as_ref()) {
                Some(name) => name.parse().map_err(|e| Failure::new(format!("--name: {e}"))),
                None => Ok(EntityName::client("admin")),
            },
        }
    }

    /// The configuration file, if there is one.
    fn conf_file(&self, options: &ConfigOptions) -> Option<PathBuf> {
        let named = || Some(PathBuf::from(format!("/etc/ceph/{}.conf", self.cluster.as_ref()?)));
        let given = self.conf.clone().or_else(named);
        given.or_else(|| options.environment.conf.clone()).or_else(Config::default_file)
    }

    /// The configuration of `name`.
    pub fn config_for(&self, name: EntityName, options: &ConfigOptions) -> Result<Config, Failure> {
        let mut config = Config::new(name);
        if let Some(file) = self.conf_file(options) {
            config.load_file(&file)?;
        }
        for (option, value) in &options.environment.options {
            config.set(Layer::Environment, option, value);
        }
        for (option, value) in &options.command_line {
            config.set(Layer::CommandLine, option, value);
        }
        if let Some(mon) = &self.mon {
            config.set(Layer::CommandLine, "mon_host", mon);
        }
        if let Some(keyring) = &self.keyring {
            config.set(Layer::CommandLine, "keyring", keyring.to_string_lossy());
        }
        Ok(config)
    }

    /// A client, connected.
    pub async fn connect(&self, options: &ConfigOptions) -> Result<Rados, Failure> {
        let config = self.config_for(self.entity(options)?, options)?;
        if self.conf_file(options).is_none() && config.text("mon_host").is_none() {
            return Err(Failure::new("no ceph.conf here or in /etc/ceph")
                .hint("give -c FILE or -m ADDRESS, or set CEPH_CONF; `sepiola cluster up` makes a cluster"));
        }
        Rados::builder().config(config).connect().await.map_err(explained)
    }
}

/// Why there is no connection, and what to do.
fn explained(error: Error) -> Failure {
    let hint = match &error {
        Error::Monitor(MonError::NoMonitors(_)) => Some("give -m ADDRESS, or mon_host in ceph.conf"),
        Error::Monitor(MonError::NoKey { .. }) => {
            Some("give -k KEYRING, or -n NAME for somebody whose key is there")
        }
        Error::Monitor(MonError::AccessDenied { .. }) => Some(
            "the cluster has another key for this name: `ceph auth get NAME` as the administrator shows it",
        ),
        Error::Monitor(MonError::Unreachable { .. }) => Some(
            "is the cluster running? `sepiola cluster status --dir DIR` tells for one that `cluster up` made",
        ),
        _ => None,
    };
    let failure = Failure::from(error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// The runtime of client commands: one thread is enough, and the shortest path for single operations.
pub fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

impl ConfigOptions {
    /// Sets an option as the command line would.
    pub fn set_command_line(&mut self, option: &str, value: impl Into<String>) {
        self.command_line.push((option.to_owned(), value.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_counts_more_than_the_environment() {
        let options = ConfigOptions { environment: CephArgs::parse("--id=env"), ..Default::default() };
        let name = |args: ConnectArgs| args.entity(&options).unwrap().to_string();
        assert_eq!(name(ConnectArgs::default()), "client.env");
        assert_eq!(
            name(ConnectArgs { name: Some("client.here".into()), ..Default::default() }),
            "client.here"
        );
    }
}
