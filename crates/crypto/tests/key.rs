//! What holds for every key.

mod common;

use std::sync::Barrier;

use base64::Engine as _;
use common::{key, rng};
use proptest::prelude::*;
use sepiola_crypto::{ContextPolicy, CryptoKey, KeyError, KeyType, OpenError, Usage};
use sepiola_wire::{DecodeError, Features, UTime, decode_all, encode_to_vec};

const KINDS: [KeyType; 2] = [KeyType::Aes, KeyType::Aes256k];

fn sealed(key: &CryptoKey, usage: Usage, plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    key.seal(usage, plain, &mut rng(), &mut out);
    out
}

fn kinds() -> impl Strategy<Value = KeyType> {
    proptest::sample::select(&KINDS[..])
}

fn usages() -> impl Strategy<Value = Usage> {
    proptest::sample::select(&Usage::ALL[..])
}

proptest! {
    #[test]
    fn what_is_sealed_opens(kind in kinds(), usage in usages(), secret: [u8; 32], plain: Vec<u8>) {
        let key = key(kind, &secret[..kind.secret_len()]);
        let sealed = sealed(&key, usage, &plain);
        prop_assert_eq!(&key.open(usage, &sealed).unwrap()[..], &plain[..]);
        let read: CryptoKey = decode_all(&encode_to_vec(&key, Features::default())).unwrap();
        prop_assert_eq!(&read.open(usage, &sealed).unwrap()[..], &plain[..]);
    }

    #[test]
    fn both_context_policies_make_the_same_bytes(kind in kinds(), usage in usages(), secret: [u8; 32], plain: Vec<u8>) {
        let cached = key(kind, &secret[..kind.secret_len()]);
        let rebuilt = cached.with_context_policy(ContextPolicy::PerMessage);
        prop_assert_eq!(sealed(&cached, usage, &plain), sealed(&rebuilt, usage, &plain));
        prop_assert_eq!(cached.hmac_sha256(&plain), rebuilt.hmac_sha256(&plain));
    }

    #[test]
    fn type_2_notices_any_changed_bit(secret: [u8; 32], plain: Vec<u8>, at: prop::sample::Index, bit in 0..8u8) {
        let key = key(KeyType::Aes256k, &secret);
        let mut sealed = sealed(&key, Usage::Authorizer, &plain);
        let at = at.index(sealed.len());
        sealed[at] ^= 1 << bit;
        prop_assert_eq!(key.open(Usage::Authorizer, &sealed), Err(OpenError));
    }

    #[test]
    fn type_2_notices_missing_and_added_bytes(secret: [u8; 32], plain: Vec<u8>, cut: prop::sample::Index) {
        let key = key(KeyType::Aes256k, &secret);
        let mut sealed = sealed(&key, Usage::Authorizer, &plain);
        prop_assert_eq!(key.open(Usage::Authorizer, &sealed[..cut.index(sealed.len())]), Err(OpenError));
        sealed.push(0);
        prop_assert_eq!(key.open(Usage::Authorizer, &sealed), Err(OpenError));
    }

    #[test]
    fn arbitrary_bytes_are_opened_or_refused_without_a_panic(kind in kinds(), usage in usages(), bytes: Vec<u8>) {
        let opened = key(kind, &[7; 32]).open(usage, &bytes);
        if kind == KeyType::Aes256k {
            prop_assert_eq!(opened, Err(OpenError));
        } else {
            prop_assert_eq!(opened.is_ok(), !bytes.is_empty() && bytes.len() % 16 == 0);
        }
    }

    #[test]
    fn keys_survive_both_encodings(kind in kinds(), sec: u32, nsec: u32, secret in prop::collection::vec(any::<u8>(), 32..80)) {
        let key = CryptoKey::from_secret(kind, UTime { sec, nsec }, &secret).unwrap();
        let read: CryptoKey = decode_all(&encode_to_vec(&key, Features::default())).unwrap();
        prop_assert_eq!((&read, read.created(), read.secret()), (&key, key.created(), &secret[..]));
        let read = CryptoKey::from_base64(&key.to_base64()).unwrap();
        prop_assert_eq!(read.secret(), &secret[..]);
    }
}

