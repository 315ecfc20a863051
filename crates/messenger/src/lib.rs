//! The network edge: the only crate with sockets.
//!
//! [`serve`] accepts connections and runs one task for each of them: it reads into the connection's buffer,
//! hands every message that has arrived to a [`Dispatch`], and sends all replies in one write. Nothing is
//! spawned and nothing crosses a channel for a message. [`Connection::dial`] is the other side: a
//! [`Sender`] that any task may use, and a [`Receiver`] that one task runs.
//!
//! Protocol lives in `sepiola-msgr2` and authentication in `sepiola-cephx`; this crate adds time, sockets,
//! limits and fairness. Everything that a peer can make grow has a limit in [`ServeOptions`] or
//! [`DialOptions`].
#![forbid(unsafe_code)]

mod admission;
mod daemon_commands;
mod daemon_metadata;
mod dial;
mod error;
mod handshake;
mod outbox;
mod pace;
mod ready_file;
mod serve;
mod shutdown;
mod socket;
mod throttle;
mod turn;
mod typed;
mod workers;

pub use daemon_commands::{DaemonCommands, indented, merge_descriptions, render};
pub use daemon_metadata::{RELEASE, VERSION, daemon_metadata};
pub use dial::{Connection, DialOptions, Keepalive, MessageHandler, Receiver, SendError, Sender};
pub use error::{CloseReason, Error, Refused};
pub use outbox::{OutMessage, Outbox, PushError};
pub use ready_file::ReadyFile;
pub use serve::{Dispatch, ServeOptions, listen, serve};
pub use shutdown::{Shutdown, ShutdownTrigger};
pub use throttle::{Permit, Throttle};
pub use typed::{decode, header_of};
pub use workers::Workers;
