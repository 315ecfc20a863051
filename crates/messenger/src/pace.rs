//! How many messages leave together.
//!
//! One write for all that is to be sent saves system calls, but lets both ends take turns: while one works,
//! the other waits for the whole batch. Batches that are a part of what is in flight cost a few writes more
//! and keep both at work. A client knows what it has in flight. A server sees it from how many messages
//! come before the connection has to rest for longer than a look at its socket takes.

use std::time::Duration;

/// Smaller batches cost more in system calls than they give.
const FEWEST: usize = 4;
/// Larger ones save nothing worth mentioning.
const MOST: usize = 16;
/// Batches into which what is in flight is cut.
const PARTS: usize = 4;
/// After so many messages without a pause a larger batch is tried.
const STEADY: usize = MOST * PARTS;

/// A pause that is longer than the system calls between two reads: most likely there was nothing to read.
const DRY: Duration = Duration::from_micros(20);

/// The messages of one batch, of so many in flight.
pub(crate) fn batch(in_flight: usize) -> usize {
    (in_flight / PARTS).clamp(FEWEST, MOST)
}

/// Says when a server's replies are to be written although more messages have arrived.
#[derive(Debug)]
pub(crate) struct Pace {
    batch: usize,
    since_write: usize,
    since_pause: usize,
}

impl Default for Pace {
    fn default() -> Self {
        Pace { batch: MOST, since_write: 0, since_pause: 0 }
    }
}

impl Pace {
    /// A message was handled. True when what was replied should leave now.
    pub fn handled(&mut self) -> bool {
        self.since_write += 1;
        self.since_pause += 1;
        if self.since_pause.is_multiple_of(STEADY) {
            self.batch = (self.batch * 2).min(MOST);
        }
        self.since_write >= self.batch
    }

    /// Replies are being written.
    pub fn written(&mut self) {
        self.since_write = 0;
    }

    /// The connection goes on after a pause.
    pub fn resumed(&mut self, pause: Duration) {
        if self.since_pause > 0 && pause >= DRY {
            self.batch = batch(self.since_pause);
            self.since_pause = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Handles messages as they come and counts how many go out with each write.
    fn batches(pace: &mut Pace, messages: usize) -> Vec<usize> {
        let mut batches = vec![0];
        for _ in 0..messages {
            *batches.last_mut().unwrap() += 1;
            if pace.handled() {
                pace.written();
                batches.push(0);
            }
        }
        batches.retain(|batch| *batch > 0);
        batches
    }

    #[test]
    fn a_peer_that_waits_for_all_its_replies_gets_them_in_parts() {
        let mut pace = Pace::default();
        for (in_flight, parts) in [(16, 4), (32, 4), (64, 4), (5, 2), (1, 1)] {
            batches(&mut pace, in_flight);
            pace.resumed(DRY);
            pace.written();
            assert_eq!(batches(&mut pace, in_flight).len(), parts, "{in_flight} in flight");
            pace.resumed(DRY);
            pace.written();
        }
    }

    #[test]
    fn batches_grow_while_messages_keep_coming() {
        let mut pace = Pace::default();
        batches(&mut pace, 8);
        pace.resumed(DRY);
        pace.written();
        let batches = batches(&mut pace, 1000);
        assert_eq!((batches.first(), batches.iter().max()), (Some(&FEWEST), Some(&MOST)));
    }
}
