//! Where and when figures were taken.

use std::{fmt, fs, num::NonZero, process::Command, thread};

use serde::Serialize;

/// Date, machine and its state. Figures of different machines are not comparable, nor are those of a busy
/// one.
#[derive(Debug, Clone, Serialize)]
pub struct Machine {
    /// UTC.
    pub date: String,
    /// The processor's name.
    pub cpu: String,
    /// Processors that this process may use.
    pub cores: usize,
    /// The kernel's release.
    pub kernel: String,
    /// Runnable tasks in the minute before, on average.
    pub load_before: f64,
}

impl Machine {
    /// This machine, now. What can't be found out is `unknown`.
    pub fn now() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let known = |text: &str| if text.is_empty() { "unknown" } else { text }.to_owned();
        let cpuinfo = read("/proc/cpuinfo");
        let name = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        // Calendars are not this crate's concern.
        let date = Command::new("date").args(["-u", "+%Y-%m-%d %H:%M UTC"]).output();
        let date = date.map(|output| output.stdout).unwrap_or_default();
        let load = read("/proc/loadavg").split(' ').next().and_then(|word| word.parse().ok());
        Machine {
            date: known(String::from_utf8_lossy(&date).trim()),
            cpu: known(name.map_or("", |(_, name)| name.trim())),
            cores: thread::available_parallelism().map_or(1, NonZero::get),
            kernel: known(read("/proc/sys/kernel/osrelease").trim()),
            load_before: load.unwrap_or(0.0),
        }
    }

    /// A warning if something else was running.
    pub fn warning(&self) -> Option<String> {
        (self.load_before > 0.5).then(|| {
            format!("The machine was busy before (load {:.1}): these figures are noise.", self.load_before)
        })
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}, {} cores; Linux {}", self.date, self.cpu, self.cores, self.kernel)
    }
}
