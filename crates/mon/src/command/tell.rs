//! `ceph tell mon.X` with what only concerns that process.

use std::collections::BTreeMap;

use sepiola_messenger::DaemonCommands;
use sepiola_wire::Errno;
use serde_json::{Map, Value};

use super::{Caller, Reply, allowed, descriptions, format::pretty};

/// Answers a command that whoever runs this monitor knows; `None` if it is one for all monitors.
pub(crate) fn tell(commands: &dyn DaemonCommands, caller: &Caller, command: &Value) -> Option<Reply> {
    let prefix = command["prefix"].as_str()?;
    if prefix == "get_command_descriptions" {
        return Some(Reply::output(together(&commands.descriptions()).to_string()));
    }
    if !commands.knows(prefix) {
        return None;
    }
    // Some of them change the process.
    if !allowed(caller, "mon", Some((prefix, &BTreeMap::new())), "rw") {
        return Some(Reply::error(Errno::EACCES, "access denied"));
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
