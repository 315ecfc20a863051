//! A CRUSH map from arbitrary bytes, and every rule of it evaluated.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sepiola_osdmap::CrushMap;
use sepiola_wire::{Decode, Reader};

fuzz_target!(|bytes: &[u8]| {
    let Ok(map) = CrushMap::decode(&mut Reader::new(bytes)) else { return };
    let weights = [0x10000; 16];
    for rule in 0..4 {
        for (x, args) in [(0, None), (123_456, map.choose_args_for(-1))] {
            assert!(map.do_rule(rule, x, 3, &weights, args).len() <= 3);
        }
    }
});
