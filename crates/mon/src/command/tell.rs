//! `ceph tell mon.X` with what only concerns that process.

use std::collections::BTreeMap;

use sepiola_messenger::{DaemonCommands, merge_descriptions, render};
use serde_json::Value;

use super::{Reply, descriptions};
use crate::caller::{Caller, allowed};

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
        // The process's come first: its `config get` has other arguments than that of all monitors.
        let all = merge_descriptions(&commands.descriptions(), &descriptions());
        return Some(Reply::output(all.to_string()));
    }
    if !commands.knows(prefix) {
        return None;
    }
    Some(match commands.run(command)? {
        Ok(value) => Reply::output(render(&value, command)),
        Err((errno, text)) => Reply::error(errno, text),
    })
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
