//! Checksums that arbitrary bytes would never have.

use sepiola_wire::{Reader, crc32c, crc32c_append};

/// An encoded OSDMap or incremental with the checksum that its bytes need, so that decoders read on. `None`
/// if the bytes are too broken to have a place for one.
pub fn with_map_checksum(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut r = Reader::new(bytes);
    let body = r.versioned("map", u8::MAX).ok()?.body;
    let end = bytes.len() - r.remaining();
    let mut body = body;
    body.versioned("client section", u8::MAX).ok()?;
    body.versioned("OSD section", u8::MAX).ok()?;
    let at = end - body.remaining();
    body.u32().ok()?;
    let mut fixed = bytes.to_vec();
    let sum = crc32c_append(crc32c(!0, &fixed[..at]), &fixed[at + 4..end]);
    fixed[at..at + 4].copy_from_slice(&sum.to_le_bytes());
    Some(fixed)
}
