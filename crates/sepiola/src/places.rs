//! A bound on connections that nobody has to wait for: the newest ones have the places.

use std::{collections::VecDeque, future::Future};

use tokio::task::AbortHandle;

/// Tasks of connections, the oldest first. They end with it.
pub struct Places {
    limit: usize,
    running: VecDeque<AbortHandle>,
}

impl Places {
    /// Room for `limit` connections at once.
    pub fn new(limit: usize) -> Self {
        Places { limit, running: VecDeque::with_capacity(limit) }
    }

    /// Serves a connection. If all places are taken, the oldest one is ended: requests are short, so it is the
    /// one that most likely waits for nothing.
    pub fn serve(&mut self, connection: impl Future<Output = ()> + Send + 'static) {
        self.running.retain(|task| !task.is_finished());
        if self.running.len() == self.limit
            && let Some(oldest) = self.running.pop_front()
        {
            oldest.abort();
        }
        self.running.push_back(tokio::spawn(connection).abort_handle());
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        self.running.iter().for_each(AbortHandle::abort);
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn the_newest_are_served_however_many_idle() {
        let mut places = Places::new(2);
        let mut ended = Vec::new();
        for _ in 0..5 {
            let (open, closed) = oneshot::channel::<()>();
            ended.push(closed);
            places.serve(async move {
                let _open = open;
                std::future::pending().await
            });
        }
        let (answer, answered) = oneshot::channel();
        places.serve(async move { answer.send(7).unwrap() });
        assert_eq!(answered.await, Ok(7));
        // Of the idle ones only the newest is left.
        let newest = ended.pop().unwrap();
        for closed in ended {
            closed.await.unwrap_err();
        }
        drop(places);
        newest.await.unwrap_err();
    }
}
