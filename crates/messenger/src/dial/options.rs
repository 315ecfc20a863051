//! Limits and timers of the dialling side.

use std::time::Duration;

/// Limits and timers of a dialled connection. A [`Duration`] converts into options with that deadline.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct DialOptions {
    /// From the first packet to a ready session; Ceph's `ms_connection_ready_timeout`. Default 10 s.
    pub deadline: Duration,
    /// When to ask whether the peer is still there; `None`, the default, never asks.
    pub keepalive: Option<Keepalive>,
    /// How long the receiver looks for more messages before it sleeps. Costs a core; default 0.
    pub spin: Duration,
    /// Encoded output waiting for the socket, in bytes; [`Sender::send`](crate::Sender::send) refuses more.
    /// Default 256 MiB.
    pub max_output: usize,
}

/// When to send keepalives and when to give up on the peer.
#[derive(Debug, Clone, Copy)]
pub struct Keepalive {
    /// Time between two keepalives; Ceph's `mon_client_ping_interval` is 10 s.
    pub interval: Duration,
    /// With nothing received for this long the connection is closed; `mon_client_ping_timeout` is 30 s.
    pub timeout: Duration,
}

impl Default for Keepalive {
    fn default() -> Self {
        Keepalive { interval: Duration::from_secs(10), timeout: Duration::from_secs(30) }
    }
}

impl Default for DialOptions {
    fn default() -> Self {
        DialOptions {
            deadline: Duration::from_secs(10),
            keepalive: None,
            spin: Duration::ZERO,
            max_output: 256 << 20,
        }
    }
}

impl DialOptions {
    /// The defaults, with keepalives.
    pub fn with_keepalive(self, keepalive: Keepalive) -> Self {
        DialOptions { keepalive: Some(keepalive), ..self }
    }
}

impl From<Duration> for DialOptions {
    fn from(deadline: Duration) -> Self {
        DialOptions { deadline, ..DialOptions::default() }
    }
}
