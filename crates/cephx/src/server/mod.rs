//! The accepting side: the key server of the monitors, and services that believe its tickets.

mod allowed;
mod entity;
mod global_id;
mod key_server;
mod mauth;
mod mint;
mod mon;
mod rotating;
mod service;

pub use allowed::AllowedAuth;
pub use entity::EntityAuth;
pub use global_id::next_global_id;
pub use key_server::{KeyServer, MonAuthPolicy, MonSecrets};
pub use mon::MonAuthenticator;
pub use rotating::{ExpiringKey, RotatingSecrets, TicketLife};
pub use service::{ServiceAuthenticator, ServiceKeys, ServiceSecrets};
