//! Method none: names are believed.

use sepiola_crypto::{ConnectionSecret, CryptoKey};
use sepiola_wire::{EntityName, Errno, GlobalId};

use super::keeper::TicketKeeper;
use crate::{
    AuthEnv, AuthError, AuthMethod, ClientAuthDone, ClientAuthenticator, ConMode,
    protocol::{Hello, auth_mode},
};

/// The dialling side of method none.
pub struct NoneAuthenticator {
    mode: u8,
    name: EntityName,
    global_id: GlobalId,
    keeper: Option<TicketKeeper>,
}

impl NoneAuthenticator {
    /// To a monitor, which answers with the id to use; 0 asks for a new one.
    pub fn to_mon(name: EntityName, global_id: GlobalId) -> Self {
        NoneAuthenticator { mode: auth_mode::MON, name, global_id, keeper: None }
    }

    /// To any other daemon, under the id that a monitor assigned.
    pub fn to_service(name: EntityName, global_id: GlobalId) -> Self {
        NoneAuthenticator { mode: auth_mode::AUTHORIZER, name, global_id, keeper: None }
    }

    pub(super) fn for_keeper(keeper: TicketKeeper, mode: u8) -> Self {
        let (name, global_id) = (keeper.name().clone(), keeper.global_id());
        NoneAuthenticator { mode, name, global_id, keeper: Some(keeper) }
    }
}

impl ClientAuthenticator for NoneAuthenticator {
    fn method(&self) -> AuthMethod {
        AuthMethod::None
    }

    fn request(&mut self, _: &mut AuthEnv<'_>) -> Result<Vec<u8>, AuthError> {
        Ok(Hello { mode: self.mode, name: self.name.clone(), global_id: self.global_id }.to_vec())
    }

    fn reply_more(&mut self, _: &[u8], _: &mut AuthEnv<'_>) -> Result<Vec<u8>, AuthError> {
        Err(AuthError::Unexpected("method none has no challenge"))
    }

    fn done(
        &mut self,
        global_id: GlobalId,
        mode: ConMode,
        _: &[u8],
        _: &mut AuthEnv<'_>,
    ) -> Result<ClientAuthDone, AuthError> {
        if mode != ConMode::Crc {
            return Err(AuthError::NoConnectionSecret);
        }
        match self.mode {
            auth_mode::MON if global_id.0 == 0 => {
                return Err(AuthError::Unexpected("no global_id was assigned"));
            }
            auth_mode::AUTHORIZER if global_id != self.global_id => {
                return Err(AuthError::Unexpected("another global_id than ours"));
            }
            _ => {}
        }
        if let (auth_mode::MON, Some(keeper)) = (self.mode, &self.keeper) {
            keeper.state().global_id = global_id;
        }
        Ok(ClientAuthDone { session_key: CryptoKey::none(), connection_secret: ConnectionSecret::empty() })
    }

    fn bad_method(&mut self, result: Errno) -> AuthError {
        match result {
            Errno::EOPNOTSUPP => AuthError::MethodRefused(AuthMethod::None),
            Errno::EACCES => AuthError::Denied(self.name.clone()),
            other => AuthError::Refused(other),
        }
    }
}
