//! Sends operations to the OSDs that serve their objects, and sends them again when that changes.
//!
//! An [`op::Op`] lives in exactly one place: a [`session::Session`] of the OSD that the newest map names,
//! or the list of parked operations that no OSD can take now. Submitting encodes straight into the session's
//! connection; the reply is decoded by the connection's task, which wakes the caller. Neither spawns a task
//! nor crosses a channel.
//!
//! Lock order: placement, parked, session, operation; none is held across an await.

mod backoff;
mod command;
mod completion;
mod connect;
mod expiry;
mod limits;
mod link;
mod op;
mod op_timeout;
mod resend;
mod session;
mod target;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::{Mutex, RwLock};
use sepiola_cephx::ConMode;
use sepiola_crypto::CryptoOptions;
use sepiola_messenger::{Shutdown, ShutdownTrigger};
use sepiola_msgr2::GlobalSeq;
use sepiola_osdmap::OsdMap;
use sepiola_wire::{Errno, OsdId, Tid};
use tokio::{runtime::Handle, sync::Notify, time::Instant};

pub(crate) use link::MonitorLink;
pub(crate) use op::{Reply, Request};
pub(crate) use op_timeout::OpTimeout;
pub(crate) use target::request_flags;

use crate::Error;
use completion::Completion;
use limits::Limits;
use op::{Home, Op};
use session::Session;
use target::{Location, Place, locate};

/// Settings of the operation engine.
#[derive(Debug, Clone)]
pub(crate) struct ObjecterOptions {
    /// From the call to the result.
    pub op_timeout: OpTimeout,
    /// For one connection attempt.
    pub connect_timeout: Duration,
    /// Modes offered to OSDs, the preferred one first.
    pub modes: Vec<ConMode>,
    pub crypto: CryptoOptions,
    pub max_ops_in_flight: usize,
    pub max_bytes_in_flight: u64,
    /// How long receivers look for more before they sleep.
    pub spin: Duration,
}

/// A handle; clones share everything.
#[derive(Clone)]
pub(crate) struct Objecter(Arc<Inner>);

pub(crate) struct Inner {
    link: Arc<dyn MonitorLink>,
    runtime: Handle,
    options: ObjecterOptions,
    next_tid: AtomicU64,
    global_seq: GlobalSeq,
    limits: Limits,
    placement: RwLock<Placement>,
    /// Operations that no OSD can take now, by tid. Changes only with `placement` locked.
    parked: Mutex<BTreeMap<Tid, Arc<Op>>>,
    /// An operation waits for a pool that the map does not have.
    missing_pool: Notify,
    stop: ShutdownTrigger,
    stopped: Shutdown,
}

/// A map and the sessions that it gave rise to. Submitting holds it for reading, so that a new map finds
/// every operation either placed by the map before it or not yet placed.
struct Placement {
    map: Arc<OsdMap>,
    sessions: HashMap<OsdId, Arc<Session>>,
}

impl Objecter {
    /// Starts the engine on the current runtime.
    pub(crate) fn start(link: Arc<dyn MonitorLink>, options: ObjecterOptions) -> Self {
        let (stop, stopped) = Shutdown::new();
        // Watched from before the map is read: no epoch in between is missed.
        let epochs = link.epochs();
        let map = link.osdmap();
        let inner = Arc::new(Inner {
            runtime: Handle::current(),
            limits: Limits::new(options.max_ops_in_flight, options.max_bytes_in_flight),
            options,
            next_tid: AtomicU64::new(1),
            global_seq: GlobalSeq::new(),
            placement: RwLock::new(Placement { map, sessions: HashMap::new() }),
            parked: Mutex::default(),
            missing_pool: Notify::new(),
            stop,
            stopped,
            link,
        });
        inner.spawn(resend::watch_maps(inner.clone(), epochs));
        inner.spawn(resend::watch_missing_pools(inner.clone()));
        inner.spawn(expiry::run(inner.clone()));
        Objecter(inner)
    }

    /// Sends a request and waits for its result. Dropping the future before it is sent cancels it; after
    /// that, its outcome is unknown and it is not sent again.
    pub(crate) async fn execute(&self, request: Request) -> Result<Reply, Error> {
        let inner = &*self.0;
        let started = Instant::now();
        let deadline = inner.options.op_timeout.get().map(|timeout| started + timeout);
        let weight = request.weight();
        let share = match inner.limits.try_acquire(weight) {
            Some(share) => share,
            None => {
                let acquire = inner.limits.acquire(weight);
                match deadline {
                    None => acquire.await,
                    Some(deadline) => tokio::time::timeout_at(deadline, acquire).await.map_err(|_| {
                        let why = "no room among the operations in flight".to_owned();
                        inner.timed_out(request.what, &request.head.oid, why)
                    })?,
                }
            }
        };
        let mut op = inner.new_op(request, started, deadline);
        let mut completion = Completion::new(&self.0, op.clone(), share);
        loop {
            self.0.submit(&op);
            let reply = completion.result().await?;
            // Only a read may be asked for again under a new number: the OSD would not know a write again.
            if op.writes || reply.result != Errno::EAGAIN.to_wire() {
                return Ok(reply);
            }
            tokio::time::sleep(RETRY_READ).await;
            op = inner.new_op(op.to_request(), started, deadline);
            completion.replace(op.clone());
        }
    }

