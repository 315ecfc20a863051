//! One accepted connection: the task that owns its socket, its buffers and its session.

use std::{
    future::poll_fn,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use sepiola_msgr2::{Established, Event, FrameReader, FrameWriter, Handshake, ReadBuffer};
use tokio::{
    net::TcpStream,
    time::{Instant, Sleep, sleep_until, timeout},
};
use tracing::{debug, info};

use crate::{
    CloseReason, Dispatch, Outbox, ServeOptions, Shutdown, Throttle,
    admission::HandshakePermit,
    handshake::{self, Failure},
    pace::Pace,
    socket,
    turn::{Budget, yield_turn},
};

/// Queued messages are encoded only while less than this waits for the socket, so that they stay shared.
const OUTBOX_ENCODE_BELOW: usize = 1 << 20;

/// A connection that idles for longer gives its buffers' memory back.
const KEEP_BUFFERS: Duration = Duration::from_secs(10);

pub(super) async fn run<D: Dispatch>(
    mut stream: TcpStream,
    peer: SocketAddr,
    permit: HandshakePermit,
    dispatch: Arc<D>,
    options: Arc<ServeOptions>,
    shutdown: Shutdown,
) {
    let (config, auth) = dispatch.handshake(peer);
    let mut handshake = Handshake::server(config, auth);
    let mut input = ReadBuffer::new();
    let driven = async {
        tokio::select! {
            driven = handshake::drive(&mut stream, &mut handshake, &mut input) => Some(driven),
            () = shutdown.clone().wait() => None,
        }
    };
    match timeout(options.handshake_deadline, driven).await {
        Ok(Some(Ok(()))) => {}
        Ok(None) => return,
        Ok(Some(Err(Failure::Closed))) => return debug!(%peer, "peer left during the handshake"),
        Ok(Some(Err(Failure::Io(e)))) => return debug!(%peer, error = %e, "handshake failed"),
        Ok(Some(Err(Failure::Protocol(e)))) => return info!(%peer, reason = %e, "handshake refused"),
        Err(_) => return debug!(%peer, deadline = ?options.handshake_deadline, "handshake took too long"),
    }
    drop(permit);

    let Established { reader, writer, peer: info, auth, .. } = handshake.into_established();
    // It went in with the server's authenticator.
    let Some(auth) = auth.into_server() else { return };
    let in_flight = Throttle::new(options.max_ops_in_flight, options.max_bytes_in_flight);
    let outbox = Outbox::new(options.max_outbox, in_flight);
    let session = match dispatch.accepted(&info, auth, outbox.clone()) {
        Ok(session) => session,
        Err(refused) => return info!(%peer, reason = %refused, "session refused"),
    };
    debug!(%peer, kind = %info.kind, global_id = %info.global_id, "session open");
    let mut session = SessionGuard { dispatch, outbox: outbox.clone(), session: Some(session) };
    let mut connection = Connection {
        stream,
        input,
        reader,
        writer,
        outbox,
        idle: Box::pin(sleep_until(Instant::now() + options.idle_timeout.min(KEEP_BUFFERS))),
        last_traffic: Instant::now(),
        spin_until: None,
        pace: Pace::default(),
        stop: Box::pin(shutdown.wait()),
        stopping: false,
        options,
    };
    let reason = poll_fn(|cx| connection.poll(cx, &mut session)).await;
    debug!(%peer, %reason, "session closed");
}

/// Gives the session back to the dispatcher however the task ends.
struct SessionGuard<D: Dispatch> {
    dispatch: Arc<D>,
    outbox: Outbox,
    session: Option<D::Session>,
}

impl<D: Dispatch> Drop for SessionGuard<D> {
    fn drop(&mut self) {
        self.outbox.close();
        if let Some(session) = self.session.take() {
            self.dispatch.closed(session);
        }
    }
}

struct Connection {
    stream: TcpStream,
    input: ReadBuffer,
    reader: FrameReader,
    writer: FrameWriter,
    outbox: Outbox,
    idle: Pin<Box<Sleep>>,
    last_traffic: Instant,
    spin_until: Option<Instant>,
    pace: Pace,
    stop: Pin<Box<dyn Future<Output = ()> + Send>>,
    stopping: bool,
    options: Arc<ServeOptions>,
}

/// Why no further frame was handled.
#[derive(PartialEq, Eq)]
enum Handled {
    /// All that has arrived was handled.
    All,
    /// More has arrived, but the peer should not wait longer for what was replied.
    Batch,
    /// The turn's budget is used up.
    Budget,
    /// Too much waits for the socket; writing makes room.
    OutputFull,
    /// Too much is in flight; the throttle wakes the task.
    InFlight,
    /// The server is shutting down.
    Stopping,
}

impl Connection {
    /// One turn: handle what has arrived, send what came of it, read more; until there is nothing to do.
    fn poll<D: Dispatch>(
        &mut self,
        cx: &mut Context<'_>,
        session: &mut SessionGuard<D>,
    ) -> Poll<CloseReason> {
        match self.turn(cx, session) {
            Ok(poll) => poll,
            Err(reason) => {
                // Replies to what came before the failure are still offered to the peer.
                let _ = self.flush();
                Poll::Ready(reason)
            }
        }
    }

    fn turn<D: Dispatch>(
        &mut self,
        cx: &mut Context<'_>,
        session: &mut SessionGuard<D>,
    ) -> Result<Poll<CloseReason>, CloseReason> {
        self.outbox.register(cx.waker());
        self.pace.resumed(self.last_traffic.elapsed());
        let mut budget = Budget::default();
        let mut had_traffic = false;
        loop {
            // A server that stops takes no new work, but lets what is in flight reply.
            let handled =
                if self.stopping { Handled::Stopping } else { self.handle_frames(cx, session, &mut budget)? };
            let closing = self.take_outbox()?;
            self.pace.written();
            let flushed = self.poll_flush(cx)?;
            if let Some(reason) = closing {
                return Ok(Poll::Ready(reason));
            }
            if self.stopping && flushed && self.outbox.in_flight().is_idle() {
                return Ok(Poll::Ready(CloseReason::Shutdown));
            }
            match handled {
                Handled::Budget => {
                    self.had_traffic(Instant::now());
                    yield_turn(cx);
                    return Ok(Poll::Pending);
                }
                // Room was made while flushing: go on without sleeping, or the frames would wait for news.
                Handled::OutputFull if self.writer.pending().len() < self.options.max_output => continue,
                Handled::Batch => continue,
                Handled::OutputFull | Handled::InFlight | Handled::Stopping => break,
                Handled::All => {}
            }
            match socket::poll_read(&mut self.stream, cx, &mut self.input)? {
                Poll::Ready(0) => return Ok(Poll::Ready(CloseReason::PeerClosed)),
                Poll::Ready(_) => had_traffic = true,
                Poll::Pending => break,
            }
        }
        self.rest(cx, had_traffic || budget.ops() > 0)
    }

    fn had_traffic(&mut self, now: Instant) {
        self.last_traffic = now;
        self.spin_until = Some(now + self.options.spin);
    }

    /// Nothing to do: spin for a while if asked to, then arrange to be woken.
    fn rest(&mut self, cx: &mut Context<'_>, had_traffic: bool) -> Result<Poll<CloseReason>, CloseReason> {
        if had_traffic || !self.options.spin.is_zero() {
            let now = Instant::now();
            if had_traffic {
                self.had_traffic(now);
            }
            if self.spin_until.is_some_and(|until| now < until) {
                yield_turn(cx);
                return Ok(Poll::Pending);
            }
            self.spin_until = None;
        }
        if !self.stopping && self.stop.as_mut().poll(cx).is_ready() {
            self.stopping = true;
            if self.writer.pending().is_empty() && self.outbox.in_flight().is_idle() {
                return Ok(Poll::Ready(CloseReason::Shutdown));
            }
        }
        // The timer is moved when it fires, not with every message; so it also looks whether a burst since
        // has left buffers that nobody needs.
        while self.idle.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            let due = self.last_traffic + self.options.idle_timeout;
            if due <= now {
                return Ok(Poll::Ready(CloseReason::Idle(self.options.idle_timeout)));
            }
            if now >= self.last_traffic + KEEP_BUFFERS {
                self.input.shrink();
                self.writer.shrink();
            }
            self.idle.as_mut().reset(due.min(now + KEEP_BUFFERS));
        }
        Ok(Poll::Pending)
    }

    fn handle_frames<D: Dispatch>(
        &mut self,
        cx: &mut Context<'_>,
        session: &mut SessionGuard<D>,
        budget: &mut Budget,
    ) -> Result<Handled, CloseReason> {
        let SessionGuard { dispatch, session: Some(session), .. } = session else {
            return Err(CloseReason::Local);
        };
        loop {
            if self.writer.pending().len() >= self.options.max_output {
                return Ok(Handled::OutputFull);
            }
            if self.outbox.in_flight().wait_for_room(cx.waker())
                || self.options.throttle.as_ref().is_some_and(|t| t.wait_for_room(cx.waker()))
            {
                return Ok(Handled::InFlight);
            }
            if budget.is_spent() {
                return Ok(Handled::Budget);
            }
            match self.reader.next(&mut self.input)? {
                None => return Ok(Handled::All),
                Some(Event::Message(message)) => {
                    let received = message.front.len() + message.data.len();
                    let before = self.writer.pending().len();
                    dispatch.message(session, message, &mut self.writer)?;
                    budget.spend(received + self.writer.pending().len().saturating_sub(before));
                    if self.pace.handled() {
                        return Ok(Handled::Batch);
                    }
                }
                Some(Event::Keepalive(stamp)) => {
                    budget.spend(0);
                    self.writer.keepalive_ack(stamp)?;
                }
                // Acks matter to sessions that replay; new kinds of event carry nothing for this side.
                Some(_) => budget.spend(0),
            }
        }
    }

    /// Encodes what others have queued. Some reason when the connection is to end.
    fn take_outbox(&mut self) -> Result<Option<CloseReason>, CloseReason> {
        if !self.outbox.take_news() {
            return Ok(None);
        }
        let closing = self.outbox.closed_because();
        loop {
            // What is queued before a close is still sent, as far as the socket takes it.
            if closing.is_none() && self.writer.pending().len() >= OUTBOX_ENCODE_BELOW {
                self.outbox.keep_news();
                return Ok(None);
            }
            let Some(message) = self.outbox.pop() else { return Ok(closing) };
            self.writer.message(
                &message.header,
                |out| out.extend_from_slice(&message.front),
                &message.middle,
                &[&message.data],
            )?;
        }
    }

    /// Writes what is pending. True when all of it is out; otherwise the task is woken when the socket has room.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Result<bool, CloseReason> {
        loop {
            if self.flush()? {
                if !self.outbox.take_news() {
                    return Ok(true);
                }
                // The outbox had more than was encoded at first.
                self.outbox.keep_news();
                let closing = self.take_outbox()?;
                if let Some(reason) = closing {
                    let _ = self.flush();
                    return Err(reason);
                }
                continue;
            }
            if self.stream.poll_write_ready(cx)?.is_pending() {
                return Ok(false);
            }
        }
    }

    /// One attempt at writing all that is pending; false when the socket is full.
    fn flush(&mut self) -> Result<bool, CloseReason> {
        while !self.writer.pending().is_empty() {
            match self.stream.try_write(self.writer.pending()) {
                Ok(0) => return Err(CloseReason::PeerClosed),
                Ok(n) => self.writer.consume(n),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(e) => return Err(e.into()),
            }
        }
        Ok(true)
    }
}
