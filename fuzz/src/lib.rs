//! What the fuzz targets share.
//!
//! A target is one file in `src/bin`, named for what it feeds arbitrary bytes to, and nothing else: cargo
//! finds it, and `run.sh` runs it. Inputs worth starting from go into `seeds/NAME`. A target fails by a
//! panic, a sanitizer report, a time-out or by running out of its memory limit.

mod checksum;
mod cluster;

pub use checksum::with_map_checksum;
pub use cluster::{Cluster, NOW, rng};

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

/// Splits records of a tag byte, a 16-bit length and that many bytes off the input; the last may be short.
pub fn records(mut bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let ([tag, low, high], rest) = bytes.split_first_chunk()?;
        let len = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (record, rest) = rest.split_at(len);
        bytes = rest;
        Some((*tag, record))
    })
}
