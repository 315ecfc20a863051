//! Limits and timers of the accepting side.

use std::time::Duration;

use crate::{Throttle, Workers};

/// Limits, timers and threads of [`serve`](crate::serve).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServeOptions {
    /// From accept to a ready session; Ceph's `ms_connection_ready_timeout`. Default 10 s.
    pub handshake_deadline: Duration,
    /// A session without traffic ends after this; Ceph's `ms_connection_idle_timeout`. Default 900 s.
    pub idle_timeout: Duration,
    /// How long a shutdown waits for output to drain. Default 5 s.
    pub shutdown_grace: Duration,
    /// How long a connection looks for more work before it sleeps. Costs a core; default 0.
    pub spin: Duration,
    /// Connections in all. Default 16384.
    pub max_connections: usize,
    /// Unauthenticated connections in all. Default 4096.
    pub max_handshakes: usize,
    /// Unauthenticated connections from one address. Default 256.
    pub max_handshakes_per_address: usize,
    /// Encoded output waiting for the socket, in bytes; above it the connection handles no further
    /// messages. Default 1 MiB: a large reply leaves before the next one is encoded.
    pub max_output: usize,
    /// Bytes that others may queue in one connection's [`Outbox`](crate::Outbox). Default 128 MiB.
    pub max_outbox: usize,
    /// Operations of one connection between [`Outbox::begin`](crate::Outbox::begin) and reply. Default 4096.
    pub max_ops_in_flight: u64,
    /// Their bytes; Ceph's `ms_dispatch_throttle_bytes`. Default 100 MiB.
    pub max_bytes_in_flight: u64,
    /// A further limit, shared by all connections that are given a clone of it: while it is full, none of
    /// them handles messages.
    pub throttle: Option<Throttle>,
    /// Where connections run; without workers, on the runtime that [`serve`](crate::serve) was called on.
    pub workers: Option<Workers>,
}

impl Default for ServeOptions {
    fn default() -> Self {
        ServeOptions {
            handshake_deadline: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(900),
            shutdown_grace: Duration::from_secs(5),
            spin: Duration::ZERO,
            max_connections: 16384,
            max_handshakes: 4096,
            max_handshakes_per_address: 256,
            max_output: 1 << 20,
            max_outbox: 128 << 20,
            max_ops_in_flight: 4096,
            max_bytes_in_flight: 100 << 20,
            throttle: None,
            workers: None,
        }
    }
}
