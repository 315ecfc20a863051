//! A service's side of a handshake: an OSD that believes the monitors' tickets.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use sepiola_crypto::{ConnectionSecret, CryptoKey};
use sepiola_wire::{EntityType, Reader, UTime};

use super::{AllowedAuth, ExpiringKey, RotatingSecrets, allowed::may_announce};
use crate::{
    AuthEnv, AuthMethod, AuthRefused, AuthenticatedPeer, ConMode, PeerCaps, ServerAuthDone, ServerAuthStep,
    ServerAuthenticator,
    authorizer::{Presented, seal_challenge, seal_reply},
    challenge,
    protocol::{Hello, auth_mode},
};

/// Where a service finds the secret that sealed a ticket.
pub trait ServiceKeys: Send + Sync {
    /// The secret with this number. For an unknown one the service should also fetch its secrets again.
    fn secret(&self, id: u64) -> Option<ExpiringKey>;
}

/// The rotating secrets that a service has fetched, shared by its connections.
#[derive(Debug, Default)]
pub struct ServiceSecrets {
    secrets: RwLock<RotatingSecrets>,
    unknown_seen: std::sync::atomic::AtomicBool,
}

impl ServiceSecrets {
    /// Without secrets: every ticket is refused until [`ServiceSecrets::install`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes what the monitor sent.
    pub fn install(&self, secrets: RotatingSecrets) {
        *self.secrets.write().unwrap_or_else(PoisonError::into_inner) = secrets;
        self.unknown_seen.store(false, std::sync::atomic::Ordering::Relaxed);
    }

    /// Whether to ask the monitor for the secrets: there are none, the current one has ended, or a ticket
    /// named one that is not known. Callers ask at most once a second.
    pub fn refresh_due(&self, now: UTime, ticket_ttl: Duration) -> bool {
        self.unknown_seen.load(std::sync::atomic::Ordering::Relaxed)
            || self.secrets.read().unwrap_or_else(PoisonError::into_inner).refresh_due(now, ticket_ttl)
    }

