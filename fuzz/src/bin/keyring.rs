//! The text of a keyring file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sepiola_cephx::Keyring;

fuzz_target!(|text: &str| {
    let Ok(keyring) = Keyring::parse(text) else { return };
    let written = keyring.to_text();
    let again = Keyring::parse(&written).expect("what was written can be read");
    assert_eq!(again, keyring, "a keyring changed on its way through a file");
});
