//! Opening a session with an OSD, a manager or a metadata server.

use sepiola_crypto::ConnectionSecret;
use sepiola_wire::{EntityType, Errno, GlobalId};

use super::keeper::{Ticket, TicketKeeper};
use crate::{
    AuthEnv, AuthError, AuthMethod, ClientAuthDone, ClientAuthenticator, ConMode,
    authorizer::{Authorizer, open_challenge, open_reply},
};

pub(super) struct ServiceClientAuth {
    keeper: TicketKeeper,
    global_id: GlobalId,
    service: EntityType,
    ticket: Ticket,
    nonce: u64,
    challenged: bool,
}

impl ServiceClientAuth {
    pub(super) fn new(
        keeper: TicketKeeper,
        global_id: GlobalId,
        service: EntityType,
        ticket: Ticket,
    ) -> Self {
        ServiceClientAuth { keeper, global_id, service, ticket, nonce: 0, challenged: false }
    }

    fn authorizer(&self, challenge: Option<u64>, env: &mut AuthEnv<'_>) -> Vec<u8> {
        let authorizer = Authorizer {
            global_id: self.global_id,
            service: self.service,
            ticket: &self.ticket.blob,
            session_key: &self.ticket.session_key,
            nonce: self.nonce,
            challenge,
        };
        let mut out = Vec::with_capacity(128 + self.ticket.blob.sealed.len());
        authorizer.encode(env.rng, &mut out);
        out
    }

    fn not_genuine(&self) -> AuthError {
        AuthError::NotGenuine(self.service)
    }
}

impl ClientAuthenticator for ServiceClientAuth {
    fn method(&self) -> AuthMethod {
        AuthMethod::Cephx
    }

    fn request(&mut self, env: &mut AuthEnv<'_>) -> Result<Vec<u8>, AuthError> {
        self.nonce = env.rng.next_u64();
        Ok(self.authorizer(None, env))
    }

    fn reply_more(&mut self, payload: &[u8], env: &mut AuthEnv<'_>) -> Result<Vec<u8>, AuthError> {
        if std::mem::replace(&mut self.challenged, true) {
            return Err(AuthError::Unexpected("a second challenge"));
        }
        let challenge = open_challenge(&self.ticket.session_key, payload).map_err(|_| self.not_genuine())?;
        Ok(self.authorizer(Some(challenge), env))
    }

    fn done(
        &mut self,
        global_id: GlobalId,
        mode: ConMode,
        payload: &[u8],
        _: &mut AuthEnv<'_>,
    ) -> Result<ClientAuthDone, AuthError> {
        if !self.challenged {
            return Err(AuthError::Unexpected("authenticated without a challenge"));
        }
        if global_id != self.global_id {
            return Err(AuthError::Unexpected("another global_id than ours"));
        }
        let secret =
            open_reply(&self.ticket.session_key, self.nonce, payload).map_err(|_| self.not_genuine())?;
        let connection_secret = match mode {
            ConMode::Secure if secret.len() < ConnectionSecret::MIN_LEN => {
                return Err(AuthError::NoConnectionSecret);
            }
            ConMode::Secure => secret,
            ConMode::Crc => ConnectionSecret::empty(),
        };
        Ok(ClientAuthDone { session_key: self.ticket.session_key.clone(), connection_secret })
    }

    fn bad_method(&mut self, result: Errno) -> AuthError {
        match result {
            Errno::EOPNOTSUPP => AuthError::MethodRefused(AuthMethod::Cephx),
            Errno::EACCES => {
                // The service's secrets may have rotated past the ticket.
                self.keeper.invalidate_if(self.service, &self.ticket.blob);
                AuthError::TicketRefused(self.service)
            }
            other => AuthError::Refused(other),
        }
    }
}
