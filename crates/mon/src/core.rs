//! The one writer of the state.
//!
//! Whoever wants a change sends a [`Work`]: a function from the state to changes and to what happens when
//! they are durable. Works that arrive while an entry is being written are put together into the next one,
//! so a burst costs one flush. Each work sees the changes of those before it.

use std::sync::Arc;

use rand_core::CryptoRng;
use sepiola_messenger::Shutdown;
use sepiola_proto::{MonChange, MonEntry};
use sepiola_wire::UTime;
use tokio::{
    sync::mpsc,
    time::{MissedTickBehavior, interval},
};
use tracing::error;

use crate::{
    RunError,
    daemon::Monitor,
    log::MonLog,
    service::{fullness, quotas, tick},
    state::MonState,
};

/// As many works as one entry takes, so that nobody waits for a long queue of others.
const MAX_BATCH: usize = 256;
/// Works that may wait; above it, connections get no more answers until the log has caught up.
const MAX_QUEUE: usize = 4096;

/// What a work reads.
pub(crate) struct Draft<'a> {
    /// The state with all changes before this work.
    pub state: &'a MonState,
    pub now: UTime,
    pub rng: &'a mut dyn CryptoRng,
}

/// What a work wants.
pub(crate) struct Outcome {
    pub changes: Vec<MonChange>,
    /// Runs when the changes are durable and published, with the published state.
    pub then: Box<dyn FnOnce(&MonState) + Send>,
}

impl Outcome {
    /// Changes of which nobody needs to be told.
    pub fn silent(changes: Vec<MonChange>) -> Self {
        Outcome { changes, then: Box::new(|_| ()) }
    }
}

/// A wish for a change.
pub(crate) type Work = Box<dyn FnOnce(&mut Draft<'_>) -> Outcome + Send>;

/// Where works are sent.
#[derive(Clone)]
pub(crate) struct CoreHandle(mpsc::Sender<Work>);

impl CoreHandle {
    /// Queues a work; false if the queue is full or the monitor is ending, in which case the work is dropped
    /// and its sender's peer will ask again.
    pub fn propose(&self, work: Work) -> bool {
        self.0.try_send(work).is_ok()
    }
}

/// The queue of works.
pub(crate) type Queue = mpsc::Receiver<Work>;

pub(crate) fn queue() -> (CoreHandle, Queue) {
    let (sender, receiver) = mpsc::channel(MAX_QUEUE);
    (CoreHandle(sender), receiver)
}

/// Runs works until the shutdown.
///
/// # Errors
/// A log that fails ends the monitor: what is not durable must not be acknowledged.
pub(crate) async fn run<L: MonLog>(
    monitor: Arc<Monitor>,
    mut log: L,
    mut queue: Queue,
    shutdown: Shutdown,
) -> Result<(), RunError> {
    let mut ticks = interval(monitor.options.tick);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut stop = Box::pin(shutdown.wait());
    let mut batch = Vec::new();
    loop {
        tokio::select! {
            biased;
            () = &mut stop => break,
            _ = ticks.tick() => {
                tick::forget_what_is_gone(&monitor);
                batch.push(tick::work(monitor.clone()));
                batch.push(quotas::work(monitor.clone()));
                batch.push(fullness::work(monitor.clone()));
            }
            received = queue.recv_many(&mut batch, MAX_BATCH) => if received == 0 { break },
        }
        commit(&monitor, &mut log, &mut batch).await?;
    }
    // What was asked for before the shutdown is still answered.
    while queue.try_recv().map(|work| batch.push(work)).is_ok() {}
    commit(&monitor, &mut log, &mut batch).await
}

async fn commit<L: MonLog>(monitor: &Monitor, log: &mut L, batch: &mut Vec<Work>) -> Result<(), RunError> {
    let mut state = MonState::clone(&monitor.state.load());
    let (mut changes, mut replies) = (Vec::new(), Vec::with_capacity(batch.len()));
    let now = UTime::now();
    for work in batch.drain(..) {
        let outcome = work(&mut Draft { state: &state, now, rng: &mut rand::rng() });
        let mut next = state.clone();
        match outcome.changes.iter().try_for_each(|change| next.apply_change(change)) {
            Ok(()) => {
                state = next;
                changes.extend(outcome.changes);
                replies.push(outcome.then);
            }
            // Works check what they propose; one that does not must not take the others with it.
            Err(e) => error!(error = %e, "a proposed change was dropped"),
        }
    }
    if !changes.is_empty() {
        let index = state.finish_entry();
        log.append(MonEntry { index, changes }).await?;
        monitor.publish(state);
    }
    let published = monitor.state.load_full();
    for then in replies {
        then(&published);
    }
    if log.wants_snapshot() {
        log.store_snapshot(published.to_snapshot()).await?;
    }
    Ok(())
}
