//! Opening a session with a monitor.

use sepiola_crypto::{ConnectionSecret, CryptoKey, Usage};
use sepiola_wire::{EntityType, Errno, GlobalId, Reader, UTime};

use super::keeper::{Ticket, TicketKeeper};
use crate::{
    AuthEnv, AuthError, AuthMethod, ClientAuthDone, ClientAuthenticator, ConMode, ServiceSet, challenge,
    envelope,
    protocol::{Authenticate, GET_AUTH_SESSION_KEY, Hello, auth_mode, read_answer_header},
    ticket::{TicketBlob, decode_reply, decode_reply_tolerant},
};

pub(super) struct MonClientAuth {
    keeper: TicketKeeper,
    /// The id and the AUTH ticket at the time of the request: another session of the same keeper must not
    /// change them in between.
    claim: Option<(GlobalId, Ticket)>,
    challenge: Option<u64>,
}

impl MonClientAuth {
    pub(super) fn new(keeper: TicketKeeper) -> Self {
        MonClientAuth { keeper, claim: None, challenge: None }
    }
}

impl ClientAuthenticator for MonClientAuth {
    fn method(&self) -> AuthMethod {
        AuthMethod::Cephx
    }

    fn request(&mut self, _: &mut AuthEnv<'_>) -> Result<Vec<u8>, AuthError> {
        let state = self.keeper.state();
        self.claim = state.tickets.get(&EntityType::Auth).map(|ticket| (state.global_id, ticket.clone()));
        let global_id = self.claim.as_ref().map_or(GlobalId(0), |(id, _)| *id);
        Ok(Hello { mode: auth_mode::MON, name: self.keeper.name().clone(), global_id }.to_vec())
    }

    fn reply_more(&mut self, payload: &[u8], env: &mut AuthEnv<'_>) -> Result<Vec<u8>, AuthError> {
        if self.challenge.is_some() {
            return Err(AuthError::Unexpected("a second challenge"));
        }
        let mut r = Reader::new(payload);
        if r.u8()? != 1 {
            return Err(AuthError::Unexpected("a challenge of an unknown version"));
        }
        let server = r.u64()?;
        r.finish()?;
        self.challenge = Some(server);
        let old_ticket = self.claim.as_ref().map_or_else(TicketBlob::default, |(_, t)| t.blob.clone());
        Ok(authenticate(self.keeper.key(), server, old_ticket, self.keeper.asked_with_auth(), env).to_vec())
    }

    fn done(
        &mut self,
        global_id: GlobalId,
        mode: ConMode,
        payload: &[u8],
        env: &mut AuthEnv<'_>,
    ) -> Result<ClientAuthDone, AuthError> {
        let Some(server_challenge) = self.challenge.take() else {
            return Err(AuthError::Unexpected("authenticated without a challenge"));
        };
        match &self.claim {
            _ if global_id.0 == 0 => return Err(AuthError::Unexpected("no global_id was assigned")),
            Some((claimed, _)) if *claimed != global_id => {
                return Err(AuthError::Unexpected("another global_id than the one claimed"));
            }
            _ => {}
        }
        let old_key = self.claim.as_ref().map(|(_, ticket)| &ticket.session_key);
        let answer = Answer::open(payload, self.keeper.key(), old_key, env.now)?;
        let connection_secret = answer.connection_secret()?;
        if mode == ConMode::Secure && connection_secret.len() < ConnectionSecret::MIN_LEN {
            return Err(AuthError::NoConnectionSecret);
        }

        let session_key = answer.auth.session_key.clone();
        let mut state = self.keeper.state();
        state.global_id = global_id;
        state.server_challenge = Some(server_challenge);
        state.in_flight = false;
        answer.store(&mut state, self.keeper.services(), env.now);
        Ok(ClientAuthDone { session_key, connection_secret })
    }

    fn bad_method(&mut self, result: Errno) -> AuthError {
        match result {
            Errno::EACCES if self.claim.is_some() => {
                // It may be the claim or the key that was refused. Without the claim the next attempt tells.
                self.keeper.forget_identity();
                AuthError::ReclaimRefused(self.keeper.name().clone())
            }
            Errno::EACCES => AuthError::Denied(self.keeper.name().clone()),
            Errno::EOPNOTSUPP => AuthError::MethodRefused(AuthMethod::Cephx),
            other => AuthError::Refused(other),
        }
    }
}

/// The answer to a server's challenge.
pub(super) fn authenticate(
    key: &CryptoKey,
    server_challenge: u64,
    old_ticket: TicketBlob,
    asked: ServiceSet,
    env: &mut AuthEnv<'_>,
) -> Authenticate {
    let client_challenge = challenge::fresh(env.rng);
    let key = challenge::proof(key, server_challenge, client_challenge, env.rng);
    Authenticate { client_challenge, key, old_ticket, other_keys: asked.bits() }
}

/// A monitor's answer to [`Authenticate`], in AUTH_DONE or in MAuthReply.
pub(super) struct Answer<'a> {
    pub(super) auth: Ticket,
    sealed_secret: &'a [u8],
    extra: &'a [u8],
}

impl<'a> Answer<'a> {
    pub(super) fn open(
        payload: &'a [u8],
        key: &CryptoKey,
        old_session_key: Option<&CryptoKey>,
        now: UTime,
    ) -> Result<Self, AuthError> {
        let mut r = Reader::new(payload);
        let (request, status) = read_answer_header(&mut r)?;
        if request != GET_AUTH_SESSION_KEY {
            return Err(AuthError::Unexpected("an answer to another request"));
        }
        Errno::from_wire(status).map_err(AuthError::Refused)?;
        let records = decode_reply(&mut r)?;
        let [record] = records.as_slice() else {
            return Err(AuthError::Unexpected("not exactly one AUTH ticket"));
        };
        if record.service != EntityType::Auth.as_u32() {
            return Err(AuthError::Unexpected("a ticket for another service than AUTH"));
        }
        let auth = Ticket::open(record, key, old_session_key, now)?;
        let (sealed_secret, extra): (&[u8], &[u8]) =
            if r.is_empty() { (&[], &[]) } else { (r.blob()?, r.blob()?) };
        r.finish()?;
        Ok(Answer { auth, sealed_secret, extra })
    }

    /// The connection secret; empty if the answer has none.
    pub(super) fn connection_secret(&self) -> Result<ConnectionSecret, AuthError> {
        if self.sealed_secret.is_empty() {
            return Ok(ConnectionSecret::empty());
        }
        let mut r = Reader::new(self.sealed_secret);
        let sealed = r.blob()?;
        r.finish()?;
        let opened = envelope::open(&self.auth.session_key, Usage::ConnectionSecret, sealed)
            .map_err(|_| AuthError::NotGenuine(EntityType::Mon))?;
        let mut r = opened.reader();
        let secret = ConnectionSecret::from_bytes(r.blob()?);
        r.finish()?;
        Ok(secret)
    }

    /// Keeps the tickets.
    pub(super) fn store(self, state: &mut super::keeper::State, asked: ServiceSet, now: UTime) {
        state.ungranted = ServiceSet::EMPTY;
        let records = match self.extra {
            [] => Vec::new(),
            extra => decode_reply_tolerant(&mut Reader::new(extra)).unwrap_or_default(),
        };
        state.take_extra(&records, &self.auth.session_key, asked, now);
        state.tickets.insert(EntityType::Auth, self.auth);
    }
}
