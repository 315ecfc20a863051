//! Proof that both sides saw the same handshake.
//!
//! Each side logs the raw bytes of both directions from the first byte of the connection up to AUTH_DONE
//! and signs what it received with the session key. A changed method list, mode list or banner bit
//! therefore ends the connection.

use sepiola_crypto::CryptoKey;
use subtle::ConstantTimeEq;

use crate::Misbehaviour;

/// The logs of one connection.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    received: Vec<u8>,
    sent: Vec<u8>,
}

impl Transcript {
    /// Logs bytes of one received frame or banner, never of what was read ahead of it.
    pub(super) fn received(&mut self, raw: &[u8], limit: u32) -> Result<(), Misbehaviour> {
        if self.received.len() + raw.len() > limit as usize {
            return Err(Misbehaviour::HandshakeTooLong);
        }
        self.received.extend_from_slice(raw);
        Ok(())
    }

    pub(super) fn sent(&mut self, raw: &[u8]) {
        self.sent.extend_from_slice(raw);
    }

    /// What this side sends, and what the peer must send.
    pub(super) fn signatures(&self, key: &CryptoKey) -> Signatures {
        Signatures { ours: sign(key, &self.received), theirs: sign(key, &self.sent) }
    }
}

/// Both sides' signatures.
pub(super) struct Signatures {
    pub(super) ours: [u8; 32],
    theirs: [u8; 32],
}

impl Signatures {
    pub(super) fn verify(&self, received: &[u8; 32]) -> Result<(), Misbehaviour> {
        if bool::from(self.theirs.ct_eq(received)) { Ok(()) } else { Err(Misbehaviour::BadSignature) }
    }
}

/// Without a key (method none) both sides send zeros.
fn sign(key: &CryptoKey, log: &[u8]) -> [u8; 32] {
    if key.is_none() { [0; 32] } else { key.hmac_sha256(log) }
}
