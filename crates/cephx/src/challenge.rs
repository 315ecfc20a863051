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

#[cfg(test)]
mod tests {
    use sepiola_wire::UTime;

    use super::*;
    use crate::{
        test_rng::ScriptRng,
        test_vectors::{bytes, load, number},
    };

    #[test]
    fn the_recorded_proofs_of_both_key_types() {
        let vectors = load("challenge.json");
        for (name, kind) in [("type1", KeyType::Aes), ("type2", KeyType::Aes256k)] {
            let v = &vectors[name];
            let key = CryptoKey::from_secret(kind, UTime::ZERO, &bytes(&v["secret"])).unwrap();
            let (server, client, expected) = (number(&v["server"]), number(&v["client"]), number(&v["key"]));
            let rng = &mut ScriptRng::new();
            assert_eq!(proof(&key, server, client, rng), expected, "{name}");
            assert!(verify(&key, server, client, expected, rng));
            assert!(!verify(&key, server ^ 1, client, expected, rng), "another challenge");
            assert!(!verify(&key, server, client ^ 1, expected, rng), "another client challenge");
            assert!(!verify(&key, server, client, expected ^ 1 << 63, rng), "another proof");
        }
    }

    #[test]
    fn a_key_of_type_none_proves_nothing() {
        let rng = &mut ScriptRng::new();
        let claimed = proof(&CryptoKey::none(), 1, 2, rng);
        assert!(!verify(&CryptoKey::none(), 1, 2, claimed, rng));
    }

    #[test]
    fn a_challenge_is_never_zero() {
        assert_eq!(fresh(&mut ScriptRng::new().then_u64(0).then_u64(7)), 7);
    }
}
