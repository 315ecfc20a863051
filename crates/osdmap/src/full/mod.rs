//! The encoded full map, and what it shares with the encoded incremental.

mod decode;
mod encode;

use sepiola_wire::{DecodeError, Reader, crc32c, crc32c_append};

use crate::MapError;

/// The version of the outer struct and the oldest decoder of it.
pub(crate) const OUTER: (u8, u8) = (8, 7);

/// The outer struct of a map or incremental. Trailing bytes behind it are no part of it.
pub(crate) struct Outer<'a> {
    /// The struct with its header, which the checksum covers.
    pub(crate) all: &'a [u8],
    pub(crate) body: Reader<'a>,
}

impl<'a> Outer<'a> {
    pub(crate) fn open(blob: &'a [u8], what: &'static str) -> Result<Self, DecodeError> {
        let mut r = Reader::new(blob);
        let body = r.versioned(what, OUTER.0)?.body;
        Ok(Outer { all: &blob[..blob.len() - r.remaining()], body })
    }

    /// Reads the checksum where the body stands and compares it with [`checksum`].
    pub(crate) fn check(&mut self) -> Result<u32, MapError> {
        let at = self.all.len() - self.body.remaining();
        let found = self.body.u32()?;
        let computed = checksum(self.all, at);
        if found == computed { Ok(found) } else { Err(MapError::Crc { found, computed }) }
    }
}

/// The CRC-32C (seeded with all ones, not inverted) of everything but the checksum itself at `at`.
pub(crate) fn checksum(all: &[u8], at: usize) -> u32 {
    crc32c_append(crc32c(!0, &all[..at]), &all[at + 4..])
}
