//! `config-key`: a small store of arbitrary values.

use bytes::Bytes;
use rand_core::CryptoRng;
use sepiola_wire::Errno;
use serde_json::{Value, json};

use super::{
    Command, Context, Proposal, Reply, Run,
    format::pretty,
    signature::{Args, Kind, opt, req},
};
use crate::state::change;

/// As much as a value may hold: `mon_config_key_max_entry_size`.
const MAX_VALUE: usize = 64 << 10;

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "config-key get",
        args: &[req("key", Kind::Text)],
        help: "the value of a key",
        module: "config-key",
        perm: "r",
        run: Run::Read(get),
    },
    Command {
        words: "config-key exists",
        args: &[req("key", Kind::Text)],
        help: "whether a key has a value",
        module: "config-key",
        perm: "r",
        run: Run::Read(exists),
    },
    Command {
        words: "config-key ls",
        args: &[],
        help: "keys that have a value",
        module: "config-key",
        perm: "r",
        run: Run::Read(ls),
    },
    Command {
        words: "config-key dump",
        args: &[opt("key", Kind::Text)],
        help: "keys and values: all, or those that begin so",
        module: "config-key",
        perm: "r",
        run: Run::Read(dump),
    },
    Command {
        words: "config-key set",
        args: &[req("key", Kind::Text), opt("val", Kind::Text)],
        help: "give a key a value, which may come from -i <file>",
        module: "config-key",
        perm: "rw",
        run: Run::Write(set),
    },
    Command {
        words: "config-key rm",
        args: &[req("key", Kind::Text)],
        help: "forget a key and its value",
        module: "config-key",
        perm: "rw",
        run: Run::Write(rm),
    },
];

fn get(cx: &Context<'_>, args: &Args) -> Reply {
    let key = args.required("key");
    match cx.state.config_keys().get(key) {
        Some(value) => Reply::output(value.clone()),
        None => Reply::error(Errno::ENOENT, format!("error obtaining '{key}': {}", Errno::ENOENT)),
    }
}

fn exists(cx: &Context<'_>, args: &Args) -> Reply {
    let key = args.required("key");
    if cx.state.config_keys().contains_key(key) {
        Reply::done(format!("key '{key}' exists"))
    } else {
        Reply::error(Errno::ENOENT, format!("key '{key}' doesn't exist"))
    }
}

fn ls(cx: &Context<'_>, _: &Args) -> Reply {
    let keys: Vec<_> = cx.state.config_keys().keys().collect();
    // Pretty unless compact JSON was asked for: there is no plain form.
    if cx.plain() { Reply::output(pretty(&json!(keys))) } else { cx.json(&json!(keys), true) }
}

fn dump(cx: &Context<'_>, args: &Args) -> Reply {
    let prefix = args.required("key");
    let text = |value: &Bytes| match std::str::from_utf8(value) {
        Ok(text) => text.to_owned(),
        Err(_) => format!("<<< binary blob of length {} >>>", value.len()),
    };
    let pairs = cx.state.config_keys().iter().filter(|(key, _)| key.starts_with(prefix));
    let dump = Value::Object(pairs.map(|(key, value)| (key.clone(), text(value).into())).collect());
    if cx.plain() { Reply::output(pretty(&dump)) } else { cx.json(&dump, true) }
}

fn set(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let key = args.required("key");
    let value = match args.text("val") {
        Some(text) => Bytes::copy_from_slice(text.as_bytes()),
        None => Bytes::copy_from_slice(cx.input),
    };
    if value.len() > MAX_VALUE {
        let text = format!("entry of {} bytes is too large, the limit is {MAX_VALUE}", value.len());
        return Reply::error(Errno::EFBIG, text).into();
    }
    Proposal::new(Reply::done(format!("set {key}")), vec![change::config_key_set(key, value)])
}

fn rm(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let key = args.required("key");
    if !cx.state.config_keys().contains_key(key) {
        return Reply::done("key deleted").into();
    }
    Proposal::new(Reply::done("key deleted"), vec![change::config_key_removed(key)])
}
