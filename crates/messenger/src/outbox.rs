//! What others send to a connection: map pushes, notifications, replies of work that completed elsewhere.
//!
//! The connection's own replies bypass it. Pushing never blocks; the connection's task is woken, encodes
//! what is queued while its output is short, and writes it with its own replies.

use std::{
    collections::VecDeque,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Waker,
};

use bytes::Bytes;
use futures_util::task::AtomicWaker;
use parking_lot::Mutex;
use sepiola_msgr2::MessageHeader;
use thiserror::Error;

use crate::{CloseReason, Permit, Throttle};

/// A message ready to be sent; sequence numbers are filled in by the connection.
#[derive(Debug, Clone)]
pub struct OutMessage {
    /// Type, version, transaction number, priority.
    pub header: MessageHeader,
    /// The front segment.
    pub front: Bytes,
    /// The middle segment, mostly empty.
    pub middle: Bytes,
    /// The data segment.
    pub data: Bytes,
}

impl OutMessage {
    /// A message without middle and data.
    pub fn new(header: MessageHeader, front: impl Into<Bytes>) -> Self {
        OutMessage { header, front: front.into(), middle: Bytes::new(), data: Bytes::new() }
    }

    /// The same with a data segment.
    pub fn with_data(mut self, data: impl Into<Bytes>) -> Self {
        self.data = data.into();
        self
    }

    fn size(&self) -> usize {
        self.front.len() + self.middle.len() + self.data.len() + size_of::<Self>()
    }
}

/// Why a message was not queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PushError {
    /// The connection has ended.
    #[error("the connection is closed")]
    Closed,
    /// The queue was over its limit; the connection is being closed, because a peer must not miss a message.
    #[error("the connection's queue is full")]
    Full,
}

/// The queue of one connection. Clones share it.
#[derive(Clone)]
pub struct Outbox(Arc<Inner>);

struct Inner {
    queue: Mutex<Queue>,
    // What the task looks at first, so that an empty outbox costs one load a batch.
    has_news: AtomicBool,
    task: AtomicWaker,
    max_bytes: usize,
    in_flight: Throttle,
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<OutMessage>,
    bytes: usize,
    closed: bool,
    reason: Option<CloseReason>,
}

impl Outbox {
    pub(crate) fn new(max_bytes: usize, in_flight: Throttle) -> Self {
        Outbox(Arc::new(Inner {
            queue: Mutex::default(),
            has_news: AtomicBool::new(false),
            task: AtomicWaker::new(),
            max_bytes,
            in_flight,
        }))
    }

    /// Queues a message behind those already queued.
    ///
    /// # Errors
    /// [`PushError::Closed`] after the end of the connection. [`PushError::Full`] when the peer does not take
    /// what is sent to it; that also closes the connection.
    pub fn push(&self, message: OutMessage) -> Result<(), PushError> {
        let result = {
            let mut queue = self.0.queue.lock();
            if queue.closed {
                return Err(PushError::Closed);
            }
            // A queue that is empty takes a message of any size.
            if queue.bytes > 0 && queue.bytes + message.size() > self.0.max_bytes {
                let queued = queue.bytes;
                queue.close(CloseReason::TooSlow(queued));
                Err(PushError::Full)
            } else {
                queue.bytes += message.size();
                queue.messages.push_back(message);
                Ok(())
            }
        };
        self.notify();
        result
    }

    /// Ends the connection after what is queued was handed to the socket once.
    pub fn close(&self) {
        self.close_because(CloseReason::Local);
    }

    /// Ends the connection and says why in the log.
    pub fn close_because(&self, reason: CloseReason) {
        self.0.queue.lock().close(reason);
        self.notify();
    }

    /// True when the connection has ended or is about to.
    pub fn is_closed(&self) -> bool {
        self.0.queue.lock().closed
    }

    /// Counts an operation of `bytes` bytes that will complete later against this connection's limits. Keep
    /// the permit until the reply was pushed: while too many are out, the connection does not read.
    pub fn begin(&self, bytes: u64) -> Permit {
        self.0.in_flight.take(bytes)
    }

    fn notify(&self) {
        self.0.has_news.store(true, Ordering::Release);
        self.0.task.wake();
    }

    pub(crate) fn in_flight(&self) -> &Throttle {
        &self.0.in_flight
    }

    pub(crate) fn register(&self, waker: &Waker) {
        self.0.task.register(waker);
    }

    /// True when something was pushed or the outbox was closed since the last call.
    pub(crate) fn take_news(&self) -> bool {
        self.0.has_news.load(Ordering::Acquire) && self.0.has_news.swap(false, Ordering::AcqRel)
    }

    pub(crate) fn pop(&self) -> Option<OutMessage> {
        let mut queue = self.0.queue.lock();
        let message = queue.messages.pop_front()?;
        queue.bytes -= message.size();
        Some(message)
    }

    /// Asks the task to look again: there was more than it could take.
    pub(crate) fn keep_news(&self) {
        self.0.has_news.store(true, Ordering::Release);
    }

    /// The reason, if somebody closed the outbox.
    pub(crate) fn closed_because(&self) -> Option<CloseReason> {
        let mut queue = self.0.queue.lock();
        queue.closed.then(|| queue.reason.take().unwrap_or(CloseReason::Local))
    }
}

impl Queue {
    fn close(&mut self, reason: CloseReason) {
        if !self.closed {
            self.closed = true;
            self.reason = Some(reason);
        }
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queue = self.0.queue.lock();
        f.debug_struct("Outbox")
            .field("messages", &queue.messages.len())
            .field("bytes", &queue.bytes)
            .field("closed", &queue.closed)
            .finish()
    }
}
