//! The signal that ends servers: raised once, seen by everybody who holds a clone.

use tokio::sync::watch;

/// The listening end. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Shutdown(watch::Receiver<bool>);

/// The raising end. Dropping it raises the signal too, so that no server outlives its owner.
#[derive(Debug)]
pub struct ShutdownTrigger(watch::Sender<bool>);

impl Shutdown {
    /// A signal and its trigger.
    pub fn new() -> (ShutdownTrigger, Shutdown) {
        let (sender, receiver) = watch::channel(false);
        (ShutdownTrigger(sender), Shutdown(receiver))
    }

    /// True once the signal was raised.
    pub fn is_raised(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// Returns when the signal is raised, at once if it was.
    pub async fn wait(mut self) {
        // An error means that the trigger is gone, which counts as raised.
        let _ = self.0.wait_for(|raised| *raised).await;
    }
}

impl ShutdownTrigger {
    /// Raises the signal.
    pub fn raise(&self) {
        self.0.send_replace(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn raising_and_dropping_both_end_the_wait() {
        let (trigger, shutdown) = Shutdown::new();
        assert!(!shutdown.is_raised());
        trigger.raise();
        assert!(shutdown.is_raised());
        shutdown.clone().wait().await;

        let (trigger, shutdown) = Shutdown::new();
        drop(trigger);
        assert!(shutdown.is_raised());
        shutdown.wait().await;
    }
}
