//! A key from arbitrary bytes, and arbitrary sealed bytes opened with it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rand::SeedableRng;
use rand::rngs::StdRng;
use sepiola_crypto::{CryptoKey, KeyType, Usage};
use sepiola_fuzz::{choice, round_trip};
use sepiola_wire::{Decode, Features, Reader};

fuzz_target!(|bytes: &[u8]| {
    let (chosen, bytes) = choice(bytes);
    let usage = Usage::ALL[usize::from(chosen) % Usage::ALL.len()];
    round_trip::<CryptoKey>(bytes, Features::SUPPORTED);
    if let Ok(text) = std::str::from_utf8(bytes) {
        if let Ok(key) = CryptoKey::from_base64(text) {
            assert_eq!(CryptoKey::from_base64(&key.to_base64()), Ok(key));
        }
    }

    let mut r = Reader::new(bytes);
    let Ok(key) = CryptoKey::decode(&mut r) else { return };
    let rest = r.rest();
    if let Ok(opened) = key.open(usage, rest) {
        let overhead = rest.len() - opened.len();
        assert!(if key.kind() == KeyType::Aes { overhead <= 16 } else { overhead == 40 });
    }

    let mut sealed = Vec::new();
    key.seal(usage, rest, &mut StdRng::seed_from_u64(1), &mut sealed);
    match key.open(usage, &sealed) {
        Ok(opened) => assert_eq!(&opened[..], rest),
        Err(_) => assert!(key.is_none()),
    }
});
