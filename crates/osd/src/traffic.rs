//! What the network edge counts.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

/// Counters of connections and of operations' times.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    /// Connections that began to authenticate.
    pub handshakes: AtomicU64,
    /// Those that did it, and those of them that are gone.
    pub opened: AtomicU64,
    pub closed: AtomicU64,
    /// Operations that were measured, and their times together.
    pub ops: AtomicU64,
    pub nanos: AtomicU64,
}

impl Traffic {
    /// Adds one to a counter.
    pub fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds an operation that arrived at `arrived` and has just been answered.
    pub fn answered(&self, arrived: Instant) {
        Self::count(&self.ops);
        let nanos = u64::try_from(arrived.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Open connections.
    pub fn sessions(&self) -> u64 {
        self.opened.load(Ordering::Relaxed).saturating_sub(self.closed.load(Ordering::Relaxed))
    }
}
