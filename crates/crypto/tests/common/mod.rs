//! What several test files need.
#![allow(dead_code)] // each file uses a part

use std::convert::Infallible;

use rand_core::{TryCryptoRng, TryRng};
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_wire::UTime;
use serde_json::Value;

/// "Random" bytes that a vector prescribes, over and over.
pub struct Prescribed {
    bytes: Vec<u8>,
    at: usize,
}

impl Prescribed {
    pub fn new(bytes: Vec<u8>) -> Self {
        Prescribed { bytes, at: 0 }
    }
}

impl TryRng for Prescribed {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut word = [0; 4];
        self.try_fill_bytes(&mut word)?;
        Ok(u32::from_le_bytes(word))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut word = [0; 8];
        self.try_fill_bytes(&mut word)?;
        Ok(u64::from_le_bytes(word))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        for byte in out {
            *byte = self.bytes[self.at % self.bytes.len()];
            self.at += 1;
        }
        Ok(())
    }
}

impl TryCryptoRng for Prescribed {}

/// A generator for tests that need no particular bytes.
pub fn rng() -> rand::rngs::StdRng {
    rand::SeedableRng::seed_from_u64(1)
}

pub fn bytes(value: &Value) -> Vec<u8> {
    hex::decode(value.as_str().expect("a hex string")).expect("hex")
}

/// The items of a vector file, which must not be empty.
pub fn items(value: &Value) -> &[Value] {
    let items = value.as_array().expect("an array");
    assert!(!items.is_empty());
    items
}

pub fn key(kind: KeyType, secret: &[u8]) -> CryptoKey {
    CryptoKey::from_secret(kind, UTime::ZERO, secret).unwrap()
}
