//! Binding the words of a command line to a command's description.

use sepiola_wire::Errno;
use serde_json::{Map, Value};

use super::describe::{Argument, Description, Part};
use crate::failure::Failure;

/// How a command line fails to be a command.
enum Mismatch {
    /// A literal word differs, after this many that matched.
    Word(usize),
    /// The words matched, the arguments do not.
    Argument(String),
}

/// The JSON of the command that `words` spell.
pub fn bind(words: &[String], descriptions: &[Description]) -> Result<Map<String, Value>, Failure> {
    let (positional, named) = split_named(words);
    let mut best: Option<(usize, Map<String, Value>)> = None;
    let mut complaint: Option<(usize, String)> = None;
    let mut near: Vec<(usize, &Description)> = Vec::new();
    for description in descriptions {
        match try_bind(description, &positional, &named) {
            // `osd pool rm` over `osd pool`: the command with the most literal words is the one meant.
            Ok((literals, command)) => {
                if best.as_ref().is_none_or(|(most, _)| literals > *most) {
                    best = Some((literals, command));
                }
            }
            Err(Mismatch::Word(matched)) => near.push((matched, description)),
            Err(Mismatch::Argument(why)) => {
                let literals = description.prefix().split(' ').count();
                if complaint.as_ref().is_none_or(|(most, _)| literals > *most) {
                    let usage = format!("{} :  {}", description.usage(), description.help);
                    complaint = Some((literals, format!("Invalid command: {why}\n{usage}\n{INVALID}")));
                }
            }
        }
    }
    if let Some((_, command)) = best {
        return Ok(command);
    }
    if let Some((_, why)) = complaint {
        return Err(Failure::errno(Errno::EINVAL, why));
    }
    let wanted = words.join(" ");
    near.sort_by_key(|(matched, description)| {
        let prefix = description.prefix();
        // As many words of it as were given.
        let end = prefix.match_indices(' ').nth(words.len() - 1).map_or(prefix.len(), |(at, _)| at);
        (std::cmp::Reverse(*matched), strsim::levenshtein(&prefix[..end], &wanted), prefix)
    });
    near.truncate(NEAREST);
    let mut message = format!("no such command; the nearest {}:\n", near.len());
    for (_, description) in near {
        message.push_str(&format!("{}\n", description.usage()));
    }
    Err(Failure::errno(Errno::EINVAL, message + INVALID))
}

/// How many commands are shown to who has asked for none that exists.
const NEAREST: usize = 10;
const INVALID: &str = "Error EINVAL: invalid command";

/// Prints the commands whose words begin with `prefix`, with one line of help for each.
pub fn help(prefix: &str, descriptions: &[Description]) -> Result<(), Failure> {
    let mut found: Vec<_> = descriptions.iter().filter(|d| d.prefix().starts_with(prefix)).collect();
    if found.is_empty() {
        let words: Vec<String> = prefix.split(' ').map(str::to_owned).collect();
        return bind(&words, descriptions).map(drop);
    }
    found.sort_by_key(|description| description.prefix());
    let width = 40;
    for description in found {
        let usage = description.usage();
        if usage.len() < width {
            say!("{usage:<width$}{}", description.help);
        } else {
            say!("{usage}\n{:width$}{}", "", description.help);
        }
    }
    Ok(())
}

/// `--some-name value`, `--some-name=value` and `--a-switch` apart from the words in order.
fn split_named(words: &[String]) -> (Vec<&str>, Vec<(String, Option<&str>)>) {
    let mut positional = Vec::new();
    let mut named = Vec::new();
    let mut words = words.iter().map(String::as_str).peekable();
    while let Some(word) = words.next() {
        match word.strip_prefix("--") {
            Some("") => positional.extend(words.by_ref()),
            Some(flag) => match flag.split_once('=') {
                Some((name, value)) => named.push((name.replace('-', "_"), Some(value))),
                None => {
                    let name = flag.replace('-', "_");
                    let switch = name.starts_with("yes_i_");
                    let value = if switch { None } else { words.next_if(|w| !w.starts_with("--")) };
                    named.push((name, value));
                }
            },
            None => positional.push(word),
        }
    }
    (positional, named)
}

