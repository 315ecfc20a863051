//! The types of keys.

use std::fmt;
use std::str::FromStr;

use crate::KeyError;

/// What a secret is used with. Ordered by number, so that the smaller of two is the type that both sides
/// of a session can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
pub enum KeyType {
    /// No key. Its holder cannot authenticate.
    None = 0,
    /// AES-128-CBC with a fixed IV and no integrity: what every release speaks.
    Aes = 1,
    /// RFC 8009 aes256-cts-hmac-sha384-192: releases from 19.2.6, 20.2.4 and 21.2.0 on.
    Aes256k = 2,
}

impl KeyType {
    /// The type with this number on the wire.
    pub const fn from_u16(number: u16) -> Option<Self> {
        match number {
            0 => Some(KeyType::None),
            1 => Some(KeyType::Aes),
            2 => Some(KeyType::Aes256k),
            _ => None,
        }
    }

    /// The number on the wire.
    pub const fn as_u16(self) -> u16 {
        self as u16
    }

    /// The name in options and commands.
    pub const fn as_str(self) -> &'static str {
        match self {
            KeyType::None => "none",
            KeyType::Aes => "aes",
            KeyType::Aes256k => "aes256k",
        }
    }

    /// Bytes of a generated secret, and the fewest that are accepted.
    pub const fn secret_len(self) -> usize {
        match self {
            KeyType::None => 0,
            KeyType::Aes => 16,
            KeyType::Aes256k => 32,
        }
    }
}

impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for KeyType {
    type Err = KeyError;

    /// Reads "aes" or "aes256k". "none" is not accepted: nobody may ask for a key without a secret.
    fn from_str(name: &str) -> Result<Self, KeyError> {
        match name {
            "aes" => Ok(KeyType::Aes),
            "aes256k" => Ok(KeyType::Aes256k),
            _ => Err(KeyError::UnknownTypeName),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_of_two_types_is_the_older_one() {
        assert_eq!(KeyType::Aes.min(KeyType::Aes256k), KeyType::Aes);
        assert!(KeyType::None < KeyType::Aes);
    }

    #[test]
    fn names_and_numbers_are_read_back() {
        for kind in [KeyType::Aes, KeyType::Aes256k] {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            assert_eq!(KeyType::from_u16(kind.as_u16()), Some(kind));
        }
        for name in ["none", "AES", "aes128", ""] {
            assert_eq!(name.parse::<KeyType>(), Err(KeyError::UnknownTypeName), "{name}");
        }
        assert_eq!(KeyType::from_u16(3), None);
    }
}
