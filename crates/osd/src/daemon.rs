//! A running OSD: listens, boots, keeps the monitors informed, stops.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use sepiola_cephx::ServiceSecrets;
use sepiola_messages::WireMessage;
use sepiola_messenger::{
    CloseReason, ReadyFile, ServeOptions, Shutdown, Throttle, Workers, decode, listen, serve,
};
use sepiola_monclient::{MapObserver, MapSource, MonClient, MonError, OsdMapWish, PrivateHandler};
use sepiola_msgr2::Message;
use sepiola_osdmap::OsdMap;
use sepiola_proto::OsdDownAck;
use sepiola_wire::{EntityAddr, EntityAddrVec, EntityName, OsdId, UTime, Uuid};
use thiserror::Error;
use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior, interval, timeout},
};
use tracing::{info, warn};

use crate::{
    Network, NetworkConfig, Osd, OsdConfig, OsdOptions, boot::Boot, in_flight::SlowOps, report::Reporter,
};

/// How often it is looked whether secrets or maps have to be asked for.
const HOUSEKEEPING: Duration = Duration::from_secs(1);
/// Time between two steps of freeing data, in which other work gets its turn.
const REMOVAL_PAUSE: Duration = Duration::from_millis(5);
/// A store that is full is reported at most this often.
const FULL_REPORT_PAUSE: Duration = Duration::from_millis(100);
const BEACONS: &str = "osd_beacon_report_interval";
const REPORTS: &str = "osd_mon_report_interval";
/// Whatever the options say: monitors have other work too.
const SHORTEST_PERIOD: Duration = Duration::from_millis(100);

