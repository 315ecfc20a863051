//! What an OSD is started with.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use sepiola_cephx::AllowedAuth;
use sepiola_messenger::DaemonCommands;
use sepiola_monclient::MonClientOptions;
use sepiola_objectstore::ObjectStore;
use sepiola_wire::{OsdId, Uuid};

use crate::{Limits, OsdConfig, OsdHandle};

/// What [`run`](crate::run) starts an OSD with. Names in parentheses are Ceph's options.
#[derive(Clone)]
#[non_exhaustive]
pub struct OsdOptions {
    /// Its number.
    pub id: OsdId,
    /// How to reach the monitors, as `osd.ID`. Addresses, number and map wishes are filled in. Its `config` is
    /// also where the running OSD reads what can change: `osd_beacon_report_interval`,
    /// `osd_mon_report_interval`.
    pub monitors: MonClientOptions,
    /// Where objects are kept.
    pub store: Arc<dyn ObjectStore>,
    /// The store's identity: an OSD that comes back with its data has the same one. A store in memory has
    /// a new one with every start, which is what `None` gives.
    pub uuid: Option<Uuid>,
    /// Where to listen; port 0 takes a free one. Peers are told this address, so it must be a real one
    /// (`public_addr`).
    pub listen: SocketAddr,
    /// Methods and modes that peers may use (`auth_service_required`, `ms_service_mode`, ...).
    pub allowed: AllowedAuth,
    /// Threads for connections; 0 serves them on the caller's runtime. Default: one per core.
    pub threads: usize,
    /// How long a connection looks for more work before it sleeps (`spin_us`). Default 0.
    pub spin: Duration,
    /// Limits on requests.
    pub limits: Limits,
    /// See [`crate::OsdConfig::failsafe_full`].
    pub failsafe_full: f64,
    /// Requests in work or waiting, over all clients; above it the OSD reads no further ones
    /// (`osd_client_message_cap`).
    pub max_messages: u64,
    /// Bytes of them (`osd_client_message_size_cap`).
    pub max_message_bytes: u64,
    /// How long an operation may wait before the log says so; zero for never (`osd_op_complaint_time`).
    pub complaint_time: Duration,
    /// CRUSH weight when the monitors place the OSD themselves, 16.16; 0 for their default.
    pub crush_weight: u32,
    /// What `osd metadata` shows besides what the OSD knows itself, such as `hostname`.
    pub metadata: BTreeMap<String, String>,
    /// Written when the map shows the OSD up: one line of JSON with `name`, `pid`, `fsid` and `addrs`.
    pub ready_file: Option<PathBuf>,
    /// Through which the running OSD is asked for its counters and status.
    pub handle: OsdHandle,
    /// Answers `ceph tell` where the OSD itself does not.
    pub commands: Option<Arc<dyn DaemonCommands>>,
    /// How long stopping waits for the monitors to publish it. Default 2 s.
    pub stop_timeout: Duration,
}

impl OsdOptions {
    /// The defaults for an OSD that listens on a free loopback port.
    pub fn new(id: OsdId, monitors: MonClientOptions, store: Arc<dyn ObjectStore>) -> Self {
        OsdOptions {
            id,
            monitors,
            store,
            uuid: None,
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            allowed: AllowedAuth::default(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            spin: Duration::ZERO,
            limits: Limits::default(),
            failsafe_full: OsdConfig::FAILSAFE_FULL,
            max_messages: 10_000,
            max_message_bytes: 500 << 20,
            complaint_time: Duration::from_secs(30),
            crush_weight: 0,
            metadata: BTreeMap::new(),
            ready_file: None,
            handle: OsdHandle::default(),
            commands: None,
            stop_timeout: Duration::from_secs(2),
        }
    }
}
