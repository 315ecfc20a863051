//! What a monitor client needs to know.

use std::{fmt, sync::Arc, time::Duration};

use sepiola_cephx::{AuthMethod, ConMode, ServiceSet, TicketKeeper};
use sepiola_config::{Config, SharedConfig};
use sepiola_crypto::{CryptoKey, CryptoOptions};
use sepiola_osdmap::OsdMap;
use sepiola_wire::{AddrType, EntityAddr, EntityAddrVec, EntityName, EntityType};

use crate::{
    MapObserver, MonError, PrivateHandler,
    connection_options::{crypto_options, mode_options},
};

/// How OSD maps are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OsdMapWish {
    /// Not at all: enough for commands.
    None,
    /// The newest at the start, newer ones when asked for: what clients do.
    #[default]
    OnDemand,
    /// Every one: what OSDs need.
    Continuous,
}

/// How to authenticate.
#[derive(Clone)]
#[non_exhaustive]
pub enum Credentials {
    /// Method none: the name is believed.
    None,
    /// A key.
    Key(CryptoKey),
}

/// What a [`MonClient`](crate::MonClient) needs to know. Names in parentheses are Ceph's options.
#[derive(Clone)]
#[non_exhaustive]
pub struct MonClientOptions {
    /// Who this is.
    pub name: EntityName,
    /// How it authenticates.
    pub credentials: Credentials,
    /// Addresses to find monitors by, until one of them has sent the map (`mon_host`).
    pub monitors: Vec<EntityAddr>,
    /// Connection modes, the preferred one first; others are not accepted (`ms_mon_client_mode`).
    pub modes: Vec<ConMode>,
    /// How secure frames are sealed.
    pub crypto: CryptoOptions,
    /// Services to hold tickets for.
    pub services: ServiceSet,
    /// This side's addresses. A client has one without port, whose nonce tells its instance.
    pub addrs: EntityAddrVec,
    /// A daemon's number; clients get theirs from the monitors.
    pub daemon_id: Option<i64>,
    /// How OSD maps are wanted.
    pub osdmap: OsdMapWish,
    /// A map to go on from, as an OSD with a store has.
    pub initial_map: Option<Arc<OsdMap>>,
    /// Told of every map in order.
    pub map_observer: Option<Arc<dyn MapObserver>>,
    /// Takes the messages that only Sepiola's daemons exchange.
    pub private_handler: Option<Arc<dyn PrivateHandler>>,
    /// Follows what the monitors' configuration database says of this entity. What is taken from it once,
    /// such as keys and modes, does not change any more; `rados_mon_op_timeout`, the limit on requests, does.
    pub config: SharedConfig,
    /// Limit on [`MonClient::connect`](crate::MonClient::connect) (`client_mount_timeout`). Default 10 s.
    pub connect_timeout: Duration,
    /// Time after which a first connection fails early if every monitor refuses the TCP connection: nothing
    /// listens there. A monitor that is just being restarted is back sooner. `None`, which daemons have, goes
    /// on to `connect_timeout`. Default 2 s for clients.
    pub refused_timeout: Option<Duration>,
    /// Time for one round of monitors (`mon_client_hunt_interval`). Default 3 s; each round gets 1.5 times the
    /// time of the one before, at most 10 times.
    pub hunt_interval: Duration,
    /// Monitors tried at once (`mon_client_hunt_parallel`). Default 3.
    pub hunt_parallel: usize,
    /// Time between keepalives (`mon_client_ping_interval`). Default 10 s.
    pub ping_interval: Duration,
    /// Silence after which a monitor is given up (`mon_client_ping_timeout`). Default 30 s.
    pub ping_timeout: Duration,
    /// Life of service tickets, which tells daemons when new secrets are due (`auth_service_ticket_ttl`).
    /// Default 3600 s.
    pub service_ticket_ttl: Duration,
}

impl MonClientOptions {
    /// A limit that is none: long enough for ever, and no special case.
    pub const NEVER: Duration = Duration::from_secs(100 * 365 * 86400);

