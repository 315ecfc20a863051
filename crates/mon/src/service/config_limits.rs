//! How much the configuration database holds. Every daemon and client is sent its part of it before anything
//! else, so a database that is too large would lock them all out, and whoever could repair it too.

use std::collections::BTreeMap;

use sepiola_wire::Errno;
use thiserror::Error;

use crate::state::ConfigId;

/// Bytes of a name, and of whom it is for.
pub(crate) const MAX_NAME: usize = 256;
/// Bytes of a value, as of a config-key.
const MAX_VALUE: usize = 64 << 10;
/// Bytes of all names, targets and values.
pub(crate) const MAX_DATABASE: usize = 1 << 20;

/// Why an option cannot be stored.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum TooMuch {
    #[error("the name of a config option has at most {MAX_NAME} letters, digits and characters of _/.:-")]
    Name,
    #[error("a config target has at most {MAX_NAME} bytes")]
    Target,
    #[error("a value of {0} bytes is too large, the limit is {MAX_VALUE}")]
    Value(usize),
    #[error("the configuration database is full: it holds at most {MAX_DATABASE} bytes")]
    Database,
}

impl TooMuch {
    pub fn errno(&self) -> Errno {
        match self {
            TooMuch::Name | TooMuch::Target => Errno::EINVAL,
            TooMuch::Value(_) => Errno::EFBIG,
            TooMuch::Database => Errno::ENOSPC,
        }
    }
}

/// The room that a database leaves, less what one command takes of it.
#[derive(Debug)]
pub(crate) struct Room<'a> {
    database: &'a BTreeMap<ConfigId, String>,
    used: usize,
}

impl<'a> Room<'a> {
    pub fn left_by(database: &'a BTreeMap<ConfigId, String>) -> Self {
        let used = database.iter().map(|((who, name), value)| size(who, name, value)).sum();
        Room { database, used }
    }

    pub fn check_name(&self, name: &str) -> Result<(), TooMuch> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "_/.:-".contains(c);
        let fits = (1..=MAX_NAME).contains(&name.len()) && name.chars().all(allowed);
        fits.then_some(()).ok_or(TooMuch::Name)
    }

    pub fn check_value(&self, value: &str) -> Result<(), TooMuch> {
        (value.len() <= MAX_VALUE).then_some(()).ok_or(TooMuch::Value(value.len()))
    }

    /// Takes the room of one option. What it replaces gives its own back; a database that is too full all the
    /// same takes what makes it smaller.
    pub fn take(&mut self, who: &str, name: &str, value: &str) -> Result<(), TooMuch> {
        if who.len() > MAX_NAME {
            return Err(TooMuch::Target);
        }
        let replaced = self.database.get(&(who.to_owned(), name.to_owned()));
        let (before, now) = (replaced.map_or(0, |old| size(who, name, old)), size(who, name, value));
        if now > before && self.used - before + now > MAX_DATABASE {
            return Err(TooMuch::Database);
        }
        // One command may set an option twice; then the first counts too.
        self.used += now.saturating_sub(before);
        Ok(())
    }
}

fn size(who: &str, name: &str, value: &str) -> usize {
    who.len() + name.len() + value.len()
}

/// As many of the options, in the order of their names, as a message to one entity has. A database of this
/// version is never larger, but one that an older version wrote may be.
pub(crate) fn sendable(options: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut bytes = 0;
    let fits = |(name, value): &(String, String)| {
        let with_this = bytes + name.len() + value.len();
        let fits = name.len() <= MAX_NAME && value.len() <= MAX_VALUE && with_this <= MAX_DATABASE;
        if fits {
            bytes = with_this;
        }
        fits
    };
    options.into_iter().filter(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_has_a_bound_whatever_the_database_holds() {
        let option = |n: usize, bytes| (format!("o{n:03}"), "x".repeat(bytes));
        let mut options: BTreeMap<_, _> = (0..200).map(|n| option(n, MAX_VALUE)).collect();
        options.insert("huge".to_owned(), "x".repeat(15 << 20));
        options.insert("x".repeat(MAX_NAME + 1), String::new());
        options.insert("z".to_owned(), "small".to_owned());
        let sent = sendable(options);
        let bytes: usize = sent.iter().map(|(name, value)| name.len() + value.len()).sum();
        assert!(bytes <= MAX_DATABASE && bytes > MAX_DATABASE - 2 * MAX_VALUE, "{bytes}");
        assert!(!sent.contains_key("huge") && sent["z"] == "small");
    }
}
