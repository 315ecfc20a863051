//! What is asked for: operations of one kind and size, so many in flight.

use std::fmt;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// The kind of operation, named as `rados bench` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Writes of new objects.
    Write,
    /// Reads of them at random.
    Rand,
}

impl Op {
    /// Both, in the order in which they have to run.
    pub const ALL: [Op; 2] = [Op::Write, Op::Rand];
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Op::Write => "write",
            Op::Rand => "rand",
        })
    }
}

/// Operations of one size, so many in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    /// Bytes of an operation.
    pub size: usize,
    /// Operations in flight.
    pub depth: usize,
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.size {
            size if size % (1 << 20) == 0 => write!(f, "{} MiB", size >> 20)?,
            size if size % (1 << 10) == 0 => write!(f, "{} KiB", size >> 10)?,
            size => write!(f, "{size} B")?,
        }
        write!(f, " QD{}", self.depth)
    }
}

/// A size such as 4096, 4K or 4M, in bytes.
///
/// # Errors
/// If it is none; with a text for the user.
pub fn parse_size(text: &str) -> Result<usize, String> {
    let (digits, shift) = match text.to_ascii_uppercase() {
        upper if upper.ends_with('K') => (text.len() - 1, 10),
        upper if upper.ends_with('M') => (text.len() - 1, 20),
        _ => (text.len(), 0),
    };
    let number: usize = text[..digits].parse().map_err(|_| format!("`{text}` is not a size"))?;
    match number.checked_mul(1 << shift) {
        Some(size) if (1..=64 << 20).contains(&size) => Ok(size),
        _ => Err(format!("`{text}` is not between 1 B and 64 MiB")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_shown() {
        assert_eq!(
            [parse_size("4096"), parse_size("4k"), parse_size("4M")],
            [Ok(4096), Ok(4096), Ok(4 << 20)]
        );
        for wrong in ["", "K", "4G", "-1", "0", "65M"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
        let shown = |size| Load { size, depth: 16 }.to_string();
        assert_eq!([shown(4096), shown(4 << 20), shown(100)], ["4 KiB QD16", "4 MiB QD16", "100 B QD16"]);
    }
}
