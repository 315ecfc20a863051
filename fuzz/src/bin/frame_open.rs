//! Arbitrary bytes opened as a secure frame by every engine: all refuse them, and none panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sepiola_crypto::{ConnectionSecret, CryptoOptions, Engine, Role, frame_keys};

fuzz_target!(|bytes: &[u8]| {
    let (secret, sealed) = bytes.split_at(bytes.len().min(40));
    let secret = ConnectionSecret::from_bytes(secret);
    for &engine in Engine::available() {
        let options = CryptoOptions { engine, ..CryptoOptions::default() };
        let Ok((mut sealer, mut opener)) = frame_keys(&secret, Role::Client, options) else {
            assert!(secret.len() < 40);
            return;
        };
        // An input that opens was made by somebody who can choose the key: by libFuzzer, once in 2^128 tries.
        assert!(opener.open_in_place(&mut sealed.to_vec()).is_err());

        let (_, mut opener) = frame_keys(&secret, Role::Server, options).expect("keyed above");
        let mut buf = sealed.to_vec();
        let tag = sealer.seal_in_place(&mut buf).expect("the first nonce");
        buf.extend_from_slice(&tag);
        assert_eq!(opener.open_in_place(&mut buf).expect("sealed above"), sealed);
    }
});
