//! `auth`: entities, their keys and caps.

use std::{collections::BTreeMap, fmt::Write as _, str::FromStr};

use rand_core::CryptoRng;
use sepiola_cephx::{
    EntityAuth, Keyring, KeyringEntry,
    caps::{MonCaps, OsdCaps},
};
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_wire::{EntityName, EntityType, Errno};
use serde_json::{Value, json};

use super::{
    Command, Context, Proposal, Reply, Run,
    signature::{Args, Kind, any, many, opt, req},
};
use crate::state::change;

const ENTITY: super::Arg = req("entity", Kind::Text);
const KEY_TYPE: super::Arg = opt("key_type", Kind::Choice("aes|aes256k"));

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "auth ls",
        args: &[],
        help: "every entity with its key and capabilities",
        module: "auth",
        perm: "rx",
        run: Run::Read(ls),
    },
    Command {
        words: "auth get",
        args: &[ENTITY],
        help: "an entity's key and capabilities, as a keyring",
        module: "auth",
        perm: "rx",
        run: Run::Read(get),
    },
    Command {
        words: "auth get-key",
        args: &[ENTITY],
        help: "an entity's key alone",
        module: "auth",
        perm: "rx",
        run: Run::Read(get_key),
    },
    Command {
        words: "auth export",
        args: &[opt("entity", Kind::Text)],
        help: "a keyring of one entity, or of all",
        module: "auth",
        perm: "rx",
        run: Run::Read(export),
    },
    Command {
        words: "auth get-or-create",
        args: &[ENTITY, any("caps", Kind::Text), KEY_TYPE],
        help: "an entity's keyring; who is new gets a key and these capabilities",
        module: "auth",
        perm: "rwx",
        run: Run::Write(get_or_create),
    },
    Command {
        words: "auth get-or-create-key",
        args: &[ENTITY, any("caps", Kind::Text), KEY_TYPE],
        help: "an entity's key alone; who is new gets one, and these capabilities",
        module: "auth",
        perm: "rwx",
        run: Run::Write(get_or_create_key),
    },
    Command {
        words: "auth add",
        args: &[ENTITY, any("caps", Kind::Text), KEY_TYPE],
        help: "make an entity with a new key, or with that of a keyring, -i <file>",
        module: "auth",
        perm: "rwx",
        run: Run::Write(add),
    },
    Command {
        words: "auth import",
        args: &[],
        help: "take over all entities of a keyring, -i <file>",
        module: "auth",
        perm: "rwx",
        run: Run::Write(import),
    },
    Command {
        words: "auth caps",
        args: &[ENTITY, many("caps", Kind::Text)],
        help: "replace the capabilities of an entity",
        module: "auth",
        perm: "rwx",
        run: Run::Write(set_caps),
    },
    Command {
        words: "auth rotate",
        args: &[ENTITY, KEY_TYPE],
        help: "replace the key of an entity",
        module: "auth",
        perm: "rwx",
        run: Run::Write(rotate),
    },
    Command {
        words: "auth del",
        args: &[ENTITY],
        help: "forget an entity, its key and its capabilities",
        module: "auth",
        perm: "rwx",
        run: Run::Write(del),
    },
];

type Caps = BTreeMap<String, String>;

fn entity_name(args: &Args) -> Result<EntityName, Reply> {
    args.required("entity").parse().map_err(|_| Reply::error(Errno::EINVAL, "bad entity name"))
}

/// Reads `mon "allow r" osd "allow rw"` and checks each text in its service's grammar, so that nothing is
/// stored that a daemon would later refuse.
fn parse_caps(args: &Args) -> Result<Caps, Reply> {
    let words = args.texts("caps");
    if !words.len().is_multiple_of(2) {
        return Err(Reply::error(Errno::EINVAL, "bad capabilities request; odd number of arguments"));
    }
    let caps: Caps = words.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    check_caps(&caps)?;
    Ok(caps)
}

fn check_caps(caps: &Caps) -> Result<(), Reply> {
    for (service, text) in caps {
        let outcome = match service.as_str() {
            "mon" => MonCaps::parse(text).map(drop).map_err(|e| e.to_string()),
            "osd" => OsdCaps::parse(text).map(drop).map_err(|e| e.to_string()),
            // Daemons that do not exist here check theirs themselves.
            "mds" | "mgr" => Ok(()),
            other => Err(format!("unknown cap type '{other}'")),
        };
        outcome.map_err(|text| Reply::error(Errno::EINVAL, text))?;
    }
    Ok(())
}

fn key_text(entity: &EntityAuth) -> String {
    entity.key.to_base64().to_string()
}

/// Entities in the form of keyring files.
fn keyring_text<'a>(
    entities: impl IntoIterator<Item = (&'a EntityName, &'a EntityAuth)>,
    with_caps: bool,
) -> String {
    let mut keyring = Keyring::new();
    for (name, entity) in entities {
        let caps = if with_caps { entity.caps.clone() } else { Caps::new() };
        let mut entry = KeyringEntry::new(entity.key.clone(), caps);
        entry.pending_key.clone_from(&entity.pending_key);
        keyring.insert(name.clone(), entry);
    }
    keyring.to_text().to_string()
}

