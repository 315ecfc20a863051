//! What a caller waits on, and what happens when it stops waiting.

use std::{future::poll_fn, sync::Arc};

use super::{
    Inner,
    limits::Share,
    op::{Op, Reply},
};
use crate::Error;

/// Owns an operation's share of the in-flight limits. Dropping it gives the share back and makes sure that
/// the operation is not sent again.
pub(super) struct Completion<'i> {
    inner: &'i Arc<Inner>,
    op: Arc<Op>,
    share: Share,
}

impl<'i> Completion<'i> {
    pub(super) fn new(inner: &'i Arc<Inner>, op: Arc<Op>, share: Share) -> Self {
        Completion { inner, op, share }
    }

    /// Waits for `op` from now on.
    pub(super) fn replace(&mut self, op: Arc<Op>) {
        self.op = op;
    }

    pub(super) async fn result(&mut self) -> Result<Reply, Error> {
        poll_fn(|cx| self.op.poll_result(cx.waker())).await
    }
}

impl Drop for Completion<'_> {
    fn drop(&mut self) {
        self.inner.forget(&self.op);
        self.inner.limits.release(self.share);
    }
}
