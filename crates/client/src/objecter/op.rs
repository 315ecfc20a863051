//! One operation, from submission to its result.

use std::{
    fmt,
    ops::Range,
    sync::Arc,
    task::{Poll, Waker},
};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use sepiola_messages::osd_op::{OpSpec, OsdOpReplyRef, RequestFlags, RequestHead};
use sepiola_wire::{Epoch, GlobalId, HObject, Tid};
use tokio::time::Instant;

use super::{session::Session, target::Place};
use crate::Error;

/// What a caller asks for.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Object, flags, snapshot, time; the pg and the attempt are filled in when it is sent.
    pub head: RequestHead,
    /// What to do, in order.
    pub specs: Vec<OpSpec>,
    /// Whether it may change something. Decides about pauses, and what a lost identity means for it.
    pub writes: bool,
    /// The word for it in errors.
    pub what: &'static str,
}

impl Request {
    /// Bytes that it takes out of the in-flight limit: what it sends and what it asks to be sent.
    pub(crate) fn weight(&self) -> u64 {
        self.specs
            .iter()
            .map(|op| {
                let asked = if self.writes { 0 } else { op.args.extent().length };
                op.input.len() as u64 + asked.min(MAX_ASKED)
            })
            .sum()
    }
}

/// "To the end" is length 0, and some callers ask for far more than an object can hold.
const MAX_ASKED: u64 = 128 << 20;

/// What came of an operation.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    /// The whole request's result: 0 or more, or a negative errno.
    pub result: i32,
    /// The object's user version.
    pub user_version: u64,
    /// The OSD's map.
    pub map_epoch: Epoch,
    /// All outputs.
    pub data: Bytes,
    outcomes: Outcomes,
}

/// Results of single operations; most requests have just one.
#[derive(Debug, Clone)]
enum Outcomes {
    One(i32, Range<usize>),
    Many(Vec<(i32, Range<usize>)>),
}

impl Reply {
    /// Takes what is needed out of a reply. `data` is its data segment as owned bytes.
    pub(crate) fn new(reply: &OsdOpReplyRef<'_>, data: Bytes) -> Self {
        let mut ops = reply.ops().map(|op| (op.rval, op.output_range));
        let outcomes = match (ops.len(), ops.next()) {
            (1, Some((rval, range))) => Outcomes::One(rval, range),
            (_, first) => Outcomes::Many(first.into_iter().chain(ops).collect()),
        };
        Reply {
            result: reply.result,
            user_version: reply.user_version,
            map_epoch: reply.map_epoch,
            data,
            outcomes,
        }
    }

    /// The result and output of the operation at `index`. Replies to failed requests may leave them out.
    pub(crate) fn output(&self, index: usize) -> Option<(i32, Bytes)> {
        let (rval, range) = match &self.outcomes {
            Outcomes::One(rval, range) => (index == 0).then_some((*rval, range)),
            Outcomes::Many(all) => all.get(index).map(|(rval, range)| (*rval, range)),
        }?;
        Some((rval, self.data.slice(range.clone())))
    }
}

/// Shared by the caller, who waits for it, and by the session or list that it is in.
pub(crate) struct Op {
    pub tid: Tid,
    pub specs: Vec<OpSpec>,
    pub writes: bool,
    pub what: &'static str,
    pub deadline: Option<Instant>,
    pub started: Instant,
    state: Mutex<OpState>,
}

pub(crate) struct OpState {
    pub head: RequestHead,
    /// Where it was sent last.
    pub place: Option<Place>,
    pub home: Home,
    /// Times that it was sent.
    pub attempts: i32,
    /// The identity under which it was sent last: the OSD recognises duplicates by it.
    pub sent_as: GlobalId,
    /// Not at the OSD: not sent yet, or sent back by a backoff.
    pub queued: bool,
    /// The cluster pauses it. A sent operation stays where it is, but is sent again afterwards.
    pub paused: bool,
    phase: Phase,
    waker: Option<Waker>,
}

