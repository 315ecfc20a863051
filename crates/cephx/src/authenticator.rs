//! The two traits that the handshake drives.
//!
//! Payloads are the contents of the frames' authentication blob, without its length: what AUTH_REQUEST,
//! AUTH_REPLY_MORE, AUTH_REQUEST_MORE and AUTH_DONE carry behind their own fields.

use rand_core::CryptoRng;
use sepiola_crypto::{ConnectionSecret, CryptoKey};
use sepiola_wire::{EntityType, Errno, GlobalId, UTime};

use crate::{AuthError, AuthMethod, AuthRefused, AuthenticatedPeer, ConMode};

/// What an authenticator may not take from the host by itself.
pub struct AuthEnv<'a> {
    /// The clock.
    pub now: UTime,
    /// Randomness.
    pub rng: &'a mut dyn CryptoRng,
}

impl<'a> AuthEnv<'a> {
    /// An environment from a clock reading and a random generator.
    pub fn new(now: UTime, rng: &'a mut dyn CryptoRng) -> Self {
        AuthEnv { now, rng }
    }
}

/// The dialling side of one connection attempt. Not reusable: every attempt takes a new one.
pub trait ClientAuthenticator: Send {
    /// The method that AUTH_REQUEST names.
    fn method(&self) -> AuthMethod;

    /// The payload of AUTH_REQUEST.
    fn request(&mut self, env: &mut AuthEnv<'_>) -> Result<Vec<u8>, AuthError>;

    /// The payload of AUTH_REQUEST_MORE that answers AUTH_REPLY_MORE.
    fn reply_more(&mut self, payload: &[u8], env: &mut AuthEnv<'_>) -> Result<Vec<u8>, AuthError>;

    /// Takes AUTH_DONE. `mode` is the server's choice, which the caller has checked against its offer.
    /// In secure mode the returned secret is never shorter than frame keys need.
    fn done(
        &mut self,
        global_id: GlobalId,
        mode: ConMode,
        payload: &[u8],
        env: &mut AuthEnv<'_>,
    ) -> Result<ClientAuthDone, AuthError>;

    /// Takes AUTH_BAD_METHOD: drops what the refusal makes useless (a ticket, a global_id) and explains it
    /// in one line.
    fn bad_method(&mut self, result: Errno) -> AuthError;
}

/// What the dialling side needs to go on with the handshake.
pub struct ClientAuthDone {
    /// Keys AUTH_SIGNATURE; [`CryptoKey::none`] for method none, which signs with zeros.
    pub session_key: CryptoKey,
    /// Makes the frame keys; empty unless the mode is secure.
    pub connection_secret: ConnectionSecret,
}

/// The accepting side of one connection. Kept while the connection lives: a monitor also answers MAuth
/// with it.
pub trait ServerAuthenticator: Send {
    /// Methods allowed to a peer that announced itself as `peer`, in this side's order.
    fn methods(&self, peer: EntityType) -> &[AuthMethod];

    /// Modes allowed to such a peer with `method`, in this side's order. The server walks the *client's*
    /// list and takes the first that is in here.
    fn modes(&self, peer: EntityType, method: AuthMethod) -> &[ConMode];

    /// Takes AUTH_REQUEST. `mode` is the mode this side has picked. After a refusal here the peer may try
    /// another method with a new AUTH_REQUEST.
    fn request(
        &mut self,
        peer: EntityType,
        method: AuthMethod,
        mode: ConMode,
        payload: &[u8],
        env: &mut AuthEnv<'_>,
    ) -> Result<ServerAuthStep, AuthRefused>;

    /// Takes AUTH_REQUEST_MORE. A refusal here ends the connection attempt for good.
    fn request_more(&mut self, payload: &[u8], env: &mut AuthEnv<'_>) -> Result<ServerAuthStep, AuthRefused>;

    /// Takes the payload of an MAuth message on the open session and returns the payload of MAuthReply;
    /// a refusal is its negative result. Only monitors answer.
    fn mauth(&mut self, payload: &[u8], env: &mut AuthEnv<'_>) -> Result<Vec<u8>, AuthRefused> {
        let _ = (payload, env);
        Err(AuthRefused::unsupported("MAuth is for monitors"))
    }
}

/// What the accepting side sends next.
pub enum ServerAuthStep {
    /// AUTH_REPLY_MORE with this payload.
    More(Vec<u8>),
    /// AUTH_DONE.
    Done(Box<ServerAuthDone>),
}

/// A peer that has authenticated.
pub struct ServerAuthDone {
    /// What AUTH_DONE carries.
    pub global_id: GlobalId,
    /// The payload of AUTH_DONE.
    pub payload: Vec<u8>,
    /// Keys AUTH_SIGNATURE; [`CryptoKey::none`] for method none.
    pub session_key: CryptoKey,
    /// Makes the frame keys; empty unless the mode is secure.
    pub connection_secret: ConnectionSecret,
    /// Who it is and what it may do.
    pub peer: AuthenticatedPeer,
}
