//! `ceph tell mon.X` with what only concerns that process.

use std::collections::BTreeMap;

use sepiola_messenger::DaemonCommands;
use serde_json::{Map, Value};

use super::{Caller, Reply, allowed, descriptions, format::pretty};

/// Whether a caller may ask this monitor alone. As with real monitors that takes `rwx`, whatever the command:
/// some of them change the process.
pub(crate) fn may_tell(caller: &Caller, command: &Value) -> bool {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let arguments = command.as_object().into_iter().flatten().filter(|(name, _)| *name != "prefix");
    let arguments: BTreeMap<_, _> = arguments.map(|(name, value)| (name.clone(), text(value))).collect();
    allowed(caller, "mon", Some((command["prefix"].as_str().unwrap_or_default(), &arguments)), "rwx")
}

/// Answers a command that whoever runs this monitor knows; `None` if it is one for all monitors. The caller
/// has been found to be allowed to.
pub(crate) fn tell(commands: &dyn DaemonCommands, command: &Value) -> Option<Reply> {
    let prefix = command["prefix"].as_str()?;
    if prefix == "get_command_descriptions" {
        return Some(Reply::output(together(&commands.descriptions()).to_string()));
    }
    if !commands.knows(prefix) {
        return None;
    }
    Some(match commands.run(command)? {
        Ok(value) if command["format"] == "json" => Reply::output(value.to_string()),
        Ok(value) => Reply::output(pretty(&value)),
        Err((errno, text)) => Reply::error(errno, text),
    })
}

/// The process's commands, and those of all monitors that are not among them: `config get` has other
/// arguments here.
fn together(own: &Value) -> Value {
    let words = |described: &Value| -> Vec<String> {
        let sig = described["sig"].as_array().into_iter().flatten();
        sig.map_while(|word| word.as_str().map(str::to_owned)).collect()
    };
    let own: Vec<&Value> = own.as_object().into_iter().flat_map(Map::values).collect();
    let known: Vec<_> = own.iter().map(|described| words(described)).collect();
    let all = descriptions();
    let others = all.as_object().into_iter().flat_map(Map::values).filter(|d| !known.contains(&words(d)));
    let all = own.into_iter().chain(others).enumerate();
    all.map(|(i, described)| (format!("cmd{i:03}"), described.clone())).collect::<Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::caller;

    #[test]
    fn to_ask_one_monitor_takes_all_three_rights_whatever_the_command() {
        let ask = |caps: &str, command: &str| {
            may_tell(&caller("client.x", caps), &serde_json::from_str(command).unwrap_or_default())
        };
        for command in
            [r#"{"prefix": "config set"}"#, r#"{"prefix": "status"}"#, r#"{"prefix": "version"}"#, "x"]
        {
            for caps in ["allow r", "allow rw", "allow r, allow w", "profile osd"] {
                assert!(!ask(caps, command), "{caps}: {command}");
            }
            for caps in ["allow *", "allow rwx"] {
                assert!(ask(caps, command), "{caps}: {command}");
            }
        }
        let one = "allow command \"log\" with what=this";
        assert!(ask(one, r#"{"prefix": "log", "what": "this"}"#));
        assert!(!ask(one, r#"{"prefix": "log", "what": "that"}"#));
    }
}
