//! One error for everything that can go wrong in a test: a text for its reader.

use std::{error::Error, fmt, io, path::Path};

/// Why a cell or a cluster failed.
#[derive(Debug, Clone)]
pub struct Failure(String);

/// What test helpers return.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Failure(text.into())
    }

    /// A failed file operation.
    pub fn file(path: &Path) -> impl FnOnce(io::Error) -> Failure {
        move |e| Failure(format!("{}: {e}", path.display()))
    }

    /// Puts what was being done before the text.
    pub fn context(self, doing: impl fmt::Display) -> Self {
        Failure(format!("{doing}: {}", self.0))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Failure {}
