//! The sealed envelope: `u8 1, u64 magic, body`, encrypted.
//!
//! It travels in two carriers: *raw*, where the surroundings say how long it is, and *sized*, behind a
//! `u32` length. For keys of type 1 the magic is the only thing that tells a right key from a wrong one,
//! so whatever fails to open fails in one way.

use std::ops::Deref;

use rand_core::CryptoRng;
use sepiola_crypto::{CryptoKey, Usage};
use sepiola_wire::{Put, Reader};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

const VERSION: u8 = 1;
const MAGIC: u64 = 0xff00_9cad_8826_aa55;
const HEADER: usize = 9;

/// What a peer sealed cannot be opened: another key, altered bytes, or not an envelope. Which of them
/// stays unknown on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotOpened;

/// The body of an opened envelope; wiped when dropped.
pub(crate) struct Opened(Zeroizing<Vec<u8>>);

impl Deref for Opened {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0[HEADER..]
    }
}

impl Opened {
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader::new(self)
    }
}

/// Appends the raw carrier to `out`.
pub(crate) fn seal(
    key: &CryptoKey,
    usage: Usage,
    rng: &mut dyn CryptoRng,
    out: &mut Vec<u8>,
    body: impl FnOnce(&mut Vec<u8>),
) {
    // Room for everything that is sealed here, so that no half-written copy of a secret is left behind
    // by a growing vector.
    let mut plain = Zeroizing::new(Vec::with_capacity(512));
    plain.put_u8(VERSION);
    plain.put_u64(MAGIC);
    body(&mut plain);
    key.seal(usage, &plain, rng, out);
}

/// Appends the sized carrier to `out`.
pub(crate) fn seal_sized(
    key: &CryptoKey,
    usage: Usage,
    rng: &mut dyn CryptoRng,
    out: &mut Vec<u8>,
    body: impl FnOnce(&mut Vec<u8>),
) {
    out.put_sized(|out| seal(key, usage, rng, out, body));
}

/// Opens the raw carrier.
pub(crate) fn open(key: &CryptoKey, usage: Usage, sealed: &[u8]) -> Result<Opened, NotOpened> {
    let plain = key.open(usage, sealed).map_err(|_| NotOpened)?;
    let mut header = [0; HEADER];
    header[0] = VERSION;
    header[1..].copy_from_slice(&MAGIC.to_le_bytes());
    match plain.get(..HEADER) {
        Some(found) if bool::from(found.ct_eq(&header)) => Ok(Opened(plain)),
        _ => Err(NotOpened),
    }
}

#[cfg(test)]
mod tests {
    use sepiola_crypto::KeyType;
    use sepiola_wire::UTime;

    use super::*;
    use crate::test_rng::ScriptRng;

    fn key(kind: KeyType) -> CryptoKey {
        CryptoKey::generate(kind, UTime::ZERO, &mut ScriptRng::new())
    }

    fn sealed(key: &CryptoKey, body: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        seal(key, Usage::Authorizer, &mut ScriptRng::seeded(1), &mut out, |out| out.put(body));
        out
    }

    #[test]
    fn what_is_sealed_opens() {
        for kind in [KeyType::Aes, KeyType::Aes256k] {
            let opened = open(&key(kind), Usage::Authorizer, &sealed(&key(kind), b"body")).unwrap();
            assert_eq!(&*opened, b"body");
        }
    }

    #[test]
    fn a_flipped_bit_in_the_header_of_type_1_and_anywhere_of_type_2_is_noticed() {
        let altered = |kind: KeyType, bit: usize| {
            let mut bytes = sealed(&key(kind), &[7; 40]);
            bytes[bit / 8] ^= 1 << (bit % 8);
            open(&key(kind), Usage::Authorizer, &bytes).is_ok()
        };
        assert!((0..16 * 8).all(|bit| !altered(KeyType::Aes, bit)));
        let len = sealed(&key(KeyType::Aes256k), &[7; 40]).len();
        assert!((0..len * 8).all(|bit| !altered(KeyType::Aes256k, bit)));
    }

    #[test]
    fn another_key_another_usage_and_no_envelope_do_not_open() {
        for kind in [KeyType::Aes, KeyType::Aes256k] {
            let other = CryptoKey::generate(kind, UTime::ZERO, &mut ScriptRng::seeded(9));
            assert!(open(&other, Usage::Authorizer, &sealed(&key(kind), b"body")).is_err());
            let mut naked = Vec::new();
            key(kind).seal(Usage::Authorizer, b"no magic", &mut ScriptRng::new(), &mut naked);
            assert!(open(&key(kind), Usage::Authorizer, &naked).is_err());
            assert!(open(&key(kind), Usage::Authorizer, &[]).is_err());
        }
        let sealed = sealed(&key(KeyType::Aes256k), b"body");
        assert!(open(&key(KeyType::Aes256k), Usage::AuthorizerReply, &sealed).is_err());
        assert!(open(&CryptoKey::none(), Usage::Authorizer, &sealed).is_err());
    }
}
