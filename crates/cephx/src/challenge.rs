//! The proof of a principal's key in the first authentication.

use rand_core::CryptoRng;
use sepiola_crypto::{CryptoKey, KeyType, Usage};
use sepiola_wire::Put;
use subtle::ConstantTimeEq;

use crate::envelope;

/// The number that proves knowledge of `key` for one pair of challenges.
///
/// Keys of type 1 seal both challenges, and the length word of the sealed form is folded along with it.
/// Sealing with type 2 is randomised, so those keys authenticate the challenges instead.
pub(crate) fn proof(key: &CryptoKey, server: u64, client: u64, rng: &mut dyn CryptoRng) -> u64 {
    match key.kind() {
        KeyType::Aes256k => {
            let mut blob = [0; 16];
            blob[..8].copy_from_slice(&server.to_le_bytes());
            blob[8..].copy_from_slice(&client.to_le_bytes());
            fold(&key.hmac_sha256(&blob))
        }
        _ => {
            let mut sealed = Vec::with_capacity(64);
            envelope::seal_sized(key, Usage::Plain, rng, &mut sealed, |out| {
                out.put_u64(server);
                out.put_u64(client);
            });
            fold(&sealed)
        }
    }
}

/// Whether `claimed` is the proof, in constant time.
pub(crate) fn verify(
    key: &CryptoKey,
    server: u64,
    client: u64,
    claimed: u64,
    rng: &mut dyn CryptoRng,
) -> bool {
    // A key of type 0 seals nothing: anybody could compute its proof.
    let usable = key.kind() != KeyType::None;
    bool::from(proof(key, server, client, rng).ct_eq(&claimed)) & usable
}

/// A random challenge; zero would read as "none".
pub(crate) fn fresh(rng: &mut dyn CryptoRng) -> u64 {
    loop {
        let challenge = rng.next_u64();
        if challenge != 0 {
            return challenge;
        }
    }
}

/// XOR of the complete little-endian words; a shorter tail is left out.
fn fold(bytes: &[u8]) -> u64 {
    bytes.as_chunks::<8>().0.iter().fold(0, |sum, word| sum ^ u64::from_le_bytes(*word))
}
