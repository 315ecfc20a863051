//! A fixed-point base-2 logarithm, bit for bit as every peer computes it.
//!
//! The three tables follow formulas except for known deviations that are part of the format. They are
//! computed at compile time; the test compares them with digests of the published tables.

/// `ceil(2^55 / (128 + k))`.
const RH: [u64; 129] = {
    let mut table = [0; 129];
    let mut k = 0;
    while k < 129 {
        table[k] = (1_u64 << 55).div_ceil(128 + k as u64);
        k += 1;
    }
    table
};

/// `floor(2^48 log2(1 + k / 128))`, but the last entry is below its formula's 2^48.
const LH: [u64; 129] = {
    let mut table = [0; 129];
    let mut k = 0;
    while k < 128 {
        table[k] = log2_fraction(k as u128, 7);
        k += 1;
    }
    table[128] = 0xffff_0000_0000;
    table
};

/// `floor(2^48 log2(1 + k / 2^15))` plus a constant offset from the third entry on.
const LL: [u64; 256] = {
    let mut table = [0; 256];
    table[1] = log2_fraction(1, 15);
    let mut k = 2;
    while k < 256 {
        table[k] = log2_fraction(k as u128, 15) + 0x1_4770_0000;
        k += 1;
    }
    let mut i = 0;
    while i < LL_EXCEPTIONS.len() {
        table[LL_EXCEPTIONS[i].0] = LL_EXCEPTIONS[i].1;
        i += 1;
    }
    table
};

/// Entries that follow no formula.
const LL_EXCEPTIONS: [(usize, u64); 42] = [
    (56, 0x0a2_b07f_3458),
    (127, 0x16d_f6ca_19bd),
    (134, 0x182_b07f_3458),
    (181, 0x209_c06e_6212),
    (184, 0x212_b07f_3458),
    (188, 0x21d_6a73_a78f),
    (193, 0x22c_2367_9b4e),
    (198, 0x23a_2c3b_0ea4),
    (199, 0x23d_13ee_805b),
    (200, 0x240_35e9_221f),
    (203, 0x247_ed64_6bfe),
    (207, 0x254_9264_4d65),
    (210, 0x25d_13ee_805b),
    (212, 0x262_9645_3882),
    (216, 0x26d_32f7_98a9),
    (222, 0x27e_6580_aecb),
    (225, 0x287_bdbf_5255),
    (227, 0x28d_13ee_805b),
    (228, 0x290_35e9_221f),
    (229, 0x292_9645_3882),
    (231, 0x299_02a3_7aab),
    (233, 0x29d_eabd_1083),
    (235, 0x2a4_c760_5d61),
    (236, 0x2a7_bdbf_5255),
    (237, 0x2a9_6056_dafc),
    (238, 0x2ac_3daf_14ef),
    (239, 0x2af_1b01_9eca),
    (240, 0x2b2_9645_3882),
    (241, 0x2b5_d022_d80f),
    (243, 0x2ba_9012_e713),
    (244, 0x2bd_6d49_01cc),
    (245, 0x2c0_4a79_6cf6),
    (246, 0x2c3_27a4_28a6),
    (247, 0x2c6_1a5e_8f4c),
    (248, 0x2c8_e1e8_91f6),
    (249, 0x2cb_bf02_3fc2),
    (250, 0x2ce_9c16_3e6e),
    (251, 0x2d1_7924_8e13),
    (252, 0x2d4_562d_2ec6),
    (253, 0x2d7_3330_209d),
    (254, 0x2da_102d_63b0),
    (255, 0x2dc_ed24_f814),
];

/// `floor(2^48 log2(1 + k / 2^shift))` for a fraction below one: squaring doubles a logarithm, so each
/// overflow past 2 yields its next bit. 126 fraction bits leave the 48th bit exact.
const fn log2_fraction(k: u128, shift: u32) -> u64 {
    const ONE: u32 = 126;
    let mut x = (1_u128 << ONE) + (k << (ONE - shift));
    let (mut bits, mut i) = (0_u64, 0);
    while i < 48 {
        // The square has 252 fraction bits; its upper half has 124.
        let square = square_high(x);
        bits <<= 1;
        if square >> 125 != 0 {
            bits |= 1;
            x = square << 1;
        } else {
            x = square << 2;
        }
        i += 1;
    }
    bits
}

/// The upper 128 bits of a 256-bit square.
const fn square_high(x: u128) -> u128 {
    let (low, high) = (x & u64::MAX as u128, x >> 64);
    let cross = low * high;
    let middle = ((low * low) >> 64) + 2 * (cross & u64::MAX as u128);
    high * high + 2 * (cross >> 64) + (middle >> 64)
}

/// `2^44 log2(x + 1)` for a 16-bit `x`, with the tables' deviations.
#[inline]
pub fn crush_ln(x: u16) -> u64 {
    let mut x = u64::from(x) + 1;
    let mut exponent = 15;
    if x & 0x1_8000 == 0 {
        let bits = x.leading_zeros() - 48;
        x <<= bits;
        exponent -= u64::from(bits);
    }
    let k = (x >> 8) as usize - 128;
    let i = ((x * RH[k]) >> 48) as usize & 0xff;
    (exponent << 44) + ((LH[k] + LL[i]) >> 4)
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    fn digest(values: impl IntoIterator<Item = u64>) -> String {
        let bytes: Vec<u8> = values.into_iter().flat_map(u64::to_le_bytes).collect();
        hex::encode(Sha256::digest(bytes))
    }

    #[test]
    fn tables_and_every_output_have_the_published_digests() {
        let vectors: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/data/vectors.json")).unwrap();
        let interleaved = RH.iter().zip(&LH).flat_map(|(rh, lh)| [*rh, *lh]);
        assert_eq!(digest(interleaved), vectors["RH_LH_interleaved_258_le_u64_sha256"]);
        assert_eq!(digest(LL), vectors["LL_256_le_u64_sha256"]);
        assert_eq!(digest((0..=u16::MAX).map(crush_ln)), vectors["crush_ln_all_sha256_le_u64_65536"]);
        for sample in vectors["crush_ln"].as_array().unwrap() {
            let x = u16::try_from(sample[0].as_u64().unwrap()).unwrap();
            assert_eq!(crush_ln(x), sample[1].as_u64().unwrap(), "{x}");
        }
    }
}