fn keyring_json(name: &EntityName, entity: &EntityAuth) -> Value {
    let mut object = json!({"entity": name.to_string(), "key": key_text(entity), "caps": entity.caps});
    if let Some(pending) = &entity.pending_key {
        object["pending_key"] = pending.to_base64().to_string().into();
    }
    object
}

/// All entities but the monitors', whose key is in the monitors' own keyrings and in no list of Ceph's.
fn listed<'a>(cx: &'a Context<'_>) -> impl Iterator<Item = (&'a EntityName, &'a EntityAuth)> {
    cx.state.entities().iter().filter(|(name, _)| name.kind != EntityType::Mon)
}

fn ls(cx: &Context<'_>, _: &Args) -> Reply {
    if !cx.plain() {
        let dump: Vec<_> = listed(cx).map(|(name, entity)| keyring_json(name, entity)).collect();
        return cx.json(&json!({ "auth_dump": dump }), true);
    }
    let mut out = String::new();
    for (name, entity) in listed(cx) {
        let _ = writeln!(out, "{name}\n\tkey: {}", key_text(entity));
        for (service, text) in &entity.caps {
            let _ = writeln!(out, "\tcaps: [{service}] {text}");
        }
    }
    Reply::output(out).with_status("installed auth entries:\n")
}

fn find<'a>(cx: &'a Context<'_>, args: &Args) -> Result<(EntityName, Option<&'a EntityAuth>), Reply> {
    let name = entity_name(args)?;
    let entity = cx.state.entity(&name);
    Ok((name, entity))
}

fn get(cx: &Context<'_>, args: &Args) -> Reply {
    match find(cx, args) {
        Err(reply) => reply,
        Ok((name, None)) => Reply::error(Errno::ENOENT, format!("failed to find {name} in keyring")),
        Ok((name, Some(entity))) => {
            show(cx, &name, entity, true).with_status(format!("exported keyring for {name}"))
        }
    }
}

fn show(cx: &Context<'_>, name: &EntityName, entity: &EntityAuth, with_caps: bool) -> Reply {
    if cx.plain() {
        Reply::output(keyring_text([(name, entity)], with_caps))
    } else {
        cx.json(&json!([keyring_json(name, entity)]), false)
    }
}

fn show_key(cx: &Context<'_>, entity: &EntityAuth) -> Reply {
    if cx.plain() {
        Reply::output(key_text(entity))
    } else {
        cx.json(&json!({ "key": key_text(entity) }), false)
    }
}

fn get_key(cx: &Context<'_>, args: &Args) -> Reply {
    match find(cx, args) {
        Err(reply) => reply,
        Ok((name, None)) => Reply::error(Errno::ENOENT, format!("don't have {name}")),
        Ok((_, Some(entity))) => show_key(cx, entity),
    }
}

fn export(cx: &Context<'_>, args: &Args) -> Reply {
    if args.text("entity").is_some() {
        let mut reply = get(cx, args);
        if reply.result == 0 {
            reply.status = format!("export auth({})", args.required("entity"));
        }
        return reply;
    }
    let reply = if cx.plain() {
        Reply::output(keyring_text(listed(cx), true))
    } else {
        cx.json(&listed(cx).map(|(name, entity)| keyring_json(name, entity)).collect(), true)
    };
    reply.with_status("exported master keyring")
}

fn new_key(cx: &Context<'_>, args: &Args, rng: &mut dyn CryptoRng) -> CryptoKey {
    let kind = args.text("key_type").and_then(|text| KeyType::from_str(text).ok());
    CryptoKey::generate(kind.unwrap_or(cx.options.key_type), cx.now, rng)
}

/// The entity as it is or as it will be, and whether it is new.
fn obtain(
    cx: &Context<'_>,
    args: &Args,
    rng: &mut dyn CryptoRng,
) -> Result<(EntityName, EntityAuth, bool), Reply> {
    let name = entity_name(args)?;
    let caps = parse_caps(args)?;
    if let Some(entity) = cx.state.entity(&name) {
        for (service, text) in &caps {
            if entity.caps.get(service) != Some(text) {
                let text = format!("key for {name} exists but cap {service} does not match");
                return Err(Reply::error(Errno::EINVAL, text));
            }
        }
        return Ok((name, entity.clone(), false));
    }
    refuse_reserved(&name)?;
    let entity = EntityAuth::new(new_key(cx, args, rng), caps);
    Ok((name, entity, true))
}

/// Names that tickets use for themselves, and the monitors' own.
fn refuse_reserved(name: &EntityName) -> Result<(), Reply> {
    match name.kind {
        EntityType::Auth | EntityType::Any => Err(Reply::error(Errno::EINVAL, "bad entity name")),
        _ if name.id.is_empty() => Err(Reply::error(Errno::EINVAL, "bad entity name")),
        _ => Ok(()),
    }
}

