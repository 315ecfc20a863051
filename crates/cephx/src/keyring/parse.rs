//! Reading keyring text.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sepiola_crypto::{CryptoKey, KeyError, KeyType};
use sepiola_wire::{Decode, EntityName, Reader, UTime};
use zeroize::Zeroizing;

use super::{Keyring, KeyringEntry, KeyringError, LineProblem, UnusableKey};

pub(super) fn parse(text: &str) -> Result<Keyring, KeyringError> {
    let mut keyring = Keyring::new();
    let mut section: Option<EntityName> = None;
    let mut outside: Option<usize> = None;
    for (index, line) in text.lines().enumerate() {
        let at_line = |problem| KeyringError::Line { line: index + 1, problem };
        let line = line.trim();
        if line.is_empty() || starts_comment(line) {
            continue;
        }
        if line.starts_with('[') {
            // The stock tools pass over such lines in a file that has no section, and only there.
            if let Some(line) = outside {
                return Err(KeyringError::Line { line, problem: LineProblem::NoSection });
            }
            let name = parse_section(line).map_err(at_line)?;
            keyring.entry(name.clone());
            section = Some(name);
        } else if let Some(name) = &section {
            parse_field(line, keyring.entry(name.clone())).map_err(at_line)?;
        } else {
            let (_, value) = line.split_once('=').ok_or_else(|| at_line(LineProblem::NotAField))?;
            parse_value(value.trim_start()).map_err(at_line)?;
            outside.get_or_insert(index + 1);
        }
    }
    Ok(keyring)
}

fn starts_comment(text: &str) -> bool {
    text.starts_with(['#', ';'])
}

fn parse_section(line: &str) -> Result<EntityName, LineProblem> {
    let (name, rest) = line[1..].split_once(']').ok_or(LineProblem::Section)?;
    let rest = rest.trim_start();
    if !rest.is_empty() && !starts_comment(rest) {
        return Err(LineProblem::Section);
    }
    name.parse().map_err(|_| LineProblem::Section)
}

fn parse_field(line: &str, entry: &mut KeyringEntry) -> Result<(), LineProblem> {
    let (field, value) = line.split_once('=').ok_or(LineProblem::NotAField)?;
    let value = parse_value(value.trim_start())?;
    let words: Vec<&str> = field.split([' ', '\t', '_']).filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        ["key"] => match parse_key(&value)? {
            ParsedKey::Usable(key) => (entry.key, entry.unusable) = (Some(key), None),
            ParsedKey::UnknownType(kind) => {
                (entry.key, entry.unusable) = (None, Some(UnusableKey { kind, text: value }));
            }
        },
        ["pending", "key"] => match parse_key(&value)? {
            ParsedKey::Usable(key) => entry.pending_key = Some(key),
            // The key that is valid now is not spoiled by it.
            ParsedKey::UnknownType(_) => entry.pending_key = None,
        },
        ["caps", service] => {
            entry.caps.insert((*service).to_owned(), value.to_string());
        }
        ["auid"] => {}
        _ => return Err(LineProblem::UnknownField),
    }
    Ok(())
}

/// The value behind `=`: quoted in either way, or bare up to a comment.
fn parse_value(text: &str) -> Result<Zeroizing<String>, LineProblem> {
    let (value, rest) = match text.chars().next() {
        Some('"') => parse_double_quoted(&text[1..])?,
        Some('\'') => {
            let (value, rest) = text[1..].split_once('\'').ok_or(LineProblem::Quotes)?;
            (Zeroizing::new(value.to_owned()), rest)
        }
        _ => {
            let end = text.find(['#', ';']).unwrap_or(text.len());
            let value = text[..end].trim_end();
            if value.ends_with('\\') {
                return Err(LineProblem::Continuation);
            }
            (Zeroizing::new(value.to_owned()), "")
        }
    };
    let rest = rest.trim_start();
    match rest {
        "" => Ok(value),
        "\\" => Err(LineProblem::Continuation),
        _ if starts_comment(rest) => Ok(value),
        _ => Err(LineProblem::Quotes),
    }
}

fn parse_double_quoted(text: &str) -> Result<(Zeroizing<String>, &str), LineProblem> {
    let mut value = Zeroizing::new(String::with_capacity(text.len()));
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((value, &text[at + 1..])),
            '\\' => value.push(chars.next().ok_or(LineProblem::Quotes)?.1),
            c => value.push(c),
        }
    }
    Err(LineProblem::Quotes)
}

enum ParsedKey {
    Usable(CryptoKey),
    UnknownType(u16),
}

/// Reads a key as the stock tools do: bytes behind the secret are ignored.
fn parse_key(text: &str) -> Result<ParsedKey, KeyError> {
    let bytes = Zeroizing::new(STANDARD.decode(text).map_err(|_| KeyError::Base64)?);
    let mut r = Reader::new(&bytes);
    let parts = (|| {
        let kind = r.u16()?;
        let created = UTime::decode(&mut r)?;
        let len = r.u16()?;
        Ok::<_, sepiola_wire::DecodeError>((kind, created, r.bytes(len.into())?))
    })();
    let (number, created, secret) = parts.map_err(|_| KeyError::Length)?;
    match KeyType::from_u16(number) {
        Some(kind) => CryptoKey::from_secret(kind, created, secret).map(ParsedKey::Usable),
        None => Ok(ParsedKey::UnknownType(number)),
    }
}