fn try_bind(
    description: &Description,
    words: &[&str],
    named: &[(String, Option<&str>)],
) -> Result<(usize, Map<String, Value>), Mismatch> {
    let mut command = Map::new();
    command.insert("prefix".to_owned(), description.prefix().into());
    let mut rest = words;
    let mut literals = 0;
    for part in &description.signature {
        match part {
            Part::Word(word) => match rest.split_first() {
                Some((first, tail)) if first == word => {
                    rest = tail;
                    literals += 1;
                }
                _ => return Err(Mismatch::Word(literals)),
            },
            Part::Argument(argument) => {
                if let Some((_, value)) = named.iter().find(|(name, _)| *name == argument.name) {
                    let value = value.unwrap_or("true");
                    command
                        .insert(argument.name.clone(), convert(argument, value).map_err(Mismatch::Argument)?);
                    continue;
                }
                if argument.kind == "CephBool" && argument.name.starts_with("yes_i_") {
                    continue;
                }
                if argument.repeats() {
                    let values: Result<Vec<_>, _> = rest.iter().map(|w| convert(argument, w)).collect();
                    let values = values.map_err(Mismatch::Argument)?;
                    rest = &[];
                    if values.is_empty() && argument.required() {
                        return Err(Mismatch::Argument(format!(
                            "missing required parameter {}",
                            argument.name
                        )));
                    }
                    if !values.is_empty() {
                        command.insert(argument.name.clone(), values.into());
                    }
                    continue;
                }
                match rest.split_first().map(|(first, tail)| (convert(argument, first), tail)) {
                    Some((Ok(value), tail)) => {
                        command.insert(argument.name.clone(), value);
                        rest = tail;
                    }
                    // An optional argument that the word does not fit is left out; the next may take it.
                    Some((Err(_), _)) | None if !argument.required() => {}
                    Some((Err(why), _)) => return Err(Mismatch::Argument(why)),
                    None => {
                        return Err(Mismatch::Argument(format!(
                            "missing required parameter {}",
                            argument.name
                        )));
                    }
                }
            }
        }
    }
    if let Some(extra) = rest.first() {
        return Err(Mismatch::Argument(format!("unused argument: {extra}")));
    }
    let known =
        |name: &str| description.signature.iter().any(|p| matches!(p, Part::Argument(a) if a.name == name));
    if let Some((unknown, _)) = named.iter().find(|(name, _)| !known(name)) {
        return Err(Mismatch::Argument(format!("unknown option --{}", unknown.replace('_', "-"))));
    }
    Ok((literals, command))
}

