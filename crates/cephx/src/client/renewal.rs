//! New tickets over an open monitor session, in MAuth messages.

use sepiola_crypto::Usage;
use sepiola_wire::{Decode, EntityType, Errno, GlobalId, Put, Reader, UTime};

use super::{
    keeper::TicketKeeper,
    mon::{Answer, authenticate},
};
use crate::{
    AuthEnv, AuthError, AuthMethod, RotatingSecrets, ServiceSet,
    authorizer::Authorizer,
    envelope,
    protocol::{GET_AUTH_SESSION_KEY, GET_PRINCIPAL_SESSION_KEY, GET_ROTATING_KEY, read_answer_header},
    ticket::decode_reply_tolerant,
};

/// What an MAuthReply brought.
#[derive(Debug)]
#[non_exhaustive]
pub enum AuthReply {
    /// Tickets; the keeper has them.
    Tickets,
    /// The secrets that a daemon opens its clients' tickets with.
    Rotating(RotatingSecrets),
}

impl TicketKeeper {
    /// The payload of the MAuth that is due now on the open session, if one is: the AUTH ticket first,
    /// and with it every service's; otherwise the services' whose time has come.
    ///
    /// At most one request is under way. A caller that gets no answer closes the session, and the next
    /// authentication starts over.
    pub fn renewal(&self, env: &mut AuthEnv<'_>) -> Option<Vec<u8>> {
        if self.method() == AuthMethod::None {
            return None;
        }
        let mut state = self.state();
        let server_challenge = state.server_challenge.filter(|_| !state.in_flight)?;
        let auth = state.tickets.get(&EntityType::Auth)?.clone();
        if env.now >= auth.renew_after {
            state.in_flight = true;
            let asked = self.asked_with_auth();
            return Some(authenticate(self.key(), server_challenge, auth.blob, asked, env).to_vec());
        }

        let due: ServiceSet = self
            .services()
            .iter()
            .filter(|service| match state.tickets.get(service) {
                Some(ticket) => env.now >= ticket.renew_after,
                None => !state.ungranted.contains(*service),
            })
            .collect();
        if due.is_empty() {
            return None;
        }
        state.in_flight = true;
        let mut out = Vec::with_capacity(128 + auth.blob.sealed.len());
        out.put_u16(GET_PRINCIPAL_SESSION_KEY);
        let authorizer = Authorizer {
            global_id: state.global_id,
            service: EntityType::Auth,
            ticket: &auth.blob,
            session_key: &auth.session_key,
            nonce: env.rng.next_u64(),
            challenge: None,
        };
        authorizer.encode(env.rng, &mut out);
        out.put_u8(1);
        out.put_u32(due.bits());
        Some(out)
    }

    /// The payload of the MAuth that asks for the rotating secrets of this daemon's kind.
    pub fn rotating_request(&self) -> Vec<u8> {
        GET_ROTATING_KEY.to_le_bytes().to_vec()
    }

    /// When [`TicketKeeper::renewal`] will next have something to send; `None` while nothing is expected,
    /// as with method none or before the first authentication.
    pub fn next_renewal(&self) -> Option<UTime> {
        let state = self.state();
        let auth = state.tickets.get(&EntityType::Auth)?;
        let services = self.services().iter().filter_map(|service| match state.tickets.get(&service) {
            Some(ticket) => Some(ticket.renew_after),
            None if state.ungranted.contains(service) => None,
            None => Some(UTime::ZERO),
        });
        services.chain([auth.renew_after]).min()
    }

    /// Takes an MAuthReply. `result` is an error only if it is negative.
    pub fn handle_auth_reply(
        &self,
        result: i32,
        global_id: GlobalId,
        payload: &[u8],
        now: UTime,
    ) -> Result<AuthReply, AuthError> {
        let mut r = Reader::new(payload);
        // A refusal comes without a payload, so what it answers is only known from what was asked.
        let request = r.clone().u16().ok();
        if request != Some(GET_ROTATING_KEY) {
            self.state().in_flight = false;
        }
        Errno::from_wire(result).map_err(|errno| self.explain(errno))?;
        if global_id.0 != 0 && global_id != self.global_id() {
            return Err(AuthError::Unexpected("an answer for another global_id"));
        }
        match request {
            Some(GET_AUTH_SESSION_KEY) => self.take_auth_ticket(payload, now),
            Some(GET_PRINCIPAL_SESSION_KEY) => self.take_service_tickets(&mut r, now),
            Some(GET_ROTATING_KEY) => self.take_rotating(&mut r),
            _ => Err(AuthError::Unexpected("an answer to no request of ours")),
        }
    }

    fn take_auth_ticket(&self, payload: &[u8], now: UTime) -> Result<AuthReply, AuthError> {
        let mut state = self.state();
        let old_key = state.tickets.get(&EntityType::Auth).map(|ticket| ticket.session_key.clone());
        let answer = Answer::open(payload, self.key(), old_key.as_ref(), now)?;
        answer.store(&mut state, self.services(), now);
        Ok(AuthReply::Tickets)
    }

    fn take_service_tickets(&self, r: &mut Reader<'_>, now: UTime) -> Result<AuthReply, AuthError> {
        let (_, status) = read_answer_header(r)?;
        Errno::from_wire(status).map_err(|errno| self.explain(errno))?;
        let records = decode_reply_tolerant(r)?;
        let mut state = self.state();
        let Some(auth) = state.tickets.get(&EntityType::Auth) else {
            return Err(AuthError::Unexpected("tickets without an AUTH ticket"));
        };
        let owner_key = auth.session_key.clone();
        // What is still missing after this answer was asked for and not granted.
        let missing =
            self.services().iter().filter(|s| !state.tickets.contains_key(s)).collect::<ServiceSet>();
        let brought = records.iter().filter_map(|t| EntityType::from_u32(t.service));
        let asked = brought.filter(|s| self.services().contains(*s)).chain(missing.iter()).collect();
        state.take_extra(&records, &owner_key, asked, now);
        Ok(AuthReply::Tickets)
    }

    fn take_rotating(&self, r: &mut Reader<'_>) -> Result<AuthReply, AuthError> {
        let (_, status) = read_answer_header(r)?;
        Errno::from_wire(status).map_err(|errno| self.explain(errno))?;
        let sealed = r.blob()?;
        r.finish()?;
        let opened = envelope::open(self.key(), Usage::RotatingSecret, sealed)
            .map_err(|_| AuthError::NotGenuine(EntityType::Mon))?;
        let mut r = opened.reader();
        let secrets = RotatingSecrets::decode(&mut r)?;
        r.finish()?;
        Ok(AuthReply::Rotating(secrets))
    }

    fn explain(&self, errno: Errno) -> AuthError {
        match errno {
            Errno::EACCES => AuthError::Denied(self.name().clone()),
            other => AuthError::Refused(other),
        }
    }
}
