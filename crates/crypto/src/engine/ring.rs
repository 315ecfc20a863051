//! AES-128-GCM of ring.

use std::sync::LazyLock;

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use super::Aes128Gcm;

/// "Less safe" in that it takes the nonce from its caller; [`super::super::frame`] counts them.
pub(super) struct Gcm(LessSafeKey);

impl Gcm {
    fn key(key: &[u8; 16]) -> Option<LessSafeKey> {
        UnboundKey::new(&AES_128_GCM, key).ok().map(LessSafeKey::new)
    }
}

impl Aes128Gcm for Gcm {
    fn new(key: &[u8; 16]) -> Option<Self> {
        Self::key(key).map(Gcm)
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
        self.0.open_in_place_separate_tag(nonce, Aad::empty(), (*tag).into(), buf, 0..).ok().map(drop)
    }
}

/// The schedule of a key that is no secret.
static BLANK: LazyLock<Option<LessSafeKey>> = LazyLock::new(|| Gcm::key(&[0; 16]));

impl Drop for Gcm {
    /// ring wipes nothing. Writing another key's schedule over this one's does, and `black_box` keeps the
    /// compiler from dropping a write that nobody reads. A copy, so that dropping is not another key set-up.
    fn drop(&mut self) {
        if let Some(blank) = &*BLANK {
            self.0 = blank.clone();
            std::hint::black_box(&self.0);
        }
    }
}