fn convert(argument: &Argument, word: &str) -> Result<Value, String> {
    let bad = |what: &str| format!("{}: `{word}` is not {what}", argument.name);
    match argument.kind.as_str() {
        "CephInt" => word.parse::<i64>().map(Value::from).map_err(|_| bad("an integer")),
        "CephFloat" => word.parse::<f64>().map(Value::from).map_err(|_| bad("a number")),
        "CephBool" => match word {
            "true" | "yes" | "1" => Ok(true.into()),
            "false" | "no" | "0" => Ok(false.into()),
            _ => Err(bad("true or false")),
        },
        "CephChoices" => {
            let choices = argument.strings.as_deref().unwrap_or_default();
            if choices.split('|').any(|c| c == word) {
                Ok(word.into())
            } else {
                Err(bad(&format!("one of {choices}")))
            }
        }
        _ if !argument.spells(word) => Err(bad("spelled with allowed characters")),
        _ => Ok(word.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::describe, *};

    fn bound(line: &[&str]) -> Result<Value, Failure> {
        let json = serde_json::json!({
            "cmd1": {"sig": ["osd", "pool", "create", {"name": "pool", "type": "CephPoolname"},
                {"name": "pg_num", "type": "CephInt", "req": "false"},
                {"name": "pool_type", "type": "CephChoices", "strings": "replicated|erasure", "req": "false"}]},
            "cmd2": {"sig": ["osd", "pool", "rm", {"name": "pool", "type": "CephPoolname"},
                {"name": "yes_i_really_mean_it", "type": "CephBool", "req": "false"}]},
            "cmd3": {"sig": ["auth", "caps", {"name": "entity", "type": "CephString"},
                {"name": "caps", "type": "CephString", "n": "N"}]},
            "cmd4": {"sig": ["osd", "blocklist",
                {"name": "range", "type": "CephString", "goodchars": "[range]", "req": "false"},
                {"name": "blocklistop", "type": "CephChoices", "strings": "add|rm"},
                {"name": "addr", "type": "CephEntityAddr"}]},
            "cmd5": {"sig": ["config-key", "get",
                {"name": "key", "type": "CephString", "goodchars": "[A-Za-z0-9-_.]"}]},
        });
        let descriptions = describe::parse(json.to_string().as_bytes())?;
        let words: Vec<String> = line.iter().map(|w| (*w).to_owned()).collect();
        bind(&words, &descriptions).map(Value::from)
    }

    #[test]
    fn a_text_is_told_by_its_characters() {
        let plain = bound(&["osd", "blocklist", "add", "1.2.3.4"]).unwrap();
        assert_eq!((&plain["blocklistop"], plain.get("range")), (&"add".into(), None));
        let range = bound(&["osd", "blocklist", "range", "add", "1.2.3.4/24"]).unwrap();
        assert_eq!((&range["range"], &range["blocklistop"]), (&"range".into(), &"add".into()));
        assert_eq!(bound(&["config-key", "get", "a-Z_9.x"]).unwrap()["key"], "a-Z_9.x");
        assert!(bound(&["config-key", "get", "a/b"]).is_err());
    }

    #[test]
    fn words_become_json() {
        assert_eq!(
            bound(&["osd", "pool", "create", "p", "8"]).unwrap(),
            serde_json::json!({"prefix": "osd pool create", "pool": "p", "pg_num": 8})
        );
        assert_eq!(
            bound(&["osd", "pool", "create", "p", "erasure"]).unwrap(),
            serde_json::json!({"prefix": "osd pool create", "pool": "p", "pool_type": "erasure"})
        );
        assert_eq!(
            bound(&["osd", "pool", "rm", "p", "--yes-i-really-mean-it"]).unwrap(),
            serde_json::json!({"prefix": "osd pool rm", "pool": "p", "yes_i_really_mean_it": true})
        );
        assert_eq!(
            bound(&["auth", "caps", "client.x", "mon", "allow r"]).unwrap(),
            serde_json::json!({"prefix": "auth caps", "entity": "client.x", "caps": ["mon", "allow r"]})
        );
        assert_eq!(
            bound(&["osd", "pool", "create", "p", "--pg-num=4"]).unwrap(),
            serde_json::json!({"prefix": "osd pool create", "pool": "p", "pg_num": 4})
        );
    }

    #[test]
    fn who_mistypes_is_shown_what_is_near() {
        for (line, near) in [(&["osd", "pol", "rm"][..], "osd pool rm"), (&["auht", "caps"], "auth caps")] {
            let failure = format!("{:?}", bound(line).unwrap_err());
            let first = failure.split("\\n").nth(1).unwrap();
            assert!(first.starts_with(near), "{line:?}: {failure}");
        }
    }

    #[test]
    fn what_fits_no_command_is_refused() {
        for line in
            [&["osd"][..], &["osd", "pool", "create"], &["osd", "pool", "rm", "p", "extra"], &["nonsense"]]
        {
            assert!(bound(line).is_err(), "{line:?}");
        }
    }
}
