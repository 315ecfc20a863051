//! Key type 1: AES-128-CBC with one IV for all messages and PKCS#7 padding.
//!
//! The cipher has no integrity; callers find tampering by the constant inside the sealed envelope.

use aes::Aes128;
use aes::cipher::{Array, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit, KeyInit};
use zeroize::Zeroizing;

use crate::OpenError;

const BLOCK: usize = 16;
/// The IV of every message that any peer sends.
const IV: [u8; BLOCK] = *b"cephsageyudagreg";

/// The expanded schedules of one key, both directions.
pub(crate) struct AesCbc(Aes128);

impl AesCbc {
    pub(crate) fn new(key: &[u8; 16]) -> Self {
        AesCbc(Aes128::new(key.into()))
    }

    /// Appends the ciphertext of `plain`, which is 1 to 16 bytes longer, to `out`.
    pub(crate) fn seal(&self, plain: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        let padding = BLOCK - plain.len() % BLOCK;
        out.reserve(plain.len() + padding);
        out.extend_from_slice(plain);
        out.resize(start + plain.len() + padding, padding as u8);
        let (blocks, _) = Array::slice_as_chunks_mut(&mut out[start..]);
        cbc::Encryptor::inner_iv_init(&self.0, &IV.into()).encrypt_blocks(blocks);
    }

    /// Decrypts, and drops as many bytes as the last one says. As in real peers the padding's content is not
    /// checked: no answer and no timing then depends on it, which leaves a padding oracle nothing to ask.
    pub(crate) fn open(&self, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, OpenError> {
        if sealed.is_empty() || !sealed.len().is_multiple_of(BLOCK) {
            return Err(OpenError);
        }
        let mut plain = Zeroizing::new(sealed.to_vec());
        let (blocks, _) = Array::slice_as_chunks_mut(&mut plain[..]);
        cbc::Decryptor::inner_iv_init(&self.0, &IV.into()).decrypt_blocks(blocks);
        let padding = usize::from(plain[plain.len() - 1]).min(BLOCK);
        let len = plain.len() - padding;
        plain.truncate(len);
        Ok(plain)
    }
}
