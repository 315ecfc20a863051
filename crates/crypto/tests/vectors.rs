//! Keys and ciphers against recorded and published values.

mod common;

use common::{Prescribed, bytes, items, key};
use sepiola_crypto::{ContextPolicy, CryptoKey, KeyType, Usage};
use sepiola_wire::{Features, UTime, decode_all, encode_to_vec};
use serde_json::Value;

fn vectors(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The cached form twice, so that the second use of a context is checked too, and the rebuilt form.
fn in_every_form(key: &CryptoKey, check: impl Fn(&CryptoKey)) {
    check(key);
    check(key);
    check(&key.with_context_policy(ContextPolicy::PerMessage));
}

#[test]
fn type_1_seals_and_opens_like_openssl() {
    let file = vectors(include_str!("data/aes_cbc.json"));
    let key = key(KeyType::Aes, &bytes(&file["key"]));
    for vector in items(&file["vectors"]) {
        let (plain, cipher) = (bytes(&vector["plain"]), bytes(&vector["cipher"]));
        for usage in Usage::ALL {
            in_every_form(&key, |key| {
                let mut out = b"before".to_vec();
                key.seal(usage, &plain, &mut common::rng(), &mut out);
                assert_eq!(out, [&b"before"[..], &cipher].concat(), "{vector}");
                assert_eq!(key.open(usage, &cipher).unwrap()[..], plain, "{vector}");
            });
        }
    }
}

#[test]
fn type_2_seals_and_opens_the_recorded_bytes() {
    let file = vectors(include_str!("data/aes256k.json"));
    let key = key(KeyType::Aes256k, &bytes(&file["secret"]));
    for vector in items(&file["vectors"]) {
        let number = vector["usage"].as_u64().unwrap();
        let usage = Usage::ALL.into_iter().find(|usage| u64::from(usage.number()) == number).unwrap();
        let (plain, cipher) = (bytes(&vector["plain"]), bytes(&vector["cipher"]));
        in_every_form(&key, |key| {
            let mut out = b"before".to_vec();
            key.seal(usage, &plain, &mut Prescribed::new(bytes(&vector["confounder"])), &mut out);
            assert_eq!(out, [&b"before"[..], &cipher].concat(), "{vector}");
            assert_eq!(key.open(usage, &cipher).unwrap()[..], plain, "{vector}");
        });
    }
}

#[test]
fn keys_have_the_recorded_wire_and_text_forms() {
    let file = vectors(include_str!("data/cryptokey.json"));
    for vector in items(&file["vectors"]) {
        let kind = KeyType::from_u16(vector["type"].as_u64().unwrap() as u16).unwrap();
        let [sec, nsec] = [0, 1].map(|i| vector["created"][i].as_u64().unwrap() as u32);
        let created = UTime { sec, nsec };
        let made = CryptoKey::from_secret(kind, created, &bytes(&vector["secret"])).unwrap();
        assert_eq!(encode_to_vec(&made, Features::default()), bytes(&vector["encoded"]));
        assert_eq!(made.to_base64().as_str(), vector["base64"].as_str().unwrap());
        for read in [
            decode_all::<CryptoKey>(&bytes(&vector["encoded"])).unwrap(),
            CryptoKey::from_base64(vector["base64"].as_str().unwrap()).unwrap(),
        ] {
            assert_eq!(read, made);
            assert_eq!((read.kind(), read.created()), (kind, created));
            assert_eq!(read.secret(), bytes(&vector["secret"]));
        }
    }
}

/// The challenge itself belongs to cephx; what it folds is made here.
#[test]
fn the_folded_buffers_of_both_challenges_are_reproduced() {
    let file = vectors(include_str!("data/challenge.json"));

    let vector = &file["type1"];
    let mut sealed = Vec::new();
    let plain = bytes(&vector["envelope_plain"]);
    key(KeyType::Aes, &bytes(&vector["secret"])).seal(Usage::Plain, &plain, &mut common::rng(), &mut sealed);
    assert_eq!(sealed, bytes(&vector["folded_buffer"])[4..]);

    let vector = &file["type2"];
    let word = |name: &str| vector[name].as_str().unwrap().to_owned();
    let challenges: Vec<u8> = ["server", "client"]
        .into_iter()
        .flat_map(|name| u64::from_str_radix(&word(name), 16).unwrap().to_le_bytes())
        .collect();
    in_every_form(&key(KeyType::Aes256k, &bytes(&vector["secret"])), |key| {
        assert_eq!(key.hmac_sha256(&challenges)[..], bytes(&vector["hmac"]));
    });
}
