//! The monitor: a replicated state machine and the services that read it.
#![forbid(unsafe_code)]

pub mod log;
