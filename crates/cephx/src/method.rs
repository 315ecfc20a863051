//! The numbers that AUTH_REQUEST and AUTH_DONE carry.

use std::{fmt, str::FromStr};

use thiserror::Error;

/// How peers authenticate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum AuthMethod {
    /// Names are believed. Only ever with [`ConMode::Crc`].
    None = 1,
    /// Tickets and keys.
    Cephx = 2,
}

impl AuthMethod {
    /// The method with this wire number, if it is one of those spoken here.
    pub fn from_u32(value: u32) -> Option<Self> {
        match value {
            1 => Some(AuthMethod::None),
            2 => Some(AuthMethod::Cephx),
            _ => None,
        }
    }

    /// The wire number.
    pub const fn as_u32(self) -> u32 {
        self as u32
    }

    /// The word that `auth_client_required` and its like use.
    pub const fn as_str(self) -> &'static str {
        match self {
            AuthMethod::None => "none",
            AuthMethod::Cephx => "cephx",
        }
    }
}

/// What protects the frames after authentication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum ConMode {
    /// Checksums against accidents; nothing against an attacker.
    Crc = 1,
    /// AES-128-GCM over every byte.
    Secure = 2,
}

impl ConMode {
    /// The mode with this wire number, if it is one of those spoken here.
    pub fn from_u32(value: u32) -> Option<Self> {
        match value {
            1 => Some(ConMode::Crc),
            2 => Some(ConMode::Secure),
            _ => None,
        }
    }

    /// The wire number.
    pub const fn as_u32(self) -> u32 {
        self as u32
    }

    /// The word that `ms_client_mode` and its like use.
    pub const fn as_str(self) -> &'static str {
        match self {
            ConMode::Crc => "crc",
            ConMode::Secure => "secure",
        }
    }
}

/// A word that names no method or mode.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{word}` is not one of {expected}")]
pub struct ParseMethodError {
    word: String,
    expected: &'static str,
}

impl FromStr for AuthMethod {
    type Err = ParseMethodError;
    fn from_str(s: &str) -> Result<Self, Self::Err> {
        match s {
            "none" => Ok(AuthMethod::None),
            "cephx" => Ok(AuthMethod::Cephx),
            _ => Err(ParseMethodError { word: s.to_owned(), expected: "cephx, none" }),
        }
    }
}

impl FromStr for ConMode {
    type Err = ParseMethodError;
    fn from_str(s: &str) -> Result<Self, Self::Err> {
        match s {
            "crc" => Ok(ConMode::Crc),
            "secure" => Ok(ConMode::Secure),
            _ => Err(ParseMethodError { word: s.to_owned(), expected: "crc, secure" }),
        }
    }
}

impl fmt::Display for AuthMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for ConMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
