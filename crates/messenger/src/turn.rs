//! Fairness between connections that share a thread.

use std::{pin::pin, task::Context};

use tokio::task::yield_now;

/// After this much work without a pause a connection lets others on its thread run.
const MAX_OPS: usize = 64;
const MAX_BYTES: usize = 1 << 20;

/// The work of one turn of a connection's task.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    ops: usize,
    bytes: usize,
}

impl Budget {
    pub(crate) fn spend(&mut self, bytes: usize) {
        self.ops += 1;
        self.bytes += bytes;
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.ops >= MAX_OPS || self.bytes >= MAX_BYTES
    }

    /// Frames handled in this turn.
    pub(crate) fn ops(&self) -> usize {
        self.ops
    }
}

/// Makes the current task come back after the runtime has looked at its other tasks and its sockets. The
/// caller returns `Pending`.
pub(crate) fn yield_turn(cx: &mut Context<'_>) {
    let _ = pin!(yield_now()).poll(cx);
}
