//! What processes use, as the kernel counts it.

use std::{fs, path::PathBuf, time::Duration};

use sepiola_tests::{Failure, Result};

/// The unit of times in `/proc`, the same on every Linux that runs this.
const TICK: Duration = Duration::from_millis(10);

/// Times of `/proc/PID/stat` behind the name, counted from 0: utime, stime, cutime, cstime.
const OWN: [usize; 2] = [11, 12];
const CHILDREN: [usize; 2] = [13, 14];

/// Processor time that a process has used so far, user and system.
///
/// # Errors
/// If there is no such process.
pub fn cpu(pid: u32) -> Result<Duration> {
    times(&pid.to_string(), OWN)
}

/// The same of this process.
///
/// # Errors
/// If there is no `/proc`.
pub fn own_cpu() -> Result<Duration> {
    times("self", OWN)
}

/// Processor time of all children of this process that have ended, from their start to their end.
///
/// # Errors
/// If there is no `/proc`.
pub fn ended_children_cpu() -> Result<Duration> {
    times("self", CHILDREN)
}

/// Memory of a process that is resident, in bytes; shared pages count fully.
///
/// # Errors
/// If there is no such process.
pub fn resident(pid: u32) -> Result<u64> {
    let (path, status) = read(&pid.to_string(), "status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    let kib: Option<u64> = line.and_then(|kib| kib.parse().ok());
    kib.map(|kib| kib << 10).ok_or_else(|| Failure::new(format!("no VmRSS in {}", path.display())))
}

fn times(process: &str, fields: [usize; 2]) -> Result<Duration> {
    let (path, stat) = read(process, "stat")?;
    ticks(&stat, fields)
        .map(|ticks| TICK * ticks)
        .ok_or_else(|| Failure::new(format!("cannot make sense of {}", path.display())))
}

fn ticks(stat: &str, fields: [usize; 2]) -> Option<u32> {
    // The name stands in brackets and may have blanks and brackets of its own.
    let (_, behind_name) = stat.rsplit_once(") ")?;
    let words: Vec<&str> = behind_name.split(' ').collect();
    fields.iter().map(|&field| words.get(field)?.parse::<u32>().ok()).sum()
}

fn read(process: &str, name: &str) -> Result<(PathBuf, String)> {
    let path = PathBuf::from(format!("/proc/{process}/{name}"));
    let text = fs::read_to_string(&path).map_err(Failure::file(&path))?;
    Ok((path, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_behind_a_name_with_brackets() {
        let stat = "42 (a) b (c)) S 1 42 42 0 -1 4194304 100 200 0 0 7 5 30 11 20 0 1 0 99 1000 10";
        assert_eq!(ticks(stat, OWN), Some(12));
        assert_eq!(ticks(stat, CHILDREN), Some(41));
        assert_eq!(ticks("42 (cut off) S 1", OWN), None);
    }

    #[test]
    fn this_process_uses_memory() {
        assert!(resident(std::process::id()).unwrap() > 100 << 10);
        assert!(cpu(std::process::id()).is_ok() && ended_children_cpu().is_ok());
    }
}
