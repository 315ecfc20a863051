//! The keys of one secure connection: AES-128-GCM, one context and one nonce counter per direction.

mod nonce;
mod opener;
mod sealer;

pub use opener::FrameOpener;
pub use sealer::FrameSealer;

use crate::{ConnectionSecret, CryptoOptions, KeyError, engine};

/// Bytes of authentication tag behind each ciphertext.
pub const TAG_LEN: usize = 16;
/// Bytes of the AES-128-GCM key, shared by both directions.
const KEY_LEN: usize = 16;
/// Bytes of a nonce.
const NONCE_LEN: usize = 12;
/// Bytes of the connection secret that are used.
pub(crate) const SECRET_USED: usize = KEY_LEN + 2 * NONCE_LEN;

/// Which end of the connection this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Dialled.
    Client,
    /// Accepted.
    Server,
}

/// Both directions of a connection, for messenger revision 1.
///
/// The connection secret is `key (16) | nonce of what the client receives (12) | nonce of what the client
/// sends (12) | unused`. A shorter secret is refused: a peer that wants encryption must key it.
pub fn frame_keys(
    secret: &ConnectionSecret,
    role: Role,
    options: CryptoOptions,
) -> Result<(FrameSealer, FrameOpener), KeyError> {
    let too_short = KeyError::ConnectionSecretTooShort { needed: SECRET_USED, len: secret.len() };
    let (key, rest) = secret.as_bytes().split_first_chunk::<KEY_LEN>().ok_or(too_short.clone())?;
    let (to_client, rest) = rest.split_first_chunk::<NONCE_LEN>().ok_or(too_short.clone())?;
    let (to_server, _) = rest.split_first_chunk::<NONCE_LEN>().ok_or(too_short)?;
    let (sends, receives) = match role {
        Role::Client => (to_server, to_client),
        Role::Server => (to_client, to_server),
    };
    Ok((
        FrameSealer::new(engine::aes128_gcm(options, key)?, sends),
        FrameOpener::new(engine::aes128_gcm(options, key)?, receives),
    ))
}
