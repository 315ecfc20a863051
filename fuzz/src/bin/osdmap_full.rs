//! A full OSDMap, with the checksum that the bytes need, and placement with what was read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sepiola_fuzz::with_map_checksum;
use sepiola_osdmap::{CANONICAL_FEATURES, OsdMap};
use sepiola_wire::PgId;

fuzz_target!(|bytes: &[u8]| {
    let Some(bytes) = with_map_checksum(bytes) else { return };
    let Ok(map) = OsdMap::decode(&bytes) else { return };
    for (id, _) in map.pools().take(4) {
        if let Some(pg) = map.object_to_pg(id, b"object", b"", b"namespace") {
            map.pg_to_up_acting(pg);
        }
        map.pg_to_up_acting(PgId { pool: id, ps: 0 });
    }
    let written = map.encode(CANONICAL_FEATURES);
    let again = OsdMap::decode(&written).expect("what was written can be read");
    assert_eq!(again.encode(CANONICAL_FEATURES), written, "a map changed on its way over the wire");
});
