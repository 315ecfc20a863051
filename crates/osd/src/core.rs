//! The OSD without its edges.

use std::sync::{
    Arc, OnceLock, Weak,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

use arc_swap::{ArcSwap, Guard};
use bytes::Bytes;
use dashmap::DashMap;
use parking_lot::Mutex;
use sepiola_messages::{
    Command, OsdBackoff, WireMessage, kind,
    osd_op::{OpOutcome, OsdOpRequest},
};
use sepiola_messenger::{DaemonCommands, Throttle};
use sepiola_msgr2::{MessageHeader, Payload};
use sepiola_objectstore::{CollectionStats, KeyBuf, ObjectStore, RemovalLimit, StoreError, Transaction};
use sepiola_osdmap::OsdMap;
use sepiola_wire::{DecodeError, Epoch, OsdId, PgId, PoolId, UTime};

use crate::{
    class::Caller,
    maps::{MapHistory, MapView},
    op::{Limits, Outputs},
    outgoing::{Outgoing, Refusal},
    pg::Pg,
    reply::Verdict,
    session::Session,
    traffic::Traffic,
    waiting::{Parked, Waiting},
};

/// Freed in one step: a millisecond or so, and no peak of freed memory.
const REMOVAL_STEP: RemovalLimit = RemovalLimit { objects: 1024, bytes: 16 << 20 };

/// What an OSD is told about itself.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OsdConfig {
    /// Its number.
    pub whoami: OsdId,
    /// Limits on requests.
    pub limits: Limits,
    /// From this part of the store on, what grows is dropped although the map does not say yet that the OSD
    /// is full (`osd_failsafe_full_ratio`): a fast writer must not outrun the news. Default
    /// [`OsdConfig::FAILSAFE_FULL`].
    pub failsafe_full: f64,
    /// Requests that may wait for a newer map, over all clients, and bytes of them. Default 2500 and 125 MiB.
    pub max_parked: u64,
    /// See `max_parked`.
    pub max_parked_bytes: u64,
}

impl OsdConfig {
    /// From which part of the store on what grows is dropped, unless said otherwise.
    pub const FAILSAFE_FULL: f64 = 0.97;

    /// The defaults, which are Ceph's.
    pub fn new(whoami: OsdId) -> Self {
        OsdConfig {
            whoami,
            limits: Limits::default(),
            failsafe_full: Self::FAILSAFE_FULL,
            max_parked: 2500,
            max_parked_bytes: 125 << 20,
        }
    }
}

/// An OSD: maps, pgs, and a store.
pub struct Osd {
    pub(crate) config: OsdConfig,
    pub(crate) store: Arc<dyn ObjectStore>,
    view: ArcSwap<MapView>,
    pub(crate) history: Mutex<MapHistory>,
    // All pgs ever served here and not deleted, also those whose primary is another OSD now.
    pgs: DashMap<PgId, Arc<Pg>>,
    // Serialises map changes.
    changing: Mutex<()>,
    waiting: Mutex<Vec<Weak<Session>>>,
    // The newest epoch that some peer has.
    wanted: AtomicU32,
    // What waits, over all sessions: a part of what the OSD reads, so that clients whose map never comes do
    // not keep it from the others.
    pub(crate) parked: Throttle,
    // No map will come that requests could wait for.
    pub(crate) stopping: AtomicBool,
    pub(crate) traffic: Traffic,
    // What whoever runs this OSD answers for it.
    pub(crate) commands: OnceLock<Arc<dyn DaemonCommands>>,
    // The time, for class methods that ask, and for the age of what waits.
    pub(crate) clock: fn() -> UTime,
    // Collections of deleted pools.
    garbage: Mutex<Vec<PgId>>,
    // Monitors should hear about the store's space at once.
    pub(crate) filling_up: tokio::sync::Notify,
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handled {
    /// It was for the OSD; what there is to answer was sent, or will be.
    Done,
    /// The OSD does not know such messages.
    Unknown,
}

/// Memory that a connection reuses from request to request.
#[derive(Debug)]
pub struct Scratch {
    pub(crate) key: KeyBuf,
    pub(crate) transaction: Transaction<'static>,
    pub(crate) outputs: Outputs,
    pub(crate) outcomes: Vec<OpOutcome>,
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch {
            key: KeyBuf::default(),
            transaction: Transaction::new(PgId::new(PoolId(0), 0)),
            outputs: Outputs::default(),
            outcomes: Vec::new(),
        }
    }
}

