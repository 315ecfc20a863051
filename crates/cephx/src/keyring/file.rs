//! Keyring files on disk.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::Path,
};

use zeroize::Zeroizing;

use super::{Keyring, KeyringError};

impl Keyring {
    /// Reads a file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, KeyringError> {
        let path = path.as_ref();
        let text = fs::read_to_string(path)
            .map(Zeroizing::new)
            .map_err(|source| KeyringError::Io { path: path.to_owned(), source })?;
        Self::parse(&text)
    }

    /// Writes a file that only its owner can read (mode 0600), in place of one that may be there. The file
    /// is complete or not changed at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), KeyringError> {
        let path = path.as_ref();
        replace(path, self.to_text().as_bytes())
            .map_err(|source| KeyringError::Io { path: path.to_owned(), source })
    }
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut temporary = name.to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(temporary);
    let written = write_private(&temporary, content).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // Nothing of a failed attempt stays behind; that it cannot be removed is no news then.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(content)?;
    file.sync_all()
}
