//! What waits for one OSD: the operations in submission order, and the connection when there is one.

use std::{cell::Cell, collections::BTreeMap, fmt, sync::Arc};

use bytes::Bytes;
use parking_lot::Mutex;
use sepiola_messages::{
    BackoffOp, OsdBackoff, PRIORITY_LOW, kind,
    osd_op::{OsdOpReplyRef, REQUEST_COMPAT, encode_request, request_version},
};
use sepiola_messenger::{CloseReason, SendError, Sender, decode};
use sepiola_msgr2::{LocalFault, Message, MessageHeader};
use sepiola_wire::{EntityAddr, Errno, GlobalId, OsdId, Tid};
use tokio::sync::Notify;
use tracing::debug;

use super::{
    backoff::Backoffs,
    op::{Home, Op, OpState, Reply},
    target::Place,
};
use crate::Error;

/// Requests with more parts of data than this take an allocation to be sent.
const PARTS_ON_STACK: usize = 8;

/// The operations of one OSD process. A process at another address is another session.
pub(crate) struct Session {
    pub osd: OsdId,
    pub addr: EntityAddr,
    state: Mutex<State>,
    /// There is something to connect for, or the session has ended.
    work: Notify,
}

#[derive(Default)]
struct State {
    link: Option<Link>,
    /// By tid, which is the order of submission: resends keep it.
    ops: BTreeMap<Tid, Arc<Op>>,
    backoffs: Backoffs,
    /// The connection's output was full. Until what waits was sent, nothing overtakes it.
    stalled: Cell<bool>,
    ended: bool,
    /// Why there is no connection, if the last attempt failed.
    trouble: Option<String>,
}

/// A connection and the identity that it was authenticated under.
#[derive(Clone)]
struct Link {
    sender: Sender,
    identity: GlobalId,
}

impl Session {
    pub(crate) fn new(osd: OsdId, addr: EntityAddr) -> Arc<Self> {
        Arc::new(Session { osd, addr, state: Mutex::default(), work: Notify::new() })
    }

    /// Adds an operation and sends it if it can be sent now.
    pub(crate) fn submit(self: &Arc<Self>, op: &Arc<Op>, place: Place) {
        let refused = {
            let mut state = self.state.lock();
            let mut op_state = op.lock();
            if op_state.is_over() {
                return;
            }
            op_state.assign(place);
            op_state.paused = false;
            op_state.home = Home::Session(self.clone());
            state.ops.insert(op.tid, op.clone());
            let sent = state.send(op, &mut op_state);
            if state.link.is_none() {
                self.work.notify_one();
            }
            if sent.is_err() {
                state.ops.remove(&op.tid);
            }
            sent.err()
        };
        if let Some(error) = refused {
            op.complete(Err(error));
        }
    }

    /// Takes an operation out, answered or not.
    pub(crate) fn remove(&self, tid: Tid) {
        self.state.lock().ops.remove(&tid);
    }

    /// The operations in the order of submission.
    pub(crate) fn ops(&self) -> Vec<Arc<Op>> {
        self.state.lock().ops.values().cloned().collect()
    }

    /// Ends the session and hands over its operations.
    pub(crate) fn end(&self) -> Vec<Arc<Op>> {
        let (link, ops) = {
            let mut state = self.state.lock();
            state.ended = true;
            (state.link.take(), std::mem::take(&mut state.ops))
        };
        if let Some(link) = link {
            link.sender.close();
        }
        self.work.notify_one();
        ops.into_values().collect()
    }

    /// Waits until there is something to connect for; false when the session has ended.
    pub(crate) async fn wait_for_work(&self) -> bool {
        loop {
            {
                let state = self.state.lock();
                if state.ended {
                    return false;
                }
                if !state.ops.is_empty() {
                    return true;
                }
            }
            self.work.notified().await;
        }
    }

    /// Returns when the session has ended.
    pub(crate) async fn wait_for_end(&self) {
        while !self.state.lock().ended {
            self.work.notified().await;
        }
    }

