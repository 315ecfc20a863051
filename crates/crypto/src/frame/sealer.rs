//! Sealing what this side sends.

use std::fmt;

use super::nonce::NonceCounter;
use super::{NONCE_LEN, TAG_LEN};
use crate::SealError;
use crate::engine::Aes128GcmDirection;

/// Seals one direction of a connection, in place. Each call uses up one nonce, in the order of the bytes on
/// the wire.
pub struct FrameSealer {
    cipher: Box<dyn Aes128GcmDirection>,
    nonces: NonceCounter,
}

impl FrameSealer {
    pub(super) fn new(cipher: Box<dyn Aes128GcmDirection>, initial: &[u8; NONCE_LEN]) -> Self {
        FrameSealer { cipher, nonces: NonceCounter::new(initial) }
    }

    /// Encrypts `buf` where it lies and returns the tag that follows it on the wire. After an error `buf`
    /// must not be sent.
    #[inline]
    pub fn seal_in_place(&mut self, buf: &mut [u8]) -> Result<[u8; TAG_LEN], SealError> {
        let nonce = self.nonces.next().map_err(|_| SealError::OutOfNonces)?;
        self.cipher.seal(nonce, buf)
    }

    /// How many cipher contexts this direction has built: one when they are cached, one a message otherwise.
    pub fn contexts_built(&self) -> u64 {
        self.cipher.contexts_built()
    }

    /// Passes over `messages` unused nonces, for tests of the end of their supply. It can only move towards
    /// [`SealError::OutOfNonces`], never back to a used nonce.
    #[doc(hidden)]
    pub fn skip_nonces(&mut self, messages: u64) {
        self.nonces.skip(messages);
    }
}

impl fmt::Debug for FrameSealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FrameSealer")
    }
}
