//! `config ...` and `injectargs` of a running daemon.

use sepiola_config::{
    Config, HIDDEN, Layer, OPTIONS, is_secret, known_option, option_info, option_name, split_ceph_args,
};
use sepiola_wire::Errno;
use serde_json::{Map, Value, json};

use super::commands::{Admin, Answer, errno_text};

fn variable(command: &Value) -> &str {
    command["var"].as_str().unwrap_or_default()
}

fn failed(errno: Errno, what: String) -> (Errno, String) {
    (errno, format!("error {what}: {}", errno_text(errno)))
}

pub(super) fn show(admin: &Admin, _: &Value) -> Answer {
    Ok(admin.config.read(|config| {
        let name = [("name", config.name().to_string()), ("cluster", config.cluster().to_owned())];
        let known = OPTIONS.iter().map(|o| (o.name, config.shown(o.name).unwrap_or_default()));
        name.into_iter().chain(known).map(|(name, value)| (name.to_owned(), json!(value))).collect()
    }))
}

pub(super) fn get(admin: &Admin, command: &Value) -> Answer {
    let option = variable(command);
    let name = option_name(option);
    let built_in = || Some(known_option(&name)?.default_for(true).to_owned());
    match admin.config.read(|config| config.shown(&name)).or_else(built_in) {
        Some(value) => Ok(json!({ option: value })),
        None => Err(failed(Errno::ENOENT, format!("getting '{option}'"))),
    }
}

pub(super) fn set(admin: &Admin, command: &Value) -> Answer {
    let (option, value) = (variable(command), text_of(&command["val"]).unwrap_or_default());
    let refused = |errno| Err(failed(errno, format!("setting '{option}' to '{value}'")));
    match change(admin, &option_name(option), &value) {
        Ok(Effect::Now) => Ok(json!({ "success": "" })),
        Ok(Effect::None) => Ok(
            json!({ "success": format!("{option} = '{value}' (not observed, change may require restart) ") }),
        ),
        Err(errno) => refused(errno),
    }
}

/// What came of a change.
enum Effect {
    Now,
    /// Sepiola does not look at the option while it runs.
    None,
}

fn change(admin: &Admin, name: &str, value: &str) -> Result<Effect, Errno> {
    let known = known_option(name).ok_or(Errno::ENOENT)?;
    let value = known.normalise(value).map_err(|_| Errno::EINVAL)?;
    let ours = option_info(name).is_some_and(|o| o.runtime);
    if !ours && !known.runtime {
        return Err(Errno::EPERM);
    }
    admin.config.update(|config| config.set(Layer::Runtime, name, value));
    Ok(if ours { Effect::Now } else { Effect::None })
}

pub(super) fn unset(admin: &Admin, command: &Value) -> Answer {
    let option = variable(command);
    if known_option(&option_name(option)).is_none() {
        return Err(failed(Errno::EINVAL, format!("unsetting '{option}'")));
    }
    admin.config.update(|config| config.unset(Layer::Runtime, option));
    Ok(json!({}))
}

/// `config diff`, and `config diff get` for one option.
pub(super) fn diff(admin: &Admin, command: &Value) -> Answer {
    let only = command["var"].as_str().map(option_name);
    let diff = admin.config.read(|config| {
        let names = config.names_set().into_iter();
        let wanted = names.filter(|name| only.as_deref().is_none_or(|only| only == *name));
        wanted.map(|name| (name.to_owned(), layers(config, name))).collect::<Map<_, _>>()
    });
    Ok(json!({ "diff": diff }))
}

fn layers(config: &Config, name: &str) -> Value {
    let shown = |text: &str| if is_secret(name) && !text.is_empty() { HIDDEN } else { text }.to_owned();
    let default = known_option(name).map_or("", |known| known.default_for(true));
    let said = config.said_of(name).map(|(layer, text)| (layer.name(), shown(text)));
    let fields = [("default", default.to_owned())].into_iter().chain(said);
    let last = ("final", config.shown(name).unwrap_or_default());
    fields.chain([last]).map(|(field, text)| (field.to_owned(), json!(text))).collect()
}

pub(super) fn help(_: &Admin, command: &Value) -> Answer {
    let option = variable(command);
    let Some(known) = known_option(&option_name(option)) else {
        return Err((Errno::ENOENT, format!("Setting not found: '{option}'")));
    };
    let ours = option_info(known.name);
    Ok(json!({ "option": {
        "name": known.name, "type": known.type_name, "level": known.level, "desc": ours.map_or("", |o| o.about),
        "default": known.default_for(true), "min": known.min, "max": known.max,
        "can_update_at_runtime": known.followed(),
    }}))
}

