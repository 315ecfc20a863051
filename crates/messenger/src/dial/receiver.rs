//! The receiving half: one task reads and hands each message to a handler in place.

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
};

use sepiola_msgr2::{Event, FrameReader, Message, ReadBuffer};
use sepiola_wire::UTime;
use tokio::{
    net::tcp::OwnedReadHalf,
    time::{Instant, Sleep, sleep_until},
};

use super::{DialOptions, Sender};
use crate::{
    CloseReason, pace, socket,
    turn::{Budget, yield_turn},
};

/// What the receiver does with what arrives. Any `FnMut(Message, &Sender) -> Result<(), CloseReason>` is
/// a handler.
pub trait MessageHandler: Send {
    /// A message arrived. Must not block.
    ///
    /// # Errors
    /// A reason to close the connection.
    fn message(&mut self, message: Message<'_>, sender: &Sender) -> Result<(), CloseReason>;

    /// Replies that are still to come. They are handed out in parts of that, so that the peer has the next
    /// requests while the rest of its replies is handled. Large parts if the handler does not know.
    fn in_flight(&self) -> usize {
        usize::MAX
    }

    /// The peer answered a keepalive that was sent at `stamp`.
    fn keepalive_ack(&mut self, stamp: UTime) {
        let _ = stamp;
    }
}

impl<F> MessageHandler for F
where
    F: FnMut(Message<'_>, &Sender) -> Result<(), CloseReason> + Send,
{
    fn message(&mut self, message: Message<'_>, sender: &Sender) -> Result<(), CloseReason> {
        self(message, sender)
    }
}

/// The receiving half of a dialled connection. It also continues writes that found the socket full, so
/// nothing moves unless it runs. Dropping it closes the connection.
pub struct Receiver {
    half: OwnedReadHalf,
    input: ReadBuffer,
    reader: FrameReader,
    sender: Sender,
    options: DialOptions,
    last_received: Instant,
    keepalive: Option<Pin<Box<Sleep>>>,
    spin_until: Option<Instant>,
    corked: bool,
}

/// Why no further frame was handled.
enum Handled {
    /// All that has arrived was handled.
    All,
    /// Others on this thread get their turn: above all those who got replies, to send what they want next.
    Turn,
}

impl Receiver {
    pub(super) fn new(
        half: OwnedReadHalf,
        input: ReadBuffer,
        reader: FrameReader,
        sender: Sender,
        options: DialOptions,
    ) -> Self {
        let now = Instant::now();
        Receiver {
            half,
            input,
            reader,
            sender,
            last_received: now,
            keepalive: options.keepalive.map(|k| Box::pin(sleep_until(now + k.interval))),
            options,
            spin_until: None,
            corked: false,
        }
    }

    /// The sending half.
    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    /// Receives until the connection ends, and says why it did. Afterwards the connection is closed for its
    /// senders too.
    pub async fn run<H: MessageHandler>(mut self, mut handler: H) -> CloseReason {
        poll_fn(|cx| match self.turn(cx, &mut handler) {
            Ok(poll) => poll,
            Err(reason) => Poll::Ready(reason),
        })
        .await
    }

    fn turn<H: MessageHandler>(
        &mut self,
        cx: &mut Context<'_>,
        handler: &mut H,
    ) -> Result<Poll<CloseReason>, CloseReason> {
        self.sender.register(cx.waker());
        self.uncork()?;
        let mut budget = Budget::default();
        let mut had_traffic = false;
        loop {
            if self.sender.is_closed() {
                return Ok(Poll::Ready(CloseReason::Local));
            }
            self.sender.poll_blocked(cx)?;
            match self.handle_frames(handler, &mut budget)? {
                Handled::All => {}
                Handled::Turn => {
                    self.had_traffic(Instant::now());
                    yield_turn(cx);
                    return Ok(Poll::Pending);
                }
            }
            match socket::poll_read(&mut self.half, cx, &mut self.input)? {
                Poll::Ready(0) => return Ok(Poll::Ready(CloseReason::PeerClosed)),
                Poll::Ready(_) => had_traffic = true,
                Poll::Pending => break,
            }
        }
        self.rest(cx, had_traffic || budget.ops() > 0)
    }

    fn handle_frames<H: MessageHandler>(
        &mut self,
        handler: &mut H,
        budget: &mut Budget,
    ) -> Result<Handled, CloseReason> {
        let mut batch = None;
        while !budget.is_spent() && batch.is_none_or(|batch| budget.ops() < batch) {
            let Some(event) = self.reader.next(&mut self.input)? else { return Ok(Handled::All) };
            batch.get_or_insert_with(|| pace::batch(handler.in_flight()));
            // One reply: its requester sends the next request itself. More of them: gather what they send.
            if budget.ops() == 1 && !self.corked {
                self.corked = true;
                self.sender.cork();
            }
            match event {
                Event::Message(message) => {
                    budget.spend(message.front.len() + message.data.len());
                    handler.message(message, &self.sender)?;
                }
                Event::Keepalive(stamp) => {
                    budget.spend(0);
                    self.sender.keepalive_ack(stamp);
                }
                Event::KeepaliveAck(stamp) => {
                    budget.spend(0);
                    handler.keepalive_ack(stamp);
                }
                _ => budget.spend(0),
            }
        }
        Ok(Handled::Turn)
    }

    fn had_traffic(&mut self, now: Instant) {
        self.last_received = now;
        self.spin_until = Some(now + self.options.spin);
    }

    fn uncork(&mut self) -> Result<(), CloseReason> {
        if self.corked {
            self.corked = false;
            self.sender.uncork()?;
        }
        Ok(())
    }

    /// Nothing to read: let those who got replies send, spin if asked to, then arrange to be woken.
    fn rest(&mut self, cx: &mut Context<'_>, had_traffic: bool) -> Result<Poll<CloseReason>, CloseReason> {
        if had_traffic || self.corked || !self.options.spin.is_zero() {
            let now = Instant::now();
            if had_traffic {
                self.had_traffic(now);
            }
            if self.corked || self.spin_until.is_some_and(|until| now < until) {
                yield_turn(cx);
                return Ok(Poll::Pending);
            }
            self.spin_until = None;
        }
        if let (Some(timer), Some(keepalive)) = (&mut self.keepalive, self.options.keepalive) {
            while timer.as_mut().poll(cx).is_ready() {
                let now = Instant::now();
                if now >= self.last_received + keepalive.timeout {
                    return Ok(Poll::Ready(CloseReason::Unresponsive(keepalive.timeout)));
                }
                self.sender.keepalive();
                // An answer that is due earlier than the next keepalive is looked for in time.
                let next = (now + keepalive.interval).min(self.last_received + keepalive.timeout);
                timer.as_mut().reset(next);
            }
        }
        Ok(Poll::Pending)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.sender.close();
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("sender", &self.sender).finish_non_exhaustive()
    }
}
