//! What arguments a command takes: told to command line tools, and checked before a handler runs.

use std::fmt;

use sepiola_wire::PgId;
use serde_json::{Map, Value, json};

/// The type of an argument.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// A text of these characters, as a set in brackets: `[A-Za-z0-9-_.]`.
    Chars(&'static str),
    /// A whole number of at least this.
    Int(i64),
    /// A number from..to.
    Float(f64, f64),
    /// A switch, `--name`.
    Switch,
    /// One of the words between the bars: `on|off`.
    Choice(&'static str),
    /// A pool's name.
    Pool,
    /// An object's name.
    Object,
    /// An OSD: `osd.3` or `3`.
    Osd,
    /// An address with optional port and nonce.
    Addr,
    /// A UUID.
    Uuid,
    /// A pg, `POOL.HEX`.
    Pg,
}

/// One argument.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arg {
    pub name: &'static str,
    pub kind: Kind,
    pub required: bool,
    pub repeated: bool,
}

/// A required argument.
pub(crate) const fn req(name: &'static str, kind: Kind) -> Arg {
    Arg { name, kind, required: true, repeated: false }
}

/// An optional argument.
pub(crate) const fn opt(name: &'static str, kind: Kind) -> Arg {
    Arg { name, kind, required: false, repeated: false }
}

/// An argument with one or more values.
pub(crate) const fn many(name: &'static str, kind: Kind) -> Arg {
    Arg { name, kind, required: true, repeated: true }
}

/// An optional argument with any number of values.
pub(crate) const fn any(name: &'static str, kind: Kind) -> Arg {
    Arg { name, kind, required: false, repeated: true }
}

impl Arg {
    /// The argument as `get_command_descriptions` shows it; every attribute is a string.
    pub fn describe(&self) -> Value {
        let kind = match self.kind {
            Kind::Text | Kind::Chars(_) => "CephString",
            Kind::Int(_) => "CephInt",
            Kind::Float(..) => "CephFloat",
            Kind::Switch => "CephBool",
            Kind::Choice(_) => "CephChoices",
            Kind::Pool => "CephPoolname",
            Kind::Object => "CephObjectname",
            Kind::Osd => "CephOsdName",
            Kind::Addr => "CephEntityAddr",
            Kind::Uuid => "CephUUID",
            Kind::Pg => "CephPgid",
        };
        let mut sig = Map::new();
        sig.insert("name".into(), self.name.into());
        sig.insert("type".into(), kind.into());
        match self.kind {
            Kind::Int(min) if min > i64::MIN => {
                sig.insert("range".into(), min.to_string().into());
            }
            Kind::Float(min, max) => {
                sig.insert("range".into(), format!("{min:?}|{max:?}").into());
            }
            Kind::Choice(words) => {
                sig.insert("strings".into(), words.into());
            }
            Kind::Chars(set) => {
                sig.insert("goodchars".into(), set.into());
            }
            _ => {}
        }
        if !self.required {
            sig.insert("req".into(), "false".into());
        }
        if self.repeated {
            sig.insert("n".into(), "N".into());
        }
        Value::Object(sig)
    }

    fn check_one(&self, value: &Value) -> Result<(), String> {
        let name = self.name;
        let wrong = |expected: &str| Err(format!("{name} expects {expected}"));
        match self.kind {
            Kind::Chars(set) => match value.as_str() {
                Some(text) if text.chars().all(|c| in_set(set, c)) => Ok(()),
                _ => wrong(&format!("characters of {set}")),
            },
            Kind::Text | Kind::Pool | Kind::Object if !value.is_string() => wrong("a string"),
            Kind::Int(min) => match as_int(value) {
                None => wrong("an integer"),
                Some(n) if n < min => Err(format!("{name} must be at least {min}")),
                Some(_) => Ok(()),
            },
            Kind::Float(min, max) => match as_float(value) {
                None => wrong("a number"),
                Some(n) if !(min..=max).contains(&n) => Err(format!("{name} must be within {min}..{max}")),
                Some(_) => Ok(()),
            },
            Kind::Switch if as_switch(value).is_none() => wrong("true or false"),
            Kind::Choice(words) => {
                let word = value.as_str().unwrap_or_default();
                if words.split('|').any(|w| w == word) { Ok(()) } else { wrong(&format!("one of {words}")) }
            }
            Kind::Uuid if value.as_str().is_none_or(|s| uuid::Uuid::parse_str(s).is_err()) => wrong("a UUID"),
            Kind::Pg if as_pg(value).is_none() => wrong("a pg, POOL.HEX"),
            Kind::Osd if as_osd(value).is_none() => wrong("an osd, osd.N or N"),
            Kind::Addr if value.as_str().is_none_or(|s| s.parse::<sepiola_wire::EntityAddr>().is_err()) => {
                wrong("an address, IP[:PORT][/NONCE]")
            }
            _ => Ok(()),
        }
    }
}

