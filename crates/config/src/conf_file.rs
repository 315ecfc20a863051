//! The INI dialect of ceph.conf.

use std::{collections::BTreeMap, path::Path};

use thiserror::Error;

/// The sections of a file, in the file's own spelling, with normalised option names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfFile {
    sections: BTreeMap<String, BTreeMap<String, String>>,
}

/// Why a ceph.conf could not be read. Does not name the file, which its reader knows.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfFileError {
    /// The file is missing or unreadable.
    #[error("cannot be read: {0}")]
    Read(#[source] std::io::Error),
    /// A line is neither a section, an option nor a comment.
    #[error("line {line}: {reason}")]
    Syntax {
        /// Counted from 1.
        line: usize,
        /// What was expected.
        reason: &'static str,
    },
}

/// An option's name in its underscore form: spaces, dashes and underscores are the same, case matters.
pub fn option_name(name: &str) -> String {
    name.split([' ', '\t', '_', '-']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
}

impl ConfFile {
    /// Reads and parses a file.
    ///
    /// # Errors
    /// [`ConfFileError`], with the line for text that is none.
    pub fn load(path: &Path) -> Result<Self, ConfFileError> {
        Self::parse(&std::fs::read_to_string(path).map_err(ConfFileError::Read)?)
    }

    /// Parses a file's text. Later lines win over earlier ones, in the same or a repeated section. Options
    /// before the first section are global.
    ///
    /// # Errors
    /// [`ConfFileError::Syntax`].
    pub fn parse(text: &str) -> Result<Self, ConfFileError> {
        let mut file = ConfFile::default();
        let mut section = "global".to_owned();
        let mut lines = text.lines().enumerate();
        while let Some((index, raw)) = lines.next() {
            let syntax = |reason| ConfFileError::Syntax { line: index + 1, reason };
            let mut logical = raw.trim_end_matches('\r').to_owned();
            while let Some(head) = logical.strip_suffix('\\') {
                let next = lines.next().map_or("", |(_, line)| line.trim_end_matches('\r'));
                logical = format!("{head}{next}");
            }
            let line = logical.trim();
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            if let Some(rest) = line.strip_prefix('[') {
                let (name, _) =
                    rest.split_once(']').ok_or_else(|| syntax("a section needs a closing `]`"))?;
                name.trim().clone_into(&mut section);
                file.sections.entry(section.clone()).or_default();
                continue;
            }
            let (name, value) = line.split_once('=').ok_or_else(|| syntax("expected `option = value`"))?;
            let name = option_name(name);
            if name.is_empty() {
                return Err(syntax("an option needs a name"));
            }
            let value = parse_value(value).map_err(syntax)?;
            file.sections.entry(section.clone()).or_default().insert(name, value);
        }
        Ok(file)
    }

    /// One section, by its exact name.
    pub fn section(&self, name: &str) -> Option<&BTreeMap<String, String>> {
        self.sections.get(name)
    }

    /// All sections with their options, sorted.
    pub fn sections(&self) -> impl Iterator<Item = (&str, &BTreeMap<String, String>)> {
        self.sections.iter().map(|(name, options)| (name.as_str(), options))
    }

    /// The names of all sections.
    pub fn section_names(&self) -> impl Iterator<Item = &str> {
        self.sections.keys().map(String::as_str)
    }
}

/// Strips quotes and trailing comments; a comment sign inside quotes or behind a backslash is text.
fn parse_value(text: &str) -> Result<String, &'static str> {
    let text = text.trim();
    let mut chars = text.chars();
    if let Some(quote @ ('"' | '\'')) = chars.next() {
        let mut value = String::new();
        loop {
            match chars.next() {
                None => return Err("a quoted value needs its closing quote"),
                Some('\\') => value.extend(chars.next()),
                Some(c) if c == quote => break,
                Some(c) => value.push(c),
            }
        }
        let tail = chars.as_str().trim();
        return if tail.is_empty() || tail.starts_with(['#', ';']) {
            Ok(value)
        } else {
            Err("text behind a quoted value")
        };
    }
    let mut value = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '#' | ';' => break,
            '\\' => value.extend(chars.next()),
            c => value.push(c),
        }
    }
    Ok(value.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dialect() {
        let file = ConfFile::parse(
            "; a comment\n[global]\n mon host = [v2:1.2.3.4:3300/0] ; why\nfsid=\"a b\"\r\nlog-file = /x\\\n/y\n\
             [client.admin]\nkeyring = '/k # not a comment'\n[global]\nmon_host = 5.6.7.8\n",
        )
        .unwrap();
        let global = file.section("global").unwrap();
        assert_eq!(global["mon_host"], "5.6.7.8");
        assert_eq!(global["fsid"], "a b");
        assert_eq!(global["log_file"], "/x/y");
        assert_eq!(file.section("client.admin").unwrap()["keyring"], "/k # not a comment");
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line) in
            [("[global]\nnonsense\n", 2), ("[global\n", 1), ("[a]\n\nx = \"y\n", 3), ("include /x\n", 1)]
        {
            match ConfFile::parse(text) {
                Err(ConfFileError::Syntax { line: at, .. }) => assert_eq!(at, line, "{text:?}"),
                other => panic!("{text:?}: {other:?}"),
            }
        }
    }
}
