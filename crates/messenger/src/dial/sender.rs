//! The sending half: any number of tasks encode into one buffer under a short lock.
//!
//! Whoever finds the socket free writes at once. While the receiver hands out a batch of replies it holds
//! writes back ("corked"): the tasks that the replies wake send their next requests into the buffer, and
//! the receiver writes them all at once afterwards.

use std::{
    fmt, io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Waker},
};

use futures_util::task::AtomicWaker;
use parking_lot::Mutex;
use sepiola_msgr2::{FrameWriter, LocalFault, MessageHeader, PeerInfo};
use sepiola_wire::UTime;
use thiserror::Error;
use tokio::net::{TcpStream, tcp::OwnedWriteHalf};

use crate::{CloseReason, socket};

/// Why a message was not sent. None of it has reached the peer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The connection has ended.
    #[error("the connection is closed")]
    Closed,
    /// More waits for the socket than the limit allows.
    #[error("the connection's output is full")]
    Full,
    /// The message is too large to be sent; or the connection cannot go on, and is closed.
    #[error(transparent)]
    Protocol(sepiola_msgr2::Error),
}

/// The sending half of a dialled connection. Clones share it.
#[derive(Clone)]
pub struct Sender(Arc<Inner>);

struct Inner {
    addr: SocketAddr,
    peer: PeerInfo,
    half: OwnedWriteHalf,
    output: Mutex<Output>,
    closed: AtomicBool,
    receiver: AtomicWaker,
    max_output: usize,
}

struct Output {
    writer: FrameWriter,
    /// The receiver is handing out replies and will write when it is done.
    corked: bool,
    /// The socket is full; the receiver writes when it has room.
    blocked: bool,
    closed: bool,
}

pub(super) fn new(
    addr: SocketAddr,
    half: OwnedWriteHalf,
    writer: FrameWriter,
    peer: PeerInfo,
    max_output: usize,
) -> Sender {
    Sender(Arc::new(Inner {
        addr,
        peer,
        half,
        output: Mutex::new(Output { writer, corked: false, blocked: false, closed: false }),
        closed: AtomicBool::new(false),
        receiver: AtomicWaker::new(),
        max_output,
    }))
}

impl Sender {
    /// Encodes a message and, if nobody else is about to, writes it. `front` appends the front segment; the
    /// data segment is the concatenation of `data`.
    ///
    /// Messages arrive in the order in which `send` returned. A message that was accepted may still not
    /// arrive: the connection is lossy.
    ///
    /// # Errors
    /// A [`SendError`]; then nothing of the message was sent.
    pub fn send(
        &self,
        header: &MessageHeader,
        front: impl FnOnce(&mut Vec<u8>),
        data: &[&[u8]],
    ) -> Result<(), SendError> {
        self.send_with_middle(header, front, &[], data)
    }

    /// [`Sender::send`] with a middle segment.
    ///
    /// # Errors
    /// As [`Sender::send`].
    pub fn send_with_middle(
        &self,
        header: &MessageHeader,
        front: impl FnOnce(&mut Vec<u8>),
        middle: &[u8],
        data: &[&[u8]],
    ) -> Result<(), SendError> {
        let mut output = self.0.output.lock();
        if output.closed {
            return Err(SendError::Closed);
        }
        let queued = output.writer.pending().len();
        let coming = middle.len() + data.iter().map(|d| d.len()).sum::<usize>();
        // Output that is empty takes a message of any size.
        let room =
            if queued == 0 { Some(usize::MAX) } else { self.0.max_output.checked_sub(queued + coming) };
        let Some(room) = room else { return Err(SendError::Full) };
        if let Err(e) = output.writer.message_within(room, header, front, middle, data) {
            if matches!(e, sepiola_msgr2::Error::Local(LocalFault::TooLarge { limit, .. }) if limit == room) {
                return Err(SendError::Full);
            }
            if !matches!(e, sepiola_msgr2::Error::Local(LocalFault::TooLarge { .. })) {
                self.mark_closed(&mut output);
            }
            return Err(SendError::Protocol(e));
        }
        self.flush_unless_held(&mut output);
        Ok(())
    }

    /// Asks the peer for a sign of life.
    pub fn keepalive(&self) {
        let mut output = self.0.output.lock();
        if !output.closed {
            let encoded = output.writer.keepalive(UTime::now());
            self.flush_control(&mut output, encoded);
        }
    }

    /// Who is at the other end.
    pub fn peer(&self) -> &PeerInfo {
        &self.0.peer
    }

    /// The address that was dialled.
    pub fn addr(&self) -> SocketAddr {
        self.0.addr
    }

    /// True when the connection has ended or is about to.
    pub fn is_closed(&self) -> bool {
        self.0.closed.load(Ordering::Acquire)
    }

    /// Ends the connection: the receiver's run returns, and nothing more can be sent.
    pub fn close(&self) {
        self.mark_closed(&mut self.0.output.lock());
    }

    fn stream(&self) -> &TcpStream {
        self.0.half.as_ref()
    }

    fn mark_closed(&self, output: &mut Output) {
        if !output.closed {
            output.closed = true;
            self.0.closed.store(true, Ordering::Release);
            socket::shut(self.stream());
            self.0.receiver.wake();
        }
    }

    fn flush_control(&self, output: &mut Output, encoded: Result<(), sepiola_msgr2::Error>) {
        match encoded {
            Ok(()) => self.flush_unless_held(output),
            // A frame without a body only fails when the connection is beyond use.
            Err(_) => self.mark_closed(output),
        }
    }

    fn flush_unless_held(&self, output: &mut Output) {
        if output.corked || output.blocked {
            return;
        }
        // A failed write closes the connection; whoever sent learns of it as of any other loss.
        if self.flush(output).is_ok() && output.blocked {
            self.0.receiver.wake();
        }
    }

    /// Writes until all is out or the socket is full, which `output.blocked` then says.
    fn flush(&self, output: &mut Output) -> Result<(), CloseReason> {
        output.blocked = false;
        while !output.writer.pending().is_empty() {
            match self.0.half.try_write(output.writer.pending()) {
                Ok(n) if n > 0 => output.writer.consume(n),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    output.blocked = true;
                    break;
                }
                failed => {
                    self.mark_closed(output);
                    return Err(failed.err().map_or(CloseReason::PeerClosed, CloseReason::from));
                }
            }
        }
        Ok(())
    }
}

/// What only the receiver calls.
impl Sender {
    pub(super) fn register(&self, waker: &Waker) {
        self.0.receiver.register(waker);
    }

    pub(super) fn cork(&self) {
        self.0.output.lock().corked = true;
    }

    pub(super) fn uncork(&self) -> Result<(), CloseReason> {
        let mut output = self.0.output.lock();
        output.corked = false;
        if output.blocked { Ok(()) } else { self.flush(&mut output) }
    }

    pub(super) fn keepalive_ack(&self, stamp: UTime) {
        let mut output = self.0.output.lock();
        if !output.closed {
            let encoded = output.writer.keepalive_ack(stamp);
            self.flush_control(&mut output, encoded);
        }
    }

    /// Continues a write that filled the socket; arranges to be woken when it has room again.
    pub(super) fn poll_blocked(&self, cx: &mut Context<'_>) -> Result<(), CloseReason> {
        let mut output = self.0.output.lock();
        while output.blocked && self.stream().poll_write_ready(cx)?.is_ready() {
            self.flush(&mut output)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("addr", &self.0.addr).field("closed", &self.is_closed()).finish()
    }
}