    /// A connection is up: everything that waits is sent, in the order of submission. `place` gives the
    /// place in the newest map. Writes that were sent under another identity cannot be sent again.
    pub(crate) fn connected(
        &self,
        sender: Sender,
        identity: GlobalId,
        mut place: impl FnMut(&OpState, bool) -> Option<Place>,
    ) -> bool {
        let mut finished = Vec::new();
        {
            let mut state = self.state.lock();
            if state.ended {
                return false;
            }
            state.trouble = None;
            state.link = Some(Link { sender, identity });
            state.stalled.set(false);
            for op in state.ops.values().cloned().collect::<Vec<_>>() {
                let mut op_state = op.lock();
                if op.writes && op_state.attempts > 0 && op_state.sent_as != identity {
                    let why = "the client lost its identity while a write was in flight";
                    finished.push((op.clone(), Error::OutcomeUnknown(why)));
                    continue;
                }
                // Without a place the map watcher moves it elsewhere.
                if let Some(place) = place(&op_state, op.writes) {
                    op_state.assign(place);
                }
                if let Err(error) = state.send(&op, &mut op_state) {
                    finished.push((op.clone(), error));
                }
            }
            for (op, _) in &finished {
                state.ops.remove(&op.tid);
            }
        }
        for (op, error) in finished {
            op.complete(Err(error));
        }
        true
    }

    /// The connection is gone, and what the OSD knew of it.
    pub(crate) fn disconnected(&self) {
        let mut state = self.state.lock();
        state.link = None;
        state.backoffs.clear();
        for op in state.ops.values() {
            op.lock().queued = true;
        }
    }

    /// An attempt to connect has failed.
    pub(crate) fn failed_to_connect(&self, error: &Error) {
        self.state.lock().trouble = Some(error.to_string());
    }

    /// Why there is no connection, unless there is one or it is only being made.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.state.lock().trouble.clone()
    }

    /// Asks the OSD for a sign of life.
    pub(crate) fn keepalive(&self) {
        let link = self.state.lock().link.clone();
        if let Some(link) = link {
            link.sender.keepalive();
        }
    }

    /// Tries again to send what found the output full.
    pub(crate) fn send_queued(&self) {
        let failed = self.state.lock().send_queued();
        fail(failed);
    }

    /// Operations without a reply so far.
    pub(crate) fn in_flight(&self) -> usize {
        self.state.lock().ops.len()
    }

    /// A reply. Those that nobody waits for are dropped.
    pub(crate) fn reply(&self, message: Message<'_>) -> Result<(), CloseReason> {
        let reply = OsdOpReplyRef::decode(message.header.version, message.front, &message.data)
            .map_err(|e| CloseReason::dispatch(format!("malformed reply: {e}")))?;
        let op = {
            let mut state = self.state.lock();
            let Some(op) = state.ops.get(&message.header.tid) else { return Ok(()) };
            if !op.lock().expects(reply.retry_attempt) {
                return Ok(());
            }
            state.ops.remove(&message.header.tid)
        };
        let Some(op) = op else { return Ok(()) };
        let result = if reply.redirect.is_some() {
            Err(Error::PeerIncompatible(
                "the OSD redirects to another pool, which is not supported".to_owned(),
            ))
        } else {
            // The views of the reply stay usable beside the owned copy: ranges are all that is kept.
            let owned = match &message.data {
                sepiola_msgr2::Payload::Owned(bytes) => bytes.clone(),
                sepiola_msgr2::Payload::Borrowed(view) => Bytes::copy_from_slice(view),
            };
            Ok(Reply::new(&reply, owned))
        };
        op.complete(result);
        Ok(())
    }

    /// The OSD stops or resumes operations on a range.
    pub(crate) fn backoff(&self, message: &Message<'_>, sender: &Sender) -> Result<(), CloseReason> {
        let backoff: OsdBackoff = decode(message)?;
        debug!(osd = %self.osd, pg = %backoff.spg.pg, op = ?backoff.op, "backoff");
        match backoff.op {
            BackoffOp::Block => {
                {
                    let mut state = self.state.lock();
                    if state.backoffs.block(&backoff).is_err() {
                        return Err(CloseReason::dispatch("too many backoffs"));
                    }
                    // The OSD has dropped those that had reached it.
                    state.requeue_covered();
                }
                acknowledge(&backoff, sender);
            }
            BackoffOp::Unblock => {
                let failed = {
                    let mut state = self.state.lock();
                    if !state.backoffs.unblock(backoff.id) {
                        return Ok(());
                    }
                    state.send_queued()
                };
                fail(failed);
            }
            BackoffOp::AckBlock => {}
        }
        Ok(())
    }
}

