//! `config`: options that the monitors hand to clients and daemons.

use rand_core::CryptoRng;
use sepiola_config::{HIDDEN, KnownOption, is_secret, known_option, known_options, option_info};
use sepiola_proto::MonChange;
use sepiola_wire::{EntityName, EntityType, Errno};
use serde_json::{Map, Value, json};

use super::{
    Command, Context, Proposal, Reply, Run,
    config_file::{assimilate_conf, generate_minimal_conf},
    format::{Align::Left, Table},
    signature::{Args, Kind, opt, req},
};
use crate::{
    service::{
        config::{Place, Target, applied},
        config_limits::{MAX_NAME, Room, TooMuch},
    },
    state::change,
};

const fn reading(
    words: &'static str,
    args: &'static [super::signature::Arg],
    help: &'static str,
    run: super::Read,
) -> Command {
    Command { words, args, help, module: "config", perm: "r", run: Run::Read(run) }
}

const fn writing(
    words: &'static str,
    args: &'static [super::signature::Arg],
    help: &'static str,
    run: super::Write,
) -> Command {
    Command { words, args, help, module: "config", perm: "rw", run: Run::Write(run) }
}

pub(super) const COMMANDS: &[Command] = &[
    writing(
        "config set",
        &[
            req("who", Kind::Text),
            req("name", Kind::Text),
            req("value", Kind::Text),
            opt("force", Kind::Switch),
        ],
        "store an option for all, a kind of daemon, or one of them",
        set,
    ),
    writing(
        "config rm",
        &[req("who", Kind::Text), req("name", Kind::Text)],
        "forget an option that is stored for <who>",
        rm,
    ),
    reading(
        "config get",
        &[req("who", Kind::Text), opt("key", Kind::Text)],
        "options as a daemon or client gets them, or one of them",
        get,
    ),
    reading("config dump", &[], "options that are stored, and for whom", dump),
    reading("config ls", &[], "names of the options that there are", ls),
    reading(
        "config help",
        &[req("key", Kind::Text)],
        "what an option is for, its type and its default",
        help,
    ),
    writing(
        "config assimilate-conf",
        &[],
        "store the options of a file, -i <file>; what has to stay in the file comes back",
        assimilate_conf,
    ),
    reading(
        "config generate-minimal-conf",
        &[],
        "a ceph.conf that is enough to find the monitors",
        generate_minimal_conf,
    ),
];

fn target(who: &str) -> Result<Target<'_>, Reply> {
    Target::parse(who).ok_or_else(|| {
        let shown: String = who.chars().take(MAX_NAME).collect();
        Reply::error(Errno::EINVAL, format!("unrecognized config target '{shown}'"))
    })
}

/// Option names have underscores here; blanks are taken for them, as in ceph.conf.
fn underscored(name: &str) -> String {
    name.replace(' ', "_")
}

/// The change that sets an option, checked; why not, with the errno, otherwise. `forced` takes names and values
/// that make no sense, but nothing that is too large.
pub(super) fn checked_set(
    who: &Target<'_>,
    name: &str,
    value: &str,
    forced: bool,
    room: &mut Room,
) -> Result<MonChange, Reply> {
    room.check_name(name).map_err(too_much)?;
    room.check_value(value).map_err(too_much)?;
    let value = match sensible(name, value) {
        Err(_) if forced => value.to_owned(),
        checked => checked?,
    };
    let who = who.to_string();
    room.take(&who, name, &value).map_err(too_much)?;
    Ok(change::config_set(&who, name, &value))
}

fn too_much(reason: TooMuch) -> Reply {
    Reply::error(reason.errno(), reason.to_string())
}

