//! A secret and every context derived from it.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use rand_core::CryptoRng;
use sepiola_wire::{Decode, DecodeError, Encode, Features, Put, Reader, UTime};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::aes_cbc::AesCbc;
use crate::aes256k::Aes256k;
use crate::{ContextPolicy, KeyError, KeyType, OpenError, Usage};

/// A cephx key.
///
/// Clones share one secret and one set of cipher contexts; each context is built on its first use, by one
/// thread, and kept. The last clone wipes everything. Two keys are equal when their types and secrets are,
/// compared in constant time; the creation time is a label.
#[derive(Clone)]
pub struct CryptoKey(Arc<Inner>);

struct Inner {
    kind: KeyType,
    created: UTime,
    policy: ContextPolicy,
    secret: Zeroizing<Box<[u8]>>,
    /// Boxed, because most keys use one or two contexts of the many they could have.
    cbc: OnceLock<Box<AesCbc>>,
    aes256k: [OnceLock<Box<Aes256k>>; Usage::ALL.len()],
    hmac_sha256: OnceLock<Box<Hmac<Sha256>>>,
    contexts_built: AtomicU64,
}

impl CryptoKey {
    /// The key of somebody who has none. It seals to nothing and opens nothing, so that a caller who forgets
    /// to check for it leaks no plaintext and trusts none.
    pub fn none() -> Self {
        Self::assemble(KeyType::None, UTime::ZERO, ContextPolicy::Cached, &[])
    }

    /// A fresh key.
    pub fn generate(kind: KeyType, now: UTime, rng: &mut dyn CryptoRng) -> Self {
        let mut secret = Zeroizing::new([0; 32]);
        let secret = &mut secret[..kind.secret_len()];
        rng.fill_bytes(secret);
        Self::assemble(kind, now, ContextPolicy::Cached, secret)
    }

    /// A key from its parts. A secret longer than its type needs is kept whole, as peers keep it.
    pub fn from_secret(kind: KeyType, created: UTime, secret: &[u8]) -> Result<Self, KeyError> {
        if kind == KeyType::None && !secret.is_empty() {
            return Err(KeyError::SecretForNone);
        }
        if secret.len() < kind.secret_len() {
            return Err(KeyError::SecretTooShort { kind, needed: kind.secret_len(), len: secret.len() });
        }
        if secret.len() > usize::from(u16::MAX) {
            return Err(KeyError::SecretTooLong(secret.len()));
        }
        Ok(Self::assemble(kind, created, ContextPolicy::Cached, secret))
    }

    fn assemble(kind: KeyType, created: UTime, policy: ContextPolicy, secret: &[u8]) -> Self {
        CryptoKey(Arc::new(Inner {
            kind,
            created,
            policy,
            secret: Zeroizing::new(secret.into()),
            cbc: OnceLock::new(),
            aes256k: Default::default(),
            hmac_sha256: OnceLock::new(),
            contexts_built: AtomicU64::new(0),
        }))
    }

    /// Reads the text form of keyrings. Bytes behind the secret are refused.
    pub fn from_base64(text: &str) -> Result<Self, KeyError> {
        // Into a buffer that is wiped even when the text turns out to be wrong near its end.
        let mut bytes = Zeroizing::new(vec![0; base64::decoded_len_estimate(text.len())]);
        let len = STANDARD.decode_slice(text, &mut bytes).map_err(|_| KeyError::Base64)?;
        let mut r = Reader::new(&bytes[..len]);
        let key = Self::read(&mut r)?;
        if r.is_empty() { Ok(key) } else { Err(KeyError::Length) }
    }

