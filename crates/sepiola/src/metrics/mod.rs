//! `/metrics` for Prometheus, where `prometheus_addr` says.

mod collect;
mod exposition;
mod server;

pub use server::{bind, serve};
