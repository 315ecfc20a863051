//! A monitor's side of a handshake.

use std::sync::Arc;

use sepiola_crypto::{ConnectionSecret, CryptoKey, Usage};
use sepiola_wire::{EntityName, EntityType, Errno, GlobalId, Put, Reader};

use super::{
    EntityAuth, KeyServer, MonAuthPolicy,
    allowed::may_announce,
    key_server::ticket_secret,
    mint::{Minted, Owner, mint},
};
use crate::{
    AuthEnv, AuthMethod, AuthRefused, AuthenticatedPeer, ConMode, PeerCaps, ServerAuthDone, ServerAuthStep,
    ServerAuthenticator, ServiceSet, challenge, envelope,
    protocol::{Authenticate, GET_AUTH_SESSION_KEY, Hello, auth_mode, put_answer_header},
    ticket::{ExpiryCheck, ReplyWriter, TicketBlob, TicketInfo},
};

/// Authenticates the peer of one connection to a monitor, with cephx or, where allowed, with method none,
/// and answers MAuth on the session that follows.
pub struct MonAuthenticator {
    pub(super) keys: Arc<dyn KeyServer>,
    pub(super) policy: Arc<MonAuthPolicy>,
    pub(super) state: State,
}

pub(super) enum State {
    /// Nothing was accepted yet.
    Start,
    /// The challenge was sent.
    Challenged { claim: Claim, mode: ConMode, challenge: u64 },
    /// Authenticated with cephx.
    Open(Session),
    /// Authenticated without keys, or failed.
    Closed,
}

/// Who the peer says it is.
pub(super) struct Claim {
    name: EntityName,
    /// The id it asks for, or `None` for a new one.
    reclaimed: Option<GlobalId>,
}

/// What an authenticated session may renew.
pub(super) struct Session {
    pub(super) name: EntityName,
    pub(super) global_id: GlobalId,
    /// The challenge of this connection, which renewals answer again.
    pub(super) challenge: u64,
}

/// A principal that has proven its key.
pub(super) struct Proven {
    pub(super) entity: EntityAuth,
    pub(super) key: CryptoKey,
    pub(super) by_pending_key: bool,
}

impl MonAuthenticator {
    /// For one connection.
    pub fn new(keys: Arc<dyn KeyServer>, policy: Arc<MonAuthPolicy>) -> Self {
        MonAuthenticator { keys, policy, state: State::Start }
    }

    fn claim(&self, peer: EntityType, method: AuthMethod, payload: &[u8]) -> Result<Claim, AuthRefused> {
        if !payload.first().is_some_and(|mode| auth_mode::MON_RANGE.contains(mode)) {
            return Err(AuthRefused::denied("an authorizer at a monitor"));
        }
        let hello = Hello::from_slice(payload)?;
        if !self.policy.allowed.allows_name(&hello.name, method) {
            return Err(AuthRefused::unsupported("this method is not allowed to the entity"));
        }
        if !may_announce(peer, &hello.name) {
            return Err(AuthRefused::denied("announced as another kind of entity"));
        }
        let reclaimed = Some(hello.global_id).filter(|id| id.0 != 0);
        Ok(Claim { name: hello.name, reclaimed })
    }

    fn assign(&self) -> Result<GlobalId, AuthRefused> {
        self.keys
            .assign_global_id()
            .ok_or(AuthRefused { errno: Errno::EAGAIN, reason: "no global_id at hand" })
    }

    fn accept_without_keys(&mut self, claim: Claim) -> Result<ServerAuthStep, AuthRefused> {
        // Nothing proves an id here, and nothing else does with this method.
        let global_id = match claim.reclaimed {
            Some(id) => id,
            None => self.assign()?,
        };
        self.state = State::Closed;
        Ok(ServerAuthStep::Done(Box::new(ServerAuthDone {
            global_id,
            payload: Vec::new(),
            session_key: CryptoKey::none(),
            connection_secret: ConnectionSecret::empty(),
            peer: AuthenticatedPeer { name: claim.name, global_id, caps: PeerCaps::allow_all() },
        })))
    }

    /// Checks the answer to the challenge. An entity that does not exist, a wrong key and a key of a type
    /// that is not allowed end in the same way, after the same work.
    pub(super) fn prove(
        &self,
        name: &EntityName,
        challenge: u64,
        request: &Authenticate,
        env: &mut AuthEnv<'_>,
    ) -> Result<Proven, AuthRefused> {
        const DENIED: AuthRefused = AuthRefused::denied("unknown entity or wrong key");
        let entity = self.keys.entity(name);
        let mut matches = |key: &CryptoKey| {
            challenge::verify(key, challenge, request.client_challenge, request.key, env.rng)
        };
        let key = entity.as_ref().map_or(self.policy.decoy(), |entity| &entity.key);
        let proven = matches(key);
        let entity = entity.ok_or(DENIED)?;
        let key = match proven {
            true => entity.key.clone(),
            false => entity.pending_key.clone().filter(|key| matches(key)).ok_or(DENIED)?,
        };
        if !self.policy.allowed_ciphers.contains(&key.kind()) {
            return Err(DENIED);
        }
        Ok(Proven { entity, key, by_pending_key: !proven })
    }

