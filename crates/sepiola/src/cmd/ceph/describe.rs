//! Command descriptions, as monitors give them.

use serde::Deserialize;
use serde_json::Value;

use crate::failure::Failure;

/// One command.
#[derive(Debug)]
pub struct Description {
    /// Its words and arguments, in order.
    pub signature: Vec<Part>,
    /// One line for people.
    pub help: String,
}

/// One position of a command.
#[derive(Debug)]
pub enum Part {
    /// A word that stands there literally.
    Word(String),
    /// An argument.
    Argument(Box<Argument>),
}

/// An argument; every attribute arrives as text.
#[derive(Debug, Deserialize)]
pub struct Argument {
    /// The key in the command's JSON.
    pub name: String,
    /// e.g. `CephInt`.
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    req: Option<Value>,
    #[serde(default)]
    n: Option<Value>,
    /// `a|b|c`, for choices.
    #[serde(default)]
    pub strings: Option<String>,
    /// `[A-Za-z0-9-_.]`: the characters that a text may have.
    #[serde(default)]
    goodchars: Option<String>,
}

impl Argument {
    /// Whether the command needs it.
    pub fn required(&self) -> bool {
        !matches!(&self.req, Some(Value::String(s)) if s == "false") && self.req != Some(Value::Bool(false))
    }

    /// How it stands in a usage line: in brackets if it can be left out.
    fn usage(&self) -> String {
        let name = &self.name;
        let shown = match (self.kind.as_str(), &self.strings) {
            (_, Some(strings)) => strings.clone(),
            ("CephBool", None) => format!("--{}", name.replace('_', "-")),
            ("CephInt", None) => format!("<{name}:int>"),
            ("CephFloat", None) => format!("<{name}:float>"),
            _ => format!("<{name}>"),
        };
        let shown = if self.repeats() { format!("{shown}...") } else { shown };
        if self.required() { shown } else { format!("[{shown}]") }
    }

    /// Whether the word has only characters that the argument may have.
    pub fn spells(&self, word: &str) -> bool {
        let Some(class) = &self.goodchars else { return true };
        let class: Vec<char> = class.trim_start_matches('[').trim_end_matches(']').chars().collect();
        let (mut ranges, mut rest) = (Vec::new(), &class[..]);
        while let [first, tail @ ..] = rest {
            // A dash between two characters is a range, any other is itself.
            let (range, tail) = match tail {
                ['-', last, tail @ ..] if last > first => (*first..=*last, tail),
                _ => (*first..=*first, tail),
            };
            ranges.push(range);
            rest = tail;
        }
        word.chars().all(|c| ranges.iter().any(|range| range.contains(&c)))
    }

    /// Whether it takes all words that are left.
    pub fn repeats(&self) -> bool {
        matches!(&self.n, Some(Value::String(s)) if s == "N")
    }
}

/// Reads the answer to `get_command_descriptions`.
pub fn parse(json: &[u8]) -> Result<Vec<Description>, Failure> {
    #[derive(Deserialize)]
    struct Raw {
        sig: Vec<Value>,
        #[serde(default)]
        help: String,
    }
    let raw: serde_json::Map<String, Value> = serde_json::from_slice(json)?;
    raw.into_values()
        .map(|value| {
            let raw: Raw = serde_json::from_value(value)?;
            let parts = raw.sig.into_iter().map(|part| match part {
                Value::String(word) => Ok(Part::Word(word)),
                other => serde_json::from_value(other).map(Part::Argument),
            });
            Ok(Description { signature: parts.collect::<Result<_, _>>()?, help: raw.help })
        })
        .collect()
}

impl Description {
    /// The literal words: the command's prefix.
    pub fn prefix(&self) -> String {
        let words = self.signature.iter().filter_map(|p| match p {
            Part::Word(word) => Some(word.as_str()),
            Part::Argument(_) => None,
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// The usage line.
    pub fn usage(&self) -> String {
        let parts = self.signature.iter().map(|p| match p {
            Part::Word(word) => word.clone(),
            Part::Argument(a) => a.usage(),
        });
        parts.collect::<Vec<_>>().join(" ")
    }
}
