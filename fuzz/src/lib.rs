//! What the fuzz targets share.
//!
//! A target is one file in `src/bin`, named for what it feeds arbitrary bytes to, and nothing else: cargo
//! finds it, and `run.sh` runs it. Inputs worth starting from go into `seeds/NAME`. A target fails by a
//! panic, a sanitizer report, a time-out or by running out of its memory limit.

use std::fmt::Debug;

use sepiola_wire::{Decode, Encode, Features, Reader, encode_to_vec};

/// Reads a `T`; what can be read must survive being written and read again.
pub fn round_trip<T: Decode + Encode + PartialEq + Debug>(bytes: &[u8], features: Features) {
    let mut r = Reader::new(bytes);
    let Ok(value) = T::decode(&mut r) else { return };
    assert!(r.remaining() <= bytes.len());
    let written = encode_to_vec(&value, features);
    let mut r = Reader::new(&written);
    let again = T::decode(&mut r).expect("what was written can be read");
    assert_eq!(again, value, "a value changed on its way over the wire");
    r.finish().expect("what was written is read completely");
}

/// Splits off the first byte, with which an input chooses among a target's variants.
pub fn choice(bytes: &[u8]) -> (u8, &[u8]) {
    match bytes.split_first() {
        Some((first, rest)) => (*first, rest),
        None => (0, bytes),
    }
}