#[test]
fn bytes_sealed_for_one_usage_open_for_no_other() {
    let key = key(KeyType::Aes256k, &[1; 32]);
    for usage in Usage::ALL {
        let sealed = sealed(&key, usage, b"ticket");
        for other in Usage::ALL {
            assert_eq!(key.open(other, &sealed).is_ok(), other == usage, "{usage:?} as {other:?}");
        }
    }
}

#[test]
fn type_2_never_seals_the_same_bytes_twice() {
    let key = key(KeyType::Aes256k, &[1; 32]);
    let mut rng = rng();
    let [mut a, mut b] = [Vec::new(), Vec::new()];
    key.seal(Usage::Plain, b"plain", &mut rng, &mut a);
    key.seal(Usage::Plain, b"plain", &mut rng, &mut b);
    assert_ne!(a, b);
}

/// Real peers look at the last byte alone and strip at most a block.
#[test]
fn type_1_strips_what_the_last_byte_says_and_looks_no_further() {
    let key = key(KeyType::Aes, &[3; 16]);
    // A sealed block followed by its padding block; opening without the padding block strips by plaintext.
    let strip = |last: u8| {
        let mut plain = [b'x'; 16];
        plain[15] = last;
        key.open(Usage::Plain, &sealed(&key, Usage::Plain, &plain)[..16]).unwrap().len()
    };
    assert_eq!([0, 1, 5, 15, 16, 17, 255].map(strip), [16, 15, 11, 1, 0, 0, 0]);
}

#[test]
fn sealed_lengths_are_what_the_wire_says() {
    for len in [0, 1, 15, 16, 17, 31, 32, 1000] {
        let plain = vec![9; len];
        assert_eq!(sealed(&key(KeyType::Aes, &[1; 16]), Usage::Plain, &plain).len(), (len / 16 + 1) * 16);
        assert_eq!(sealed(&key(KeyType::Aes256k, &[1; 32]), Usage::Plain, &plain).len(), len + 40);
    }
}

#[test]
fn a_context_is_built_once_for_each_key_and_usage() {
    let key = key(KeyType::Aes256k, &[1; 32]);
    assert_eq!(key.contexts_built(), 0, "nothing is built before it is used");
    for (done, usage) in Usage::ALL.into_iter().enumerate() {
        for _ in 0..3 {
            let sealed = sealed(&key.clone(), usage, b"plain");
            key.open(usage, &sealed).unwrap();
        }
        assert_eq!(key.contexts_built(), done as u64 + 1);
    }
    key.hmac_sha256(b"a");
    key.clone().hmac_sha256(b"b");
    assert_eq!(key.contexts_built(), Usage::ALL.len() as u64 + 1);
}

#[test]
fn type_1_has_one_context_for_all_usages() {
    let key = key(KeyType::Aes, &[1; 16]);
    for usage in Usage::ALL {
        key.open(usage, &sealed(&key, usage, b"plain")).unwrap();
    }
    assert_eq!(key.contexts_built(), 1);
}

#[test]
fn threads_that_race_for_a_context_build_one() {
    const THREADS: usize = 8;
    for kind in KINDS {
        for _ in 0..50 {
            let key = key(kind, &[1; 32]);
            let start = Barrier::new(THREADS);
            std::thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        let key = key.clone();
                        start.wait();
                        let sealed = sealed(&key, Usage::Authorizer, b"plain");
                        assert_eq!(key.open(Usage::Authorizer, &sealed).unwrap()[..], *b"plain");
                    });
                }
            });
            assert_eq!(key.contexts_built(), 1);
        }
    }
}

