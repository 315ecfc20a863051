//! What the client has done, and which OSDs can be relied on.

use std::{
    collections::BTreeMap,
    io::Write,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::protocol::{OpCount, Told};

/// Shared by all tasks.
pub struct Record {
    /// A number for each OSD, odd while it is disturbed.
    lives: Vec<AtomicU64>,
    stopping: AtomicBool,
    ops: Mutex<BTreeMap<String, OpCount>>,
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// As it had to.
    Checked,
    /// Somehow, which nobody can judge.
    Unchecked,
    /// As it must not.
    Failed,
}

impl Record {
    pub fn new(osds: u32) -> Self {
        Record {
            lives: (0..osds).map(|_| AtomicU64::new(0)).collect(),
            stopping: AtomicBool::new(false),
            ops: Mutex::default(),
        }
    }

    /// The OSD's life: what was written in another one is forgotten. `None` while it is disturbed.
    pub fn life(&self, osd: u32) -> Option<u64> {
        let life = self.lives[osd as usize].load(Ordering::SeqCst);
        life.is_multiple_of(2).then_some(life)
    }

    /// The OSD's life ends, or its next one begins.
    pub fn next_life(&self, osd: u32) {
        if let Some(life) = self.lives.get(osd as usize) {
            life.fetch_add(1, Ordering::SeqCst);
        }
    }

    pub fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
    }

    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Counts an operation.
    pub fn count(&self, op: &str, took: Duration, ended: Ended) {
        let mut ops = self.ops.lock().expect("no panic");
        if !ops.contains_key(op) {
            ops.insert(op.to_owned(), OpCount::default());
        }
        let count = ops.get_mut(op).expect("it is there now");
        match ended {
            Ended::Checked => count.checked += 1,
            Ended::Unchecked => count.unchecked += 1,
            Ended::Failed => count.failed += 1,
        }
        count.worst_ms = count.worst_ms.max(took.as_millis() as u64);
    }

    pub fn problem(&self, text: impl Into<String>) {
        self.tell(&Told::Problem { text: text.into() });
    }

    pub fn report(&self) {
        let ops = self.ops.lock().expect("no panic").clone();
        self.tell(&Told::Counts { ops });
    }

    pub fn tell(&self, told: &Told) {
        let line = serde_json::to_string(told).expect("plain data");
        // Whoever listened is gone, and orders end with it.
        let _ = writeln!(std::io::stdout().lock(), "{line}");
    }
}
