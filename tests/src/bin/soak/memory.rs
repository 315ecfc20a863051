//! What processes hold: resident memory and open files, sampled, and whether they grow.

use std::{collections::BTreeMap, fs, time::Duration};

use serde::Serialize;

/// At this age processes that are restarted are compared with their later lives.
const COMPARED_AGE: std::ops::Range<u64> = 38..48;
/// Fewer samples say nothing.
const FEWEST: usize = 3;
/// Growth that is none: allocators round, and caches of a client fill.
const ALLOWED_KIB: u64 = 4096;
/// And as a part of what was there.
const ALLOWED_PART: u64 = 10;
const ALLOWED_FILES: u64 = 8;

/// A process at a time.
#[derive(Debug, Clone, Copy)]
struct Sample {
    at: Duration,
    age: Duration,
    rss_kib: u64,
    files: u64,
}

/// Samples of all processes by name.
#[derive(Debug, Default)]
pub struct Memory(BTreeMap<String, Vec<Sample>>);

/// What came of one process.
#[derive(Debug, Serialize)]
pub struct Growth {
    /// Its name.
    pub process: String,
    /// How the samples were chosen.
    pub compared: String,
    /// Median KiB of the first third of them.
    pub first_kib: u64,
    /// Median KiB of the last third.
    pub last_kib: u64,
    /// The most that was ever seen.
    pub peak_kib: u64,
    /// Open files, medians.
    pub first_files: u64,
    /// Open files, medians.
    pub last_files: u64,
    /// `flat`, `grew`, or that there is too little to say.
    pub verdict: &'static str,
    /// Why it is too much, if it is.
    #[serde(skip)]
    pub problem: Option<String>,
}

impl Memory {
    /// Takes a sample; one that has just ended has none.
    pub fn look(&mut self, process: &str, pid: u32, at: Duration, age: Duration) {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let rss = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let rss = rss.and_then(|rss| rss.trim().trim_end_matches(" kB").parse().ok());
        let Some(rss_kib) = rss else { return };
        let files = fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, |files| files.count() as u64);
        self.0.entry(process.to_owned()).or_default().push(Sample { at, age, rss_kib, files });
    }

    /// The newest samples in a line.
    pub fn now(&self) -> String {
        let newest = self.0.iter().filter_map(|(name, samples)| {
            let sample = samples.last()?;
            Some(format!("{name} {}", sample.rss_kib))
        });
        newest.collect::<Vec<_>>().join(", ")
    }

    /// Judges all processes. Those of `restarted` are compared at the same age of each life, others over
    /// time, once they are warm: duplicate logs and caches fill first.
    pub fn judge(&self, length: Duration, restarted: impl Fn(&str) -> bool) -> Vec<Growth> {
        let warm = (length / 5).min(Duration::from_secs(600));
        let judged = self.0.iter().map(|(process, samples)| {
            let (chosen, compared): (Vec<Sample>, _) = if restarted(process) {
                let same_age = |s: &&Sample| COMPARED_AGE.contains(&s.age.as_secs());
                (samples.iter().filter(same_age).copied().collect(), "lives at the age of 40 s")
            } else {
                (samples.iter().filter(|s| s.at >= warm).copied().collect(), "samples after warming up")
            };
            growth(process, samples, &chosen, compared)
        });
        judged.collect()
    }
}

fn growth(process: &str, all: &[Sample], chosen: &[Sample], compared: &str) -> Growth {
    let third = chosen.len().div_ceil(3);
    let (first, last) = (&chosen[..third], &chosen[chosen.len() - third..]);
    let kib = |samples: &[Sample]| median(samples.iter().map(|s| s.rss_kib));
    let files = |samples: &[Sample]| median(samples.iter().map(|s| s.files));
    let (first_kib, last_kib) = (kib(first), kib(last));
    let (first_files, last_files) = (files(first), files(last));
    let allowed = ALLOWED_KIB.max(first_kib / ALLOWED_PART);
    let problem = if chosen.len() < FEWEST {
        None
    } else if last_kib > first_kib + allowed {
        Some(format!("{process} grew from {first_kib} to {last_kib} KiB, more than {allowed} KiB"))
    } else if last_files > first_files + ALLOWED_FILES {
        Some(format!("{process} had {first_files} open files and has {last_files}"))
    } else {
        None
    };
    let verdict = match problem {
        _ if chosen.len() < FEWEST => "too few samples",
        Some(_) => "GREW",
        None => "flat",
    };
    Growth {
        process: process.to_owned(),
        compared: format!("{} {compared}", chosen.len()),
        first_kib,
        last_kib,
        peak_kib: all.iter().map(|s| s.rss_kib).max().unwrap_or(0),
        first_files,
        last_files,
        verdict,
        problem,
    }
}

fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(rss: impl Fn(u64) -> u64) -> Memory {
        let sample = |n| Sample {
            at: Duration::from_secs(n * 10),
            age: Duration::from_secs(n * 10 % 60),
            rss_kib: rss(n),
            files: 20,
        };
        Memory([("osd.0".to_owned(), (0..360).map(sample).collect())].into())
    }

    #[test]
    fn growth_is_a_problem_and_warming_up_is_not() {
        let hour = Duration::from_secs(3600);
        let judge = |memory: &Memory| memory.judge(hour, |_| false)[0].problem.clone();
        assert_eq!(judge(&samples(|n| 30_000 + n.min(50) * 1000 + n % 7)), None);
        assert!(judge(&samples(|n| 30_000 + n * 100)).is_some());
    }

    #[test]
    fn lives_are_compared_at_the_same_age() {
        let hour = Duration::from_secs(3600);
        let judge = |memory: &Memory| memory.judge(hour, |_| true)[0].problem.clone();
        // It grows in each life, as much in the last as in the first.
        assert_eq!(judge(&samples(|n| 10_000 + n % 6 * 5000)), None);
        assert!(judge(&samples(|n| 10_000 + n % 6 * 5000 + n / 6 * 200)).is_some());
    }
}