#[test]
fn the_per_message_policy_builds_for_every_message() {
    for kind in KINDS {
        let key = key(kind, &[1; 32]).with_context_policy(ContextPolicy::PerMessage);
        let sealed = sealed(&key, Usage::Plain, b"plain");
        key.open(Usage::Plain, &sealed).unwrap();
        key.open(Usage::Plain, &sealed).unwrap();
        key.hmac_sha256(b"x");
        key.hmac_sha256(b"x");
        assert_eq!(key.contexts_built(), 5);
    }
}

#[test]
fn the_key_of_nobody_neither_seals_nor_opens() {
    let none = CryptoKey::none();
    assert!(sealed(&none, Usage::Plain, b"in clear").is_empty());
    assert_eq!(none.open(Usage::Plain, b"sixteen bytes..."), Err(OpenError));
    assert!(none.is_none());
    // An entity without a pending key carries exactly this.
    assert_eq!(encode_to_vec(&none, Features::default()), [0; 12]);
    assert_eq!(decode_all::<CryptoKey>(&[0; 12]).unwrap(), none);
    assert_eq!(
        CryptoKey::from_secret(KeyType::None, UTime::ZERO, b"x").unwrap_err(),
        KeyError::SecretForNone
    );
}

#[test]
fn keys_are_equal_when_type_and_secret_are() {
    let of = |kind, sec, byte| CryptoKey::from_secret(kind, UTime::from_secs(sec), &[byte; 32]).unwrap();
    assert_eq!(of(KeyType::Aes, 1, 1), of(KeyType::Aes, 2, 1));
    assert_ne!(of(KeyType::Aes, 1, 1), of(KeyType::Aes, 1, 2));
    assert_ne!(of(KeyType::Aes, 1, 1), of(KeyType::Aes256k, 1, 1));
}

#[test]
fn generated_keys_differ_and_have_the_length_of_their_type() {
    let mut rng = rng();
    for kind in KINDS {
        let [a, b] = [(); 2].map(|()| CryptoKey::generate(kind, UTime::from_secs(5), &mut rng));
        assert_eq!((a.kind(), a.created(), a.secret().len()), (kind, UTime::from_secs(5), kind.secret_len()));
        assert_ne!(a, b);
    }
}

#[test]
fn malformed_keys_are_refused() {
    let refused =
        |bytes: &[u8]| CryptoKey::from_base64(&base64::prelude::BASE64_STANDARD.encode(bytes)).unwrap_err();
    let good = encode_to_vec(&key(KeyType::Aes, &[1; 16]), Features::default());

    assert_eq!(refused(&[&good[..], &[0]].concat()), KeyError::Length);
    for len in 0..good.len() {
        assert_eq!(refused(&good[..len]), KeyError::Length, "{len} bytes");
        assert!(decode_all::<CryptoKey>(&good[..len]).is_err());
    }
    let mut unknown = good.clone();
    unknown[0] = 3;
    assert_eq!(refused(&unknown), KeyError::UnknownType(3));
    assert_eq!(decode_all::<CryptoKey>(&unknown), Err(DecodeError::Invalid("unknown key type")));
    let mut short = good.clone();
    short[0] = 2;
    assert_eq!(refused(&short), KeyError::SecretTooShort { kind: KeyType::Aes256k, needed: 32, len: 16 });
    for text in ["", "AQ", "not base64!", "AQBEMyIRiHdmVRAAAAECAwQFBgcICQoLDA0ODw"] {
        assert!(CryptoKey::from_base64(text).is_err(), "{text:?}");
    }
}

#[test]
fn debug_output_holds_no_secret() {
    let key = key(KeyType::Aes, b"sixteen letters!");
    assert_eq!(format!("{key:?}"), "CryptoKey(aes)");
    let secret = sepiola_crypto::ConnectionSecret::from_bytes(&[0xab; 64]);
    assert_eq!(format!("{secret:?}"), "ConnectionSecret");
}
