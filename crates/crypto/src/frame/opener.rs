//! Opening what the peer sends.

use std::fmt;

use super::nonce::NonceCounter;
use super::{NONCE_LEN, TAG_LEN};
use crate::OpenError;
use crate::engine::Aes128GcmDirection;

/// Opens one direction of a connection, in place. Each call uses up one nonce, in the order of the bytes on
/// the wire, so after an error nothing that follows can be opened: the connection is over.
pub struct FrameOpener {
    cipher: Box<dyn Aes128GcmDirection>,
    nonces: NonceCounter,
}

impl FrameOpener {
    pub(super) fn new(cipher: Box<dyn Aes128GcmDirection>, initial: &[u8; NONCE_LEN]) -> Self {
        FrameOpener { cipher, nonces: NonceCounter::new(initial) }
    }

    /// Verifies and decrypts `ciphertext | tag` where it lies and returns the plaintext, [`TAG_LEN`] bytes
    /// shorter. After an error the buffer holds nothing that may be used.
    #[inline]
    pub fn open_in_place<'a>(&mut self, sealed: &'a mut [u8]) -> Result<&'a mut [u8], OpenError> {
        let nonce = self.nonces.next().map_err(|_| OpenError)?;
        let (cipher, tag) = sealed.split_last_chunk_mut::<TAG_LEN>().ok_or(OpenError)?;
        self.cipher.open(nonce, cipher, tag)?;
        Ok(cipher)
    }

    /// How many cipher contexts this direction has built: one when they are cached, one a message otherwise.
    pub fn contexts_built(&self) -> u64 {
        self.cipher.contexts_built()
    }

    /// Passes over `messages` unused nonces, for tests of the end of their supply.
    #[doc(hidden)]
    pub fn skip_nonces(&mut self, messages: u64) {
        self.nonces.skip(messages);
    }
}

impl fmt::Debug for FrameOpener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FrameOpener")
    }
}
