//! An incremental, with the checksum that the bytes need, applied to a recorded map.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sepiola_fuzz::with_map_checksum;
use sepiola_osdmap::{CANONICAL_FEATURES, Incremental, OsdMap};

/// Of a cluster with an OSD and a pool.
const RECORDED: &[u8] = include_bytes!("../../../crates/osdmap/tests/data/osdmap/pacific_full_e7.bin");

static BASE: LazyLock<OsdMap> = LazyLock::new(|| OsdMap::decode(RECORDED).expect("a recorded map"));

fuzz_target!(|bytes: &[u8]| {
    let Some(bytes) = with_map_checksum(bytes) else { return };
    let Ok(mut incremental) = Incremental::decode(&bytes) else { return };
    let written = incremental.encode(CANONICAL_FEATURES);
    let again = Incremental::decode(&written).expect("what was written can be read");
    assert_eq!(again.encode(CANONICAL_FEATURES), written, "an incremental changed on its way over the wire");
    // What it was made for is not this map; what it does is what matters here.
    incremental.fsid = BASE.fsid();
    incremental.epoch = BASE.epoch().next();
    if let Ok(map) = BASE.apply(&incremental) {
        map.encode(CANONICAL_FEATURES);
    }
});