fn get_or_create(cx: &Context<'_>, args: &Args, rng: &mut dyn CryptoRng) -> Proposal {
    obtain(cx, args, rng).map_or_else(Proposal::from, |(name, entity, new)| {
        let changes = if new { vec![change::entity_set(&name, &entity)] } else { vec![] };
        Proposal::new(show(cx, &name, &entity, false), changes)
    })
}

fn get_or_create_key(cx: &Context<'_>, args: &Args, rng: &mut dyn CryptoRng) -> Proposal {
    obtain(cx, args, rng).map_or_else(Proposal::from, |(name, entity, new)| {
        let changes = if new { vec![change::entity_set(&name, &entity)] } else { vec![] };
        Proposal::new(show_key(cx, &entity), changes)
    })
}

fn read_keyring(cx: &Context<'_>) -> Result<Keyring, Reply> {
    let bad = || Reply::error(Errno::EINVAL, "error decoding keyring");
    let text = std::str::from_utf8(cx.input).map_err(|_| bad())?;
    Keyring::parse(text).map_err(|_| bad())
}

fn add(cx: &Context<'_>, args: &Args, rng: &mut dyn CryptoRng) -> Proposal {
    try_add(cx, args, rng).unwrap_or_else(Proposal::from)
}

fn try_add(cx: &Context<'_>, args: &Args, rng: &mut dyn CryptoRng) -> Result<Proposal, Reply> {
    let name = entity_name(args)?;
    refuse_reserved(&name)?;
    let mut caps = parse_caps(args)?;
    let key = if cx.input.is_empty() {
        None
    } else {
        let keyring = read_keyring(cx)?;
        let Some(entry) = keyring.get(&name) else {
            return Err(Reply::error(Errno::EINVAL, format!("no key for {name} in the input")));
        };
        if !caps.is_empty() && !entry.caps.is_empty() {
            let text = "both the input and the command have caps; only one of them may";
            return Err(Reply::error(Errno::EINVAL, text));
        }
        if caps.is_empty() {
            caps = entry.caps.clone();
            check_caps(&caps)?;
        }
        entry.key.clone()
    };
    let done = Reply::done(format!("added key for {name}"));
    if let Some(entity) = cx.state.entity(&name) {
        if key.is_some_and(|key| key != entity.key) {
            let text = format!("entity {name} exists but key does not match");
            return Err(Reply::error(Errno::EINVAL, text));
        }
        if caps != entity.caps {
            let text = format!("entity {name} exists but caps do not match");
            return Err(Reply::error(Errno::EINVAL, text));
        }
        return Ok(done.into());
    }
    let entity = EntityAuth::new(key.unwrap_or_else(|| new_key(cx, args, rng)), caps);
    Ok(Proposal::new(done, vec![change::entity_set(&name, &entity)]))
}

fn import(cx: &Context<'_>, _: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let imported = || -> Result<Proposal, Reply> {
        if cx.input.is_empty() {
            return Err(Reply::error(Errno::EINVAL, "auth import: no data supplied"));
        }
        let keyring = read_keyring(cx)?;
        let mut changes = Vec::new();
        for (name, entry) in keyring.iter() {
            refuse_reserved(name)?;
            check_caps(&entry.caps)?;
            let Some(key) = &entry.key else {
                return Err(Reply::error(Errno::EINVAL, format!("no key for {name} in the input")));
            };
            changes.push(change::entity_set(name, &EntityAuth::new(key.clone(), entry.caps.clone())));
        }
        Ok(Proposal::new(Reply::done("imported keyring"), changes))
    };
    imported().unwrap_or_else(Proposal::from)
}

fn set_caps(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let updated = || -> Result<Proposal, Reply> {
        let (name, entity) = find(cx, args)?;
        let Some(entity) = entity else {
            return Err(Reply::error(Errno::ENOENT, format!("couldn't find entry {name}")));
        };
        let entity = EntityAuth { caps: parse_caps(args)?, ..entity.clone() };
        let reply = Reply::done(format!("updated caps for {name}"));
        Ok(Proposal::new(reply, vec![change::entity_set(&name, &entity)]))
    };
    updated().unwrap_or_else(Proposal::from)
}

fn rotate(cx: &Context<'_>, args: &Args, rng: &mut dyn CryptoRng) -> Proposal {
    match find(cx, args) {
        Err(reply) => reply.into(),
        Ok((name, None)) => Reply::error(Errno::ENOENT, format!("entity does not exist: {name}")).into(),
        Ok((name, Some(entity))) => {
            let entity = EntityAuth { key: new_key(cx, args, rng), pending_key: None, ..entity.clone() };
            Proposal::new(show(cx, &name, &entity, true), vec![change::entity_set(&name, &entity)])
        }
    }
}

fn del(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    match find(cx, args) {
        Err(reply) => reply.into(),
        Ok((name, None)) => Reply::done(format!("entity {name} does not exist")).into(),
        Ok((name, Some(_))) if name == EntityName::mon() => {
            Reply::error(Errno::EPERM, "the monitors' own key cannot be removed").into()
        }
        Ok((name, Some(_))) => Proposal::new(Reply::done("updated"), vec![change::entity_removed(&name)]),
    }
}
