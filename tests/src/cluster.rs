//! What clusters of both kinds have in common.

use std::{
    fmt,
    path::{Path, PathBuf},
};

/// How connections are protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum MsMode {
    Crc,
    Secure,
}

impl fmt::Display for MsMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MsMode::Crc => "crc",
            MsMode::Secure => "secure",
        })
    }
}

/// The cipher of a cluster's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyType {
    /// Type 1, which every release knows.
    Aes,
    /// Type 2, which releases from 19.2.6 and 20.2.4 on know.
    Aes256k,
}

impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeyType::Aes => "aes",
            KeyType::Aes256k => "aes256k",
        })
    }
}

/// A running cluster with one monitor, whose processes end with it.
pub trait Cluster {
    /// What clients read.
    fn conf(&self) -> &Path;
    /// The administrator's keyring.
    fn keyring(&self) -> &Path;
    /// A folder for the files of a cell, seen at the same path by every release.
    fn scratch(&self) -> &Path;
    /// Keeps the cluster's files when it ends; says where they are.
    fn keep_files(&self) -> PathBuf;
}
