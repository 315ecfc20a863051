//! AES-128-GCM of AWS-LC, whose allocator wipes what it frees.

use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use super::Aes128Gcm;

/// "Less safe" in that it takes the nonce from its caller; [`super::super::frame`] counts them.
pub(super) struct Gcm(LessSafeKey);

impl Aes128Gcm for Gcm {
    fn new(key: &[u8; 16]) -> Option<Self> {
        UnboundKey::new(&AES_128_GCM, key).ok().map(|key| Gcm(LessSafeKey::new(key)))
    }

    #[inline]
    fn seal(&self, nonce: [u8; 12], buf: &mut [u8]) -> Option<[u8; 16]> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = self.0.seal_in_place_separate_tag(nonce, Aad::empty(), buf).ok()?;
        tag.as_ref().try_into().ok()
    }

    #[inline]
    fn open(&self, nonce: [u8; 12], buf: &mut [u8], tag: &[u8; 16]) -> Option<()> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        self.0.open_in_place_separate_tag(nonce, Aad::empty(), tag, buf).ok().map(drop)
    }
}
