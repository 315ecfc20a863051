//! MAuth: renewals and rotating secrets over an open monitor session.

use sepiola_crypto::Usage;
use sepiola_wire::{Encode, EntityType, Errno, Features, Reader};

use super::{
    MonAuthenticator,
    key_server::ticket_secret,
    mint::Owner,
    mon::{Session, State},
};
use crate::{
    AuthEnv, AuthRefused, ServiceSet,
    authorizer::Presented,
    envelope,
    protocol::{
        Authenticate, GET_AUTH_SESSION_KEY, GET_PRINCIPAL_SESSION_KEY, GET_ROTATING_KEY, put_answer_header,
    },
};

impl MonAuthenticator {
    pub(super) fn answer_mauth(&self, payload: &[u8], env: &mut AuthEnv<'_>) -> Result<Vec<u8>, AuthRefused> {
        let State::Open(session) = &self.state else {
            return Err(AuthRefused::unsupported("MAuth on a session without keys"));
        };
        let mut r = Reader::new(payload);
        match r.u16()? {
            GET_AUTH_SESSION_KEY => self.renew_auth_ticket(session, r, env),
            GET_PRINCIPAL_SESSION_KEY => self.renew_service_tickets(session, r, env),
            GET_ROTATING_KEY => self.rotating_secrets(session, env),
            _ => Err(AuthRefused::invalid("unknown request")),
        }
    }

    fn renew_auth_ticket(
        &self,
        session: &Session,
        mut r: Reader<'_>,
        env: &mut AuthEnv<'_>,
    ) -> Result<Vec<u8>, AuthRefused> {
        let request = Authenticate::decode(&mut r)?;
        let proven = self.prove(&session.name, session.challenge, &request, env)?;
        let old_key = self.old_session_key(&request.old_ticket, &session.name, session.global_id, env)?;
        let owner = Owner { name: &session.name, global_id: session.global_id, key_type: proven.key.kind() };
        self.answer(&owner, &proven, Some(&old_key), request.other_keys, None, env).map(|(out, _)| out)
    }

    /// The tickets are those of the session's entity. Real monitors give those of the entity that the AUTH
    /// ticket names, whoever presents it.
    fn renew_service_tickets(
        &self,
        session: &Session,
        mut r: Reader<'_>,
        env: &mut AuthEnv<'_>,
    ) -> Result<Vec<u8>, AuthRefused> {
        let lookup = |id| ticket_secret(&*self.keys, EntityType::Auth, id);
        let presented = Presented::open(&mut r, EntityType::Auth, lookup, env.now)
            .map_err(|_| AuthRefused::denied("no valid AUTH ticket"))?;
        let ticket = &presented.ticket;
        if ticket.name != session.name || ticket.global_id != session.global_id {
            return Err(AuthRefused::denied("the AUTH ticket of another session"));
        }
        if r.u8()? != 1 {
            return Err(AuthRefused::invalid("unknown request version"));
        }
        let wanted = ServiceSet::from_bits(r.u32()?);
        r.finish()?;
        let entity = self.keys.entity(&session.name).ok_or(AuthRefused::denied("the entity is gone"))?;
        let owner =
            Owner { name: &session.name, global_id: session.global_id, key_type: ticket.session_key.kind() };
        let mut out = Vec::with_capacity(1024);
        put_answer_header(&mut out, GET_PRINCIPAL_SESSION_KEY);
        self.service_tickets(&owner, &entity, wanted, &ticket.session_key, env, &mut out);
        Ok(out)
    }

    /// Only daemons that believe tickets get secrets, and only those of their own kind.
    fn rotating_secrets(&self, session: &Session, env: &mut AuthEnv<'_>) -> Result<Vec<u8>, AuthRefused> {
        let service = session.name.kind;
        if !matches!(service, EntityType::Osd | EntityType::Mds | EntityType::Mgr) {
            return Err(AuthRefused::denied("rotating secrets are for daemons"));
        }
        let entity = self.keys.entity(&session.name).ok_or(AuthRefused::denied("the entity is gone"))?;
        let secrets = self
            .keys
            .rotating(service)
            .ok_or(AuthRefused { errno: Errno::EAGAIN, reason: "no rotating secrets yet" })?;
        let mut out = Vec::with_capacity(512);
        put_answer_header(&mut out, GET_ROTATING_KEY);
        envelope::seal_sized(&entity.key, Usage::RotatingSecret, env.rng, &mut out, |out| {
            secrets.encode(out, Features::NONE);
        });
        Ok(out)
    }
}
