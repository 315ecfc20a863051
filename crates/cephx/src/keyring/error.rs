//! What can be wrong with a keyring.

use std::path::PathBuf;

use sepiola_crypto::KeyError;
use sepiola_wire::EntityName;
use thiserror::Error;

/// Why a keyring, or an entry of it, cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// A line makes no sense.
    #[error("keyring line {line}: {problem}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: LineProblem,
    },
    /// The file cannot be read or written.
    #[error("keyring {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Nobody of this name is in the keyring.
    #[error("the keyring has no entry for {0}")]
    NoEntry(EntityName),
    /// The entry has no key.
    #[error("the keyring has no key for {0}")]
    NoKey(EntityName),
    /// The entry's key needs a cipher that is not known here.
    #[error("the key of {name} has type {kind}, which this build does not know")]
    UnusableKey {
        /// Whose.
        name: EntityName,
        /// The number of the type.
        kind: u16,
    },
}

/// What is wrong with a line of a keyring.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LineProblem {
    /// Brackets around something that is no entity.
    #[error("expected [TYPE.ID] with TYPE one of mon, mds, osd, client, mgr, auth, without spaces")]
    Section,
    /// Something before the first section, which would belong to nobody.
    #[error("expected [TYPE.ID] before anything else")]
    NoSection,
    /// Not `field = value`.
    #[error("expected `field = value`")]
    NotAField,
    /// A field that no entry has.
    #[error("unknown field: expected key, pending key or caps SERVICE")]
    UnknownField,
    /// A value whose quotes do not end, or end too early.
    #[error("unbalanced quotes")]
    Quotes,
    /// A line that wants to go on in the next one.
    #[error("lines cannot be continued")]
    Continuation,
    /// A key that is none.
    #[error("{0}")]
    Key(#[from] KeyError),
}