fn fail(failed: Vec<(Arc<Op>, Error)>) {
    for (op, error) in failed {
        op.complete(Err(error));
    }
}

fn acknowledge(backoff: &OsdBackoff, sender: &Sender) {
    let ack = OsdBackoff { op: BackoffOp::AckBlock, ..backoff.clone() };
    // If it cannot be sent, the connection is going, and the backoff with it.
    let _ = sender.send_typed(&ack, Tid(0));
}

impl State {
    /// Sends one operation, unless there is no connection or a backoff holds it: then it stays queued.
    ///
    /// # Errors
    /// When it can never be sent.
    fn send(&self, op: &Op, op_state: &mut OpState) -> Result<(), Error> {
        let Some(link) = &self.link else { return Ok(()) };
        if self.stalled.get() {
            return Ok(());
        }
        if !self.backoffs.is_empty() && self.backoffs.covers(op_state.head.spg.pg, &op_state.hobject()) {
            return Ok(());
        }
        let before = (op_state.head.flags, op_state.attempts, op_state.sent_as);
        op_state.begin_attempt(link.identity);
        match send_request(&link.sender, op, op_state) {
            Ok(()) => Ok(()),
            Err(SendError::Protocol(sepiola_msgr2::Error::Local(LocalFault::TooLarge { .. }))) => {
                Err(Error::operation(Errno::EMSGSIZE, op.what, &op_state.head.oid))
            }
            // It is sent when the output has drained, or on the next connection.
            Err(_) => {
                (op_state.head.flags, op_state.attempts, op_state.sent_as) = before;
                op_state.queued = true;
                self.stalled.set(true);
                Ok(())
            }
        }
    }

    fn requeue_covered(&mut self) {
        for op in self.ops.values() {
            let mut op_state = op.lock();
            if self.backoffs.covers(op_state.head.spg.pg, &op_state.hobject()) {
                op_state.queued = true;
            }
        }
    }

    /// Sends what is queued and not held. Returns what can never be sent.
    fn send_queued(&mut self) -> Vec<(Arc<Op>, Error)> {
        let mut failed = Vec::new();
        self.stalled.set(false);
        if self.link.is_some() {
            for op in self.ops.values() {
                let mut op_state = op.lock();
                if op_state.queued
                    && let Err(error) = self.send(op, &mut op_state)
                {
                    failed.push((op.clone(), error));
                }
            }
        }
        for (op, _) in &failed {
            self.ops.remove(&op.tid);
        }
        failed
    }
}

fn send_request(sender: &Sender, op: &Op, op_state: &OpState) -> Result<(), SendError> {
    let features = sender.peer().features;
    let header = MessageHeader {
        priority: PRIORITY_LOW,
        ..MessageHeader::new(kind::OSD_OP, request_version(features), REQUEST_COMPAT).with_tid(op.tid)
    };
    let front = |out: &mut Vec<u8>| encode_request(out, &op_state.head, &op.specs, features);
    let mut parts: [&[u8]; PARTS_ON_STACK] = [&[]; PARTS_ON_STACK];
    if op.specs.len() <= parts.len() {
        for (part, spec) in parts.iter_mut().zip(&op.specs) {
            *part = &spec.input;
        }
        sender.send(&header, front, &parts[..op.specs.len()])
    } else {
        let parts: Vec<&[u8]> = op.specs.iter().map(|spec| &*spec.input).collect();
        sender.send(&header, front, &parts)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("osd", &self.osd).field("addr", &self.addr).finish_non_exhaustive()
    }
}
