//! What a monitor is started with.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use sepiola_cephx::{AuthMethod, ConMode, TicketLife};
use sepiola_config::{Config, SharedConfig};
use sepiola_crypto::{CryptoOptions, KeyType};
use sepiola_messenger::DaemonCommands;
use sepiola_wire::{EntityName, EntityType};

use crate::{handle::MonHandle, service::liveness::LivenessRules};

/// Options of [`run`](crate::run).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MonOptions {
    /// This monitor's name in the monmap, without `mon.`.
    pub name: String,
    /// The directory that [`mkfs`](crate::mkfs) filled.
    pub data_dir: PathBuf,
    /// Where to listen, instead of the monmap's address. With either, port 0 takes a free port at the first
    /// start, which the monmap then keeps.
    pub listen: Option<SocketAddr>,
    /// Written when clients can connect: see [`ReadyFile`](sepiola_messenger::ReadyFile).
    pub ready_file: Option<PathBuf>,
    /// Methods that peers may authenticate with, in this monitor's order.
    pub auth: Vec<AuthMethod>,
    /// Modes that connections may have. [`ConMode::Secure`] alone by default. Where method none is the only
    /// one, connections are crc whatever this says, because nothing could be encrypted with.
    pub modes: Vec<ConMode>,
    /// The cipher engine and context policy of connections.
    pub crypto: CryptoOptions,
    /// Lives of tickets: `auth_mon_ticket_ttl`, `auth_service_ticket_ttl`.
    pub tickets: TicketLife,
    /// Type of new keys where a command does not say.
    pub key_type: KeyType,
    /// Options that can change while the monitor runs: `mon_allow_pool_delete`, `osd_pool_default_pg_num`,
    /// `mon_osd_report_timeout`, `mon_osd_min_down_reporters`. The monitor adds what its own database says
    /// of it.
    pub config: SharedConfig,
    /// `osd_pool_default_size`.
    pub pool_default_size: u32,
    /// `mon_max_pool_pg_num`: the most pgs that a pool may have.
    pub pool_max_pg_num: u32,
    /// `mon_globalid_prealloc`: how many global ids are reserved at a time.
    pub global_id_step: u64,
    /// When OSDs count as down, as far as `config` does not say it.
    pub liveness: LivenessRules,
    /// How often missed beacons, rotation and expiry are looked at.
    pub tick: Duration,
    /// Through which the running monitor is asked for its counters and status.
    pub handle: MonHandle,
    /// Answers `ceph tell` with what only concerns this process; before the commands of all monitors.
    pub commands: Option<Arc<dyn DaemonCommands>>,
    /// Threads for connections; 0 serves them on the runtime that runs the monitor.
    pub threads: usize,
}

impl MonOptions {
    /// Safe defaults: cephx, secure connections.
    pub fn new(name: impl Into<String>, data_dir: impl Into<PathBuf>) -> Self {
        let name = name.into();
        MonOptions {
            config: SharedConfig::new(Config::new(EntityName::new(EntityType::Mon, &name))),
            name,
            data_dir: data_dir.into(),
            listen: None,
            ready_file: None,
            auth: vec![AuthMethod::Cephx],
            modes: vec![ConMode::Secure],
            crypto: CryptoOptions::default(),
            tickets: TicketLife::default(),
            key_type: KeyType::Aes,
            pool_default_size: 1,
            pool_max_pg_num: 65536,
            global_id_step: 10_000,
            liveness: LivenessRules::default(),
            tick: Duration::from_millis(500),
            handle: MonHandle::default(),
            commands: None,
            threads: 0,
        }
    }

    /// When OSDs count as down now.
    pub(crate) fn liveness_now(&self) -> LivenessRules {
        LivenessRules {
            beacon_grace: self.config.duration("mon_osd_report_timeout"),
            min_reporters: usize::try_from(self.config.u64("mon_osd_min_down_reporters"))
                .unwrap_or(usize::MAX),
            ..self.liveness
        }
    }
}