/// Why an OSD did not start, or ended.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The system failed.
    #[error("{context}: {source}")]
    Io {
        /// What was tried.
        context: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The monitors cannot be reached, or refuse this OSD.
    #[error(transparent)]
    Monitors(#[from] MonError),
    /// Peers could not reach the address that they would be told.
    #[error("{0} is no address that peers could connect to")]
    Unreachable(std::net::IpAddr),
    /// Another process has booted under the same number.
    #[error("another process runs as osd.{0} at {1}")]
    Replaced(OsdId, EntityAddrVec),
}

fn io(context: impl Into<String>) -> impl FnOnce(std::io::Error) -> RunError {
    let context = context.into();
    move |source| RunError::Io { context, source }
}

/// What the daemon's parts share.
pub(crate) struct Daemon {
    pub options: OsdOptions,
    pub osd: Arc<Osd>,
    pub monitors: Arc<MonClient>,
    pub addrs: EntityAddrVec,
    pub uuid: Uuid,
}

/// Hands maps to the OSD as the monitors publish them.
struct Observer(Arc<Osd>);

impl MapObserver for Observer {
    fn map(&self, map: &Arc<OsdMap>, source: MapSource<'_>) {
        if let MapSource::Incremental(step) = source {
            self.0.remember_incremental(map.epoch(), step.clone());
        }
        if let Err(error) = self.0.apply_map(map.clone()) {
            warn!(epoch = %map.epoch(), %error, "the store does not follow the map");
        }
    }
}

/// Takes what monitors say to OSDs only.
struct FromMonitors {
    stopped: watch::Sender<bool>,
}

impl PrivateHandler for FromMonitors {
    fn message(&self, message: &Message<'_>) -> Result<(), CloseReason> {
        // Statistics are reported again and again, so their acknowledgement needs no answer.
        if message.header.kind == OsdDownAck::TYPE {
            decode::<OsdDownAck>(message)?;
            self.stopped.send_replace(true);
        }
        Ok(())
    }
}

/// Runs an OSD until `shutdown`: then it tells the monitors, lets connections drain, and returns.
///
/// # Errors
/// When it cannot start, or when another process took over its number.
pub async fn run(options: OsdOptions, shutdown: Shutdown) -> Result<(), RunError> {
    if options.listen.ip().is_unspecified() {
        return Err(RunError::Unreachable(options.listen.ip()));
    }
    let listener = listen(options.listen).map_err(io("cannot start listening"))?;
    let address = listener.local_addr().map_err(io("cannot find out the port"))?;
    // Tells this process from an earlier one on the same port. 0 is the monitors' nonce.
    let nonce = rand::random_range(1..=u32::MAX);
    let addrs = EntityAddrVec::from(EntityAddr::msgr2(address, nonce));

    let mut config = OsdConfig::new(options.id);
    config.limits = options.limits.clone();
    config.failsafe_full = options.failsafe_full;
    config.max_parked = options.max_messages / 4;
    config.max_parked_bytes = options.max_message_bytes / 4;
    let osd = Arc::new(Osd::new(config, options.store.clone()));
    let uuid = options.uuid.unwrap_or_else(|| Uuid::from_bytes(rand::random()));
    options.handle.attach(&osd, uuid);
    if let Some(commands) = options.commands.clone() {
        // The OSD was made just now, so nobody else has set them.
        let _ = osd.commands.set(commands);
    }
    let (stopped, stop_seen) = watch::channel(false);
    let mut monitors = options.monitors.clone();
    monitors.name = EntityName::osd(options.id);
    monitors.addrs = addrs.clone();
    monitors.daemon_id = Some(options.id.0.into());
    monitors.osdmap = OsdMapWish::Continuous;
    monitors.map_observer = Some(Arc::new(Observer(osd.clone())));
    monitors.private_handler = Some(Arc::new(FromMonitors { stopped }));
    let crypto = monitors.crypto;
    let monitors = tokio::select! {
        connected = MonClient::connect(monitors) => connected?,
        () = shutdown.clone().wait() => return Ok(()),
    };

    let daemon = Daemon { options, osd, monitors, addrs, uuid };
    let secrets = Arc::new(ServiceSecrets::new());
    let (stop, stop_serving) = Shutdown::new();
    let throttle = Throttle::new(daemon.options.max_messages, daemon.options.max_message_bytes);
    let network = Network::new(
        daemon.osd.clone(),
        NetworkConfig {
            addrs: daemon.addrs.clone(),
            keys: secrets.clone(),
            allowed: Arc::new(daemon.options.allowed.clone()),
            crypto,
            throttle: throttle.clone(),
        },
    );
    let mut serving = ServeOptions::default();
    serving.throttle = Some(throttle);
    serving.spin = daemon.options.spin;
    if let Some(threads) = NonZeroUsize::new(daemon.options.threads) {
        serving.workers = Some(Workers::start("osd", threads).map_err(io("cannot start threads"))?);
    }
    // Serving starts before the map shows the OSD, so that the first client that sees it is served.
    let server = tokio::spawn(serve(listener, Arc::new(network), serving, stop_serving));
    let outcome = daemon.keep(&secrets, &shutdown).await;
    daemon.osd.stop_waiting();
    if outcome.is_ok() {
        daemon.say_goodbye(stop_seen).await;
    }
    stop.raise();
    // A server that panicked has nothing left to wait for.
    let _ = server.await;
    outcome
}

impl Daemon {
    /// Boots, and informs the monitors until shutdown.
    async fn keep(&self, secrets: &ServiceSecrets, shutdown: &Shutdown) -> Result<(), RunError> {
        let every = |period| {
            let mut ticks = interval(period);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            ticks
        };
        let mut beacons = every(self.period(BEACONS));
        let mut reports = every(self.period(REPORTS));
        let mut housekeeping = every(HOUSEKEEPING);
        let mut removal = every(REMOVAL_PAUSE);
        let mut slow_ops = SlowOps::new(self.options.complaint_time);
        let mut reported = Instant::now();
        let mut sessions = self.monitors.watch_sessions();
        let mut epochs = self.monitors.watch_epochs();
        let mut rotating = self.monitors.rotating();
        rotating.mark_changed();
        let mut stop = Box::pin(shutdown.clone().wait());
        let mut boot = Boot::default();
        let mut reporter = Reporter::default();
        let mut ready = false;
        // What a new monitor must be told in full.
        let mut complete = true;
        boot.step(self)?;
        loop {
            tokio::select! {
                () = &mut stop => return Ok(()),
                _ = beacons.tick() => {
                    if beacons.period() != self.period(BEACONS) {
                        beacons = every(self.period(BEACONS));
                    }
                    boot.step(self)?;
                    if boot.is_up() {
                        self.send(&self.beacon());
                    }
                }
                _ = reports.tick(), if boot.is_up() => {
                    if reports.period() != self.period(REPORTS) {
                        reports = every(self.period(REPORTS));
                    }
                    let report = reporter.report(&self.osd, self.uuid.as_bytes(), complete);
                    complete = self.monitors.send_private(&report).is_err();
                    reported = Instant::now();
                }
                () = self.osd.filling_up.notified() => {
                    // Nobody is told twice within a moment, however many requests find no room.
                    reports.reset_at(reported + FULL_REPORT_PAUSE);
                }
                _ = removal.tick(), if self.osd.has_garbage() => self.free_some(),
                _ = housekeeping.tick() => {
                    self.housekeep(secrets).await;
                    self.osd.end_stalled();
                    if let Some(complaint) = slow_ops.complaint(&self.osd, UTime::now()) {
                        warn!("{complaint}");
                    }
                }
                Ok(()) = sessions.changed() => {
                    complete = true;
                    boot.ask_again();
                    boot.step(self)?;
                }
                Ok(()) = epochs.changed() => {
                    boot.step(self)?;
                    // The pgs of a new pool are not reported a second late.
                    reports.reset_immediately();
                }
                Ok(()) = rotating.changed() => {
                    if let Some(fetched) = rotating.borrow_and_update().clone() {
                        secrets.install((*fetched).clone());
                    }
                }
            }
            let can_authenticate = secrets.is_ready() || !self.uses_keys();
            if boot.is_up() && can_authenticate && !ready {
                ready = true;
                info!(osd = %self.options.id, addrs = %self.addrs, epoch = %self.osd.epoch(), "OSD is ready");
                if let Some(path) = &self.options.ready_file {
                    let name = EntityName::osd(self.options.id).to_string();
                    ReadyFile::new(name, self.monitors.fsid(), self.addrs.clone())
                        .write(path)
                        .map_err(io(format!("cannot write {}", path.display())))?;
                }
            }
        }
    }

    /// Takes a step in freeing what deleted pools have left.
    fn free_some(&self) {
        if let Err(error) = self.osd.free_some() {
            warn!(%error, "cannot free the data of a deleted pool");
        }
    }

    /// The time that an option gives now.
    fn period(&self, option: &str) -> Duration {
        self.options.monitors.config.duration(option).max(SHORTEST_PERIOD)
    }

    fn uses_keys(&self) -> bool {
        self.options.monitors.method() == sepiola_cephx::AuthMethod::Cephx
    }

    /// Asks for what should have come by itself.
    async fn housekeep(&self, secrets: &ServiceSecrets) {
        if self.osd.wanted_epoch() > self.osd.epoch() {
            self.monitors.request_newer_osdmap();
        }
        let ttl = self.options.monitors.service_ticket_ttl;
        if self.uses_keys()
            && secrets.refresh_due(UTime::now(), ttl)
            && let Ok(fetched) = self.monitors.fetch_rotating(HOUSEKEEPING).await
        {
            secrets.install((*fetched).clone());
        }
    }

    /// Tells the monitors that the OSD stops, so that clients learn it from the map rather than from a
    /// broken connection.
    async fn say_goodbye(&self, mut stopped: watch::Receiver<bool>) {
        info!(osd = %self.options.id, "OSD is stopping");
        self.send(&self.down());
        let seen = timeout(self.options.stop_timeout, stopped.wait_for(|stopped| *stopped)).await;
        if seen.is_err() {
            warn!("no monitor has confirmed that the OSD stops");
        }
    }

    /// Sends to the monitors; what is lost with a session is sent again with the next one.
    pub fn send<M: WireMessage>(&self, message: &M) {
        // Without a session there is nothing to do but wait for one.
        let _ = self.monitors.send_private(message);
    }
}
