//! How much the OSDs of a new cluster may keep in memory.

use std::fs;

/// Ceph's default, and what an OSD gets on any machine: enough for tests, filled by a benchmark in seconds.
const LEAST: u64 = 1 << 30;

/// Bytes for each of `osds` OSDs: together half of what this machine or container has.
pub(crate) fn of_each_osd(osds: u32) -> u64 {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    share(&read("/proc/meminfo"), &read("/sys/fs/cgroup/memory.max"), osds)
}

fn share(meminfo: &str, container: &str, osds: u32) -> u64 {
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB"));
    let machine = total.and_then(|kib| kib.trim().parse::<u64>().ok()).map_or(0, |kib| kib << 10);
    // `max` where there is no limit.
    let limit = container.trim().parse().unwrap_or(u64::MAX);
    (machine.min(limit) / 2 / u64::from(osds.max(1))).max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn osds_share_half_of_the_memory_and_get_a_gib_at_least() {
        const MACHINE: &str = "MemTotal:       16777216 kB\nMemFree:         1234567 kB\n";
        assert_eq!(share(MACHINE, "max\n", 1), 8 << 30);
        assert_eq!(share(MACHINE, "", 4), 2 << 30);
        assert_eq!(share(MACHINE, "8589934592\n", 1), 4 << 30);
        assert_eq!(share(MACHINE, "max\n", 64), 1 << 30);
        assert_eq!(share("", "", 1), 1 << 30);
    }
}
