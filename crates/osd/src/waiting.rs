//! Requests that wait for a map newer than the OSD's: parked without blocking their connection.

use std::{
    sync::{Arc, Weak, atomic::Ordering},
    time::Duration,
};

use bytes::Bytes;
use sepiola_messages::osd_op::OsdOpRequest;
use sepiola_wire::{Epoch, Tid, UTime};

use crate::{
    core::{Osd, Scratch},
    outgoing::Pushed,
    session::Session,
};

/// Requests that one session may have waiting; its client is told to hold back those that come on top.
pub(crate) const MAX_WAITING: usize = 1024;

/// How long a request may wait. Monitors publish a map within seconds of the client that has it; twice the
/// time after which the log complains.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// A parked request, as it arrived.
pub(crate) struct Waiting {
    /// Keeps the request counted against the connection's limits.
    pub permit: Box<dyn Send>,
    /// When it arrived.
    pub since: UTime,
    pub tid: Tid,
    pub epoch: Epoch,
    pub version: u16,
    pub front: Bytes,
    pub data: Bytes,
}

/// What became of a request that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parked {
    /// It need not wait.
    No,
    /// It waits, or was dropped because the OSD stops.
    Yes,
    /// It would have to, and there is no room for it.
    NoRoom,
}

impl Osd {
    /// The usual case costs one load and one comparison.
    pub(crate) fn has_to_wait(&self, session: &Session, epoch: Epoch) -> bool {
        epoch > self.view().epoch() || session.waiting_count.load(Ordering::Acquire) != 0
    }

    /// Parks a request that [`has to wait`](Osd::has_to_wait).
    pub(crate) fn park(
        &self,
        session: &Arc<Session>,
        epoch: Epoch,
        request: impl FnOnce() -> Waiting,
    ) -> Parked {
        {
            let mut waiting = session.waiting.lock();
            // Looked at again under the lock: the map may have come and the queue may have been drained.
            if epoch <= self.view().epoch() && waiting.is_empty() {
                return Parked::No;
            }
            if self.stopping.load(Ordering::Acquire) {
                return Parked::Yes;
            }
            self.want_map(epoch);
            if waiting.len() >= MAX_WAITING || self.parked.is_full() {
                return Parked::NoRoom;
            }
            waiting.push_back(request());
            session.waiting_count.store(waiting.len(), Ordering::Release);
        }
        self.enlist(session);
        if self.stopping.load(Ordering::Acquire) {
            session.abandon();
        }
        // If the map arrived in between, nobody else will look at this session again.
        if epoch <= self.view().epoch() {
            self.resume(session);
        }
        Parked::Yes
    }

    /// True while so many requests wait that this client should hold further ones back.
    pub(crate) fn is_crowded(&self, session: &Session) -> bool {
        session.waiting_count.load(Ordering::Acquire) > MAX_WAITING / 2 || self.parked.is_full()
    }

    /// Ends sessions whose requests have waited for too long, and lets those go on that had no room for
    /// theirs. A client that is still there connects again and sends what it has not had an answer for.
    pub fn end_stalled(&self) {
        let now = (self.clock)();
        let sessions: Vec<_> = self.waiting_sessions().lock().iter().filter_map(Weak::upgrade).collect();
        for session in &sessions {
            let oldest = session.waiting.lock().front().map(|waiting| waiting.since);
            if oldest.is_some_and(|since| now.saturating_since(since) >= LONGEST_WAIT) {
                tracing::info!(peer = %session.peer.source, "no map came that its requests could run with");
                session.abandon();
                session.push.close();
            }
        }
        sessions.iter().for_each(|session| self.release(session));
    }

    /// Drops what waits: the OSD stops, and clients send it elsewhere when the map says so.
    pub(crate) fn stop_waiting(&self) {
        self.stopping.store(true, Ordering::Release);
        let sessions = self.waiting_sessions().lock().clone();
        sessions.iter().filter_map(Weak::upgrade).for_each(|session| session.abandon());
    }

    /// Has the session looked at when a map comes.
    pub(crate) fn enlist(&self, session: &Arc<Session>) {
        if !session.enlisted.swap(true, Ordering::AcqRel) {
            self.waiting_sessions().lock().push(Arc::downgrade(session));
        }
    }

    /// Runs what no longer has to wait, in order.
    pub(crate) fn resume(&self, session: &Arc<Session>) {
        let mut scratch = Scratch::default();
        // Held while the requests run, so that newer ones of the session queue up behind them.
        let mut waiting = session.waiting.lock();
        while waiting.front().is_some_and(|first| first.epoch <= self.view().epoch()) {
            let Some(next) = waiting.pop_front() else { break };
            let shared = &next.data;
            let request = match OsdOpRequest::decode(next.version, &next.front, shared) {
                Ok(request) => request,
                // It was decoded before it was parked.
                Err(_) => continue,
            };
            if session.drops_waiting(request.spg.pg) {
                continue;
            }
            let out = &mut Pushed(&*session.push);
            // Pushing never refuses: a connection that has ended takes messages silently.
            let _ = self.execute(session, next.tid, &request, Some(shared), &mut scratch, out);
            drop(next.permit);
        }
        session.waiting_count.store(waiting.len(), Ordering::Release);
        let more = !waiting.is_empty();
        drop(waiting);
        self.release(session);
        if more || session.backoffs.lock().hold() {
            self.enlist(session);
        }
    }

    /// Goes on with what waited for the map that has just arrived.
    pub(crate) fn resume_all(&self) {
        let sessions = std::mem::take(&mut *self.waiting_sessions().lock());
        for session in sessions {
            if let Some(session) = session.upgrade() {
                session.enlisted.store(false, Ordering::Release);
                self.resume(&session);
            }
        }
    }
}
