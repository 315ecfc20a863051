//! Limits on operations and bytes in flight.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Mutex, Semaphore, TryAcquireError};

/// Bytes are counted in units, because a semaphore counts to 2^32 at most.
const UNIT: u64 = 1024;

/// Waits, in order of arrival, until an operation may start.
#[derive(Debug)]
pub(crate) struct Limits {
    ops: Semaphore,
    units: Semaphore,
    max_units: u32,
    /// Operations that wait. While there are any, nothing gets past them.
    waiting: AtomicUsize,
    /// Held by the one whose turn it is: it needs both semaphores, and must not be overtaken in between.
    turn: Mutex<()>,
}

/// Counts as waiting until it is dropped.
struct Waiting<'l>(&'l AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The share of one operation; given back with [`Limits::release`] exactly once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    units: u32,
}

impl Limits {
    pub(crate) fn new(ops: usize, bytes: u64) -> Self {
        let max_units = u32::try_from((bytes / UNIT).max(1)).unwrap_or(u32::MAX).min(u32::MAX >> 3);
        Limits {
            ops: Semaphore::new(ops.clamp(1, Semaphore::MAX_PERMITS)),
            units: Semaphore::new(max_units as usize),
            max_units,
            waiting: AtomicUsize::new(0),
            turn: Mutex::new(()),
        }
    }

    /// An operation larger than the whole limit counts as the whole limit.
    fn share(&self, bytes: u64) -> Share {
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX);
        Share { units: units.min(self.max_units) }
    }

    /// The usual case: there is room.
    pub(crate) fn try_acquire(&self, bytes: u64) -> Option<Share> {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            return None;
        }
        let share = self.share(bytes);
        let op = self.ops.try_acquire().ok()?;
        match self.units.try_acquire_many(share.units) {
            Ok(units) => {
                op.forget();
                units.forget();
                Some(share)
            }
            Err(TryAcquireError::NoPermits | TryAcquireError::Closed) => None,
        }
    }

    /// Waits for room, behind those who came before. Dropping the future gives up the place in the queue.
    pub(crate) async fn acquire(&self, bytes: u64) -> Share {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let _waiting = Waiting(&self.waiting);
        let _turn = self.turn.lock().await;
        let share = self.share(bytes);
        // Neither semaphore is ever closed.
        if let (Ok(op), Ok(units)) = (self.ops.acquire().await, self.units.acquire_many(share.units).await) {
            op.forget();
            units.forget();
        }
        share
    }

    pub(crate) fn release(&self, share: Share) {
        self.ops.add_permits(1);
        if share.units > 0 {
            self.units.add_permits(share.units as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, pin::pin, task::Poll};

    use super::*;

    async fn is_pending<F: Future>(future: &mut std::pin::Pin<&mut F>) -> bool {
        poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_pending())).await
    }

    #[tokio::test]
    async fn nobody_gets_past_those_who_wait() {
        let limits = Limits::new(2, 8 * UNIT);
        let small = limits.try_acquire(1).unwrap();
        let mut large = pin!(limits.acquire(8 * UNIT));
        assert!(is_pending(&mut large).await, "bytes are used up");
        assert!(limits.try_acquire(1).is_none(), "there is room, but not before the large one");
        let mut behind = pin!(limits.acquire(1));
        assert!(is_pending(&mut behind).await);
        limits.release(small);
        // Room for both operations has come, and the first in the queue has not looked yet.
        assert!(limits.try_acquire(0).is_none());
        assert!(is_pending(&mut behind).await);
        limits.release(large.await);
        limits.release(behind.await);
        assert!(limits.try_acquire(8 * UNIT).is_some(), "nobody counts as waiting any more");
    }

    #[tokio::test]
    async fn both_limits_hold_and_the_largest_operation_still_gets_its_turn() {
        let limits = Limits::new(2, 8 * UNIT);
        let huge = limits.try_acquire(u64::MAX).unwrap();
        assert!(limits.try_acquire(1).is_none(), "bytes are used up");
        let mut next = pin!(limits.acquire(1));
        assert!(is_pending(&mut next).await);
        limits.release(huge);
        let first = next.await;
        let second = limits.try_acquire(0).unwrap();
        assert!(limits.try_acquire(0).is_none(), "operations are used up");
        limits.release(first);
        limits.release(second);
        assert!(limits.try_acquire(8 * UNIT).is_some(), "everything came back");
    }
}
