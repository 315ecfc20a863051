//! How long new operations may take, which may change at any time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// A limit on operations; clones share it.
#[derive(Debug, Clone)]
pub(crate) struct OpTimeout(Arc<AtomicU64>);

impl OpTimeout {
    /// The limit for operations that start now; `None` waits for ever.
    pub fn get(&self) -> Option<Duration> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            nanos => Some(Duration::from_nanos(nanos)),
        }
    }

    /// Changes the limit. Operations keep the one that they started with.
    pub fn set(&self, timeout: Option<Duration>) {
        self.0.store(nanos(timeout), Ordering::Relaxed);
    }
}

impl From<Option<Duration>> for OpTimeout {
    fn from(timeout: Option<Duration>) -> Self {
        OpTimeout(Arc::new(AtomicU64::new(nanos(timeout))))
    }
}

fn nanos(timeout: Option<Duration>) -> u64 {
    // More than 500 years are for ever too.
    timeout.and_then(|t| u64::try_from(t.as_nanos()).ok()).unwrap_or(0)
}
