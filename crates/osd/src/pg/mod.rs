//! Placement groups: what an OSD keeps in memory of each.

pub(crate) mod bounds;
mod dups;

use std::time::Instant;

use parking_lot::{Mutex, MutexGuard};
use sepiola_wire::{EVersion, Epoch, PgId};

pub(crate) use dups::{DupLog, Outcome};

/// A pg that this OSD has.
#[derive(Debug)]
pub(crate) struct Pg {
    id: PgId,
    // Held while one op executes, never across an await.
    state: Mutex<PgState>,
}

/// What a pg's ops change, besides the store.
#[derive(Debug, Default)]
pub(crate) struct PgState {
    /// The position of the last logged write.
    pub last_update: EVersion,
    /// The highest version given to an object.
    pub last_user_version: u64,
    /// The last writes by request id.
    pub dups: DupLog,
    /// Counters for reports.
    pub io: IoCounters,
}

/// Operations served; they only grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct IoCounters {
    /// Messages that only read.
    pub reads: u64,
    /// Bytes handed out.
    pub read_bytes: u64,
    /// Messages that wrote.
    pub writes: u64,
    /// Bytes taken in.
    pub write_bytes: u64,
    /// Nanoseconds from the look at the map to the result, over all of them.
    pub nanos: u64,
}

impl IoCounters {
    /// Counts one message that was looked at since `began`.
    pub fn count(&mut self, began: Instant, wrote: bool, taken: u64, given: u64) {
        self.nanos += u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if wrote {
            self.writes += 1;
            self.write_bytes += taken;
        } else {
            self.reads += 1;
        }
        self.read_bytes += given;
    }
}

impl Pg {
    pub fn new(id: PgId) -> Self {
        Pg { id, state: Mutex::default() }
    }

    pub fn id(&self) -> PgId {
        self.id
    }

    pub fn lock(&self) -> MutexGuard<'_, PgState> {
        self.state.lock()
    }
}

impl PgState {
    /// The log position of the next write.
    pub fn next_version(&self, epoch: Epoch) -> EVersion {
        EVersion { epoch, version: self.last_update.version + 1 }
    }

    /// The version that a write gives to an object with version `object`: above everything the pg gave
    /// out, and never below the log position, which is all that old clients see.
    pub fn next_user_version(&self, object: u64, at: EVersion) -> u64 {
        (self.last_user_version.max(object) + 1).max(at.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_versions_never_fall_behind_the_log() {
        let mut pg = PgState { last_user_version: 4, ..PgState::default() };
        pg.last_update = EVersion { epoch: Epoch(8), version: 9 };
        let at = pg.next_version(Epoch(11));
        assert_eq!(at, EVersion { epoch: Epoch(11), version: 10 });
        assert_eq!(pg.next_user_version(2, at), 10);
        assert_eq!(pg.next_user_version(20, at), 21);
    }
}
