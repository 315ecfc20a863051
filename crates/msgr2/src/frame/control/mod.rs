//! Control frames: one segment that holds the fields in order, without a struct header. Bytes behind the
//! known fields are ignored, as real peers ignore them.

mod auth;
mod hello;
mod ident;
mod keepalive;
mod session;

use sepiola_wire::DecodeError;

pub use auth::{AuthBadMethod, AuthDone, AuthReplyMore, AuthRequest, AuthRequestMore, AuthSignature};
pub use hello::Hello;
pub use ident::{ClientIdent, IDENT_LOSSY, IdentMissingFeatures, ServerIdent};
pub use keepalive::{Ack, Keepalive2, Keepalive2Ack};
pub use session::{
    SessionReconnect, SessionReconnectOk, SessionReset, SessionRetry, SessionRetryGlobal, Wait,
};

use super::Tag;

/// A control frame's payload. Payloads of authentication frames are views of the received bytes.
pub trait Control<'a>: Sized {
    /// The frame's tag.
    const TAG: Tag;
    /// Appends the payload.
    fn encode(&self, out: &mut Vec<u8>);
    /// Reads the payload.
    fn decode(payload: &'a [u8]) -> Result<Self, DecodeError>;
}
