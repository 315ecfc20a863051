//! Limits on work in flight: operations and their bytes between arrival and reply.
//!
//! Work that a dispatcher finishes in place needs no permit. Work that completes later takes one, keeps it
//! until its reply is queued, and drops it; over a limit the connection stops reading. Reaching a limit is
//! never an error, and one message is always let through, so that a message larger than a whole limit
//! still gets its turn.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::Waker,
};

use parking_lot::Mutex;

/// A limit that several connections, or one, share. Clones share the counters.
#[derive(Debug, Clone)]
pub struct Throttle(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    max_ops: u64,
    max_bytes: u64,
    ops: AtomicU64,
    bytes: AtomicU64,
    has_waiters: AtomicBool,
    waiters: Mutex<Vec<Waker>>,
}

/// One operation in flight. Dropping it makes room.
#[derive(Debug)]
#[must_use = "dropping a permit at once makes room at once"]
pub struct Permit {
    throttle: Throttle,
    bytes: u64,
}

impl Throttle {
    /// A throttle of `max_ops` operations and `max_bytes` bytes.
    pub fn new(max_ops: u64, max_bytes: u64) -> Self {
        Throttle(Arc::new(Inner {
            max_ops,
            max_bytes,
            ops: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            has_waiters: AtomicBool::new(false),
            waiters: Mutex::new(Vec::new()),
        }))
    }

    /// Counts an operation that is already here. Never waits and never fails: the limit acts on reading.
    pub fn take(&self, bytes: u64) -> Permit {
        self.0.ops.fetch_add(1, Ordering::Relaxed);
        self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
        Permit { throttle: self.clone(), bytes }
    }

    /// True when nothing more should be started.
    pub fn is_full(&self) -> bool {
        self.0.ops.load(Ordering::SeqCst) >= self.0.max_ops
            || self.0.bytes.load(Ordering::SeqCst) >= self.0.max_bytes
    }

    /// True when nothing is in flight.
    pub fn is_idle(&self) -> bool {
        self.0.ops.load(Ordering::SeqCst) == 0
    }

    /// True when the throttle is full; then `waker` is woken once there is room.
    pub(crate) fn wait_for_room(&self, waker: &Waker) -> bool {
        if !self.is_full() {
            return false;
        }
        let mut waiters = self.0.waiters.lock();
        if !waiters.iter().any(|w| w.will_wake(waker)) {
            waiters.push(waker.clone());
        }
        self.0.has_waiters.store(true, Ordering::SeqCst);
        // A permit dropped before the flag was up woke nobody: look again.
        self.is_full()
    }

    fn release(&self, bytes: u64) {
        self.0.ops.fetch_sub(1, Ordering::SeqCst);
        self.0.bytes.fetch_sub(bytes, Ordering::SeqCst);
        if self.0.has_waiters.load(Ordering::SeqCst) && !self.is_full() {
            let waiters = {
                let mut waiters = self.0.waiters.lock();
                self.0.has_waiters.store(false, Ordering::SeqCst);
                std::mem::take(&mut *waiters)
            };
            waiters.into_iter().for_each(Waker::wake);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.throttle.release(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);
    impl std::task::Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn either_limit_fills_it_and_a_drop_wakes_each_waiter_once() {
        let throttle = Throttle::new(2, 100);
        let count = Arc::new(Count::default());
        let waker = Waker::from(count.clone());
        let big = throttle.take(1000);
        assert!(throttle.wait_for_room(&waker) && throttle.wait_for_room(&waker));
        drop(big);
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        assert!(!throttle.wait_for_room(&waker));

        let (first, second) = (throttle.take(0), throttle.take(0));
        assert!(throttle.wait_for_room(&waker));
        drop(first);
        drop(second);
        assert_eq!(count.0.load(Ordering::Relaxed), 2);
    }
}
