//! The last writes of a pg by request id: a write that arrives again is answered, not applied again.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;
use foldhash::fast::RandomState;
use sepiola_wire::{EVersion, ReqId};

/// Writes remembered per pg. Clients have at most 1024 ops in flight, so a resend is always among them.
const KEPT: usize = 3000;

/// What a write was answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The log position it took.
    pub version: EVersion,
    /// The object's version after it, 0 for failures.
    pub user_version: u64,
    /// The message's result.
    pub result: i32,
    /// The ops' results and outputs, kept when the client asked for them or the write failed.
    pub returns: Vec<(i32, Bytes)>,
}

/// A bounded log of outcomes.
#[derive(Debug, Default)]
pub(crate) struct DupLog {
    // The sequence number of the front entry; entries are numbered in order of arrival.
    first: u64,
    order: VecDeque<(ReqId, Outcome)>,
    // Every write asks it twice. There are few entries, so that nobody gains by making their hashes collide.
    index: HashMap<ReqId, u64, RandomState>,
}

impl DupLog {
    /// The outcome of an earlier write with this id.
    pub fn find(&self, id: &ReqId) -> Option<&Outcome> {
        let at = self.index.get(id)? - self.first;
        self.order.get(usize::try_from(at).ok()?).map(|(_, outcome)| outcome)
    }

    /// Remembers a write; the oldest one is forgotten when there are too many.
    pub fn record(&mut self, id: ReqId, outcome: Outcome) {
        if self.order.len() == KEPT
            && let Some((oldest, _)) = self.order.pop_front()
        {
            // An id that was recorded twice points at its later entry, which stays.
            if self.index.get(&oldest) == Some(&self.first) {
                self.index.remove(&oldest);
            }
            self.first += 1;
        }
        self.index.insert(id, self.first + self.order.len() as u64);
        self.order.push_back((id, outcome));
    }

    /// Writes remembered.
    pub fn len(&self) -> usize {
        self.order.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sepiola_wire::{EntityNum, Epoch, GlobalId, Tid};

    fn id(tid: u64) -> ReqId {
        ReqId { name: EntityNum::client(GlobalId(7)), tid: Tid(tid), inc: 0 }
    }

    fn outcome(version: u64) -> Outcome {
        let version = EVersion { epoch: Epoch(1), version };
        Outcome { version, user_version: 0, result: 0, returns: Vec::new() }
    }

    #[test]
    fn the_newest_writes_are_found_and_the_oldest_forgotten() {
        let mut log = DupLog::default();
        let total = KEPT as u64 + 10;
        (0..total).for_each(|tid| log.record(id(tid), outcome(tid)));
        assert_eq!((log.len(), log.index.len()), (KEPT, KEPT));
        assert_eq!(log.find(&id(9)), None);
        for tid in [10, total / 2, total - 1] {
            assert_eq!(log.find(&id(tid)), Some(&outcome(tid)));
        }
    }

    #[test]
    fn another_client_with_the_same_tid_is_another_request() {
        let mut log = DupLog::default();
        log.record(id(5), outcome(1));
        let other = ReqId { name: EntityNum::client(GlobalId(8)), ..id(5) };
        assert_eq!(log.find(&other), None);
    }

    #[test]
    fn an_id_recorded_twice_keeps_its_later_outcome() {
        let mut log = DupLog::default();
        log.record(id(1), outcome(1));
        log.record(id(1), outcome(2));
        (2..KEPT as u64 + 1).for_each(|tid| log.record(id(tid), outcome(tid)));
        assert_eq!(log.find(&id(1)), Some(&outcome(2)));
    }
}