    /// The map that operations are placed by.
    pub(crate) fn map(&self) -> Arc<OsdMap> {
        self.0.placement.read().map.clone()
    }

    /// Takes over a newer map now, instead of when its watcher gets to it.
    pub(crate) fn use_newest_map(&self) {
        self.0.use_map(self.0.link.osdmap());
    }

    /// Ends everything; waiting operations fail.
    pub(crate) fn shut_down(&self) {
        self.0.shut_down();
    }
}

/// Before a read is asked for once more.
const RETRY_READ: Duration = Duration::from_millis(100);

impl Inner {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let stopped = self.stopped.clone();
        self.runtime.spawn(async move {
            tokio::select! {
                () = stopped.wait() => {}
                () = task => {}
            }
        });
    }

    fn new_op(&self, request: Request, started: Instant, deadline: Option<Instant>) -> Arc<Op> {
        let tid = Tid(self.next_tid.fetch_add(1, Ordering::Relaxed));
        Arc::new(Op::new(tid, request, started, deadline))
    }

    fn timed_out(&self, operation: &'static str, object: &[u8], waited_for: String) -> Error {
        let after = self.options.op_timeout.get().unwrap_or_default();
        Error::TimedOut { operation, object: String::from_utf8_lossy(object).into_owned(), waited_for, after }
    }

    /// Puts an operation where the map says.
    fn submit(self: &Arc<Self>, op: &Arc<Op>) {
        {
            let placement = self.placement.read();
            // Raised before the sessions end, so that nothing is placed that nobody would end.
            if self.stopped.is_raised() {
                op.complete(Err(Error::ShutDown));
                return;
            }
            let location = locate(&placement.map, &op.lock().head, op.writes);
            match location {
                Location::At(place) => {
                    if let Some(session) = placement.sessions.get(&place.osd) {
                        return session.submit(op, place);
                    }
                }
                elsewhere => {
                    self.park(op, elsewhere);
                    return self.want_newer_map(&placement.map, elsewhere);
                }
            }
        }
        // The first operation for this OSD.
        let mut placement = self.placement.write();
        self.place(&mut placement, op);
    }

    /// As [`Inner::submit`], with the right to open sessions.
    fn place(self: &Arc<Self>, placement: &mut Placement, op: &Arc<Op>) {
        if self.stopped.is_raised() {
            op.complete(Err(Error::ShutDown));
            return;
        }
        let location = locate(&placement.map, &op.lock().head, op.writes);
        let elsewhere = match location {
            Location::At(place) => match self.session(placement, &place) {
                Some(session) => return session.submit(op, place),
                None => Location::NoPrimary,
            },
            elsewhere => elsewhere,
        };
        self.park(op, elsewhere);
        self.want_newer_map(&placement.map, elsewhere);
    }

    fn session(self: &Arc<Self>, placement: &mut Placement, place: &Place) -> Option<Arc<Session>> {
        if let Some(session) = placement.sessions.get(&place.osd) {
            return Some(session.clone());
        }
        let addr = *placement.map.osd(place.osd)?.client_addrs.msgr2()?;
        let session = Session::new(place.osd, addr);
        placement.sessions.insert(place.osd, session.clone());
        self.spawn(connect::run(self.clone(), session.clone()));
        Some(session)
    }

    fn park(&self, op: &Arc<Op>, why: Location) {
        let mut parked = self.parked.lock();
        let mut state = op.lock();
        if state.is_over() {
            return;
        }
        state.home = Home::Parked;
        state.queued = true;
        state.paused = why == Location::Paused;
        // Whatever is tried next counts as another place.
        state.place = None;
        parked.insert(op.tid, op.clone());
    }

    fn want_newer_map(&self, map: &OsdMap, why: Location) {
        match why {
            Location::NoPool => self.missing_pool.notify_one(),
            _ => self.link.want_map_after(map.epoch()),
        }
    }

    /// Nobody waits for the operation any more.
    fn forget(&self, op: &Op) {
        match op.abandon() {
            Home::None => {}
            Home::Parked => {
                self.parked.lock().remove(&op.tid);
            }
            Home::Session(session) => session.remove(op.tid),
        }
    }

    fn all_ops(&self) -> Vec<Arc<Op>> {
        let placement = self.placement.read();
        let mut ops: Vec<_> = self.parked.lock().values().cloned().collect();
        for session in placement.sessions.values() {
            ops.extend(session.ops());
        }
        ops
    }

    fn shut_down(&self) {
        self.stop.raise();
        let mut ops = Vec::new();
        {
            let mut placement = self.placement.write();
            ops.extend(std::mem::take(&mut *self.parked.lock()).into_values());
            for session in std::mem::take(&mut placement.sessions).into_values() {
                ops.extend(session.end());
            }
        }
        for op in ops {
            op.complete(Err(Error::ShutDown));
        }
    }
}
