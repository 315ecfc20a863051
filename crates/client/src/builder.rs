//! Settings of a cluster handle.

use std::{
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use sepiola_cephx::{ConMode, Keyring};
use sepiola_config::{CephArgs, ConfFile, Config, Layer};
use sepiola_crypto::{CryptoKey, CryptoOptions};
use sepiola_monclient::{Credentials, MonClient, MonClientOptions, MonError, mode_options};
use sepiola_wire::{EntityName, EntityType};

use crate::{
    Error, Result,
    objecter::{ObjecterOptions, OpTimeout},
    rados::Rados,
};

/// A ceph.conf that is yet to be applied.
#[derive(Clone)]
enum Conf {
    File(PathBuf),
    Text(ConfFile),
}

/// Collects settings; [`RadosBuilder::connect`] uses them. What is set here counts more than ceph.conf.
///
/// Every call has a deadline: 10 s to connect (`client_mount_timeout`) and for requests to monitors
/// (`rados_mon_op_timeout`), 30 s for operations on objects (`rados_osd_op_timeout`), unless ceph.conf or the
/// setters here say otherwise.
#[derive(Clone, Default)]
#[must_use = "a builder does nothing until it connects"]
pub struct RadosBuilder {
    base: Option<Config>,
    conf: Vec<Conf>,
    name: Option<String>,
    environment: Vec<(String, String)>,
    options: Vec<(String, String)>,
    key: Option<CryptoKey>,
    keyring: Option<Keyring>,
    modes: Option<Vec<ConMode>>,
    connect_timeout: Option<Option<Duration>>,
    mon_timeout: Option<Option<Duration>>,
    op_timeout: Option<Option<Duration>>,
    ready_timeout: Option<Duration>,
    spin: Option<Duration>,
    crypto: Option<CryptoOptions>,
    max_ops_in_flight: Option<usize>,
    max_bytes_in_flight: Option<u64>,
}

impl RadosBuilder {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Starts from a whole configuration, as its entity; whatever else is set here counts more. For
    /// programs that have read ceph.conf, the environment and their own arguments already.
    pub fn config(mut self, config: Config) -> Self {
        self.base = Some(config);
        self
    }

    /// Reads a ceph.conf: monitors, keyring, modes and timeouts. Of several files the later counts more.
    ///
    /// # Errors
    /// [`Error::Config`] if it cannot be read or understood.
    pub fn conf_file(mut self, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        // Which sections count depends on the name, which may still be set: parse now, apply later.
        Config::new(EntityName::client("admin")).load_file(path).map_err(config_error)?;
        self.conf.push(Conf::File(path.to_owned()));
        Ok(self)
    }

    /// As [`RadosBuilder::conf_file`], with the file's content.
    ///
    /// # Errors
    /// [`Error::Config`] if it cannot be understood.
    pub fn conf_text(mut self, text: &str) -> Result<Self> {
        self.conf.push(Conf::Text(ConfFile::parse(text).map_err(config_error)?));
        Ok(self)
    }

    /// Takes what the environment says, as Ceph's programs do: options, name, keyring (`-k`) and monitors (`-m`)
    /// from `CEPH_ARGS`, the keyring from `CEPH_KEYRING`. It counts more than ceph.conf, and less than what is set
    /// here. Which file is read is not its affair: `-c` is passed over, and `CEPH_CONF` is
    /// [`RadosBuilder::default_conf_file`]'s.
    pub fn environment(mut self) -> Self {
        self.apply_args(CephArgs::from_env());
        if let Some(keyring) = std::env::var("CEPH_KEYRING").ok().filter(|k| !k.is_empty()) {
            self.environment.push(("keyring".to_owned(), keyring));
        }
        self
    }

    fn apply_args(&mut self, args: CephArgs) {
        self.environment.extend(args.options);
        if self.name.is_none() {
            self.name = args.name;
        }
    }

    /// Reads the first ceph.conf at the usual places: `CEPH_CONF`, `/etc/ceph/ceph.conf`,
    /// `~/.ceph/ceph.conf`, `./ceph.conf`. None there is no error.
    ///
    /// # Errors
    /// [`Error::Config`] if it cannot be read or understood.
    pub fn default_conf_file(self) -> Result<Self> {
        match Config::default_file() {
            Some(path) => self.conf_file(path),
            None => Ok(self),
        }
    }

    /// Who to be: `client.admin`, the default, or another entity.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Who to be, as a client's id: `admin` for `client.admin`.
    pub fn id(self, id: impl fmt::Display) -> Self {
        self.name(format!("client.{id}"))
    }

    /// Where the monitors are, as `mon_host` has it: `127.0.0.1:3300`, `v2:10.0.0.1:3300,v2:10.0.0.2:3300`.
    pub fn mon_host(self, hosts: impl Into<String>) -> Self {
        self.option("mon_host", hosts)
    }

    /// Sets any option of ceph.conf.
    pub fn option(mut self, option: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.push((option.into(), value.into()));
        self
    }

    /// The key, in base64 as keyrings have it.
    ///
    /// # Errors
    /// [`Error::Config`] if it is none.
    pub fn key(mut self, key: &str) -> Result<Self> {
        let key = CryptoKey::from_base64(key).map_err(|e| Error::Config(format!("key: {e}")))?;
        self.key = Some(key);
        Ok(self)
    }

    /// The key, out of a keyring file's content.
    ///
    /// # Errors
    /// [`Error::Config`] if the text is no keyring.
    pub fn keyring(mut self, text: &str) -> Result<Self> {
        self.keyring = Some(Keyring::parse(text).map_err(|e| Error::Config(format!("keyring: {e}")))?);
        Ok(self)
    }

    /// The path of the keyring file.
    pub fn keyring_file(self, path: impl AsRef<Path>) -> Self {
        let path = path.as_ref().to_string_lossy().into_owned();
        self.option("keyring", path)
    }

    /// The connection modes to offer to monitors and OSDs, the preferred one first; others are not accepted.
    pub fn modes(mut self, modes: impl Into<Vec<ConMode>>) -> Self {
        self.modes = Some(modes.into());
        self
    }

    /// Limit on connecting (`client_mount_timeout`); `None` or zero waits for ever.
    pub fn connect_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.connect_timeout = Some(or_never(timeout));
        self
    }

    /// Limit on requests to monitors (`rados_mon_op_timeout`); `None` or zero waits for ever.
    pub fn mon_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.mon_timeout = Some(or_never(timeout));
        self
    }

    /// Limit on operations on objects (`rados_osd_op_timeout`); `None` or zero waits for ever.
    pub fn op_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.op_timeout = Some(or_never(timeout));
        self
    }

    /// Limit on one attempt to connect to an OSD (`ms_connection_ready_timeout`); further attempts follow
    /// until the operation's own limit.
    pub fn ready_timeout(mut self, timeout: Duration) -> Self {
        self.ready_timeout = Some(timeout);
        self
    }

    /// How long connections look for replies before they sleep (`spin_us`). Lowers latency and costs a core.
    pub fn spin(mut self, spin: Duration) -> Self {
        self.spin = Some(spin);
        self
    }

    /// How secure frames are sealed: the engine, and whether its contexts are kept.
    pub fn crypto(mut self, crypto: CryptoOptions) -> Self {
        self.crypto = Some(crypto);
        self
    }

    /// Limits on what is in flight (`objecter_inflight_ops`, `objecter_inflight_op_bytes`); further
    /// operations wait. Default 1024 operations and 100 MiB.
    pub fn in_flight_limits(mut self, ops: usize, bytes: u64) -> Self {
        self.max_ops_in_flight = Some(ops);
        self.max_bytes_in_flight = Some(bytes);
        self
    }

    /// Connects, authenticates and fetches the maps.
    ///
    /// # Errors
    /// [`Error::Config`] for settings that cannot be used; [`Error::Monitor`] with one line that says what
    /// became of each monitor, within [`RadosBuilder::connect_timeout`].
    pub async fn connect(self) -> Result<Rados> {
        let config = self.merged()?;
        let mut mon = self.mon_options(&config).await?;
        if let Some(crypto) = self.crypto {
            mon.crypto = crypto;
        }
        let mode_options = mode_options(&config).map_err(config_error)?;
        let mut modes = mode_options.modes(EntityType::Client, EntityType::Osd).to_vec();
        if let Some(wanted) = &self.modes {
            mon.modes.clone_from(wanted);
            modes.clone_from(wanted);
        }
        if matches!(mon.credentials, Credentials::None) {
            only_crc(&mut mon.modes)?;
            only_crc(&mut modes)?;
        }
        let crypto = mon.crypto;
        let client = MonClient::connect(mon).await?;
        // From here on with what the monitors' configuration says.
        let shared = client.options().config.clone();
        let config = shared.snapshot();
        let in_flight = |option: &str| config.u64(option).map_err(config_error);
        let spin = Duration::from_micros(config.u64("spin_us").map_err(config_error)?);
        let op_timeout = OpTimeout::from(None);
        let options = ObjecterOptions {
            op_timeout: op_timeout.clone(),
            connect_timeout: match self.ready_timeout {
                Some(set) => set,
                None => config.duration("ms_connection_ready_timeout").map_err(config_error)?,
            },
            modes,
            crypto,
            max_ops_in_flight: match self.max_ops_in_flight {
                Some(set) => set,
                None => usize::try_from(in_flight("objecter_inflight_ops")?).unwrap_or(usize::MAX),
            },
            max_bytes_in_flight: match self.max_bytes_in_flight {
                Some(set) => set,
                None => in_flight("objecter_inflight_op_bytes")?,
            },
            spin: self.spin.unwrap_or(spin),
        };
        config.timeout("rados_osd_op_timeout").map_err(config_error)?;
        shared.observe(move |config| {
            // A value that makes no sense changes nothing.
            if let Ok(timeout) = config.timeout("rados_osd_op_timeout") {
                op_timeout.set(timeout);
            }
        });
        Ok(Rados::start(client, options))
    }

    fn merged(&self) -> Result<Config> {
        let name = self.name.as_deref().map(entity).transpose()?;
        let mut config = match (&self.base, name) {
            // What a file says was chosen by the entity when it was read.
            (Some(base), Some(name)) if name != *base.name() => {
                let why = format!("the configuration is {}'s, and cannot be used as {name}", base.name());
                return Err(Error::Config(why));
            }
            (Some(base), _) => base.clone(),
            (None, name) => Config::new(name.unwrap_or_else(|| EntityName::client("admin"))),
        };
        for conf in &self.conf {
            match conf {
                Conf::File(path) => config.load_file(path).map_err(config_error)?,
                Conf::Text(file) => config.apply_file(file),
            }
        }
        for (option, value) in &self.environment {
            config.set(Layer::Environment, option, value.clone());
        }
        for (option, value) in &self.options {
            config.set(Layer::CommandLine, option, value.clone());
        }
        let mut limit = |option: &str, limit: Option<Option<Duration>>| {
            if let Some(limit) = limit {
                let seconds = limit.unwrap_or_default().as_secs_f64();
                config.set(Layer::CommandLine, option, seconds.to_string());
            }
        };
        limit("client_mount_timeout", self.connect_timeout);
        limit("rados_mon_op_timeout", self.mon_timeout);
        limit("rados_osd_op_timeout", self.op_timeout);
        Ok(config)
    }

    async fn mon_options(&self, config: &Config) -> Result<MonClientOptions> {
        let config = config.clone();
        let key = match (&self.key, &self.keyring) {
            (Some(key), _) => Some(key.clone()),
            (None, Some(keyring)) => {
                let name = config.name();
                Some(keyring.key(name).map_err(|e| Error::Config(format!("keyring: {e}")))?.clone())
            }
            (None, None) => None,
        };
        // Host names are looked up and keyrings read, which blocks.
        let options =
            tokio::task::spawn_blocking(move || MonClientOptions::from_config_and_key(&config, key)).await;
        Ok(options.map_err(|e| Error::Local(e.to_string()))??)
    }
}

