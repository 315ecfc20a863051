//! AES-128-GCM of the RustCrypto crates. Their zeroize features wipe the schedule and the GHASH key on drop.

use aes_gcm::{AeadInOut, Aes128Gcm as Cipher, KeyInit};

use super::Aes128Gcm;

pub(super) struct Gcm(Cipher);

impl Aes128Gcm for Gcm {
    fn new(key: &[u8; 16]) -> Option<Self> {
        Some(Gcm(Cipher::new(key.into())))
    }

    #[inline]
    fn seal(&self, nonce: [u8; 12], buf: &mut [u8]) -> Option<[u8; 16]> {
        self.0.encrypt_inout_detached(&nonce.into(), &[], buf.into()).ok().map(Into::into)
    }

    #[inline]
    fn open(&self, nonce: [u8; 12], buf: &mut [u8], tag: &[u8; 16]) -> Option<()> {
        self.0.decrypt_inout_detached(&nonce.into(), &[], buf.into(), tag.into()).ok()
    }
}

#[cfg(test)]
mod tests {
    /// Holds as long as the cipher's zeroize feature is on.
    #[test]
    fn the_context_wipes_itself() {
        fn wipes_itself<T: zeroize::ZeroizeOnDrop>() {}
        wipes_itself::<super::Cipher>();
    }
}
