//! Commands that whoever runs a daemon answers for it: those of its admin socket, over the network.

use std::fmt;

use sepiola_wire::Errno;
use serde::Serialize;
use serde_json::{Map, Value, ser::PrettyFormatter};

/// What `ceph tell` can ask besides what a daemon itself knows.
pub trait DaemonCommands: fmt::Debug + Send + Sync {
    /// Whether there is a command with these words.
    fn knows(&self, prefix: &str) -> bool;

    /// Runs a command; `None` if there is no such one.
    fn run(&self, command: &Value) -> Option<Result<Value, (Errno, String)>>;

    /// The commands in the form that tools read: `{"cmd000": {"sig": [..], ..}, ..}`.
    fn descriptions(&self) -> Value;
}

/// JSON over several lines, indented by four blanks as Ceph's tools have it; without a newline at its end.
pub fn indented(value: &Value) -> String {
    let mut out = Vec::new();
    let mut serializer =
        serde_json::Serializer::with_formatter(&mut out, PrettyFormatter::with_indent(b"    "));
    // Writing into memory cannot fail, and a value's keys are texts.
    value.serialize(&mut serializer).expect("a JSON value serializes");
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// An answer in the form that a command's `format` asks for: compact for `json`, otherwise over several lines
/// with a newline at the end.
pub fn render(answer: &Value, command: &Value) -> String {
    if command["format"] == "json" { answer.to_string() } else { indented(answer) + "\n" }
}

/// Descriptions of commands (as [`DaemonCommands::descriptions`] has them), with those of `others` whose words
/// none of `own` has.
pub fn merge_descriptions(own: &Value, others: &Value) -> Value {
    let all = |described: &Value| -> Vec<Value> {
        described.as_object().into_iter().flat_map(Map::values).cloned().collect()
    };
    let words = |described: &Value| -> Vec<String> {
        let signature = described["sig"].as_array().into_iter().flatten();
        signature.map_while(|word| word.as_str().map(str::to_owned)).collect()
    };
    let mut merged = all(own);
    let known: Vec<_> = merged.iter().map(words).collect();
    merged.extend(all(others).into_iter().filter(|described| !known.contains(&words(described))));
    merged.into_iter().enumerate().map(|(i, d)| (format!("cmd{i:03}"), d)).collect::<Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_are_indented_by_four_unless_compact_json_is_asked_for() {
        let answer = json!({ "a": [1] });
        assert_eq!(render(&answer, &json!({ "format": "json" })), r#"{"a":[1]}"#);
        let lines = "{\n    \"a\": [\n        1\n    ]\n}\n";
        assert_eq!(render(&answer, &json!({ "format": "json-pretty" })), lines);
        assert_eq!(render(&answer, &json!({})), lines);
    }

    #[test]
    fn ones_own_commands_hide_others_of_the_same_words() {
        let argument = json!({ "name": "key", "type": "CephString" });
        let own = json!({ "cmd000": { "sig": ["config", "get", argument], "help": "own" } });
        let others = json!({
            "cmd000": { "sig": ["config", "get"], "help": "other" },
            "cmd001": { "sig": ["config"], "help": "shorter" },
        });
        assert_eq!(
            merge_descriptions(&own, &others),
            json!({
                "cmd000": { "sig": ["config", "get", argument], "help": "own" },
                "cmd001": { "sig": ["config"], "help": "shorter" },
            })
        );
    }
}
