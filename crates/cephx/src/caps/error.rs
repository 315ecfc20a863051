//! Where a capability text stops making sense.

use thiserror::Error;

/// A capability text that does not parse. Its display form is the one that `ceph auth` users know.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{service} capability parse failed, stopped at {} of '{text}'", rest_of(service, text, *offset))]
pub struct CapsError {
    service: &'static str,
    text: String,
    offset: usize,
}

impl CapsError {
    pub(super) fn new(service: &'static str, text: &str, offset: usize) -> Self {
        CapsError { service, text: text.to_owned(), offset }
    }

    /// Byte offset of the first thing that was not understood.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The column of that place, counted in characters from 1.
    pub fn column(&self) -> usize {
        self.text[..self.offset].chars().count() + 1
    }

    /// The text with a caret below the place, two lines.
    pub fn caret(&self) -> String {
        format!("{}\n{:>width$}", self.text, '^', width = self.column())
    }
}

/// What was not understood, as the stock tools put it.
fn rest_of(service: &str, text: &str, offset: usize) -> String {
    match &text[offset..] {
        "" if service == "mon" => "end".to_owned(),
        rest => format!("'{rest}'"),
    }
}
