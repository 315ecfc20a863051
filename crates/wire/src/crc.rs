//! CRC-32C as Ceph uses it: the raw register, seeded by the caller, without the final inversion.

use crc_fast::{CrcAlgorithm, Digest};

/// Continues a raw CRC-32C register over `data`. Preambles are seeded with 0, segments and maps with
/// `0xffff_ffff`. Relation to the usual CRC-32C: `crc32c(!0, d) == !CRC32C(d)`.
#[inline]
pub fn crc32c(seed: u32, data: &[u8]) -> u32 {
    // The library's state is the raw register before its final inversion.
    let mut digest = Digest::new_with_init_state(CrcAlgorithm::Crc32Iscsi, u64::from(seed));
    digest.update(data);
    !(digest.finalize() as u32)
}

/// Same as [`crc32c`], for readability where a running value is extended.
#[inline]
pub fn crc32c_append(register: u32, data: &[u8]) -> u32 {
    crc32c(register, data)
}

/// The register after `n` zero bytes, for filling and holes.
pub fn crc32c_zeros(seed: u32, mut n: usize) -> u32 {
    const ZEROS: [u8; 4096] = [0; 4096];
    let mut register = seed;
    while n > 0 {
        let step = n.min(ZEROS.len());
        register = crc32c(register, &ZEROS[..step]);
        n -= step;
    }
    register
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published constants of spec vectors `crc32c.json` and of RFC 3720.
    #[test]
    fn known_answers() {
        assert_eq!(crc32c(0, b"foo bar baz"), 0xf58c_78ac);
        assert_eq!(!crc32c(!0, b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(7, b""), 7);
        assert_eq!(crc32c_append(crc32c(!0, b"1234"), b"56789"), crc32c(!0, b"123456789"));
        assert_eq!(crc32c_zeros(!0, 5000), crc32c(!0, &[0; 5000]));
    }
}
