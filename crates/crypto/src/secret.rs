//! The secret of one connection.

use std::fmt;

use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::frame::SECRET_USED;

/// The bytes that key both directions of a secure connection; empty in crc mode. Wiped on drop, never
/// printed.
#[derive(Clone)]
pub struct ConnectionSecret(Zeroizing<Box<[u8]>>);

impl ConnectionSecret {
    /// Bytes that a server hands out; the first [`ConnectionSecret::MIN_LEN`] are used.
    pub const LEN: usize = 64;
    /// Bytes that both directions of a secure connection need for their keys and nonces. A shorter secret
    /// fails the authentication.
    pub const MIN_LEN: usize = SECRET_USED;

    /// A fresh secret.
    pub fn generate(rng: &mut dyn CryptoRng) -> Self {
        let mut bytes = Zeroizing::new(vec![0; Self::LEN].into_boxed_slice());
        rng.fill_bytes(&mut bytes);
        ConnectionSecret(bytes)
    }

    /// A secret that a peer sent. Its length is checked where it is used, by [`crate::frame_keys`].
    pub fn from_bytes(bytes: &[u8]) -> Self {
        ConnectionSecret(Zeroizing::new(bytes.into()))
    }

    /// The secret of a connection that seals nothing.
    pub fn empty() -> Self {
        Self::from_bytes(&[])
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True for the secret of a connection that seals nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl PartialEq for ConnectionSecret {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for ConnectionSecret {}

impl fmt::Debug for ConnectionSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConnectionSecret")
    }
}
