//! The monitor's log: where a change becomes durable before anybody hears of it.
//!
//! The state machine knows nothing of how entries are agreed on. One monitor commits straight to a local
//! database ([`RedbLog`]); a quorum commits through consensus behind the same trait.

mod redb_log;

use std::future::Future;

use sepiola_proto::{MonEntry, MonSnapshot};
use thiserror::Error;

pub use redb_log::{Recovered, RedbLog};

/// Who may append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leadership {
    /// This monitor.
    Leader,
    /// Another one, with this rank if it is known.
    Follower(Option<u32>),
}

/// An ordered, durable log of [`MonEntry`]s.
pub trait MonLog: Send + 'static {
    /// Whether [`MonLog::append`] can succeed here.
    fn leadership(&self) -> Leadership;

    /// Makes `entry` durable; when the future yields `Ok`, it survives a kill of the process. Indexes must
    /// follow each other without a gap.
    fn append(&mut self, entry: MonEntry) -> impl Future<Output = Result<(), LogError>> + Send;

    /// True when enough was appended since the last snapshot that another one should be stored.
    fn wants_snapshot(&self) -> bool;

    /// Replaces everything up to the snapshot's index by the snapshot, in one durable step.
    fn store_snapshot(&mut self, snapshot: MonSnapshot) -> impl Future<Output = Result<(), LogError>> + Send;
}

/// Why the log did not take or give an entry.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LogError {
    /// Another monitor leads.
    #[error("this monitor does not lead the quorum")]
    NotLeader,
    /// The index does not follow the last one.
    #[error("log entry {got} does not follow {last}")]
    OutOfOrder {
        /// The last index in the log.
        last: u64,
        /// The index of the refused entry.
        got: u64,
    },
    /// The database failed; nothing more may be acknowledged.
    #[error("monitor store: {0}")]
    Store(#[source] Box<redb::Error>),
    /// A stored record cannot be read.
    #[error("monitor store: {0}")]
    Corrupt(&'static str),
    /// The store was written by a newer version of this program.
    #[error("monitor store has format {found}, this version reads up to {known}")]
    Format {
        /// Format of the store.
        found: u64,
        /// Newest format known.
        known: u64,
    },
    /// The thread that writes is gone.
    #[error("the monitor store's writer stopped")]
    Stopped,
}

impl<E: Into<redb::Error>> From<E> for LogError {
    fn from(e: E) -> Self {
        LogError::Store(Box::new(e.into()))
    }
}