/// Whether a set such as `[A-Za-z0-9-_.]` has a character.
fn in_set(set: &str, c: char) -> bool {
    let inner: Vec<_> = set.trim_matches(['[', ']']).chars().collect();
    let mut at = 0;
    while at < inner.len() {
        match inner[at..] {
            // A dash between letters or digits is a range; elsewhere it is itself.
            [from, '-', to, ..] if from.is_alphanumeric() && to.is_alphanumeric() => {
                if (from..=to).contains(&c) {
                    return true;
                }
                at += 3;
            }
            [one, ..] if one == c => return true,
            _ => at += 1,
        }
    }
    false
}

fn as_int(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

fn as_float(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok()).filter(|f| f.is_finite())
}

fn as_switch(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(b) => Some(*b),
        Value::String(s) if s == "false" => Some(false),
        // Tools before Octopus send the switch itself as the value.
        Value::String(s) if s == "true" || s.starts_with("--") => Some(true),
        _ => None,
    }
}

fn as_osd(value: &Value) -> Option<i32> {
    let n = match value {
        Value::String(s) => s.strip_prefix("osd.").unwrap_or(s).parse().ok()?,
        other => i32::try_from(other.as_i64()?).ok()?,
    };
    (n >= 0).then_some(n)
}

fn as_pg(value: &Value) -> Option<PgId> {
    value.as_str()?.parse().ok()
}

/// The checked arguments of one command.
#[derive(Clone)]
pub(crate) struct Args(Map<String, Value>);

impl fmt::Debug for Args {
    /// Names without values, which may be keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Args {
    /// Checks `given` against what the command takes. Arguments that it does not know are left alone, as
    /// newer tools send some that older monitors ignore.
    pub fn check(given: Map<String, Value>, expected: &[Arg]) -> Result<Self, String> {
        for arg in expected {
            match given.get(arg.name) {
                None | Some(Value::Null) if arg.required => {
                    return Err(format!("missing required parameter {}", arg.name));
                }
                None | Some(Value::Null) => {}
                Some(Value::Array(items)) if arg.repeated => {
                    if items.is_empty() && arg.required {
                        return Err(format!("missing required parameter {}", arg.name));
                    }
                    items.iter().try_for_each(|item| arg.check_one(item))?;
                }
                Some(value) => arg.check_one(value)?,
            }
        }
        Ok(Args(given))
    }

    /// A text argument.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// A required text argument; empty if the signature does not require it.
    pub fn required(&self, name: &str) -> &str {
        self.text(name).unwrap_or_default()
    }

    /// A whole number.
    pub fn int(&self, name: &str) -> Option<i64> {
        as_int(self.0.get(name)?)
    }

    /// A number.
    pub fn float(&self, name: &str) -> Option<f64> {
        as_float(self.0.get(name)?)
    }

    /// A switch; off when absent.
    pub fn switch(&self, name: &str) -> bool {
        self.0.get(name).and_then(as_switch).unwrap_or(false)
    }

    /// An OSD's number.
    pub fn osd(&self, name: &str) -> Option<i32> {
        as_osd(self.0.get(name)?)
    }

    /// A pg.
    pub fn pg(&self, name: &str) -> Option<PgId> {
        as_pg(self.0.get(name)?)
    }