    /// The session key of an AUTH ticket that proves `name`'s right to `global_id` (CVE-2021-20288).
    pub(super) fn old_session_key(
        &self,
        old_ticket: &TicketBlob,
        name: &EntityName,
        global_id: GlobalId,
        env: &AuthEnv<'_>,
    ) -> Result<CryptoKey, AuthRefused> {
        const DENIED: AuthRefused = AuthRefused::denied("no proof of the claimed global_id");
        let secret = ticket_secret(&*self.keys, EntityType::Auth, old_ticket.secret_id).ok_or(DENIED)?;
        let ticket = TicketInfo::open(&old_ticket.sealed, &secret, env.now, ExpiryCheck::Ignore)
            .map_err(|_| DENIED)?;
        if ticket.global_id == global_id && ticket.name == *name {
            Ok(ticket.session_key)
        } else {
            Err(DENIED)
        }
    }

    fn authenticate(
        &mut self,
        claim: Claim,
        mode: ConMode,
        challenge: u64,
        payload: &[u8],
        env: &mut AuthEnv<'_>,
    ) -> Result<ServerAuthDone, AuthRefused> {
        let mut r = Reader::new(payload);
        if r.u16()? != GET_AUTH_SESSION_KEY {
            return Err(AuthRefused::denied("not a request for an AUTH ticket"));
        }
        let request = Authenticate::decode(&mut r)?;
        let proven = self.prove(&claim.name, challenge, &request, env)?;
        let old_key = match claim.reclaimed {
            None if request.old_ticket.is_absent() => None,
            None => return Err(AuthRefused::invalid("an old ticket without a claim to its global_id")),
            Some(id) => Some(self.old_session_key(&request.old_ticket, &claim.name, id, env)?),
        };
        let caps = mon_caps(&proven.entity)?;
        if mode == ConMode::Secure && request.other_keys == 0 {
            // There is no field for the secret then, and frames cannot be sealed without one.
            return Err(AuthRefused::denied("secure mode without room for a secret"));
        }
        let global_id = match claim.reclaimed {
            Some(id) => id,
            None => self.assign()?,
        };
        let connection_secret = match mode {
            ConMode::Secure => ConnectionSecret::generate(env.rng),
            ConMode::Crc => ConnectionSecret::empty(),
        };
        let owner = Owner { name: &claim.name, global_id, key_type: proven.key.kind() };
        let (payload, session_key) = self.answer(
            &owner,
            &proven,
            old_key.as_ref(),
            request.other_keys,
            Some(&connection_secret),
            env,
        )?;
        self.state = State::Open(Session { name: claim.name.clone(), global_id, challenge });
        let peer = AuthenticatedPeer { name: claim.name, global_id, caps };
        Ok(ServerAuthDone { global_id, payload, session_key, connection_secret, peer })
    }

    /// The answer to [`Authenticate`] and the session key of the AUTH ticket in it. In AUTH_DONE it
    /// carries the connection secret, empty in crc mode; in MAuthReply there is none.
    pub(super) fn answer(
        &self,
        owner: &Owner<'_>,
        proven: &Proven,
        old_session_key: Option<&CryptoKey>,
        other_keys: u32,
        connection_secret: Option<&ConnectionSecret>,
        env: &mut AuthEnv<'_>,
    ) -> Result<(Vec<u8>, CryptoKey), AuthRefused> {
        let mut out = Vec::with_capacity(2048);
        put_answer_header(&mut out, GET_AUTH_SESSION_KEY);
        let Minted { owner_half, blob } = self.mint(owner, EntityType::Auth, None, env).ok_or(NO_SECRET)?;
        let mut reply = ReplyWriter::new(&mut out);
        reply.ticket(EntityType::Auth, &proven.key, &owner_half, &blob, old_session_key, env.rng);
        let session_key = owner_half.session_key;
        if other_keys != 0 {
            out.put_sized(|out| {
                if let Some(secret) = connection_secret {
                    envelope::seal_sized(&session_key, Usage::ConnectionSecret, env.rng, out, |out| {
                        out.put_blob(secret.as_bytes());
                    });
                }
            });
            let wanted = ServiceSet::from_bits(other_keys).without(EntityType::Auth);
            out.put_sized(|out| {
                if !wanted.is_empty() {
                    self.service_tickets(owner, &proven.entity, wanted, &session_key, env, out);
                }
            });
        }
        if proven.by_pending_key {
            self.keys.pending_key_used(owner.name);
        }
        Ok((out, session_key))
    }