/// A value as it is stored, if the option takes it.
fn sensible(name: &str, value: &str) -> Result<String, Reply> {
    let refused = |text: String| Err(Reply::error(Errno::EINVAL, text));
    let Some(option) = known_option(name) else {
        return refused(format!("unrecognized config option '{name}'"));
    };
    if option.local_only {
        return refused(format!("{name} is special and cannot be stored by the mon"));
    }
    match option.normalise(value) {
        Ok(value) => Ok(value),
        Err(wrong) => {
            let errno = if wrong.out_of_range { Errno::ERANGE } else { Errno::EINVAL };
            Err(Reply::error(errno, format!("error parsing value: {wrong}")))
        }
    }
}

fn set(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let (name, value) = (underscored(args.required("name")), args.required("value"));
    let change = target(args.required("who")).and_then(|who| {
        checked_set(&who, &name, value, args.switch("force"), &mut Room::left_by(cx.state.config()))
    });
    change.map_or_else(Proposal::from, |change| Proposal::new(Reply::default(), vec![change]))
}

fn rm(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let name = underscored(args.required("name"));
    let who = match target(args.required("who")) {
        Ok(target) => target.to_string(),
        Err(reply) => return reply.into(),
    };
    if !cx.state.config().contains_key(&(who.clone(), name.clone())) {
        return Reply::default().into();
    }
    Proposal::new(Reply::default(), vec![change::config_removed(&who, &name)])
}

/// An option's level, and whether a process that runs follows a change.
fn traits(name: &str) -> (&'static str, bool) {
    known_option(name).map_or(("unknown", false), |option| (option.level, option.followed()))
}

/// A value as it may be shown.
fn shown<'a>(name: &str, value: &'a str) -> &'a str {
    if is_secret(name) && !value.is_empty() { HIDDEN } else { value }
}

fn table() -> Table {
    let columns = ["WHO", "MASK", "LEVEL", "OPTION", "VALUE", "RO"];
    Table::new(&columns.map(|title| (title, Left, Left)))
}

fn row(who: String, mask: String, name: &str, value: &str) -> [String; 6] {
    let (level, runtime) = traits(name);
    let read_only = if runtime { "" } else { "*" };
    [who, mask, level.to_owned(), name.to_owned(), shown(name, value).to_owned(), read_only.to_owned()]
}

fn get(cx: &Context<'_>, args: &Args) -> Reply {
    let who = args.required("who");
    // A type is asked as an entity of it without options of its own.
    let entity = who.parse().or_else(|_| who.parse().map(|kind: EntityType| EntityName::new(kind, "")));
    let Ok(entity) = entity else {
        return Reply::error(Errno::EINVAL, format!("unrecognized entity '{who}'"));
    };
    let options = applied(cx.state, &entity, &Place::of(&entity, "", cx.state));
    if let Some(key) = args.text("key") {
        let value = match (options.get(key), known_option(key)) {
            _ if key == "fsid" => cx.state.fsid().to_string(),
            (_, Some(option)) if option.local_only => {
                let why = format!("{key} is special and cannot be stored by the mon");
                return Reply::error(Errno::EINVAL, why);
            }
            (Some(applied), _) => shown(key, &applied.value).to_owned(),
            (None, Some(option)) => option.default_for(entity.kind != EntityType::Client).to_owned(),
            (None, None) => return Reply::error(Errno::ENOENT, format!("unrecognized key '{key}'")),
        };
        // The value alone, whatever the format.
        return Reply::output(format!("{value}\n"));
    }
    if !cx.plain() {
        let options: Map<_, _> = options
            .into_iter()
            .map(|(name, option)| {
                let section = Target::parse(&option.who).map_or("", |target| target.section);
                let runtime = traits(&name).1;
                let described = json!({
                    "value": shown(&name, &option.value), "section": section, "mask": {}, "can_update_at_runtime": runtime,
                });
                (name, described)
            })
            .collect();
        return cx.json(&Value::Object(options), false);
    }
    let mut table = table();
    for (name, option) in options {
        if let Some(target) = Target::parse(&option.who) {
            table.row(row(target.section.to_owned(), target.mask(), &name, &option.value));
        }
    }
    Reply::output(table.render())
}

