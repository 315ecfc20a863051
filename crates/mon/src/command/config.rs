//! `config`: options that the monitors hand to clients and daemons.

use rand_core::CryptoRng;
use sepiola_config::{option_info, option_name};
use sepiola_wire::{EntityName, EntityType, Errno};
use serde_json::{Map, Value, json};

use super::{
    Command, Context, Proposal, Reply, Run,
    format::{Align::Left, Table},
    signature::{Args, Kind, opt, req},
};
use crate::state::change;

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "config set",
        args: &[
            req("who", Kind::Text),
            req("name", Kind::Text),
            req("value", Kind::Text),
            opt("force", Kind::Switch),
        ],
        help: "Set a configuration option for one or more entities",
        module: "config",
        perm: "rw",
        run: Run::Write(set),
    },
    Command {
        words: "config rm",
        args: &[req("who", Kind::Text), req("name", Kind::Text)],
        help: "Clear a configuration option for one or more entities",
        module: "config",
        perm: "rw",
        run: Run::Write(rm),
    },
    Command {
        words: "config get",
        args: &[req("who", Kind::Text), opt("key", Kind::Text)],
        help: "Show configuration option(s) for an entity",
        module: "config",
        perm: "r",
        run: Run::Read(get),
    },
    Command {
        words: "config dump",
        args: &[],
        help: "Show all configuration option(s)",
        module: "config",
        perm: "r",
        run: Run::Read(dump),
    },
];

/// Whom options can be set for: everybody, a type, an entity.
fn target(who: &str) -> Result<&str, Reply> {
    let known = who == "global" || who.parse::<EntityType>().is_ok() || who.parse::<EntityName>().is_ok();
    if known {
        Ok(who)
    } else {
        Err(Reply::error(Errno::EINVAL, format!("unrecognized config target '{who}'")))
    }
}

fn set(_: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    match target(args.required("who")) {
        Err(reply) => reply.into(),
        Ok(who) => {
            let set = change::config_set(who, &option_name(args.required("name")), args.required("value"));
            Proposal::new(Reply::default(), vec![set])
        }
    }
}

fn rm(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let (who, name) = (args.required("who"), option_name(args.required("name")));
    if let Err(reply) = target(who) {
        return reply.into();
    }
    if !cx.state.config().contains_key(&(who.to_owned(), name.clone())) {
        return Reply::default().into();
    }
    Proposal::new(Reply::default(), vec![change::config_removed(who, &name)])
}

fn get(cx: &Context<'_>, args: &Args) -> Reply {
    let who = args.required("who");
    if let Err(reply) = target(who) {
        return reply;
    }
    let options = match who.parse::<EntityName>() {
        Ok(entity) => cx.state.config_for(&entity),
        // A type is asked as an entity of it without options of its own.
        Err(_) => match who.parse::<EntityType>() {
            Ok(kind) => cx.state.config_for(&EntityName::new(kind, "")),
            Err(_) => {
                let global = cx.state.config().iter().filter(|((w, _), _)| w == "global");
                global.map(|((_, name), value)| (name.clone(), value.clone())).collect()
            }
        },
    };
    if args.text("key").is_some() {
        let key = option_name(args.required("key"));
        let default = || option_info(&key).map(|info| info.default.to_string());
        return match options.get(&key).cloned().or_else(default) {
            Some(value) if cx.plain() => Reply::output(format!("{value}\n")),
            Some(value) => cx.json(&json!({ key: value }), true),
            None => Reply::error(Errno::ENOENT, format!("unrecognized key '{key}'")),
        };
    }
    if !cx.plain() {
        let options: Map<_, _> =
            options.into_iter().map(|(name, value)| (name, json!({ "value": value }))).collect();
        return cx.json(&Value::Object(options), true);
    }
    let mut table = Table::new(&[("WHO", Left, Left), ("OPTION", Left, Left), ("VALUE", Left, Left)]);
    for (name, value) in options {
        table.row([who.to_owned(), name, value]);
    }
    Reply::output(table.render())
}

fn dump(cx: &Context<'_>, _: &Args) -> Reply {
    if !cx.plain() {
        let all: Vec<_> = cx
            .state
            .config()
            .iter()
            .map(|((who, name), value)| json!({"section": who, "name": name, "value": value, "mask": ""}))
            .collect();
        return cx.json(&json!(all), true);
    }
    let mut table = Table::new(&[("WHO", Left, Left), ("OPTION", Left, Left), ("VALUE", Left, Left)]);
    for ((who, name), value) in cx.state.config() {
        table.row([who.clone(), name.clone(), value.clone()]);
    }
    Reply::output(table.render())
}
