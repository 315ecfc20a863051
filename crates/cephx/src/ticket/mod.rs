//! Tickets: what a monitor hands out and a service believes.
//!
//! A ticket is a [`TicketInfo`] (who, until when, with which rights, and a session key), sealed under a
//! rotating secret that the monitors and one kind of service share, carried in a [`TicketBlob`] that
//! means nothing to its owner. The owner gets the session key beside it, in a [`ServiceTicket`].

mod blob;
mod info;
mod reply;
mod service_ticket;

pub use blob::TicketBlob;
pub(crate) use info::{ExpiryCheck, InvalidTicket, TicketInfo};
pub(crate) use reply::{ReplyWriter, TicketRecord, decode_reply, decode_reply_tolerant};
pub(crate) use service_ticket::ServiceTicket;

#[cfg(test)]
mod field_tests;
