//! Single-threaded runtimes, one a core, over which a daemon spreads its connections.
//!
//! A connection stays on the thread that it was given to, so that its task never moves between cores and
//! its buffers stay in one cache.

use std::{
    fmt, io,
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
};

/// A fixed set of worker threads, each with a runtime of its own. Clones share the threads; the last one
/// dropped ends them and whatever still runs on them.
#[derive(Clone)]
pub struct Workers(Arc<Inner>);

struct Inner {
    threads: Vec<Worker>,
    next: AtomicUsize,
}

struct Worker {
    handle: Handle,
    // Dropping it ends the thread's `block_on`.
    _stop: oneshot::Sender<()>,
}

impl Workers {
    /// Starts `count` threads named `{name}-0`, `{name}-1` and so on.
    ///
    /// # Errors
    /// What the system says when a thread or its event queue cannot be made.
    pub fn start(name: &str, count: NonZeroUsize) -> io::Result<Self> {
        let threads =
            (0..count.get()).map(|i| Worker::start(format!("{name}-{i}"))).collect::<io::Result<_>>()?;
        Ok(Workers(Arc::new(Inner { threads, next: AtomicUsize::new(0) })))
    }

    /// The number of threads.
    pub fn count(&self) -> usize {
        self.0.threads.len()
    }

    /// The runtime whose turn it is: round-robin, because connections of one storage client cost alike.
    pub fn next(&self) -> &Handle {
        let turn = self.0.next.fetch_add(1, Ordering::Relaxed);
        &self.0.threads[turn % self.0.threads.len()].handle
    }
}

impl Worker {
    fn start(name: String) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        thread::Builder::new().name(name).spawn(move || {
            // Either outcome means that the owner is gone.
            let _ = runtime.block_on(stopped);
            // Unfinished tasks are dropped with the runtime, without waiting for blocking work.
            runtime.shutdown_background();
        })?;
        Ok(Worker { handle, _stop: stop })
    }
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").field("count", &self.count()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[tokio::test]
    async fn turns_go_round_and_each_thread_is_another() {
        let workers = Workers::start("w", NonZeroUsize::new(3).unwrap()).unwrap();
        let mut seen = HashSet::new();
        for _ in 0..3 {
            seen.insert(workers.next().spawn(async { thread::current().id() }).await.unwrap());
        }
        assert_eq!(seen.len(), 3);
    }

    #[tokio::test]
    async fn dropping_the_set_drops_its_tasks() {
        struct Gone(Option<oneshot::Sender<()>>);
        impl Drop for Gone {
            fn drop(&mut self) {
                let _ = self.0.take().unwrap().send(());
            }
        }
        let (sender, dropped) = oneshot::channel();
        let workers = Workers::start("w", NonZeroUsize::MIN).unwrap();
        let guard = Gone(Some(sender));
        workers.next().spawn(async move {
            let _guard = guard;
            std::future::pending::<()>().await;
        });
        drop(workers);
        dropped.await.unwrap();
    }
}
