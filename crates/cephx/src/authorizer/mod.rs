//! Authorizers: how the owner of a ticket shows a service that it knows the ticket's session key.
//!
//! Two rounds. The first earns a challenge, sealed under the session key; the second carries the answer.
//! There is no way to be authenticated in the first round: a recorded authorizer is worth nothing
//! (CVE-2018-1128, CVE-2020-25660).

mod build;
mod verify;

pub(crate) use build::{Authorizer, open_challenge, open_reply};
pub(crate) use verify::{Presented, seal_challenge, seal_reply};