/// Which collection holds the operation.
#[derive(Clone)]
pub(crate) enum Home {
    None,
    Parked,
    Session(Arc<Session>),
}

enum Phase {
    Waiting,
    Done(Result<Reply, Error>),
    /// The result was taken, or nobody waits for it any more.
    Over,
}

impl Op {
    pub(crate) fn new(tid: Tid, request: Request, started: Instant, deadline: Option<Instant>) -> Self {
        Op {
            tid,
            specs: request.specs,
            writes: request.writes,
            what: request.what,
            deadline,
            started,
            state: Mutex::new(OpState {
                head: request.head,
                place: None,
                home: Home::None,
                attempts: 0,
                sent_as: GlobalId(0),
                queued: true,
                paused: false,
                phase: Phase::Waiting,
                waker: None,
            }),
        }
    }

    /// The last in the lock order, see [`super`].
    pub(crate) fn lock(&self) -> MutexGuard<'_, OpState> {
        self.state.lock()
    }

    /// Sets the result and wakes the caller. False if it had one, or if nobody waits.
    pub(crate) fn complete(&self, result: Result<Reply, Error>) -> bool {
        let waker = {
            let mut state = self.state.lock();
            if !matches!(state.phase, Phase::Waiting) {
                return false;
            }
            state.phase = Phase::Done(result);
            state.home = Home::None;
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    /// The result, once.
    pub(crate) fn poll_result(&self, waker: &Waker) -> Poll<Result<Reply, Error>> {
        let mut state = self.state.lock();
        match std::mem::replace(&mut state.phase, Phase::Over) {
            Phase::Done(result) => Poll::Ready(result),
            Phase::Waiting => {
                state.phase = Phase::Waiting;
                match &mut state.waker {
                    Some(known) => known.clone_from(waker),
                    none => *none = Some(waker.clone()),
                }
                Poll::Pending
            }
            Phase::Over => Poll::Ready(Err(Error::ShutDown)),
        }
    }

    /// Nobody waits any more. Returns where it has to be removed from.
    pub(crate) fn abandon(&self) -> Home {
        let mut state = self.state.lock();
        state.phase = Phase::Over;
        state.waker = None;
        std::mem::replace(&mut state.home, Home::None)
    }

    /// The request once more, for a new operation.
    pub(crate) fn to_request(&self) -> Request {
        Request {
            head: self.state.lock().head.clone(),
            specs: self.specs.clone(),
            writes: self.writes,
            what: self.what,
        }
    }
}

impl OpState {
    /// True when there is no point in sending it.
    pub(crate) fn is_over(&self) -> bool {
        !matches!(self.phase, Phase::Waiting)
    }

    /// Sets where it goes next.
    pub(crate) fn assign(&mut self, place: Place) {
        self.head.spg = place.spg;
        self.head.hash = place.hash;
        self.head.map_epoch = place.epoch;
        self.place = Some(place);
        self.queued = true;
    }

    /// Prepares the head for the next send.
    pub(crate) fn begin_attempt(&mut self, identity: GlobalId) {
        self.head.retry_attempt = self.attempts;
        if self.attempts > 0 {
            self.head.flags |= RequestFlags::RETRY;
        }
        self.attempts += 1;
        self.sent_as = identity;
        self.queued = false;
    }

    /// True if a reply to this attempt is the one waited for.
    pub(crate) fn expects(&self, retry_attempt: i32) -> bool {
        self.attempts > 0 && retry_attempt == self.attempts - 1
    }

    /// The object that backoff ranges are compared with.
    pub(crate) fn hobject(&self) -> HObject {
        HObject {
            key: self.head.locator.key.clone(),
            oid: self.head.oid.clone(),
            snap: self.head.snap,
            hash: self.head.hash,
            max: false,
            nspace: self.head.locator.nspace.clone(),
            pool: self.head.spg.pg.pool,
        }
    }
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Op").field("tid", &self.tid).field("what", &self.what).finish_non_exhaustive()
    }
}
