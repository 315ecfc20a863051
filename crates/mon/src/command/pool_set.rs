//! `osd pool get` and `osd pool set`: a pool's variables.

use std::fmt::Write as _;

use rand_core::CryptoRng;
use sepiola_osdmap::{OsdMap, Pool, PoolFlags};
use sepiola_wire::Errno;
use serde_json::{Value, json};

use super::{
    Command, Context, Proposal, Reply, Run,
    pool::{edit, named},
    signature::{Args, Kind, opt, req},
};
use crate::service::pools::check_size;

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "osd pool get",
        args: &[
            req("pool", Kind::Pool),
            req(
                "var",
                Kind::Choice(
                    "size|min_size|pg_num|pgp_num|crush_rule|hashpspool|nodelete|nopgchange|nosizechange|\
                     write_fadvise_dontneed|noscrub|nodeep-scrub|use_gmt_hitset|fast_read|pg_autoscale_mode|bulk|eio|all",
                ),
            ),
        ],
        help: "a setting of a pool, or all of them",
        module: "osd",
        perm: "r",
        run: Run::Read(get),
    },
    Command {
        words: "osd pool set",
        args: &[
            req("pool", Kind::Pool),
            req("var", Kind::Text),
            req("val", Kind::Text),
            opt("yes_i_really_mean_it", Kind::Switch),
        ],
        help: "change a setting of a pool",
        module: "osd",
        perm: "rw",
        run: Run::Write(set),
    },
];

/// In the order in which `all` prints them.
const VARIABLES: &[&str] = &[
    "size",
    "min_size",
    "pg_num",
    "pgp_num",
    "crush_rule",
    "hashpspool",
    "nodelete",
    "nopgchange",
    "nosizechange",
    "write_fadvise_dontneed",
    "noscrub",
    "nodeep-scrub",
    "use_gmt_hitset",
    "fast_read",
    "pg_autoscale_mode",
    "bulk",
];

const FLAGS: &[&str] = &[
    "hashpspool",
    "nodelete",
    "nopgchange",
    "nosizechange",
    "write_fadvise_dontneed",
    "noscrub",
    "nodeep-scrub",
    "bulk",
    "eio",
];

fn flag(name: &str) -> Option<PoolFlags> {
    FLAGS.contains(&name).then(|| PoolFlags::from_name(name)).flatten()
}

fn value(map: &OsdMap, pool: &Pool, name: &str) -> Option<Value> {
    if let Some(flag) = flag(name) {
        return Some(pool.flags.has(flag).into());
    }
    Some(match name {
        "size" => pool.size.into(),
        "min_size" => pool.min_size.into(),
        "pg_num" => pool.pg_num.into(),
        "pgp_num" => pool.pgp_num.into(),
        "crush_rule" => {
            map.crush().rule_names.get(&pool.crush_rule.into()).cloned().unwrap_or_default().into()
        }
        "use_gmt_hitset" => pool.use_gmt_hitset.into(),
        "fast_read" => u8::from(pool.fast_read).into(),
        "pg_autoscale_mode" => match pool.pg_autoscale_mode {
            0 => "off".into(),
            1 => "warn".into(),
            _ => "on".into(),
        },
        _ => return None,
    })
}

fn get(cx: &Context<'_>, args: &Args) -> Reply {
    let (name, var) = (args.required("pool"), args.required("var"));
    let (id, pool) = match named(cx, name) {
        Ok(found) => found,
        Err(reply) => return reply,
    };
    let names = if var == "all" { VARIABLES } else { std::slice::from_ref(&var) };
    let values = names.iter().filter_map(|name| Some((*name, value(cx.state.osdmap(), pool, name)?)));
    if cx.plain() {
        let mut out = String::new();
        for (name, value) in values {
            let text = match (&value, name) {
                (Value::Bool(on), "use_gmt_hitset") => u8::from(*on).to_string(),
                (Value::String(text), _) => text.clone(),
                _ => value.to_string(),
            };
            let _ = writeln!(out, "{name}: {text}");
        }
        return Reply::output(out);
    }
    let mut object = json!({"pool": name, "pool_id": id.0});
    for (name, value) in values {
        object[name] = value;
    }
    cx.json(&object, true)
}

fn as_bool(text: &str) -> Option<bool> {
    match text {
        "true" | "yes" | "1" | "on" => Some(true),
        "false" | "no" | "0" | "off" => Some(false),
        _ => None,
    }
}

fn set(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let (name, var, val) = (args.required("pool"), args.required("var"), args.required("val"));
    let (id, pool) = match named(cx, name) {
        Ok(found) => found,
        Err(reply) => return reply.into(),
    };
    let done = format!("set pool {id} {var} to {val}");
    let number = || {
        val.parse::<i64>()
            .map_err(|_| Reply::error(Errno::EINVAL, format!("error parsing integer value '{val}'")))
    };
    if let Some(flag) = flag(var) {
        let Some(on) = as_bool(val) else {
            return Reply::error(Errno::EINVAL, "expecting value 'true', 'false', '0', or '1'").into();
        };
        return edit(cx, id, done, |pool| {
            pool.flags = if on { pool.flags.with(flag) } else { pool.flags.without(flag) };
        });
    }
    match var {
        "size" | "min_size" => match number() {
            Err(reply) => reply.into(),
            Ok(size) => match check_size(size) {
                // One copy is what every pool has.
                Ok(()) => edit(cx, id, done, |_| {}),
                Err(refused) => Reply::error(refused.errno, refused.text).into(),
            },
        },
        "pg_num" | "pgp_num" => match number() {
            Err(reply) => reply.into(),
            Ok(n) if n == i64::from(if var == "pg_num" { pool.pg_num } else { pool.pgp_num }) => {
                Reply::done(done).into()
            }
            Ok(_) => Reply::error(Errno::EOPNOTSUPP, format!("changing {var} is not supported yet")).into(),
        },
        "pg_autoscale_mode" => {
            let mode = match val {
                "off" => 0,
                "warn" => 1,
                "on" => 2,
                _ => return Reply::error(Errno::EINVAL, format!("specified invalid mode {val}")).into(),
            };
            edit(cx, id, done, |pool| pool.pg_autoscale_mode = mode)
        }
        _ => Reply::error(Errno::EINVAL, format!("unrecognized variable '{var}'")).into(),
    }
}
