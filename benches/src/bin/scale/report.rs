//! The figures as tables and as JSON.

use std::fmt::Write as _;

use sepiola_benches::{Load, Machine, Op};
use serde::Serialize;

/// Everything that was measured.
#[derive(Serialize)]
pub struct Report {
    machine: Machine,
    seconds: f64,
    pub throughput: Vec<Throughput>,
    pub memory: Vec<Memory>,
}

/// Operations of one kind while something has a certain number.
#[derive(Serialize)]
pub struct Throughput {
    /// What grows from row to row.
    pub growing: String,
    pub number: u64,
    pub op: Op,
    /// On all connections together.
    pub load: Load,
    /// Operations a second.
    pub iops: f64,
    /// Processor seconds of the client's process per 1000 operations.
    pub client_cpu: f64,
    /// The same of all OSDs.
    pub osd_cpu: f64,
}

/// What a daemon's memory grew by, in bytes, while the number of something grew.
#[derive(Serialize)]
pub struct Memory {
    daemon: String,
    growing: String,
    from: u64,
    to: u64,
    resident_before: u64,
    resident_after: u64,
    per_item: f64,
}

impl Memory {
    pub fn of(daemon: &str, growing: &str, [from, to]: [u64; 2], [before, after]: [u64; 2]) -> Self {
        Memory {
            daemon: daemon.to_owned(),
            growing: growing.to_owned(),
            from,
            to,
            resident_before: before,
            resident_after: after,
            per_item: (after as f64 - before as f64) / (to as f64 - from as f64),
        }
    }
}

impl Report {
    pub fn new(machine: Machine, seconds: f64) -> Self {
        Report { machine, seconds, throughput: Vec::new(), memory: Vec::new() }
    }

    /// A table of throughput and one of memory, as far as there are rows.
    pub fn markdown(&self) -> String {
        let mut text = format!("{}; secure mode; one run of {} s each.\n", self.machine, self.seconds);
        if let Some(warning) = self.machine.warning() {
            let _ = writeln!(text, "\n{warning}");
        }
        if !self.throughput.is_empty() {
            text +=
                "\n| | load | op | IOPS | client CPU s/1000 | OSD CPU s/1000 |\n|---|---|---|---|---|---|\n";
        }
        for Throughput { growing, number, op, load, iops, client_cpu, osd_cpu } in &self.throughput {
            let _ = writeln!(
                text,
                "| {number} {growing} | {load} | {op} | {iops:.0} | {client_cpu:.4} | {osd_cpu:.4} |"
            );
        }
        if !self.memory.is_empty() {
            text += "\n| daemon | | resident before | after | bytes each |\n|---|---|---|---|---|\n";
        }
        for Memory { daemon, growing, from, to, resident_before, resident_after, per_item } in &self.memory {
            let mib = |bytes: &u64| *bytes as f64 / f64::from(1 << 20);
            let _ = writeln!(
                text,
                "| {daemon} | {from} to {to} {growing} | {:.1} MiB | {:.1} MiB | {per_item:.0} |",
                mib(resident_before),
                mib(resident_after)
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_shared_out_among_what_was_added() {
        let memory = Memory::of("osd.0", "objects", [1000, 3000], [1 << 20, 3 << 20]);
        assert_eq!(memory.per_item, 1048.576);
        // An allocator may give pages back meanwhile.
        assert!(Memory::of("osd.0", "objects", [0, 1], [2, 1]).per_item < 0.0);
    }
}
