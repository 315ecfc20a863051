//! One round of the hunt: several monitors dialled at once, the first that authenticates wins.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sepiola_cephx::{
    AuthEnv, AuthError, AuthMethod, ClientAuthDone, ClientAuthenticator, ConMode, TicketKeeper,
};
use sepiola_messages::{Ping, WireMessage};
use sepiola_messenger::{CloseReason, Connection, DialOptions, Error, Keepalive, Receiver, Sender, decode};
use sepiola_msgr2::{ClientConfig, Denial, GlobalSeq, Incompatibility, LocalFault, Message};
use sepiola_wire::{EntityAddr, EntityName, EntityType, Errno, Features, GlobalId, Tid};
use tokio::task::JoinSet;

use crate::{Attempts, MonClientOptions, MonError};

/// What came of one monitor that did not become the session.
pub(crate) struct Failure {
    pub(crate) addr: SocketAddr,
    pub(crate) error: Error,
}

impl Failure {
    /// The error if trying again as is cannot help: key, method or mode were refused.
    pub(crate) fn fatal(&self, name: &EntityName) -> Option<MonError> {
        let addr = self.addr;
        let Error::Protocol { source, .. } = &self.error else { return None };
        let reason = source.to_string();
        match source {
            sepiola_msgr2::Error::Denied(Denial::ByServer(error)) => match error {
                AuthError::Denied(_) => Some(MonError::AccessDenied { name: name.clone(), addr }),
                // The next attempt asks for a new id.
                AuthError::ReclaimRefused(_) => None,
                // Another monitor was first.
                AuthError::Unexpected(LATE) => None,
                AuthError::MethodRefused(_) => Some(MonError::Mismatch { addr, reason }),
                _ => Some(MonError::Authentication { addr, reason }),
            },
            sepiola_msgr2::Error::PeerIncompatible(
                Incompatibility::Methods { .. } | Incompatibility::Modes { .. },
            )
            | sepiola_msgr2::Error::Local(LocalFault::NoModeForMethod(_) | LocalFault::NoModes) => {
                Some(MonError::Mismatch { addr, reason })
            }
            _ => None,
        }
    }

    /// True if nothing listens there.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(&self.error, Error::Connect { source, .. }
            if source.kind() == std::io::ErrorKind::ConnectionRefused)
    }

    /// True if the next attempt may go better right away.
    pub(crate) fn is_worth_an_immediate_retry(&self) -> bool {
        matches!(
            &self.error,
            Error::Protocol {
                source: sepiola_msgr2::Error::Denied(Denial::ByServer(AuthError::ReclaimRefused(_))),
                ..
            }
        )
    }
}

fn client_config(options: &MonClientOptions, global_seq: &GlobalSeq, target: EntityAddr) -> ClientConfig {
    let mut config = ClientConfig::new(options.name.kind, options.addrs.clone(), EntityType::Mon, target);
    config.gid = options.daemon_id;
    config.global_seq = global_seq.next();
    config.modes = options.modes.clone();
    config.features_required = Features::MSG_ADDR2 | Features::OSD_REPLY_MUX;
    config.crypto = options.crypto;
    config
}

fn dial_options(options: &MonClientOptions, deadline: Duration) -> DialOptions {
    let keepalive = Keepalive { interval: options.ping_interval, timeout: options.ping_timeout };
    DialOptions::from(deadline).with_keepalive(keepalive)
}

/// Asks one monitor how it is, on a connection and with tickets of its own.
pub(crate) async fn ping(
    options: &MonClientOptions,
    global_seq: &GlobalSeq,
    target: EntityAddr,
    deadline: Duration,
) -> Result<String, String> {
    let addr = target.socket.ok_or("it has no address")?;
    let config = client_config(options, global_seq, target);
    let auth = options.ticket_keeper().mon_authenticator();
    let dialled = Connection::dial(addr, config, auth, dial_options(options, deadline)).await;
    let (sender, receiver) = dialled.map_err(|e| e.to_string())?;
    sender.send_typed(&Ping::default(), Tid(0)).map_err(|e| e.to_string())?;
    let mut text = None;
    let ended = receiver
        .run(|message: Message<'_>, _: &Sender| {
            if message.header.kind == Ping::TYPE {
                text = Some(decode::<Ping>(&message)?.text.unwrap_or_default());
                return Err(CloseReason::dispatch("the ping was answered"));
            }
            Ok(())
        })
        .await;
    text.ok_or_else(|| ended.to_string())
}

/// What became of each, for a message.
pub(crate) fn attempts(failures: &[Failure]) -> Attempts {
    let mut attempts = Attempts::default();
    for failure in failures {
        attempts.record(failure.addr, failure.error.to_string());
    }
    attempts
}

