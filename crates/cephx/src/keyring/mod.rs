//! Keyring files: keys and capabilities of entities, as text.
//!
//! ```text
//! [client.admin]
//!     key = AQD...==
//!     caps mon = "allow *"
//! ```

mod error;
mod file;
mod parse;
mod write;

use std::collections::BTreeMap;

use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_wire::EntityName;
use zeroize::Zeroizing;

pub use error::{KeyringError, LineProblem};

/// The entries of a keyring, in the order of entities: type, then id.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Keyring {
    entries: BTreeMap<EntityName, KeyringEntry>,
}

/// One section of a keyring.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KeyringEntry {
    /// The key; a section may do without.
    pub key: Option<CryptoKey>,
    /// The key that will replace it.
    pub pending_key: Option<CryptoKey>,
    /// Capability text by service.
    pub caps: BTreeMap<String, String>,
    /// A key of a type that this build does not know, kept so that saving the file does not lose it.
    unusable: Option<UnusableKey>,
}

/// The text of a key that cannot be used, and its type.
#[derive(Clone, PartialEq)]
struct UnusableKey {
    kind: u16,
    text: Zeroizing<String>,
}

impl std::fmt::Debug for UnusableKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UnusableKey(type {})", self.kind)
    }
}

impl KeyringEntry {
    /// An entry with a key and capabilities.
    pub fn new(key: CryptoKey, caps: BTreeMap<String, String>) -> Self {
        KeyringEntry { key: Some(key), caps, ..KeyringEntry::default() }
    }
}

impl Keyring {
    /// An empty keyring.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the text of a keyring file.
    ///
    /// # Errors
    /// The first line that makes no sense, which spoils the whole file. A key of an unknown type does not:
    /// the entry is there, and [`Keyring::key`] says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, KeyringError> {
        parse::parse(text)
    }

    /// The text of a keyring file.
    pub fn to_text(&self) -> Zeroizing<String> {
        write::to_text(self)
    }

    /// The entry of an entity.
    pub fn get(&self, name: &EntityName) -> Option<&KeyringEntry> {
        self.entries.get(name)
    }

    /// The entry of an entity, made if there is none.
    pub fn entry(&mut self, name: EntityName) -> &mut KeyringEntry {
        self.entries.entry(name).or_default()
    }

    /// Adds or replaces an entry.
    pub fn insert(&mut self, name: EntityName, entry: KeyringEntry) {
        self.entries.insert(name, entry);
    }

    /// Takes an entry out.
    pub fn remove(&mut self, name: &EntityName) -> Option<KeyringEntry> {
        self.entries.remove(name)
    }

    /// All entries, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&EntityName, &KeyringEntry)> {
        self.entries.iter()
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True without entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The key to authenticate as `name` with.
    ///
    /// # Errors
    /// No entry, an entry without key, or a key that this build cannot use.
    pub fn key(&self, name: &EntityName) -> Result<&CryptoKey, KeyringError> {
        let entry = self.get(name).ok_or_else(|| KeyringError::NoEntry(name.clone()))?;
        match (&entry.key, &entry.unusable) {
            (Some(key), _) if key.kind() != KeyType::None => Ok(key),
            (_, Some(unusable)) => Err(KeyringError::UnusableKey { name: name.clone(), kind: unusable.kind }),
            _ => Err(KeyringError::NoKey(name.clone())),
        }
    }
}
