//! A running monitor: opens its store, listens, serves.

use std::{
    net::SocketAddr,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{Arc, Weak, atomic::AtomicU64},
};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use sepiola_cephx::MonAuthPolicy;
use sepiola_messages::{LogLevel, MonMap};
use sepiola_messenger::{ReadyFile, ServeOptions, Shutdown, Workers, daemon_metadata, listen, serve};
use sepiola_proto::MonEntry;
use sepiola_wire::{AddrType, EntityAddr, EntityAddrVec, GlobalId, UTime};
use thiserror::Error;
use tokio::net::TcpListener;
use tracing::info;

use crate::{
    MonOptions,
    command::Surroundings,
    core::{self, CoreHandle},
    log::{LogError, MonLog, RedbLog},
    service::{
        auth::{self, Keys},
        cluster_log, config,
        liveness::Liveness,
        sessions::Sessions,
        stats::ClusterStats,
    },
    state::{ApplyError, Metadata, MonState, change},
};

/// Why a monitor did not start, or ended.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// There is no store, or an empty one.
    #[error("{0} holds no monitor: make its store first, with `sepiola mon --mkfs`")]
    NoStore(PathBuf),
    /// The monmap does not have this monitor.
    #[error("the monmap has no mon.{0}: start the monitor under the name that its store was made for")]
    NotInMonmap(String),
    /// The monmap's entry has no messenger v2 address.
    #[error("mon.{0} has no v2 address in the monmap")]
    NoAddress(String),
    /// The options leave nothing to connect with.
    #[error("no connection would be possible: {0}")]
    Unreachable(&'static str),
    /// The system failed.
    #[error("{context}: {source}")]
    Io {
        /// What was tried.
        context: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The store failed.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The store cannot be replayed.
    #[error(transparent)]
    State(#[from] ApplyError),
}

/// What connections and the core share.
pub(crate) struct Monitor {
    pub options: Arc<MonOptions>,
    pub started: UTime,
    pub rank: i64,
    pub addrs: EntityAddrVec,
    /// The published state: everything in it is durable.
    pub state: Arc<ArcSwap<MonState>>,
    pub keys: Arc<Keys>,
    pub policy: Arc<MonAuthPolicy>,
    pub stats: Mutex<ClusterStats>,
    pub liveness: Arc<Mutex<Liveness>>,
    pub sessions: Sessions,
    /// How many connections began to authenticate.
    pub handshakes: AtomicU64,
    pub core: CoreHandle,
    /// What this monitor says about itself and its host.
    metadata: Metadata,
    this: Weak<Monitor>,
}

impl Monitor {
    /// Makes a state visible and sends subscribers what is new in it.
    pub fn publish(&self, state: MonState) {
        let state = Arc::new(state);
        self.state.store(state.clone());
        config::follow(&state, &self.options);
        self.sessions.publish(&state);
    }

    /// What commands see.
    pub fn surroundings<'a>(
        &'a self,
        state: &'a MonState,
        stats: &'a ClusterStats,
        now: UTime,
    ) -> Surroundings<'a> {
        Surroundings {
            state,
            stats,
            sessions: &self.sessions,
            options: &self.options,
            metadata: &self.metadata,
            started: self.started,
            now,
        }
    }

    /// The monitor as works hold it.
    pub fn shared(&self) -> Weak<Monitor> {
        self.this.clone()
    }
}

/// Runs a monitor until `shutdown`. Its store must have been made by [`mkfs`](crate::mkfs).
///
/// # Errors
/// When it cannot start, and when its log fails: what is not durable is never acknowledged, so nothing can
/// go on then.
pub async fn run(options: MonOptions, shutdown: Shutdown) -> Result<(), RunError> {
    check(&options)?;
    let path = RedbLog::path(&options.data_dir);
    if !path.exists() {
        return Err(RunError::NoStore(options.data_dir));
    }
    let (mut log, recovered) = RedbLog::open(&path)?;
    let Some(mut state) = MonState::replay(&recovered)? else {
        return Err(RunError::NoStore(options.data_dir));
    };
    drop(recovered);
    let (listener, addrs) = bind(&options, state.monmap())?;
    let assigned = state.global_id_bound();
    start(&options, &mut state, &mut log, &addrs).await?;
    if log.wants_snapshot() {
        log.store_snapshot(state.to_snapshot()).await?;
    }

    let options = Arc::new(options);
    let (core, queue) = core::queue();
    let monitor = assemble(options.clone(), state, addrs.clone(), assigned, core);
    config::follow(&monitor.state.load(), &monitor.options);
    options.handle.attach(monitor.shared());
    let workers = match NonZeroUsize::new(options.threads) {
        None => None,
        Some(n) => Some(Workers::start("mon", n).map_err(io("cannot start threads"))?),
    };
    let mut serving = ServeOptions::default();
    serving.workers = workers;
    if let Some(file) = &options.ready_file {
        let ready =
            ReadyFile::new(format!("mon.{}", options.name), monitor.state.load().fsid(), addrs.clone());
        ready.write(file).map_err(io("cannot write the ready file"))?;
    }
    info!(name = %options.name, %addrs, "monitor is ready");

    // The core ends the server when the log fails; the caller ends both.
    let (stop, stopped) = Shutdown::new();
    let server = tokio::spawn(serve(listener, monitor.clone(), serving, stopped));
    let outcome = core::run(monitor, log, queue, shutdown).await;
    stop.raise();
    // A server that panicked has nothing left to wait for.
    let _ = server.await;
    outcome
}

