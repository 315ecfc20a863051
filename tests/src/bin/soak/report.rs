//! What came of it.

use std::{collections::BTreeMap, fmt, time::Duration};

use sepiola_tests::{Machine, Result};
use serde::Serialize;

use crate::{
    Args,
    disturb::Restarts,
    load::LoadClient,
    memory::{Growth, Memory},
    protocol::OpCount,
};

/// The result of a run.
#[derive(Debug, Serialize)]
pub struct Report {
    minutes: u64,
    seed: u64,
    profile: &'static str,
    machine: Machine,
    took_seconds: u64,
    operations: BTreeMap<&'static str, BTreeMap<String, OpCount>>,
    restarts: Restarts,
    processes: Vec<Growth>,
    /// Empty if all is well.
    problems: Vec<String>,
}

impl Report {
    pub fn new(
        args: &Args,
        took: Duration,
        clients: Vec<LoadClient>,
        restarts: Restarts,
        memory: &Memory,
        log_lines: Vec<String>,
        whole: Result<()>,
    ) -> Self {
        let restarted = |process: &str| restarts.keys().any(|key| key.starts_with(process));
        let processes = memory.judge(took, restarted);
        let mut problems = Vec::new();
        for client in &clients {
            problems
                .extend(client.problems().into_iter().map(|text| format!("client {}: {text}", client.name)));
            let failed: u64 = client.ops().values().map(|op| op.failed).sum();
            if failed > 0 {
                problems.push(format!("client {}: {failed} operations failed", client.name));
            }
            if client.ops().values().all(|op| op.checked == 0) {
                problems.push(format!("client {}: nothing was checked", client.name));
            }
        }
        problems.extend(log_lines);
        problems.extend(processes.iter().filter_map(|growth| growth.problem.clone()));
        problems.extend(whole.err().map(|e| e.to_string()));
        Report {
            minutes: args.minutes,
            seed: args.seed,
            profile: if cfg!(debug_assertions) { "dev" } else { "release" },
            machine: Machine::now(),
            took_seconds: took.as_secs(),
            operations: clients.iter().map(|client| (client.name, client.ops())).collect(),
            restarts,
            processes,
            problems,
        }
    }

    /// Whether all is well.
    pub fn passed(&self) -> bool {
        self.problems.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "soak --minutes {} --seed {} ({}); {}\n",
            self.minutes, self.seed, self.profile, self.machine
        )?;
        writeln!(
            f,
            "| client | operation | checked | unchecked | failed | longest ms |\n|---|---|---|---|---|---|"
        )?;
        for (client, ops) in &self.operations {
            for (name, op) in ops {
                let OpCount { checked, unchecked, failed, worst_ms } = op;
                writeln!(f, "| {client} | {name} | {checked} | {unchecked} | {failed} | {worst_ms} |")?;
            }
        }
        writeln!(f, "\n| process | compared | KiB, first third | last third | peak | open files | |")?;
        writeln!(f, "|---|---|---|---|---|---|---|")?;
        for p in &self.processes {
            write!(
                f,
                "| {} | {} | {} | {} | {} |",
                p.process, p.compared, p.first_kib, p.last_kib, p.peak_kib
            )?;
            writeln!(f, " {} to {} | {} |", p.first_files, p.last_files, p.verdict)?;
        }
        let restarts: Vec<_> = self.restarts.iter().map(|(what, times)| format!("{what} {times}")).collect();
        writeln!(f, "\nrestarts: {}", restarts.join(", "))?;
        for problem in &self.problems {
            writeln!(f, "problem: {problem}")?;
        }
        let word = if self.passed() { "passed" } else { "FAILED" };
        writeln!(f, "{word} after {} s", self.took_seconds)
    }
}
