//! The identities and containers of `wire`, each read, written and read again.
#![no_main]

use std::collections::{BTreeMap, BTreeSet};

use libfuzzer_sys::fuzz_target;
use sepiola_fuzz::{choice, round_trip};
use sepiola_wire::{
    EVersion, EntityAddr, EntityAddrVec, EntityName, EntityNum, Features, HObject, ObjectLocator, PgId,
    ReqId, SpgId, UTime, Uuid,
};

fuzz_target!(|bytes: &[u8]| {
    let (chosen, bytes) = choice(bytes);
    let features = Features::SUPPORTED;
    match chosen % 14 {
        0 => round_trip::<EntityAddr>(bytes, features),
        1 => round_trip::<EntityAddrVec>(bytes, features),
        2 => round_trip::<EntityName>(bytes, features),
        3 => round_trip::<EntityNum>(bytes, features),
        4 => round_trip::<HObject>(bytes, features),
        5 => round_trip::<ObjectLocator>(bytes, features),
        6 => round_trip::<PgId>(bytes, features),
        7 => round_trip::<SpgId>(bytes, features),
        8 => round_trip::<EVersion>(bytes, features),
        9 => round_trip::<ReqId>(bytes, features),
        10 => round_trip::<(UTime, Uuid)>(bytes, features),
        11 => round_trip::<BTreeMap<String, Vec<EntityAddrVec>>>(bytes, features),
        12 => round_trip::<Vec<HObject>>(bytes, features),
        _ => round_trip::<(BTreeSet<PgId>, Option<String>)>(bytes, features),
    }
});