fn entity(name: &str) -> Result<EntityName> {
    name.parse().map_err(|e| Error::Config(format!("{e}")))
}

/// Zero is Ceph's way to say never.
fn or_never(timeout: impl Into<Option<Duration>>) -> Option<Duration> {
    timeout.into().filter(|timeout| !timeout.is_zero())
}

/// Without keys there is nothing to encrypt with.
fn only_crc(modes: &mut Vec<ConMode>) -> Result<()> {
    if !modes.contains(&ConMode::Crc) {
        let why = "authentication none cannot be encrypted, but the modes allow only secure";
        return Err(Error::Config(why.to_owned()));
    }
    *modes = vec![ConMode::Crc];
    Ok(())
}

fn config_error(error: impl fmt::Display) -> Error {
    Error::Config(error.to_string())
}

impl From<MonError> for Error {
    fn from(error: MonError) -> Self {
        match error {
            MonError::Config(text) => Error::Config(text),
            other => Error::Monitor(other),
        }
    }
}

impl fmt::Debug for RadosBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RadosBuilder")
            .field("name", &self.name)
            .field("modes", &self.modes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ceph_args_name_the_keyring_the_monitors_and_who_asks() {
        let mut builder = RadosBuilder::new().option("mon_host", "9.9.9.9");
        builder.apply_args(CephArgs::parse("-k /from/args --user=x -m 1.2.3.4"));
        let config = builder.merged().unwrap();
        assert_eq!(config.name().to_string(), "client.x");
        assert_eq!(config.text("keyring").as_deref(), Some("/from/args"));
        assert_eq!(config.text("mon_host").as_deref(), Some("9.9.9.9"), "what is set here counts more");
    }
}
