//! What the network edge counts.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of connections.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    /// Connections that began to authenticate.
    pub handshakes: AtomicU64,
    /// Those that did it, and those of them that are gone.
    pub opened: AtomicU64,
    pub closed: AtomicU64,
}

impl Traffic {
    /// Adds one to a counter.
    pub fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Open connections.
    pub fn sessions(&self) -> u64 {
        self.opened.load(Ordering::Relaxed).saturating_sub(self.closed.load(Ordering::Relaxed))
    }
}
