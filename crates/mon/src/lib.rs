//! The monitor: a replicated state machine and the services that read it.
//!
//! [`mkfs`] makes a store, [`run`] serves from it. Below that, the parts have one direction:
//!
//! - [`state`]: what the monitors agree on, changed only by applying log entries;
//! - [`log`]: where an entry becomes durable before anybody hears of it;
//! - `core`: the one task that writes: it turns wishes into entries and publishes the result;
//! - [`service`] and `command`: what is read from the published state, and the wishes;
//! - `edge`: sessions, and what each message is answered with.
#![forbid(unsafe_code)]
// Maps have more fields than a JSON literal may have by default.
#![recursion_limit = "256"]

mod command;
mod core;
mod daemon;
mod edge;
pub mod log;
mod mkfs;
mod options;
mod perf;
pub mod service;
pub mod state;
#[cfg(test)]
mod testing;

pub use daemon::{RunError, has_store, run};
pub use mkfs::{MkfsError, MkfsOptions, mkfs};
pub use options::MonOptions;
pub use perf::{MonPerf, PerfHandle};