/// The order of sections in a dump, and how deep they are indented.
fn place_in_dump(section: &str) -> (usize, usize, &str) {
    const TYPES: [&str; 5] = ["mon", "mgr", "osd", "mds", "client"];
    let kind = section.split('.').next().unwrap_or_default();
    let order = TYPES.iter().position(|t| *t == kind).map_or(TYPES.len(), |at| at);
    match section {
        "global" => (0, 0, section),
        _ if section.contains('.') => (order + 1, 2, section),
        _ => (order + 1, 1, section),
    }
}

fn dump(cx: &Context<'_>, _: &Args) -> Reply {
    let options = cx.state.config().iter();
    let mut options: Vec<_> = options
        .filter_map(|((who, name), value)| Target::parse(who).map(|target| (target, name, value)))
        .collect();
    // As if the masks were part of the names: that is how Ceph's monitors keep them.
    let key = |target: &Target<'_>, name: &str| match target.mask() {
        mask if mask.is_empty() => name.to_owned(),
        mask => format!("{mask}/{name}"),
    };
    options.sort_by(|(a, a_name, _), (b, b_name, _)| {
        let place = place_in_dump(a.section).cmp(&place_in_dump(b.section));
        place.then_with(|| a_name.cmp(b_name)).then_with(|| key(a, a_name).cmp(&key(b, b_name)))
    });
    if !cx.plain() {
        let all: Vec<_> =
            options.iter().map(|(target, name, value)| described(target, name, value)).collect();
        return cx.json(&json!(all), false);
    }
    let mut table = table();
    for (target, name, value) in options {
        let indent = "  ".repeat(place_in_dump(target.section).1);
        table.row(row(format!("{indent}{}", target.section), target.mask(), name, value));
    }
    Reply::output(table.render())
}

fn described(target: &Target<'_>, name: &str, value: &str) -> Value {
    let (level, runtime) = traits(name);
    let mut described = json!({
        "section": target.section, "name": name, "value": shown(name, value), "level": level,
        "can_update_at_runtime": runtime, "mask": target.mask(),
    });
    if let Some((kind, name)) = target.location {
        described["location_type"] = kind.into();
        described["location_value"] = name.into();
    }
    if let Some(class) = target.class {
        described["device_class"] = class.into();
    }
    described
}

fn ls(cx: &Context<'_>, _: &Args) -> Reply {
    let names = known_options().iter().map(|option| option.name);
    if cx.plain() {
        Reply::output(names.fold(String::new(), |text, name| text + name + "\n"))
    } else {
        cx.json(&names.collect(), false)
    }
}

fn help(cx: &Context<'_>, args: &Args) -> Reply {
    let key = args.required("key");
    let Some(option) = known_option(key) else {
        let asked: String = key.chars().take(MAX_NAME).collect();
        return Reply::error(Errno::ENOENT, format!("unrecognized config option '{asked}'"));
    };
    let KnownOption { name, type_name, level, min, max, .. } = *option;
    let runtime = option.followed();
    let about = option_info(name).map_or("", |ours| ours.about);
    let default = option.default_for(false);
    if !cx.plain() {
        let choices: Vec<_> = option.choices.split('|').filter(|choice| !choice.is_empty()).collect();
        return cx.json(
            &json!({
                "name": name, "type": type_name, "level": level, "desc": about, "long_desc": "", "default": default,
                "daemon_default": option.default_for(true), "tags": [], "services": [], "see_also": [],
                "enum_values": choices, "min": min, "max": max, "can_update_at_runtime": runtime, "flags": [],
            }),
            false,
        );
    }
    let mut text = format!("{name} - {about}\n  ({type_name}, {level})\n  Default: {default}\n");
    if !min.is_empty() || !max.is_empty() {
        text += &format!("  Minimum: {min}\n  Maximum: {max}\n");
    }
    Reply::output(format!("{text}  Can update at runtime: {runtime}\n"))
}