/// A message that does not decode: its sender is at fault and its session ends.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandleError {
    /// The message is malformed.
    #[error("malformed {name}: {error}", name = kind::name(*kind))]
    Malformed {
        /// The message type.
        kind: u16,
        /// What is wrong with it.
        error: DecodeError,
    },
    /// The reply cannot be sent.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl Osd {
    /// An OSD without a map. Collections that the store has already are served once a map assigns them.
    pub fn new(config: OsdConfig, store: Arc<dyn ObjectStore>) -> Self {
        Osd {
            parked: Throttle::new(config.max_parked, config.max_parked_bytes),
            config,
            store,
            view: ArcSwap::from_pointee(MapView::empty()),
            history: Mutex::default(),
            pgs: DashMap::new(),
            changing: Mutex::new(()),
            waiting: Mutex::default(),
            wanted: AtomicU32::new(0),
            stopping: AtomicBool::new(false),
            commands: OnceLock::new(),
            traffic: Traffic::default(),
            clock: UTime::now,
            garbage: Mutex::default(),
            filling_up: tokio::sync::Notify::new(),
        }
    }

    /// Sets the clock: locks end by it, and what waits is as old as it says.
    pub fn with_clock(mut self, clock: fn() -> UTime) -> Self {
        self.clock = clock;
        self
    }

    pub(crate) fn caller(&self, session: &Session) -> Caller {
        Caller { name: session.peer.source, addr: session.peer.addr, clock: self.clock }
    }

    /// Totals over everything that the store holds.
    pub fn statistics(&self) -> CollectionStats {
        let mut total = CollectionStats::default();
        for id in self.store.collections() {
            // A collection may be removed at any moment.
            if let Ok(stats) = self.store.stats(id) {
                total.add(&stats);
            }
        }
        total
    }

    pub(crate) fn all_pgs(&self) -> Vec<Arc<Pg>> {
        self.pgs.iter().map(|entry| entry.value().clone()).collect()
    }

    pub(crate) fn view(&self) -> Guard<Arc<MapView>> {
        self.view.load()
    }

    pub(crate) fn waiting_sessions(&self) -> &Mutex<Vec<Weak<Session>>> {
        &self.waiting
    }

    /// The epoch of the OSD's map, 0 before the first one.
    pub fn epoch(&self) -> Epoch {
        self.view().epoch()
    }

    /// The newest epoch that a request was based on: if it is above [`Osd::epoch`], requests wait for it.
    pub fn wanted_epoch(&self) -> Epoch {
        Epoch(self.wanted.load(Ordering::Relaxed))
    }

    pub(crate) fn want_map(&self, epoch: Epoch) {
        self.wanted.fetch_max(epoch.0, Ordering::Relaxed);
    }

    /// Remembers the encoded step that leads to an epoch, for peers with older maps.
    pub fn remember_incremental(&self, epoch: Epoch, incremental: Bytes) {
        self.history.lock().add(epoch, incremental);
    }

    /// Takes a newer map; an older one or the same is ignored. The data of pools that are gone becomes
    /// garbage for [`Osd::free_some`], and requests that waited for the map run.
    ///
    /// # Errors
    /// If the store cannot make a collection; the map is in force nevertheless.
    pub fn apply_map(&self, map: Arc<OsdMap>) -> Result<(), StoreError> {
        let mut result = Ok(());
        {
            let _changing = self.changing.lock();
            let previous = self.view.load_full();
            if map.epoch() <= previous.epoch() {
                return Ok(());
            }
            let previous = (previous.epoch() > Epoch(0)).then_some(&*previous);
            let mut pg = |id| match self.pg(id) {
                Ok(pg) => pg,
                Err(error) => {
                    tracing::error!(pg = %id, %error, "cannot make a collection");
                    result = Err(error);
                    Arc::new(Pg::new(id))
                }
            };
            let view = MapView::new(map, self.config.whoami, previous, &mut pg);
            self.view.store(Arc::new(view));
            self.drop_deleted_pools();
        }
        self.resume_all();
        result
    }

    fn pg(&self, id: PgId) -> Result<Arc<Pg>, StoreError> {
        if let Some(pg) = self.pgs.get(&id) {
            return Ok(pg.clone());
        }
        self.store.create_collection(id)?;
        Ok(self.pgs.entry(id).or_insert_with(|| Arc::new(Pg::new(id))).clone())
    }

    fn drop_deleted_pools(&self) {
        let view = self.view();
        self.pgs.retain(|id, _| view.map().pool(id.pool).is_some());
        let mut gone = self.store.collections();
        gone.retain(|id| view.map().pool(id.pool).is_none());
        *self.garbage.lock() = gone;
    }

    /// True while there is data of deleted pools.
    pub fn has_garbage(&self) -> bool {
        !self.garbage.lock().is_empty()
    }

    /// Frees a small part of what deleted pools have left, so that nothing else has to wait for long.
    /// True when there is more.
    ///
    /// # Errors
    /// If the store cannot remove objects; the collection is given up until the next map.
    pub fn free_some(&self) -> Result<bool, StoreError> {
        let Some(id) = self.garbage.lock().last().copied() else { return Ok(false) };
        let removed = self.store.remove_some(id, REMOVAL_STEP);
        let mut garbage = self.garbage.lock();
        if !matches!(removed, Ok(false)) {
            garbage.retain(|other| *other != id);
        }
        removed.map(|_| !garbage.is_empty())
    }

    /// Handles one message of a session and sends what there is to answer into `out`. Runs to completion
    /// when the store answers at once, and never waits for anything else: requests ahead of the OSD's map
    /// are parked and answered later through the session's [`crate::Push`].
    ///
    /// # Errors
    /// [`HandleError`] ends the session.
    pub fn handle(
        &self,
        session: &Arc<Session>,
        header: &MessageHeader,
        front: &[u8],
        data: Payload<'_>,
        scratch: &mut Scratch,
        out: &mut impl Outgoing,
    ) -> Result<Handled, HandleError> {
        let malformed = |error| HandleError::Malformed { kind: header.kind, error };
        match header.kind {
            kind::OSD_OP => {
                let request = OsdOpRequest::decode(header.version, front, &data).map_err(malformed)?;
                if session.drops_arriving(request.spg.pg) {
                    tracing::debug!(peer = %session.peer.source, tid = %header.tid, "request dropped: backoff");
                    return Ok(Handled::Done);
                }
                if self.has_to_wait(session, request.map_epoch) {
                    if let Some(errno) = self.refuses_to_wait(session, &request) {
                        let view = self.view();
                        scratch.outputs.clear();
                        Verdict::early(errno).send(&request, header.tid, view.epoch(), scratch, out)?;
                        return Ok(Handled::Done);
                    }
                    let bytes = (front.len() + data.len()) as u64;
                    let parked = self.park(session, request.map_epoch, || Waiting {
                        permit: Box::new((session.push.begin(bytes), self.parked.take(bytes))),
                        since: (self.clock)(),
                        tid: header.tid,
                        epoch: request.map_epoch,
                        version: header.version,
                        front: Bytes::copy_from_slice(front),
                        data: data.clone().into_bytes(),
                    });
                    match parked {
                        Parked::Yes => return Ok(Handled::Done),
                        Parked::NoRoom => {
                            self.block(session, &self.view(), request.spg.pg, true, out)?;
                            return Ok(Handled::Done);
                        }
                        // The map has just come.
                        Parked::No => {}
                    }
                }
                let shared = match &data {
                    Payload::Owned(bytes) => Some(bytes),
                    Payload::Borrowed(_) => None,
                };
                self.execute(session, header.tid, &request, shared, scratch, out)?;
                Ok(Handled::Done)
            }
            kind::OSD_BACKOFF => {
                let ack = OsdBackoff::decode(header.version, front, &data).map_err(malformed)?;
                self.backoff_acknowledged(session, &ack);
                Ok(Handled::Done)
            }
            kind::COMMAND => {
                let command = Command::decode(header.version, front, &data).map_err(malformed)?;
                let reply = self.tell(session, &command);
                out.send_typed(&reply, header.tid, session.peer.features)?;
                Ok(Handled::Done)
            }
            _ => Ok(Handled::Unknown),
        }
    }

    /// Sends the maps that a peer lacks, before anything else and once per session and epoch.
    pub(crate) fn share_maps(
        &self,
        session: &Session,
        view: &MapView,
        has: Epoch,
        out: &mut impl Outgoing,
    ) -> Result<(), Refusal> {
        if has >= view.epoch() {
            return Ok(());
        }
        match session.claim_maps(has, view.epoch()) {
            Some(from) => {
                let message = self.history.lock().message(from, view);
                out.send_typed(&message, sepiola_wire::Tid(0), session.peer.features)
            }
            None => Ok(()),
        }
    }
}

impl std::fmt::Debug for Osd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Osd")
            .field("config", &self.config)
            .field("epoch", &self.epoch())
            .finish_non_exhaustive()
    }
}
