//! Limits on operations and bytes in flight.

use tokio::sync::{Semaphore, TryAcquireError};

/// Bytes are counted in units, because a semaphore counts to 2^32 at most.
const UNIT: u64 = 1024;

/// Waits, in order of arrival, until an operation may start.
#[derive(Debug)]
pub(crate) struct Limits {
    ops: Semaphore,
    units: Semaphore,
    max_units: u32,
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
        }
    }

    /// An operation larger than the whole limit counts as the whole limit.
    fn share(&self, bytes: u64) -> Share {
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX);
        Share { units: units.min(self.max_units) }
    }

    /// The usual case: there is room.
    pub(crate) fn try_acquire(&self, bytes: u64) -> Option<Share> {
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

    /// Waits for room. Dropping the future gives up the place in the queue.
    pub(crate) async fn acquire(&self, bytes: u64) -> Share {
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