    /// The defaults for an entity: a client's services and wishes, modes that fit the credentials.
    pub fn new(name: EntityName, credentials: Credentials, monitors: Vec<EntityAddr>) -> Self {
        let modes = match credentials {
            Credentials::None => vec![ConMode::Crc],
            Credentials::Key(_) => vec![ConMode::Secure, ConMode::Crc],
        };
        MonClientOptions {
            refused_timeout: (name.kind == EntityType::Client).then_some(Duration::from_secs(2)),
            config: SharedConfig::new(Config::new(name.clone())),
            name,
            credentials,
            monitors,
            modes,
            crypto: CryptoOptions::default(),
            services: ServiceSet::CLIENT,
            addrs: EntityAddr { kind: AddrType::Any, nonce: rand::random(), socket: None }.into(),
            daemon_id: None,
            osdmap: OsdMapWish::default(),
            initial_map: None,
            map_observer: None,
            private_handler: None,
            connect_timeout: Duration::from_secs(10),
            hunt_interval: Duration::from_secs(3),
            hunt_parallel: 3,
            ping_interval: Duration::from_secs(10),
            ping_timeout: Duration::from_secs(30),
            service_ticket_ttl: Duration::from_secs(3600),
        }
    }

    /// Takes monitors, key, modes and timers from a configuration. Host names in `mon_host` are looked up,
    /// which may block.
    ///
    /// # Errors
    /// [`MonError::NoMonitors`], [`MonError::NoKey`] with the places that were searched, or
    /// [`MonError::Config`].
    pub fn from_config(config: &Config) -> Result<Self, MonError> {
        Self::from_config_and_key(config, None)
    }

    /// As [`MonClientOptions::from_config`], with a key that counts more than those of the configuration.
    ///
    /// # Errors
    /// As [`MonClientOptions::from_config`].
    pub fn from_config_and_key(config: &Config, key: Option<CryptoKey>) -> Result<Self, MonError> {
        let name = config.name().clone();
        let credentials = crate::credentials::find(config, key)?;
        let mut options = Self::new(name, credentials, monitors(config)?);
        options.config = SharedConfig::new(config.clone());
        options.modes = mode_options(config)?.modes(options.name.kind, EntityType::Mon).to_vec();
        if let Credentials::None = options.credentials {
            // Without keys there is nothing to encrypt with; the configured modes must allow that.
            if !options.modes.contains(&ConMode::Crc) {
                let why = "authentication none needs connection mode crc: add it to ms_mon_client_mode \
                           (clients) or ms_mon_cluster_mode (daemons)";
                return Err(MonError::Config(why.to_owned()));
            }
            options.modes = vec![ConMode::Crc];
        }
        options.crypto = crypto_options(config)?;
        // 0 means never, as in Ceph.
        options.connect_timeout = config.timeout("client_mount_timeout")?.unwrap_or(Self::NEVER);
        config.timeout("rados_mon_op_timeout")?;
        options.hunt_interval = config.duration("mon_client_hunt_interval")?;
        options.ping_interval = config.duration("mon_client_ping_interval")?;
        options.ping_timeout = config.duration("mon_client_ping_timeout")?;
        options.service_ticket_ttl = config.duration("auth_service_ticket_ttl")?;
        Ok(options)
    }

    /// The method that goes with the credentials.
    pub fn method(&self) -> AuthMethod {
        match self.credentials {
            Credentials::None => AuthMethod::None,
            Credentials::Key(_) => AuthMethod::Cephx,
        }
    }

    pub(crate) fn ticket_keeper(&self) -> TicketKeeper {
        match &self.credentials {
            Credentials::None => TicketKeeper::without_keys(self.name.clone()),
            Credentials::Key(key) => TicketKeeper::new(self.name.clone(), key.clone(), self.services),
        }
    }

    /// True if this entity opens its clients' tickets, for which it needs the rotating secrets.
    pub(crate) fn needs_rotating(&self) -> bool {
        self.method() == AuthMethod::Cephx
            && matches!(self.name.kind, EntityType::Osd | EntityType::Mds | EntityType::Mgr)
    }
}

/// The messenger v2 addresses of `mon_host`.
fn monitors(config: &Config) -> Result<Vec<EntityAddr>, MonError> {
    let endpoints = config.mon_host().map_err(|e| MonError::NoMonitors(e.to_string()))?;
    let mut addrs = Vec::new();
    let mut failed = None;
    for endpoint in endpoints.iter().filter(|e| e.kind != AddrType::Legacy) {
        match endpoint.resolve() {
            Ok(found) => addrs.extend(found),
            Err(e) => failed = Some(format!("{}: {e}", endpoint.host)),
        }
    }
    if addrs.is_empty() {
        let reason = failed.unwrap_or_else(|| "mon_host has no messenger v2 address".to_owned());
        return Err(MonError::NoMonitors(reason));
    }
    Ok(addrs)
}

impl fmt::Debug for MonClientOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MonClientOptions")
            .field("name", &self.name)
            .field("method", &self.method())
            .field("monitors", &self.monitors)
            .field("modes", &self.modes)
            .finish_non_exhaustive()
    }
}