    /// Appends tickets for those of the wanted services that have secrets.
    pub(super) fn service_tickets(
        &self,
        owner: &Owner<'_>,
        entity: &EntityAuth,
        wanted: ServiceSet,
        owner_key: &CryptoKey,
        env: &mut AuthEnv<'_>,
        out: &mut Vec<u8>,
    ) {
        let mut reply = ReplyWriter::new(out);
        for service in wanted.without(EntityType::Auth).iter() {
            let caps = entity.caps_for(service.as_str());
            if let Some(Minted { owner_half, blob }) = self.mint(owner, service, caps, env) {
                reply.ticket(service, owner_key, &owner_half, &blob, None, env.rng);
            }
        }
    }

    fn mint(
        &self,
        owner: &Owner<'_>,
        service: EntityType,
        caps: Option<&str>,
        env: &mut AuthEnv<'_>,
    ) -> Option<Minted> {
        let secrets = self.keys.rotating(service)?;
        mint(owner, service, &secrets, caps, self.policy.ticket_life.of(service), env.now, env.rng)
    }
}

const NO_SECRET: AuthRefused =
    AuthRefused { errno: Errno::EAGAIN, reason: "no AUTH secret can seal a ticket now" };

/// A monitor lets nobody in who has no rights at it.
fn mon_caps(entity: &EntityAuth) -> Result<PeerCaps, AuthRefused> {
    let text = entity.caps_for(EntityType::Mon.as_str()).ok_or(AuthRefused::denied("no mon capabilities"))?;
    PeerCaps::parse(EntityType::Mon, text).map_err(|_| AuthRefused::denied("mon capabilities do not parse"))
}

impl ServerAuthenticator for MonAuthenticator {
    fn methods(&self, peer: EntityType) -> &[AuthMethod] {
        self.policy.allowed.methods(EntityType::Mon, peer)
    }

    fn modes(&self, peer: EntityType, method: AuthMethod) -> &[ConMode] {
        self.policy.allowed.modes(peer, method)
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
        let claim = self.claim(peer, method, payload)?;
        match method {
            AuthMethod::None => self.accept_without_keys(claim),
            AuthMethod::Cephx => {
                let challenge = challenge::fresh(env.rng);
                self.state = State::Challenged { claim, mode, challenge };
                let mut out = Vec::with_capacity(9);
                out.put_u8(1);
                out.put_u64(challenge);
                Ok(ServerAuthStep::More(out))
            }
        }
    }

    fn request_more(&mut self, payload: &[u8], env: &mut AuthEnv<'_>) -> Result<ServerAuthStep, AuthRefused> {
        // One answer for one challenge, right or wrong.
        match std::mem::replace(&mut self.state, State::Closed) {
            State::Challenged { claim, mode, challenge } => self
                .authenticate(claim, mode, challenge, payload, env)
                .map(|done| ServerAuthStep::Done(Box::new(done))),
            _ => Err(AuthRefused::denied("no challenge to answer")),
        }
    }

    fn mauth(&mut self, payload: &[u8], env: &mut AuthEnv<'_>) -> Result<Vec<u8>, AuthRefused> {
        self.answer_mauth(payload, env)
    }
}

#[cfg(test)]
mod tests {
    use sepiola_crypto::KeyType;
    use sepiola_wire::UTime;

    use super::*;
    use crate::{AllowedAuth, RotatingSecrets, TicketBlob, test_rng::ScriptRng};

    /// Keys of a cluster without entities.
    struct Nobody;

    impl KeyServer for Nobody {
        fn entity(&self, _: &EntityName) -> Option<EntityAuth> {
            None
        }
        fn rotating(&self, _: EntityType) -> Option<Arc<RotatingSecrets>> {
            None
        }
        fn assign_global_id(&self) -> Option<GlobalId> {
            None
        }
    }

    #[test]
    fn an_unknown_entity_costs_a_proof_like_a_known_one() {
        for kind in [KeyType::Aes, KeyType::Aes256k] {
            let rng = &mut ScriptRng::new();
            let policy = Arc::new(MonAuthPolicy::new(AllowedAuth::default(), kind, rng));
            let mut mon = MonAuthenticator::new(Arc::new(Nobody), policy.clone());
            let mut env = AuthEnv::new(UTime::from_secs(1), rng);
            let name = EntityName::client("nobody");
            let hello = Hello { mode: auth_mode::MON, name, global_id: GlobalId(0) }.to_vec();
            mon.request(EntityType::Client, AuthMethod::Cephx, ConMode::Secure, &hello, &mut env).unwrap();
            let old_ticket = TicketBlob::default();
            let answer = Authenticate { client_challenge: 1, key: 2, old_ticket, other_keys: 1 }.to_vec();
            assert!(mon.request_more(&answer, &mut env).is_err());
            assert_eq!(policy.decoy().contexts_built(), 1);
        }
    }
}
