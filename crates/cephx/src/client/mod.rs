//! The dialling side: tickets and how they are used.

mod keeper;
mod mon;
mod none;
mod renewal;
mod service;

#[cfg(test)]
mod recorded_tests;

pub use keeper::{TicketKeeper, TicketStatus};
pub use none::NoneAuthenticator;
pub use renewal::AuthReply;
