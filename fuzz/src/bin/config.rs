//! The texts that configure a client: ceph.conf and mon_host.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sepiola_config::{ConfFile, Config, parse_mon_host};
use sepiola_wire::EntityName;

fuzz_target!(|text: &str| {
    let _ = parse_mon_host(text);
    let Ok(file) = ConfFile::parse(text) else { return };
    let mut config = Config::new(EntityName::client("a"));
    config.apply_file(&file);
    config.unknown();
    config.keyring_candidates();
    let _ = config.mon_host();
    for section in file.section_names() {
        for option in file.section(section).into_iter().flatten().map(|(name, _)| name) {
            let _ = (config.text(option), config.bool(option), config.u64(option), config.duration(option));
        }
    }
});
