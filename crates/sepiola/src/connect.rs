//! From flags, `CEPH_ARGS` and ceph.conf to a connected client.

use std::{ffi::OsString, path::PathBuf};

use sepiola_client::{Error, MonError, Rados};
use sepiola_config::{Config, Layer, SplitArgs, split_ceph_args};
use sepiola_wire::EntityName;

use crate::{cli::ConnectArgs, failure::Failure};

/// Options of ceph.conf by the layer that they belong to, and the flags of `CEPH_ARGS`.
#[derive(Default)]
pub struct ConfigOptions {
    environment: Vec<(String, String)>,
    command_line: Vec<(String, String)>,
    /// The file and the name that count where the command line has none.
    flags: ConnectArgs,
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
    let from_env = std::env::var("CEPH_ARGS").unwrap_or_default();
    let split = split_ceph_args(args);
    let mut options = of_environment(&from_env);
    options.command_line = split.options;
    TakenArgs { rest: split.rest, options }
}

/// What `CEPH_ARGS` says of where the cluster is and who asks. Flags of other tools are passed over.
fn of_environment(line: &str) -> ConfigOptions {
    let SplitArgs { options: environment, rest } = split_ceph_args(line.split_whitespace());
    let mut options = ConfigOptions { environment, ..ConfigOptions::default() };
    let mut words = rest.into_iter().filter_map(|word| word.into_string().ok());
    while let Some(word) = words.next() {
        let (flag, inline) = match word.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag.to_owned(), Some(value.to_owned())),
            _ => (word, None),
        };
        let mut value = || inline.clone().or_else(|| words.next());
        let mut option = |name: &str, value: Option<String>| {
            options.environment.extend(value.map(|value| (name.to_owned(), value)));
        };
        match flag.as_str() {
            "-c" | "--conf" => options.flags.conf = value().map(Into::into),
            "-n" | "--name" => options.flags.name = value(),
            "--id" | "--user" => options.flags.id = value(),
            "-k" | "--keyring" => option("keyring", value()),
            "-m" => option("mon_host", value()),
            _ => {}
        }
    }
    options
}

impl ConnectArgs {
    fn entity(&self, options: &ConfigOptions) -> Result<EntityName, Failure> {
        let said_here = self.name.is_some() || self.id.is_some();
        let from = if said_here { self } else { &options.flags };
        match (&from.name, &from.id) {
            (Some(name), _) => name.parse().map_err(|e| Failure::new(format!("--name: {e}"))),
            (None, Some(id)) => Ok(EntityName::client(id)),
            (None, None) => Ok(EntityName::client("admin")),
        }
    }

    /// The configuration file, if there is one.
    fn conf_file(&self, options: &ConfigOptions) -> Option<PathBuf> {
        let named = || Some(PathBuf::from(format!("/etc/ceph/{}.conf", self.cluster.as_ref()?)));
        let given = self.conf.clone().or_else(named);
        given.or_else(|| options.flags.conf.clone()).or_else(Config::default_file)
    }

    /// The configuration of `name`.
    pub fn config_for(&self, name: EntityName, options: &ConfigOptions) -> Result<Config, Failure> {
        let mut config = Config::new(name);
        if let Some(file) = self.conf_file(options) {
            config.load_file(&file)?;
        }
        for (option, value) in &options.environment {
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
    fn flags_of_ceph_args_come_in_every_form() {
        let all = of_environment("-c /a/ceph.conf --id=x --keyring /k -m 1.2.3.4 --format json --nonsense=1");
        assert_eq!((all.flags.conf, all.flags.id), (Some("/a/ceph.conf".into()), Some("x".to_owned())));
        let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(all.environment, [option("keyring", "/k"), option("mon_host", "1.2.3.4")]);
        assert_eq!(of_environment("-n osd.3").flags.name.as_deref(), Some("osd.3"));
        assert_eq!(of_environment("--conf=/b").flags.conf, Some("/b".into()));
    }

    #[test]
    fn the_command_line_counts_more_than_the_environment() {
        let options = of_environment("--id=env");
        let name = |args: ConnectArgs| args.entity(&options).unwrap().to_string();
        assert_eq!(name(ConnectArgs::default()), "client.env");
        assert_eq!(
            name(ConnectArgs { name: Some("client.here".into()), ..Default::default() }),
            "client.here"
        );
    }
}