    /// True once there is any secret.
    pub fn is_ready(&self) -> bool {
        !self.secrets.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

impl ServiceKeys for ServiceSecrets {
    fn secret(&self, id: u64) -> Option<ExpiringKey> {
        let secret = self.secrets.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned();
        if secret.is_none() {
            self.unknown_seen.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        secret
    }
}

/// Authenticates the peer of one connection to a service, with an authorizer or, where allowed, with
/// method none.
pub struct ServiceAuthenticator {
    service: EntityType,
    keys: Arc<dyn ServiceKeys>,
    allowed: Arc<AllowedAuth>,
    state: State,
}

enum State {
    /// Nothing was accepted yet.
    Start,
    /// The challenge was sent.
    Challenged { peer: EntityType, mode: ConMode, challenge: u64 },
    /// Authenticated or failed.
    Closed,
}

impl ServiceAuthenticator {
    /// For one connection to a daemon of kind `service`.
    pub fn new(service: EntityType, keys: Arc<dyn ServiceKeys>, allowed: Arc<AllowedAuth>) -> Self {
        ServiceAuthenticator { service, keys, allowed, state: State::Start }
    }

    /// Everything about an authorizer that does not depend on a challenge.
    fn open(&self, peer: EntityType, payload: &[u8], now: UTime) -> Result<Presented, AuthRefused> {
        if !payload.first().is_some_and(|mode| auth_mode::AUTHORIZER_RANGE.contains(mode)) {
            return Err(AuthRefused::denied("not an authorizer"));
        }
        const DENIED: AuthRefused = AuthRefused::denied("no valid ticket for this service");
        let mut r = Reader::new(payload);
        let presented =
            Presented::open(&mut r, self.service, |id| self.keys.secret(id), now).map_err(|_| DENIED)?;
        r.finish()?;
        if !may_announce(peer, &presented.ticket.name) {
            return Err(AuthRefused::denied("announced as another kind of entity"));
        }
        Ok(presented)
    }

    fn accept_without_keys(
        &mut self,
        peer: EntityType,
        payload: &[u8],
    ) -> Result<ServerAuthStep, AuthRefused> {
        let hello = Hello::from_slice(payload)?;
        if !auth_mode::AUTHORIZER_RANGE.contains(&hello.mode) {
            return Err(AuthRefused::denied("not meant for a service"));
        }
        if !may_announce(peer, &hello.name) {
            return Err(AuthRefused::denied("announced as another kind of entity"));
        }
        self.state = State::Closed;
        let Hello { name, global_id, .. } = hello;
        Ok(ServerAuthStep::Done(Box::new(ServerAuthDone {
            global_id,
            payload: Vec::new(),
            session_key: CryptoKey::none(),
            connection_secret: ConnectionSecret::empty(),
            peer: AuthenticatedPeer { name, global_id, caps: PeerCaps::allow_all() },
        })))
    }
}

impl ServerAuthenticator for ServiceAuthenticator {
    fn methods(&self, peer: EntityType) -> &[AuthMethod] {
        self.allowed.methods(self.service, peer)
    }

    fn modes(&self, peer: EntityType, method: AuthMethod) -> &[ConMode] {
        self.allowed.modes(peer, method)
    }

    fn request(
        &mut self,
        peer: EntityType,
        method: AuthMethod,
        mode: ConMode,
        payload: &[u8],
        env: &mut AuthEnv<'_>,
    ) -> Result<ServerAuthStep, AuthRefused> {
        if !matches!(self.state, State::Start) {
            return Err(AuthRefused::denied("a second authentication"));
        }
        if !self.methods(peer).contains(&method) || !self.modes(peer, method).contains(&mode) {
            return Err(AuthRefused::unsupported("method or mode not allowed"));
        }
        if method == AuthMethod::None {
            return self.accept_without_keys(peer, payload);
        }
        let presented = self.open(peer, payload, env.now)?;
        // Whatever the authorizer answers, it is no challenge of this connection.
        let challenge = challenge::fresh(env.rng);
        let sealed = seal_challenge(&presented.ticket.session_key, challenge, env.rng);
        self.state = State::Challenged { peer, mode, challenge };
        Ok(ServerAuthStep::More(sealed))
    }

    fn request_more(&mut self, payload: &[u8], env: &mut AuthEnv<'_>) -> Result<ServerAuthStep, AuthRefused> {
        // One answer for one challenge, right or wrong.
        let State::Challenged { peer, mode, challenge } = std::mem::replace(&mut self.state, State::Closed)
        else {
            return Err(AuthRefused::denied("no challenge to answer"));
        };
        let presented = self.open(peer, payload, env.now)?;
        if !presented.answers(challenge) {
            return Err(AuthRefused::denied("the challenge is not answered"));
        }
        let Presented { ticket, nonce, .. } = presented;
        // No text at all is no error: the peer gets in and may do nothing, so that its user sees "operation
        // not permitted" instead of a client that tries to connect for ever.
        let caps = PeerCaps::parse(self.service, ticket.caps.as_deref().unwrap_or_default())
            .map_err(|_| AuthRefused::denied("capabilities do not parse"))?;
        let secret = match mode {
            ConMode::Secure => Some(ConnectionSecret::generate(env.rng)),
            ConMode::Crc => None,
        };
        let payload = seal_reply(&ticket.session_key, nonce, secret.as_ref(), env.rng);
        Ok(ServerAuthStep::Done(Box::new(ServerAuthDone {
            global_id: ticket.global_id,
            payload,
            session_key: ticket.session_key,
            connection_secret: secret.unwrap_or_else(ConnectionSecret::empty),
            peer: AuthenticatedPeer { name: ticket.name, global_id: ticket.global_id, caps },
        })))
    }
}
