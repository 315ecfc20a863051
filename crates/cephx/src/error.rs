//! Why authentication failed, told to the local side.

use sepiola_wire::{DecodeError, EntityName, EntityType, Errno};
use thiserror::Error;

use crate::AuthMethod;

/// Why the dialling side could not authenticate. One line that a user understands; no secrets.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AuthError {
    /// The monitor does not know the entity, or not with this key, or gives it no rights. Which of them is
    /// not told to anybody.
    #[error("the monitor refused {0}: wrong key, unknown entity, or no mon capabilities")]
    Denied(EntityName),
    /// The monitor did not give the earlier global_id back. The tickets were dropped; the next attempt
    /// asks for a new id.
    #[error("the monitor refused to give {0} its earlier global_id back; a new one is needed")]
    ReclaimRefused(EntityName),
    /// The service refused the ticket, which was dropped. A fresh one has to be asked from the monitor.
    #[error("the {0} refused the ticket; a fresh one is needed")]
    TicketRefused(EntityType),
    /// The peer does not allow this method with the modes that were offered.
    #[error("the peer does not allow method {0} with the connection modes offered to it")]
    MethodRefused(AuthMethod),
    /// The peer refused for another reason.
    #[error("the peer refused to authenticate: {0}")]
    Refused(Errno),
    /// No ticket that is still good for the service.
    #[error(transparent)]
    NoTicket(#[from] NoTicket),
    /// The peer's answer does not open with our key, so the peer does not know it.
    #[error("the {0} could not prove that it shares a key with us")]
    NotGenuine(EntityType),
    /// Secure mode, and the peer sent no secret to make its keys from.
    #[error("secure mode without a connection secret")]
    NoConnectionSecret,
    /// The answer breaks the protocol.
    #[error("malformed authentication reply: {0}")]
    Malformed(#[from] DecodeError),
    /// The answer came where none of its kind may come, or names another session.
    #[error("unexpected authentication reply: {0}")]
    Unexpected(&'static str),
}

/// There is no ticket for the service, or it has expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("no valid ticket for {0}")]
pub struct NoTicket(pub EntityType);

/// The accepting side's refusal. The peer learns `errno` and nothing else; `reason` is for the local log,
/// at a level that is off by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("authentication refused: {errno}")]
pub struct AuthRefused {
    /// What AUTH_BAD_METHOD or MAuthReply carries, as a negative number.
    pub errno: Errno,
    /// Why, for the local log only.
    pub reason: &'static str,
}

impl AuthRefused {
    /// Everything about keys, tickets and names ends with the same errno.
    pub(crate) const fn denied(reason: &'static str) -> Self {
        AuthRefused { errno: Errno::EACCES, reason }
    }

    pub(crate) const fn unsupported(reason: &'static str) -> Self {
        AuthRefused { errno: Errno::EOPNOTSUPP, reason }
    }

    pub(crate) const fn invalid(reason: &'static str) -> Self {
        AuthRefused { errno: Errno::EINVAL, reason }
    }
}

impl From<DecodeError> for AuthRefused {
    fn from(_: DecodeError) -> Self {
        AuthRefused::denied("the request does not decode")
    }
}
