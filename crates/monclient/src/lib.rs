//! Monitor sessions as OSDs and clients need them.
//!
//! A [`MonClient`] finds a monitor, authenticates, and keeps one session: it subscribes to maps and applies
//! them, renews tickets, fetches a daemon's rotating secrets, and carries requests. When the session breaks
//! it finds another monitor, subscribes from where it stood and repeats what was not answered. Every wait has
//! a deadline.
//!
//! The session is one task; it is not on the way of object operations, which only read the current map.
#![forbid(unsafe_code)]

mod client;
mod connection_options;
mod credentials;
mod dial;
mod error;
mod hunt;
mod maps;
mod options;
mod renewal;
mod requests;
mod session;
mod shared;
mod subscriptions;

pub use client::MonClient;
pub use connection_options::{crypto_options, method_options, mode_options};
pub use error::{Attempts, MonError};
pub use maps::{MapObserver, MapSource};
pub use options::{Credentials, MonClientOptions, OsdMapWish};
pub use requests::CommandReply;
pub use session::PrivateHandler;
