//! [`CryptoKey`]: a secret together with every cipher context ever derived from it.
//!
//! Expanding a key costs as much as encrypting a small message, so nothing here does it twice: a key's
//! clones share its schedules and midstates, and a connection's [`FrameSealer`] and [`FrameOpener`] keep
//! theirs for as long as the connection lives. [`ContextPolicy::PerMessage`] rebuilds them for every
//! message instead, so that the difference can be measured on real traffic.
//!
//! Nothing outside this crate builds a cipher. Secrets, schedules and midstates are wiped when the last
//! clone is dropped; no `Debug` output holds any of them.
#![forbid(unsafe_code)]

#[cfg(not(any(feature = "engine-rustcrypto", feature = "engine-ring", feature = "engine-aws-lc")))]
compile_error!("sepiola-crypto needs at least one of engine-rustcrypto, engine-ring, engine-aws-lc");

mod aes256k;
mod aes_cbc;
mod engine;
mod error;
mod frame;
mod key;
mod kind;
mod options;
mod secret;
mod usage;

pub use engine::{Algorithm, Engine};
pub use error::{KeyError, OpenError, SealError};
pub use frame::{FrameOpener, FrameSealer, Role, TAG_LEN, frame_keys};
pub use key::CryptoKey;
pub use kind::KeyType;
pub use options::{ContextPolicy, CryptoOptions};
pub use secret::ConnectionSecret;
pub use usage::Usage;
