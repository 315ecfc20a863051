//! What can go wrong with keys and sealed bytes.

use thiserror::Error;

use crate::{Engine, KeyType};

/// Why a key could not be made or read. Never holds secret bytes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The key type's number is not one this build knows.
    #[error("unknown key type {0}")]
    UnknownType(u16),
    /// The key type's name is not one this build knows.
    #[error("unknown key type name (known: aes, aes256k)")]
    UnknownTypeName,
    /// The secret is shorter than its type needs.
    #[error("a key of type {kind} needs a secret of {needed} bytes, this one has {len}")]
    SecretTooShort {
        /// The key's type.
        kind: KeyType,
        /// Bytes that the type needs.
        needed: usize,
        /// Bytes that were given.
        len: usize,
    },
    /// The secret does not fit the wire's 16-bit length.
    #[error("a secret of {0} bytes is too long for a key")]
    SecretTooLong(usize),
    /// A key of type none holds no secret.
    #[error("a key of type none holds no secret")]
    SecretForNone,
    /// The text is not base64.
    #[error("a key must be base64 text")]
    Base64,
    /// The bytes end early, or go on behind the secret.
    #[error("the encoded key has a wrong length")]
    Length,
    /// A connection secret too short to key both directions.
    #[error("a connection secret needs {needed} bytes, this one has {len}")]
    ConnectionSecretTooShort {
        /// Bytes that both directions need.
        needed: usize,
        /// Bytes that the peer sent.
        len: usize,
    },
    /// The engine was not compiled in.
    #[error("crypto engine {0} is not part of this build")]
    EngineUnavailable(Engine),
    /// No engine has this name.
    #[error("unknown crypto engine (known: auto, aws-lc, ring, rustcrypto)")]
    UnknownEngine,
    /// No context policy has this name.
    #[error("unknown context policy (known: cached, per-message)")]
    UnknownPolicy,
    /// The engine refused a key of the right length, which is the engine's fault.
    #[error("crypto engine {0} refused the key")]
    EngineRefused(Engine),
}

/// Sealed bytes could not be opened. Deliberately says nothing more: whether a length, a padding or a MAC
/// was wrong is what an attacker would like to learn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("sealed bytes could not be opened")]
pub struct OpenError;

/// Why a frame could not be sealed. The connection must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SealError {
    /// Every nonce of this direction was used; one more message would repeat the first.
    #[error("out of nonces")]
    OutOfNonces,
    /// The message is longer than AES-GCM can seal under one nonce (64 GiB).
    #[error("message too long to seal")]
    TooLong,
}
