//! What a daemon says about itself and its host: `ceph mon metadata`, `ceph osd metadata`.

use std::{collections::BTreeMap, fs};

/// What daemons of this build call themselves. Tools look for a release's name, so the release whose
/// protocol is spoken is named too.
pub const VERSION: &str =
    concat!("sepiola version ", env!("CARGO_PKG_VERSION"), " (ceph protocol 16 pacific)");
/// The release whose protocol is spoken.
pub const RELEASE: &str = "pacific";

/// Facts about this build and this host, by the names that Ceph's daemons use. What the host does not tell
/// is left out.
pub fn daemon_metadata() -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value.map(|v| v.trim().to_owned()).filter(|v| !v.is_empty()) {
            facts.insert(name.to_owned(), value);
        }
    };
    add("ceph_release", Some(RELEASE.to_owned()));
    add("ceph_version", Some(VERSION.to_owned()));
    add("ceph_version_short", Some(env!("CARGO_PKG_VERSION").to_owned()));
    add("arch", Some(std::env::consts::ARCH.to_owned()));
    add("os", Some("Linux".to_owned()));
    let kernel = |name: &str| fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok();
    add("hostname", kernel("hostname"));
    add("kernel_version", kernel("osrelease"));
    add("kernel_description", kernel("version"));
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    add("cpu", field(&cpu, "model name", ':'));
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = |name| field(&memory, name, ':').map(|value| value.trim_end_matches("kB").to_owned());
    add("mem_total_kb", kib("MemTotal"));
    add("mem_swap_kb", kib("SwapTotal"));
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let of_release = |name| field(&release, name, '=').map(|value| value.trim_matches('"').to_owned());
    add("distro", of_release("ID"));
    add("distro_description", of_release("PRETTY_NAME"));
    add("distro_version", of_release("VERSION_ID"));
    facts
}

/// The value on the first line `NAME SEPARATOR VALUE`.
fn field(text: &str, name: &str, separator: char) -> Option<String> {
    let mut pairs = text.lines().filter_map(|line| line.split_once(separator));
    pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let release = "VERSION=\"12 (bookworm)\"\nVERSION_ID=\"12\"\n";
        assert_eq!(field(release, "VERSION_ID", '=').as_deref(), Some("\"12\""));
        assert_eq!(field("SwapTotal:       5 kB\n", "SwapTotal", ':').as_deref(), Some("5 kB"));
        assert_eq!(field("SwapTotal: 5 kB\n", "Swap", ':'), None);
    }

    #[test]
    fn a_linux_host_tells_its_name_and_memory() {
        let facts = daemon_metadata();
        assert!(facts.contains_key("hostname"));
        assert!(facts["mem_total_kb"].parse::<u64>().is_ok(), "{facts:?}");
    }
}