/// Dials all of `addrs`; gives the first session, or every failure. Returns within `deadline`.
pub(crate) async fn round(
    options: &MonClientOptions,
    tickets: &TicketKeeper,
    global_seq: &GlobalSeq,
    addrs: &[EntityAddr],
    deadline: Duration,
) -> Result<(Sender, Receiver), Vec<Failure>> {
    let first = Arc::new(AtomicBool::new(false));
    let mut dials = JoinSet::new();
    for target in addrs {
        let Some(addr) = target.socket else { continue };
        let config = client_config(options, global_seq, *target);
        let auth = Box::new(FirstWins { inner: tickets.mon_authenticator(), first: first.clone() });
        let dial_options = dial_options(options, deadline);
        dials.spawn(async move {
            Connection::dial(addr, config, auth, dial_options).await.map_err(|error| Failure { addr, error })
        });
    }
    let mut failures = Vec::new();
    while let Some(result) = dials.join_next().await {
        match result {
            // Dropping the set aborts the others.
            Ok(Ok(session)) => return Ok(session),
            Ok(Err(failure)) => failures.push(failure),
            // Only a panic ends a dial otherwise; the round goes on without it.
            Err(error) => tracing::error!(%error, "dialling a monitor failed"),
        }
    }
    Err(failures)
}

const LATE: &str = "another monitor was first";

/// Lets only one of several parallel attempts change the tickets: each monitor would assign an id of its own,
/// and tickets must belong to the session that is kept.
struct FirstWins {
    inner: Box<dyn ClientAuthenticator>,
    first: Arc<AtomicBool>,
}

impl ClientAuthenticator for FirstWins {
    fn method(&self) -> AuthMethod {
        self.inner.method()
    }

    fn request(&mut self, env: &mut AuthEnv<'_>) -> Result<Vec<u8>, AuthError> {
        self.inner.request(env)
    }

    fn reply_more(&mut self, payload: &[u8], env: &mut AuthEnv<'_>) -> Result<Vec<u8>, AuthError> {
        self.inner.reply_more(payload, env)
    }

    fn done(
        &mut self,
        global_id: GlobalId,
        mode: ConMode,
        payload: &[u8],
        env: &mut AuthEnv<'_>,
    ) -> Result<ClientAuthDone, AuthError> {
        if self.first.swap(true, Ordering::AcqRel) {
            return Err(AuthError::Unexpected(LATE));
        }
        let done = self.inner.done(global_id, mode, payload, env);
        if done.is_err() {
            // Nothing was kept of it, so another may still win.
            self.first.store(false, Ordering::Release);
        }
        done
    }

    fn bad_method(&mut self, result: Errno) -> AuthError {
        if self.first.load(Ordering::Acquire) {
            // A refusal would drop the identity that the winner has just got.
            return AuthError::Unexpected(LATE);
        }
        self.inner.bad_method(result)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use sepiola_crypto::{ConnectionSecret, CryptoKey};
    use sepiola_wire::UTime;

    use super::*;

    /// Counts what would change the tickets.
    #[derive(Default)]
    struct Counting {
        changes: Arc<AtomicU32>,
        fails: bool,
    }

    impl ClientAuthenticator for Counting {
        fn method(&self) -> AuthMethod {
            AuthMethod::Cephx
        }
        fn request(&mut self, _: &mut AuthEnv<'_>) -> Result<Vec<u8>, AuthError> {
            Ok(Vec::new())
        }
        fn reply_more(&mut self, _: &[u8], _: &mut AuthEnv<'_>) -> Result<Vec<u8>, AuthError> {
            Ok(Vec::new())
        }
        fn done(
            &mut self,
            _: GlobalId,
            _: ConMode,
            _: &[u8],
            _: &mut AuthEnv<'_>,
        ) -> Result<ClientAuthDone, AuthError> {
            if self.fails {
                return Err(AuthError::NoConnectionSecret);
            }
            self.changes.fetch_add(1, Ordering::Relaxed);
            Ok(ClientAuthDone {
                session_key: CryptoKey::none(),
                connection_secret: ConnectionSecret::empty(),
            })
        }
        fn bad_method(&mut self, result: Errno) -> AuthError {
            self.changes.fetch_add(1, Ordering::Relaxed);
            AuthError::Refused(result)
        }
    }

    #[test]
    fn only_one_of_parallel_attempts_touches_the_tickets() {
        let (changes, first) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
        let attempt = |fails| FirstWins {
            inner: Box::new(Counting { changes: changes.clone(), fails }),
            first: first.clone(),
        };
        let done = |attempt: &mut FirstWins| {
            let rng = &mut rand::rng();
            attempt.done(GlobalId(1), ConMode::Secure, &[], &mut AuthEnv::new(UTime::ZERO, rng)).is_ok()
        };
        assert!(!done(&mut attempt(true)), "a failure leaves the others their chance");
        assert!(done(&mut attempt(false)));
        assert!(!done(&mut attempt(false)));
        assert_eq!(attempt(false).bad_method(Errno::EACCES), AuthError::Unexpected(LATE));
        assert_eq!(changes.load(Ordering::Relaxed), 1);
    }
}