fn io(context: &str) -> impl FnOnce(std::io::Error) -> RunError {
    let context = context.to_owned();
    move |source| RunError::Io { context, source }
}

fn check(options: &MonOptions) -> Result<(), RunError> {
    if options.auth.is_empty() {
        return Err(RunError::Unreachable("no authentication method is allowed"));
    }
    if options.modes.is_empty() {
        return Err(RunError::Unreachable("no connection mode is allowed"));
    }
    Ok(())
}

/// Listens where the monmap or the options say, and gives the addresses with the port that it became.
fn bind(options: &MonOptions, monmap: &MonMap) -> Result<(TcpListener, EntityAddrVec), RunError> {
    let name = &options.name;
    let entry = monmap.mons.get(name).ok_or_else(|| RunError::NotInMonmap(name.clone()))?;
    let known =
        entry.addrs.msgr2().and_then(|a| a.socket).ok_or_else(|| RunError::NoAddress(name.clone()))?;
    let wanted = match options.listen {
        // A port of its own stays the same over restarts: clients know it from their ceph.conf.
        Some(listen) if listen.port() == 0 => SocketAddr::new(listen.ip(), known.port()),
        Some(listen) => listen,
        None => known,
    };
    let listener = listen(wanted).map_err(io("choose another port, or 0 for any"))?;
    let bound = listener.local_addr().map_err(io("cannot read the own address"))?;
    // A wildcard is no address that clients could dial.
    let ip = if bound.ip().is_unspecified() { known.ip() } else { bound.ip() };
    let addr = EntityAddr::msgr2(SocketAddr::new(ip, bound.port()), 0);
    Ok((listener, addr.into()))
}

/// Writes what a start needs as one entry: the real address, rotating secrets, global ids to assign.
async fn start(
    options: &MonOptions,
    state: &mut MonState,
    log: &mut RedbLog,
    addrs: &EntityAddrVec,
) -> Result<(), RunError> {
    let now = UTime::now();
    let mut changes = Vec::new();
    if let Some(map) = with_addrs(state.monmap(), &options.name, addrs, now) {
        changes.push(change::monmap(&map));
    }
    changes.extend(auth::rotations(state, options, now, &mut rand::rng()));
    changes.push(change::global_id_bound(GlobalId(state.global_id_bound().0 + options.global_id_step)));
    let text = format!("mon.{0} is new leader, mons {0} in quorum (ranks 0)", options.name);
    changes.push(cluster_log::line(state, options, now, LogLevel::INFO, &text));
    let entry = MonEntry { index: state.applied() + 1, changes };
    state.apply(&entry)?;
    log.append(entry).await?;
    Ok(())
}

/// The monmap with a monitor's real addresses, `None` if it has them.
fn with_addrs(map: &MonMap, name: &str, addrs: &EntityAddrVec, now: UTime) -> Option<MonMap> {
    let mut map = map.clone();
    let entry = map.mons.get_mut(name)?;
    if entry.addrs == *addrs {
        return None;
    }
    let unset = |a: &EntityAddr| a.kind == AddrType::Msgr2 && a.socket.is_some_and(|s| s.port() == 0);
    // A map with port 0 was never given to anybody, so its epoch can be used again.
    if !entry.addrs.0.iter().any(unset) {
        map.epoch = map.epoch.next();
        map.last_changed = now;
    }
    if let Some(entry) = map.mons.get_mut(name) {
        entry.addrs = addrs.clone();
    }
    Some(map)
}

fn assemble(
    options: Arc<MonOptions>,
    state: MonState,
    addrs: EntityAddrVec,
    assigned: GlobalId,
    core: CoreHandle,
) -> Arc<Monitor> {
    let rank = state.monmap().rank_of(&options.name).unwrap_or(0);
    let state = Arc::new(ArcSwap::from_pointee(state));
    let keys = Keys::new(state.clone(), assigned, rank as u64, &options, core.clone());
    Arc::new_cyclic(|this| Monitor {
        started: UTime::now(),
        rank: rank as i64,
        addrs,
        state,
        keys: Arc::new(keys),
        policy: Arc::new(auth::policy(&options, &mut rand::rng())),
        stats: Mutex::default(),
        liveness: Arc::default(),
        sessions: Sessions::default(),
        handshakes: AtomicU64::default(),
        core,
        metadata: daemon_metadata(),
        this: this.clone(),
        options,
    })
}

/// True if a monitor's store is in this directory.
pub fn has_store(data_dir: &Path) -> bool {
    RedbLog::path(data_dir).exists()
}
