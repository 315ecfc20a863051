//! Capability texts of monitors and OSDs, and decisions with them.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use sepiola_cephx::caps::{ClassCall, MonCaps, OsdAccess, OsdCaps, Rwx};
use sepiola_wire::EntityName;

fuzz_target!(|text: &str| {
    if let Ok(caps) = OsdCaps::parse(text) {
        let class =
            ClassCall { class: "rbd", method: "get_id", read: true, write: false, allow_listed: true };
        for classes in [&[][..], &[class]] {
            caps.allows(&OsdAccess {
                pool_name: "pool",
                application_metadata: &BTreeMap::new(),
                nspace: b"",
                object: b"rbd_info",
                read: true,
                write: true,
                classes,
                addr: Some([127, 0, 0, 1].into()),
            });
        }
    }
    if let Ok(caps) = MonCaps::parse(text) {
        let entity = EntityName::client("a");
        let args = BTreeMap::from([("pool".to_owned(), "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!".to_owned())]);
        let all = Rwx::R | Rwx::W | Rwx::X;
        let allowed = caps.allows(&entity, "osd", Some(("osd pool create", &args)), all);
        assert!(allowed || !caps.is_allow_all());
    }
});