/// `injectargs --debug_osd=5 --debug_ms 1`.
pub(super) fn inject(admin: &Admin, command: &Value) -> Answer {
    let text = text_of(&command["injected_args"]).unwrap_or_default();
    let split = split_ceph_args(text.split_whitespace().map(str::to_owned));
    if !split.rest.is_empty() {
        let rest: Vec<_> = split.rest.iter().map(|word| word.to_string_lossy()).collect();
        return Err((Errno::EINVAL, format!(" failed to parse arguments: {}", rest.join(" "))));
    }
    for (option, value) in &split.options {
        change(admin, option, value).map_err(|errno| {
            let why = match errno {
                Errno::EPERM => format!("Configuration option '{option}' may not be modified at runtime"),
                errno => errno_text(errno),
            };
            (errno, format!("Parse error setting {option} to '{value}' using injectargs ({why}).\n"))
        })?;
    }
    Ok(json!({}))
}

/// Values may arrive as text, as a list of words, or as a number.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(on) => Some(on.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use sepiola_messenger::DaemonCommands;

    use super::*;
    use crate::admin::commands::tests::osd;

    fn run(admin: &Admin, command: Value) -> Answer {
        admin.run(&command).unwrap()
    }

    #[test]
    fn options_are_changed_shown_and_put_back() {
        let admin = osd();
        admin.config.set_from_monitors(&BTreeMap::from([("debug_osd".to_owned(), "10/10".to_owned())]));
        let set =
            |var: &str, val: &str| run(&admin, json!({"prefix": "config set", "var": var, "val": [val]}));
        let get = |var: &str| run(&admin, json!({"prefix": "config get", "var": var})).unwrap()[var].clone();
        assert_eq!(set("debug_osd", "3"), Ok(json!({"success": ""})));
        assert_eq!(get("debug_osd"), "3/3");
        let diff = run(&admin, json!({"prefix": "config diff get", "var": "debug_osd"})).unwrap();
        assert_eq!(
            diff["diff"]["debug_osd"],
            json!({"default": "1/5", "mon": "10/10", "override": "3/3", "final": "3/3"})
        );
        assert_eq!(run(&admin, json!({"prefix": "config unset", "var": "debug_osd"})), Ok(json!({})));
        assert_eq!(get("debug_osd"), "10/10");
        assert_eq!(get("osd_max_backfills"), "1", "an option that only Ceph honours");
        assert_eq!(run(&admin, json!({"prefix": "config show"})).unwrap()["debug_osd"], "10/10");
    }

    #[test]
    fn what_cannot_be_changed_is_refused_with_cephs_errno() {
        let admin = osd();
        let set = |var: &str, val: &str| {
            run(&admin, json!({"prefix": "config set", "var": var, "val": val})).unwrap_err()
        };
        assert_eq!(
            set("nonsense", "1"),
            (Errno::ENOENT, "error setting 'nonsense' to '1': (2) No such file or directory".to_owned())
        );
        assert_eq!(set("osd_data", "/x").0, Errno::EPERM);
        assert_eq!(set("debug_osd", "x").0, Errno::EINVAL);
        let inject = |args: &str| run(&admin, json!({"prefix": "injectargs", "injected_args": [args]}));
        assert_eq!(inject("--debug_osd=6/7 --debug-ms 1"), Ok(json!({})));
        assert_eq!(admin.config.read(|c| c.text("debug_ms")).as_deref(), Some("1/1"));
        assert_eq!(inject("--osd_data=x").unwrap_err().0, Errno::EPERM);
        assert_eq!(inject("--nonsense=x").unwrap_err().1, " failed to parse arguments: --nonsense=x");
        let effect = run(&admin, json!({"prefix": "config set", "var": "osd_max_backfills", "val": "2"}));
        assert!(effect.unwrap()["success"].to_string().contains("not observed"));
    }

    #[test]
    fn a_key_is_not_shown_in_any_layer() {
        let admin = osd();
        admin.config.update(|config| config.set(Layer::File, "key", "a secret"));
        for prefix in ["config show", "config diff"] {
            let shown = run(&admin, json!({ "prefix": prefix })).unwrap().to_string();
            assert!(shown.contains("******") && !shown.contains("a secret"), "{shown}");
        }
        admin.config.update(|config| config.set(Layer::Runtime, "key", ""));
        let shown = run(&admin, json!({"prefix": "config diff"})).unwrap().to_string();
        assert!(!shown.contains("a secret"), "{shown}");
    }
}
