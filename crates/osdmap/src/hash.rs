//! The hashes of placement: rjenkins1 as CRUSH mixes it, and the object name hash.

use std::borrow::Cow;

const SEED: u32 = 1_315_423_911;
const X: u32 = 231_232;
const Y: u32 = 1_232;
/// Between a namespace and a name in the hashed text.
const NAMESPACE_SEPARATOR: u8 = 0x1f;

#[inline(always)]
fn mix(a: &mut u32, b: &mut u32, c: &mut u32) {
    macro_rules! turn {
        ($p:ident, $q:ident, $r:ident, $shifted:expr) => {
            *$p = $p.wrapping_sub(*$q).wrapping_sub(*$r) ^ $shifted;
        };
    }
    turn!(a, b, c, *c >> 13);
    turn!(b, c, a, *a << 8);
    turn!(c, a, b, *b >> 13);
    turn!(a, b, c, *c >> 12);
    turn!(b, c, a, *a << 16);
    turn!(c, a, b, *b >> 5);
    turn!(a, b, c, *c >> 3);
    turn!(b, c, a, *a << 10);
    turn!(c, a, b, *b >> 15);
}

/// The CRUSH hash of two numbers. Negative ids enter as their bit pattern.
#[inline]
pub fn hash2(mut a: u32, mut b: u32) -> u32 {
    let (mut x, mut y, mut h) = (X, Y, SEED ^ a ^ b);
    mix(&mut a, &mut b, &mut h);
    mix(&mut x, &mut a, &mut h);
    mix(&mut b, &mut y, &mut h);
    h
}

/// The CRUSH hash of three numbers.
#[inline]
pub fn hash3(mut a: u32, mut b: u32, mut c: u32) -> u32 {
    let (mut x, mut y, mut h) = (X, Y, SEED ^ a ^ b ^ c);
    mix(&mut a, &mut b, &mut h);
    mix(&mut c, &mut x, &mut h);
    mix(&mut y, &mut a, &mut h);
    mix(&mut b, &mut x, &mut h);
    mix(&mut y, &mut c, &mut h);
    h
}

/// The CRUSH hash of four numbers.
#[inline]
pub fn hash4(mut a: u32, mut b: u32, mut c: u32, mut d: u32) -> u32 {
    let (mut x, mut y, mut h) = (X, Y, SEED ^ a ^ b ^ c ^ d);
    mix(&mut a, &mut b, &mut h);
    mix(&mut c, &mut d, &mut h);
    mix(&mut a, &mut x, &mut h);
    mix(&mut y, &mut b, &mut h);
    mix(&mut c, &mut x, &mut h);
    mix(&mut y, &mut d, &mut h);
    h
}

/// The object name hash of pools whose `object_hash` is 2, the only one in use.
pub fn str_hash(text: &[u8]) -> u32 {
    let (mut a, mut b, mut c) = (0x9e37_79b9_u32, 0x9e37_79b9_u32, 0_u32);
    let (blocks, tail) = text.as_chunks::<12>();
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
    for block in blocks {
        a = a.wrapping_add(word(&block[..4]));
        b = b.wrapping_add(word(&block[4..8]));
        c = c.wrapping_add(word(&block[8..]));
        mix(&mut a, &mut b, &mut c);
    }
    // The length takes the lowest byte of `c`, so the tail's last bytes move up by one. Lengths beyond
    // 32 bits cannot occur: names are length-prefixed by a `u32`.
    c = c.wrapping_add(text.len() as u32);
    a = a.wrapping_add(word(&tail[..tail.len().min(4)]));
    b = b.wrapping_add(word(&tail[tail.len().min(4)..tail.len().min(8)]));
    c = c.wrapping_add(word(&tail[tail.len().min(8)..]) << 8);
    mix(&mut a, &mut b, &mut c);
    c
}

/// The placement hash of an object: of its locator key, or of its name when it has no key, in its
/// namespace.
pub fn object_hash(name: &[u8], key: &[u8], nspace: &[u8]) -> u32 {
    let effective = if key.is_empty() { name } else { key };
    if nspace.is_empty() {
        return str_hash(effective);
    }
    let len = nspace.len() + 1 + effective.len();
    // Names in namespaces are common on the op path; the usual lengths need no allocation.
    let mut stack = [0_u8; 256];
    let text = match stack.get_mut(..len) {
        Some(text) => {
            text[..nspace.len()].copy_from_slice(nspace);
            text[nspace.len()] = NAMESPACE_SEPARATOR;
            text[nspace.len() + 1..].copy_from_slice(effective);
            Cow::Borrowed(&*text)
        }
        None => Cow::Owned([nspace, &[NAMESPACE_SEPARATOR], effective].concat()),
    };
    str_hash(&text)
}

/// Folds a hash into `count` groups so that a group's members stay together when the count grows:
/// `mask` is the smallest 2^n - 1 that is at least `count - 1`.
#[inline]
pub const fn stable_mod(x: u32, count: u32, mask: u32) -> u32 {
    if x & mask < count { x & mask } else { x & (mask >> 1) }
}

/// The mask that [`stable_mod`] needs for `count` groups.
#[inline]
pub const fn stable_mask(count: u32) -> u32 {
    match u32::MAX.checked_shr(count.saturating_sub(1).leading_zeros()) {
        Some(mask) => mask,
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors() -> serde_json::Value {
        serde_json::from_str(include_str!("../tests/data/vectors.json")).unwrap()
    }

    fn number(v: &serde_json::Value) -> u32 {
        u32::try_from(v.as_u64().unwrap()).unwrap()
    }

    #[test]
    fn crush_hashes_match_the_published_vectors() {
        let mut seen = 0;
        for case in vectors()["crush_hash32"].as_array().unwrap() {
            let args: Vec<u32> = case["args"].as_array().unwrap().iter().map(number).collect();
            let hash = match args[..] {
                [a, b] => hash2(a, b),
                [a, b, c] => hash3(a, b, c),
                [a, b, c, d] => hash4(a, b, c, d),
                _ => continue,
            };
            assert_eq!(hash, number(&case["h"]), "{args:?}");
            seen += 1;
        }
        assert!(seen >= 7);
    }

    #[test]
    fn name_hashes_match_the_published_vectors() {
        for case in vectors()["str_hash_rjenkins"].as_array().unwrap() {
            let text = case["s"].as_str().unwrap();
            assert_eq!(str_hash(text.as_bytes()), number(&case["h"]), "{text:?}");
        }
    }

    #[test]
    fn a_namespace_and_a_key_enter_the_hash() {
        assert_eq!(object_hash(b"o2", b"", b"ns1"), 0xeec7_a9b6);
        assert_eq!(object_hash(b"anything", b"o2", b"ns1"), 0xeec7_a9b6);
        assert_eq!(object_hash(b"obj1", b"", b""), 0x6cf8_deff);
        let long = [b'n'; 300];
        assert_eq!(object_hash(b"o", b"", &long), str_hash(&[&long[..], b"\x1fo"].concat()));
    }

    #[test]
    fn stable_mod_matches_the_published_vectors() {
        for case in vectors()["stable_mod"].as_array().unwrap() {
            let [x, count, mask, folded] = [0, 1, 2, 3].map(|i| number(&case[i]));
            assert_eq!(stable_mask(count), mask);
            assert_eq!(stable_mod(x, count, mask), folded);
        }
        assert_eq!(stable_mask(0), 0);
    }
}