    /// The text form of keyrings.
    pub fn to_base64(&self) -> Zeroizing<String> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(HEADER + self.0.secret.len()));
        self.encode(&mut bytes, Features::default());
        Zeroizing::new(STANDARD.encode(&bytes[..]))
    }

    /// The same key with contexts of its own, built and kept as `policy` says.
    pub fn with_context_policy(&self, policy: ContextPolicy) -> Self {
        Self::assemble(self.0.kind, self.0.created, policy, &self.0.secret)
    }

    /// What the secret is used with.
    pub fn kind(&self) -> KeyType {
        self.0.kind
    }

    /// True for the key of somebody who has none.
    pub fn is_none(&self) -> bool {
        self.0.kind == KeyType::None
    }

    /// When the key was made, by its maker's clock.
    pub fn created(&self) -> UTime {
        self.0.created
    }

    /// The raw secret, for the few computations that are keyed with it directly.
    pub fn secret(&self) -> &[u8] {
        &self.0.secret
    }

    /// How many cipher contexts this key and its clones have built. With [`ContextPolicy::Cached`] never more
    /// than one for each algorithm and usage, however many messages and threads there were.
    pub fn contexts_built(&self) -> u64 {
        self.0.contexts_built.load(Ordering::Relaxed)
    }

    /// Appends the sealed form of `plain` to `out`. Type 1 needs no randomness and pads to whole 16-byte
    /// blocks, at least one byte; type 2 adds 40 bytes. A key of type none appends nothing.
    pub fn seal(&self, usage: Usage, plain: &[u8], rng: &mut dyn CryptoRng, out: &mut Vec<u8>) {
        match self.0.kind {
            KeyType::None => {}
            KeyType::Aes => self.0.with_cbc(|cbc| cbc.seal(plain, out)),
            KeyType::Aes256k => self.0.with_aes256k(usage, |context| context.seal(plain, rng, out)),
        }
    }

    /// Opens what [`CryptoKey::seal`] made for the same usage. Type 1 has no integrity: callers must check
    /// what they get.
    pub fn open(&self, usage: Usage, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, OpenError> {
        match self.0.kind {
            KeyType::None => Err(OpenError),
            KeyType::Aes => self.0.with_cbc(|cbc| cbc.open(sealed)),
            KeyType::Aes256k => self.0.with_aes256k(usage, |context| context.open(sealed)),
        }
    }

    /// HMAC-SHA256 keyed with the raw secret: connection signatures, and the challenge of type 2.
    pub fn hmac_sha256(&self, data: &[u8]) -> [u8; 32] {
        let mut mac = self.0.hmac_midstate();
        mac.update(data);
        mac.finalize().into_bytes().into()
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, KeyError> {
        let number = r.u16().map_err(|_| KeyError::Length)?;
        let kind = KeyType::from_u16(number).ok_or(KeyError::UnknownType(number))?;
        let created = UTime::decode(r).map_err(|_| KeyError::Length)?;
        let len = r.u16().map_err(|_| KeyError::Length)?;
        let secret = r.bytes(len.into()).map_err(|_| KeyError::Length)?;
        Self::from_secret(kind, created, secret)
    }
}

/// Bytes in front of the secret: type, creation time, length.
const HEADER: usize = 12;

impl Inner {
    fn with_cbc<R>(&self, use_it: impl FnOnce(&AesCbc) -> R) -> R {
        let build = || {
            self.contexts_built.fetch_add(1, Ordering::Relaxed);
            let key = self.secret.first_chunk().expect("a type 1 secret has at least 16 bytes");
            AesCbc::new(key)
        };
        match self.policy {
            ContextPolicy::Cached => use_it(self.cbc.get_or_init(|| Box::new(build()))),
            ContextPolicy::PerMessage => use_it(&build()),
        }
    }

    fn with_aes256k<R>(&self, usage: Usage, use_it: impl FnOnce(&Aes256k) -> R) -> R {
        let build = || {
            self.contexts_built.fetch_add(1, Ordering::Relaxed);
            Aes256k::new(&self.secret, usage.number())
        };
        match self.policy {
            ContextPolicy::Cached => use_it(self.aes256k[usage.index()].get_or_init(|| Box::new(build()))),
            ContextPolicy::PerMessage => use_it(&build()),
        }
    }

    fn hmac_midstate(&self) -> Hmac<Sha256> {
        let build = || {
            self.contexts_built.fetch_add(1, Ordering::Relaxed);
            Hmac::<Sha256>::new_from_slice(&self.secret).expect("HMAC takes keys of any length")
        };
        match self.policy {
            ContextPolicy::Cached => Hmac::clone(self.hmac_sha256.get_or_init(|| Box::new(build()))),
            ContextPolicy::PerMessage => build(),
        }
    }
}

impl PartialEq for CryptoKey {
    fn eq(&self, other: &Self) -> bool {
        let kinds = self.0.kind == other.0.kind;
        bool::from(self.0.secret.ct_eq(&other.0.secret)) & kinds
    }
}

impl Eq for CryptoKey {}

impl fmt::Debug for CryptoKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CryptoKey({})", self.0.kind)
    }
}

impl Encode for CryptoKey {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_u16(self.0.kind.as_u16());
        self.0.created.encode(out, features);
        out.put_u16(self.0.secret.len() as u16);
        out.put(&self.0.secret);
    }
}

impl Decode for CryptoKey {
    const MIN_SIZE: usize = HEADER;

    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Self::read(r).map_err(|error| match error {
            KeyError::UnknownType(_) => DecodeError::Invalid("unknown key type"),
            _ => DecodeError::Invalid("malformed key"),
        })
    }
}

#[cfg(test)]
mod tests {
    use zeroize::ZeroizeOnDrop;

    use super::*;

    /// Holds as long as the ciphers' zeroize features are on.
    #[test]
    fn every_kind_of_context_wipes_itself() {
        fn wipes_itself<T: ZeroizeOnDrop>() {}
        wipes_itself::<aes::Aes128>();
        wipes_itself::<aes::Aes256>();
        // An HMAC is two of its hash's states, each wiping itself.
        wipes_itself::<Sha256>();
        wipes_itself::<sha2::Sha384>();
        wipes_itself::<cbc::Encryptor<aes::Aes128>>();
    }
}
