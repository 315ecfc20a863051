//! Key type 2: RFC 8009 aes256-cts-hmac-sha384-192 with a zero IV.
//!
//! Each usage has an encryption key Ke and an integrity key Ki of its own, derived from the secret. Sealed
//! bytes are `AES-256-CBC-CS3(Ke, confounder | plain) | HMAC-SHA384(Ki, zero IV | ciphertext)[..24]`.

use aes::Aes256;
use aes::cipher::{Array, BlockCipherDecrypt, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit, KeyInit};
use hmac::{Hmac, Mac};
use rand_core::CryptoRng;
use sha2::Sha384;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use crate::OpenError;

const BLOCK: usize = 16;
const MAC: usize = 24;
const IV: [u8; BLOCK] = [0; BLOCK];

const KE_CONSTANT: u8 = 0xAA;
const KI_CONSTANT: u8 = 0x55;

/// Everything derived from one secret for one usage.
pub(crate) struct Aes256k {
    ke: Aes256,
    /// Keyed with Ki and already fed the IV, with which every MAC begins.
    ki: Hmac<Sha384>,
}

impl Aes256k {
    /// Derives both keys, four HMACs over a short label in all.
    pub(crate) fn new(secret: &[u8], usage: u32) -> Self {
        let ke = derive::<32>(secret, usage, KE_CONSTANT);
        let ki = derive::<24>(secret, usage, KI_CONSTANT);
        let mut ki = keyed(&ki[..]);
        ki.update(&IV);
        Aes256k { ke: Aes256::new((&*ke).into()), ki }
    }

    /// Appends the sealed form of `plain`, which is 40 bytes longer, to `out`.
    pub(crate) fn seal(&self, plain: &[u8], rng: &mut dyn CryptoRng, out: &mut Vec<u8>) {
        let mut confounder = [0; BLOCK];
        rng.fill_bytes(&mut confounder);
        self.seal_with(&confounder, plain, out);
    }

    fn seal_with(&self, confounder: &[u8; BLOCK], plain: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        let len = BLOCK + plain.len();
        let padded = len.next_multiple_of(BLOCK);
        out.reserve(padded + MAC);
        out.extend_from_slice(confounder);
        out.extend_from_slice(plain);
        out.resize(start + padded, 0);
        let (blocks, _) = Array::slice_as_chunks_mut(&mut out[start..]);
        cbc::Encryptor::inner_iv_init(&self.ke, &IV.into()).encrypt_blocks(blocks);
        // CS3 always swaps the last two blocks and cuts the bytes that padding added off the then last one.
        if let [.., before_last, last] = blocks {
            std::mem::swap(before_last, last);
        }
        out.truncate(start + len);
        let mac = self.mac(&out[start..]);
        out.extend_from_slice(&mac);
    }

    /// Checks the MAC, and only then decrypts.
    pub(crate) fn open(&self, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, OpenError> {
        let len = sealed.len().checked_sub(MAC).filter(|&len| len >= BLOCK).ok_or(OpenError)?;
        let (cipher, mac) = sealed.split_at(len);
        if !bool::from(self.mac(cipher).ct_eq(mac)) {
            return Err(OpenError);
        }
        let padded = len.next_multiple_of(BLOCK);
        let mut plain = Zeroizing::new(Vec::with_capacity(padded));
        plain.extend_from_slice(cipher);
        plain.resize(padded, 0);
        let (blocks, _) = Array::slice_as_chunks_mut(&mut plain[..]);
        if let [.., before_last, last] = &mut *blocks {
            // Undo CS3. What was cut off the last block went into the one before it, against zeros.
            let mut block = *before_last;
            self.ke.decrypt_block(&mut block);
            let cut = len - (padded - BLOCK);
            last[cut..].copy_from_slice(&block[cut..]);
            block.zeroize();
            std::mem::swap(before_last, last);
        }
        cbc::Decryptor::inner_iv_init(&self.ke, &IV.into()).decrypt_blocks(blocks);
        plain.truncate(len);
        plain.drain(..BLOCK);
        Ok(plain)
    }

    fn mac(&self, cipher: &[u8]) -> [u8; MAC] {
        let mut mac = self.ki.clone();
        mac.update(cipher);
        let full = mac.finalize().into_bytes();
        let mut cut = [0; MAC];
        cut.copy_from_slice(&full[..MAC]);
        cut
    }
}

fn keyed(key: &[u8]) -> Hmac<Sha384> {
    Hmac::new_from_slice(key).expect("HMAC takes keys of any length")
}

/// The key derivation of RFC 8009 section 3: one round of SP 800-108 in counter mode.
fn derive<const N: usize>(secret: &[u8], usage: u32, constant: u8) -> Zeroizing<[u8; N]> {
    let mut mac = keyed(secret);
    mac.update(&1u32.to_be_bytes());
    mac.update(&usage.to_be_bytes());
    mac.update(&[constant, 0]);
    mac.update(&(N as u32 * 8).to_be_bytes());
    let mut full = mac.finalize().into_bytes();
    let mut key = Zeroizing::new([0; N]);
    key.copy_from_slice(&full[..N]);
    full.zeroize();
    key
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn vectors() -> Value {
        serde_json::from_str(include_str!("../tests/data/aes256k.json")).unwrap()
    }

    fn bytes(value: &Value) -> Vec<u8> {
        hex::decode(value.as_str().unwrap()).unwrap()
    }

    fn usage(value: &Value) -> u32 {
        value["usage"].as_u64().unwrap() as u32
    }

    #[test]
    fn the_published_sample_is_reproduced() {
        let sample = &vectors()["rfc8009"];
        let (key, usage) = (bytes(&sample["key"]), usage(sample));
        assert_eq!(derive::<32>(&key, usage, KE_CONSTANT)[..], bytes(&sample["ke"]));
        assert_eq!(derive::<24>(&key, usage, KI_CONSTANT)[..], bytes(&sample["ki"]));
        let context = Aes256k::new(&key, usage);
        let mut sealed = Vec::new();
        context.seal_with(
            &bytes(&sample["confounder"]).try_into().unwrap(),
            &bytes(&sample["plain"]),
            &mut sealed,
        );
        assert_eq!(sealed, bytes(&sample["cipher"]));
        assert_eq!(context.open(&sealed).unwrap()[..], bytes(&sample["plain"]));
    }

    #[test]
    fn every_usage_derives_the_recorded_keys() {
        let vectors = vectors();
        let secret = bytes(&vectors["secret"]);
        let derived = vectors["derived"].as_array().unwrap();
        assert!(!derived.is_empty());
        for keys in derived {
            assert_eq!(derive::<32>(&secret, usage(keys), KE_CONSTANT)[..], bytes(&keys["ke"]), "{keys}");
            assert_eq!(derive::<24>(&secret, usage(keys), KI_CONSTANT)[..], bytes(&keys["ki"]), "{keys}");
        }
    }
}
