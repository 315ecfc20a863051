//! The OSD: maps by epoch, placement groups, the op interpreter.
//!
//! [`Osd`] is the daemon without its edges: it takes maps ([`Osd::apply_map`]) and messages
//! ([`Osd::handle`]) and writes replies into whatever the caller gives it, so it runs without sockets.
//! Around it, `network` serves connections and `daemon` keeps the monitors informed.
#![forbid(unsafe_code)]

mod backoff;
mod beacon;
mod boot;
mod class;
mod core;
mod daemon;
mod handle;
mod in_flight;
mod maps;
mod network;
mod op;
mod options;
mod outgoing;
mod pg;
mod query;
mod reply;
mod report;
mod request;
mod session;
mod tell;
mod traffic;
mod waiting;

pub use crate::core::{HandleError, Handled, Osd, OsdConfig, Scratch};
pub use daemon::{RunError, run};
pub use handle::{OsdHandle, OsdPerf};
pub use in_flight::OpInFlight;
pub use network::{ConnectionState, Network, NetworkConfig};
pub use op::Limits;
pub use options::OsdOptions;
pub use outgoing::{Outgoing, Push, Refusal};
pub use session::{PeerIdentity, Session};
