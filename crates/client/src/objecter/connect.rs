//! The task of one session: connects when there is something to send, and again when the connection breaks.

use std::{sync::Arc, time::Duration};

use rand::RngExt;
use sepiola_messages::kind;
use sepiola_messenger::{CloseReason, Connection, DialOptions, Keepalive, MessageHandler, Receiver, Sender};
use sepiola_msgr2::{ClientConfig, Message};
use sepiola_wire::{EntityType, GlobalId};
use tokio::time::{Instant, sleep};
use tracing::{debug, info};

use super::{
    Inner,
    session::Session,
    target::{Location, locate},
};
use crate::Error;

/// The pause before the second attempt; Ceph's `ms_initial_backoff`.
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// Pauses double up to this. Ceph's `ms_max_backoff` is 15 s, which is long for someone who waits.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// A connection that held this long was a good one: the next attempt comes at once.
const GOOD_AFTER: Duration = Duration::from_secs(1);
/// A refusal may be a stale ticket. After so many with fresh ones it is what the cluster means.
const DENIALS_BELIEVED: u32 = 3;

/// Runs until the session ends.
pub(super) async fn run(inner: Arc<Inner>, session: Arc<Session>) {
    let mut pause = Pause(FIRST_PAUSE);
    let mut denials = 0;
    while session.wait_for_work().await {
        match connect(&inner, &session).await {
            Ok((sender, receiver, identity)) => {
                denials = 0;
                let since = Instant::now();
                if !inner.connected(&session, sender, identity) {
                    return;
                }
                let handler = Handler { inner: &inner, session: &session };
                let reason = receiver.run(handler).await;
                session.disconnected();
                debug!(osd = %session.osd, %reason, "connection to OSD ended");
                if since.elapsed() >= GOOD_AFTER {
                    pause = Pause(FIRST_PAUSE);
                    continue;
                }
            }
            Err(error) => {
                info!(osd = %session.osd, %error, "cannot connect to OSD");
                session.failed_to_connect(&error);
                if matches!(error, Error::Denied(_)) {
                    denials += 1;
                    inner.link.ticket_refused();
                }
                if denials >= DENIALS_BELIEVED || is_hopeless(&error) {
                    denials = 0;
                    fail_all(&session, &error);
                }
            }
        }
        // The OSD may be down; the monitors find out.
        inner.link.want_map_after(inner.placement.read().map.epoch());
        tokio::select! {
            () = pause.wait() => {}
            () = session.wait_for_end() => return,
        }
    }
}

/// True for what no further attempt and no newer map can change.
fn is_hopeless(error: &Error) -> bool {
    matches!(error, Error::PeerIncompatible(_) | Error::Config(_))
}

fn fail_all(session: &Session, error: &Error) {
    for op in session.ops() {
        session.remove(op.tid);
        op.complete(Err(error.clone()));
    }
}

pub(super) async fn connect(inner: &Inner, session: &Session) -> Result<(Sender, Receiver, GlobalId), Error> {
    let Some(socket) = session.addr.socket else {
        return Err(Error::Connect(format!("osd.{} has no address", session.osd)));
    };
    let auth = inner.link.osd_authenticator().await?;
    // The ticket may have come with a new identity.
    let identity = inner.link.identity();
    let mut config =
        ClientConfig::new(EntityType::Client, inner.link.own_addrs(), EntityType::Osd, session.addr);
    config.global_seq = inner.global_seq.next();
    config.modes.clone_from(&inner.options.modes);
    config.crypto = inner.options.crypto;
    let mut options = DialOptions::from(inner.options.connect_timeout).with_keepalive(Keepalive::default());
    options.spin = inner.options.spin;
    // Room for everything that may be in flight, as it may all go to one OSD.
    let in_flight = usize::try_from(inner.options.max_bytes_in_flight).unwrap_or(usize::MAX);
    options.max_output = options.max_output.max(in_flight.saturating_mul(2));
    let (sender, receiver) =
        Connection::dial(socket, config, auth, options).await.map_err(|e| dial_error(session, &e))?;
    Ok((sender, receiver, identity))
}

fn dial_error(session: &Session, error: &sepiola_messenger::Error) -> Error {
    let text = format!("osd.{}: {error}", session.osd);
    if error.is_denied() {
        return Error::Denied(text);
    }
    match error {
        sepiola_messenger::Error::Protocol { source, .. } => match source {
            // Another process has the port now; the map will say who is where.
            sepiola_msgr2::Error::PeerIncompatible(sepiola_msgr2::Incompatibility::OtherProcess {
                ..
            }) => Error::Connect(text),
            sepiola_msgr2::Error::PeerIncompatible(_) => Error::PeerIncompatible(text),
            sepiola_msgr2::Error::Local(_) => Error::Config(text),
            _ => Error::PeerMisbehaved(text),
        },
        _ => Error::Connect(text),
    }
}

impl Inner {
    fn connected(&self, session: &Session, sender: Sender, identity: GlobalId) -> bool {
        let placement = self.placement.read();
        session.connected(sender, identity, |op, writes| match locate(&placement.map, &op.head, writes) {
            Location::At(place) if place.osd == session.osd => Some(place),
            _ => None,
        })
    }
}

struct Handler<'s> {
    inner: &'s Inner,
    session: &'s Session,
}

impl MessageHandler for Handler<'_> {
    fn in_flight(&self) -> usize {
        self.session.in_flight()
    }

    fn message(&mut self, message: Message<'_>, sender: &Sender) -> Result<(), CloseReason> {
        match message.header.kind {
            kind::OSD_OPREPLY => self.session.reply(message),
            kind::OSD_BACKOFF => self.session.backoff(&message, sender),
            kind::OSD_MAP => {
                self.inner.link.received_maps(message.header.version, message.front);
                Ok(())
            }
            other => {
                debug!(osd = %self.session.osd, kind = kind::name(other), number = other, "message dropped");
                Ok(())
            }
        }
    }
}

/// A pause that doubles, with jitter so that clients of a restarted OSD do not come all at once.
struct Pause(Duration);

impl Pause {
    async fn wait(&mut self) {
        let pause = self.0.mul_f64(rand::rng().random_range(0.75..1.25));
        self.0 = (self.0 * 2).min(LONGEST_PAUSE);
        sleep(pause).await;
    }
}
