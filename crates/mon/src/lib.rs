//! The monitor: a replicated state machine and the services that read it.
//!
//! [`mkfs`] makes a store, [`run`] serves from it. Below that, the parts have one direction:
//!
//! - [`state`]: what the monitors agree on, changed only by applying log entries;
//! - [`log`]: where an entry becomes durable before anybody hears of it;
//! - `core`: the one task that writes: it turns wishes into entries and publishes the result;
//! - `caller`: who asks, and what it may;
//! - [`service`]: what is read from the published state, and the open sessions that are told of it;
//! - `command`: the commands of the tools, read or turned into wishes;
//! - `edge`: what each message is answered with.
#![forbid(unsafe_code)]
// Maps have more fields than a JSON literal may have by default.
#![recursion_limit = "256"]

mod caller;
mod command;
mod core;
mod daemon;
mod edge;
mod handle;
pub mod log;
mod mkfs;
mod options;
pub mod service;
pub mod state;
#[cfg(test)]
mod testing;

pub use daemon::{RunError, has_store, run};
pub use handle::{MonHandle, MonPerf};
pub use mkfs::{MkfsError, MkfsOptions, mkfs};
pub use options::MonOptions;
