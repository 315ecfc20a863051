//! What a running monitor tells whoever runs it: counters for `perf dump`, and commands that only read.

use std::{
    fmt,
    sync::{Arc, OnceLock, Weak, atomic::Ordering},
};

use sepiola_wire::UTime;
use serde_json::Value;

use crate::{command, daemon::Monitor};

/// What a monitor holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MonPerf {
    /// Open sessions.
    pub num_sessions: u64,
    /// The index of the last log entry applied.
    pub log_index: u64,
    /// The OSD map's epoch.
    pub osdmap_epoch: u32,
    /// Entities with a key.
    pub entities: u64,
    /// Connections that began to authenticate.
    pub handshakes: u64,
    /// Those that did it.
    pub sessions_opened: u64,
}

/// Asks a monitor that [`run`](crate::run) runs: give a clone to its options, keep one.
#[derive(Clone, Default)]
pub struct MonHandle(Arc<OnceLock<Weak<Monitor>>>);

impl MonHandle {
    /// The counters, `None` before the monitor has started and after it has ended.
    pub fn perf(&self) -> Option<MonPerf> {
        let monitor = self.0.get()?.upgrade()?;
        let state = monitor.state.load();
        Some(MonPerf {
            num_sessions: monitor.sessions.count() as u64,
            log_index: state.applied(),
            osdmap_epoch: state.osdmap().epoch().0,
            entities: state.entities().len() as u64,
            handshakes: monitor.handshakes.load(Ordering::Relaxed),
            sessions_opened: monitor.sessions.opened(),
        })
    }

    /// What a command that changes nothing answers, as JSON: `{"prefix": "mon_status"}`. `None` if there is no
    /// such command or it changes something, and as with [`MonHandle::perf`].
    pub fn describe(&self, command: &Value) -> Option<Value> {
        let monitor = self.0.get()?.upgrade()?;
        let state = monitor.state.load_full();
        let stats = monitor.stats.lock();
        command::describe(monitor.surroundings(&state, &stats, UTime::now()), command)
    }

    pub(crate) fn attach(&self, monitor: Weak<Monitor>) {
        // A handle that was used for an earlier run stays with that one.
        let _ = self.0.set(monitor);
    }
}

impl fmt::Debug for MonHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MonHandle").field(&self.perf()).finish()
    }
}