    /// The values of a repeated argument; a lone value counts as one.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let text = |v: &Value| match v {
            Value::String(s) => s.clone(),
            other => other.to_string(),
        };
        match self.0.get(name) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) => items.iter().map(text).collect(),
            Some(one) => vec![text(one)],
        }
    }

    /// The arguments as the caps check compares them: text by name, without the command itself.
    pub fn for_caps(&self) -> std::collections::BTreeMap<String, String> {
        let mut out = std::collections::BTreeMap::new();
        for (name, value) in &self.0 {
            if name == "prefix" {
                continue;
            }
            let text = match value {
                Value::String(s) => s.clone(),
                // A caps list alternates service and text; rules name them caps_mon, caps_osd and so on.
                Value::Array(items) if name == "caps" => {
                    for pair in items.chunks(2) {
                        if let [Value::String(service), Value::String(caps)] = pair {
                            out.insert(format!("caps_{service}"), caps.clone());
                        }
                    }
                    continue;
                }
                other => other.to_string(),
            };
            out.insert(name.clone(), text);
        }
        out
    }
}

/// The whole signature: the literal words, then the arguments.
pub(crate) fn describe(words: &str, args: &[Arg]) -> Value {
    let words = words.split(' ').map(|w| json!(w));
    Value::Array(words.chain(args.iter().map(Arg::describe)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: Value, expected: &[Arg]) -> Result<Args, String> {
        Args::check(given.as_object().unwrap().clone(), expected)
    }

    #[test]
    fn missing_wrong_and_out_of_range_arguments_are_named() {
        let sig = [req("pool", Kind::Pool), opt("pg_num", Kind::Int(0)), opt("mode", Kind::Choice("on|off"))];
        assert_eq!(check(json!({}), &sig).unwrap_err(), "missing required parameter pool");
        assert!(check(json!({"pool": 3}), &sig).unwrap_err().contains("pool"));
        assert!(check(json!({"pool": "p", "pg_num": -1}), &sig).unwrap_err().contains("pg_num"));
        assert!(check(json!({"pool": "p", "pg_num": 1.5}), &sig).unwrap_err().contains("pg_num"));
        assert!(check(json!({"pool": "p", "mode": "maybe"}), &sig).unwrap_err().contains("on|off"));
        let args = check(json!({"pool": "p", "pg_num": "8", "extra": [1]}), &sig).unwrap();
        assert_eq!((args.text("pool"), args.int("pg_num"), args.text("mode")), (Some("p"), Some(8), None));
    }

    #[test]
    fn switches_osds_and_lists_take_every_form_that_tools_send() {
        let sig = [opt("yes", Kind::Switch), any("ids", Kind::Osd)];
        for (given, expected) in [(json!(true), true), (json!("--yes"), true), (json!("false"), false)] {
            assert_eq!(check(json!({"yes": given}), &sig).unwrap().switch("yes"), expected);
        }
        let args = check(json!({"ids": ["osd.3", "4", 5]}), &sig).unwrap();
        assert_eq!(args.texts("ids"), ["osd.3", "4", "5"]);
        assert!(check(json!({"ids": ["osd.-1"]}), &sig).is_err());
    }

    #[test]
    fn sets_of_characters_have_ranges_and_dashes() {
        let sig = [req("name", Kind::Chars("[A-Za-z0-9-_.]"))];
        for (name, good) in [("az-AZ_0.9", true), ("a b", false), ("a=b", false), ("", true)] {
            assert_eq!(check(json!({"name": name}), &sig).is_ok(), good, "{name}");
        }
        let range = [req("range", Kind::Chars("[range]"))];
        assert!(check(json!({"range": "range"}), &range).is_ok());
        assert!(check(json!({"range": "add"}), &range).is_err());
    }

    #[test]
    fn a_signature_has_only_string_attributes() {
        let sig = describe("osd pool create", &[req("pool", Kind::Pool), opt("pg_num", Kind::Int(0))]);
        assert_eq!(
            sig,
            json!(["osd", "pool", "create", {"name": "pool", "type": "CephPoolname"},
                   {"name": "pg_num", "type": "CephInt", "range": "0", "req": "false"}])
        );
    }
}
