//! cephx authentication: tickets, authorizers, keyrings and capabilities, sans-io on both sides.
//!
//! - [`keyring`]: key files. [`caps`]: what an entity may do.
//! - [`TicketKeeper`]: what a client holds, and the authenticators for its sessions with monitors and services.
//! - [`MonAuthenticator`], [`KeyServer`], [`RotatingSecrets`]: the key server that monitors are.
//! - [`ServiceAuthenticator`], [`ServiceKeys`]: services that believe the monitors' tickets.
//!
//! Time and randomness come with every call in an [`AuthEnv`]. The facts are those of Ceph's cephx protocol,
//! version 2: an authorizer is only worth something together with the answer to a fresh challenge.
#![forbid(unsafe_code)]

mod authenticator;
mod authorizer;
pub mod caps;
mod challenge;
mod client;
mod envelope;
mod error;
pub mod keyring;
mod method;
mod peer;
mod protocol;
mod server;
mod services;
mod ticket;

pub use authenticator::{
    AuthEnv, ClientAuthDone, ClientAuthenticator, ServerAuthDone, ServerAuthStep, ServerAuthenticator,
};
pub use client::{AuthReply, NoneAuthenticator, TicketKeeper, TicketStatus};
pub use error::{AuthError, AuthRefused, NoTicket};
pub use keyring::{Keyring, KeyringEntry, KeyringError};
pub use method::{AuthMethod, ConMode, ParseMethodError};
pub use peer::{AuthenticatedPeer, PeerCaps};
pub use server::{
    AllowedAuth, EntityAuth, ExpiringKey, KeyServer, MonAuthPolicy, MonAuthenticator, MonSecrets,
    RotatingSecrets, ServiceAuthenticator, ServiceKeys, ServiceSecrets, TicketLife, next_global_id,
};
pub use services::{SERVICES, ServiceSet};
pub use ticket::TicketBlob;

#[cfg(test)]
#[path = "../tests/support/rng.rs"]
mod test_rng;
#[cfg(test)]
#[path = "../tests/support/vectors.rs"]
mod test_vectors;
