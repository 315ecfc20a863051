//! The newest lines of the cluster log.

use std::{collections::VecDeque, sync::Arc};

use sepiola_messages::LogEntry;

/// At least this many lines are kept; up to twice as many are, so that trimming is rare.
pub const KEPT_LINES: usize = 500;

/// The newest lines, numbered from 1 on. Clones share them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClusterLog {
    version: u64,
    lines: Arc<VecDeque<Arc<LogEntry>>>,
}

impl ClusterLog {
    pub(super) fn restored(version: u64, lines: impl IntoIterator<Item = LogEntry>) -> Self {
        ClusterLog { version, lines: Arc::new(lines.into_iter().map(Arc::new).collect()) }
    }

    /// The number of the newest line; 0 for none.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Adds a line and gives it its number.
    pub fn push(&mut self, mut line: LogEntry) {
        self.version += 1;
        line.seq = self.version;
        let lines = Arc::make_mut(&mut self.lines);
        lines.push_back(Arc::new(line));
        if lines.len() > 2 * KEPT_LINES {
            lines.drain(..KEPT_LINES);
        }
    }

    /// The lines that are kept, newest first.
    pub fn newest(&self) -> impl Iterator<Item = &LogEntry> {
        self.lines.iter().rev().map(|line| &**line)
    }

    /// The lines from number `first` on, oldest first.
    pub fn from(&self, first: u64) -> impl Iterator<Item = &LogEntry> {
        let oldest = (self.version + 1).saturating_sub(self.lines.len() as u64);
        let skip = usize::try_from(first.saturating_sub(oldest)).unwrap_or(usize::MAX);
        self.lines.iter().skip(skip).map(|line| &**line)
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = &LogEntry> {
        self.lines.iter().map(|line| &**line)
    }
}
