//! How contexts are made and kept.

use std::fmt;
use std::str::FromStr;

use crate::{Engine, KeyError};

/// Whether cipher contexts outlive a message. The value of the option `debug_crypto_context`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ContextPolicy {
    /// Contexts are built once per key and kept.
    #[default]
    Cached,
    /// Contexts are built for every message and dropped after it: slower, not less safe. It exists to show
    /// what caching is worth.
    PerMessage,
}

impl ContextPolicy {
    /// The name in options.
    pub const fn as_str(self) -> &'static str {
        match self {
            ContextPolicy::Cached => "cached",
            ContextPolicy::PerMessage => "per-message",
        }
    }
}

impl fmt::Display for ContextPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ContextPolicy {
    type Err = KeyError;

    fn from_str(name: &str) -> Result<Self, KeyError> {
        match name {
            "cached" => Ok(ContextPolicy::Cached),
            "per-message" => Ok(ContextPolicy::PerMessage),
            _ => Err(KeyError::UnknownPolicy),
        }
    }
}

/// How a connection's frames are sealed. The default takes the fastest engine of this build and caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CryptoOptions {
    /// Whose AES-GCM is used.
    pub engine: Engine,
    /// Whether its context outlives a message.
    pub context: ContextPolicy,
}
