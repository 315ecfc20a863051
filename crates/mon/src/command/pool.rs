//! Creating, renaming and deleting pools; which applications use them.

use rand_core::CryptoRng;
use sepiola_osdmap::{Incremental, OsdMap, Pool};
use sepiola_wire::{Errno, PoolId};
use serde_json::{Map, Value, json};

use super::{
    Command, Context, Proposal, Reply, Run,
    format::pretty,
    signature::{Args, Kind, opt, req},
};
use crate::service::{
    osd_step,
    pools::{self, PoolRequest},
};

const POOL: super::Arg = req("pool", Kind::Pool);
const CONFIRM: super::Arg = opt("yes_i_really_mean_it", Kind::Switch);

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "osd pool create",
        args: &[
            POOL,
            opt("pg_num", Kind::Int(0)),
            opt("pgp_num", Kind::Int(0)),
            opt("pool_type", Kind::Choice("replicated|erasure")),
            opt("erasure_code_profile", Kind::Text),
            opt("rule", Kind::Text),
            opt("expected_num_objects", Kind::Int(0)),
            opt("size", Kind::Int(0)),
            opt("pg_num_min", Kind::Int(0)),
            opt("pg_num_max", Kind::Int(0)),
            opt("autoscale_mode", Kind::Choice("on|off|warn")),
            opt("bulk", Kind::Switch),
            opt("target_size_bytes", Kind::Int(0)),
            opt("target_size_ratio", Kind::Float(0.0, 1.0)),
        ],
        help: "make a pool",
        module: "osd",
        perm: "rw",
        run: Run::Write(create),
    },
    Command {
        words: "osd pool delete",
        args: &[
            POOL,
            opt("pool2", Kind::Pool),
            opt("yes_i_really_really_mean_it", Kind::Switch),
            // How programs that do not ask anybody spell it.
            opt("yes_i_really_really_mean_it_not_faking", Kind::Switch),
        ],
        help: "remove a pool and all that is in it",
        module: "osd",
        perm: "rw",
        run: Run::Write(delete),
    },
    Command {
        words: "osd pool rename",
        args: &[req("srcpool", Kind::Pool), req("destpool", Kind::Pool)],
        help: "give a pool another name",
        module: "osd",
        perm: "rw",
        run: Run::Write(rename),
    },
    Command {
        words: "osd pool application enable",
        args: &[POOL, req("app", Kind::Text), CONFIRM],
        help: "say what a pool is for, such as rbd or rgw",
        module: "osd",
        perm: "rw",
        run: Run::Write(application_enable),
    },
    Command {
        words: "osd pool application disable",
        args: &[POOL, req("app", Kind::Text), CONFIRM],
        help: "take back what a pool is said to be for",
        module: "osd",
        perm: "rw",
        run: Run::Write(application_disable),
    },
    Command {
        words: "osd pool application set",
        args: &[POOL, req("app", Kind::Text), req("key", Kind::Text), req("value", Kind::Text)],
        help: "store a key and its value with an application of a pool",
        module: "osd",
        perm: "rw",
        run: Run::Write(application_set),
    },
    Command {
        words: "osd pool application rm",
        args: &[POOL, req("app", Kind::Text), req("key", Kind::Text)],
        help: "forget a key of an application of a pool",
        module: "osd",
        perm: "rw",
        run: Run::Write(application_rm),
    },
    Command {
        words: "osd pool application get",
        args: &[opt("pool", Kind::Pool), opt("app", Kind::Text), opt("key", Kind::Text)],
        help: "what pools are for, with the keys stored there",
        module: "osd",
        perm: "r",
        run: Run::Read(application_get),
    },
];

/// A pool by its name.
pub(super) fn find<'a>(map: &'a OsdMap, name: &str) -> Option<(PoolId, &'a Pool)> {
    let id = map.pool_by_name(name)?;
    Some((id, map.pool(id)?))
}

/// The pool that a command names, or the reply that it does not exist.
pub(super) fn named<'a>(cx: &'a Context<'_>, name: &str) -> Result<(PoolId, &'a Pool), Reply> {
    let missing = || Reply::error(Errno::ENOENT, format!("unrecognized pool '{name}'"));
    find(cx.state.osdmap(), name).ok_or_else(missing)
}

/// Publishes an edit of the map and replies with `status`.
pub(super) fn publish(
    cx: &Context<'_>,
    status: impl Into<String>,
    edit: impl FnOnce(&mut Incremental),
) -> Proposal {
    match osd_step::step(cx.state.osdmap(), cx.now, edit) {
        Ok(change) => Proposal::new(Reply::done(status), vec![change]),
        Err(e) => Reply::error(Errno::EINVAL, e.to_string()).into(),
    }
}

/// Publishes an edit of one pool.
pub(super) fn edit(
    cx: &Context<'_>,
    id: PoolId,
    status: impl Into<String>,
    edit: impl FnOnce(&mut Pool),
) -> Proposal {
    publish(cx, status, |inc| {
        if let Some(pool) = inc.edit_pool(cx.state.osdmap(), id) {
            edit(pool);
        }
    })
}

fn create(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let name = args.required("pool");
    if args.text("pool_type") == Some("erasure") {
        return Reply::error(Errno::EOPNOTSUPP, "erasure-coded pools are not supported").into();
    }
    let request = PoolRequest {
        name,
        pg_num: args.int("pg_num"),
        pgp_num: args.int("pgp_num"),
        size: args.int("size"),
        rule: args.text("rule").map(pools::RuleRef::Name),
        expected_num_objects: args.int("expected_num_objects"),
    };
    match pools::create(cx.state, cx.options, cx.now, &request) {
        Ok(changes) => Proposal::new(Reply::done(format!("pool '{name}' created")), changes),
        // Scripts create pools again and again.
        Err(refused) if refused.errno == Errno::EEXIST => {
            Reply::done(format!("pool '{name}' already exists")).into()
        }
        Err(refused) => Reply::error(refused.errno, refused.text).into(),
    }
}

fn delete(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let name = args.required("pool");
    let Some((id, _)) = find(cx.state.osdmap(), name) else {
        return Reply::done(format!("pool '{name}' does not exist")).into();
    };
    let confirmed = ["yes_i_really_really_mean_it", "yes_i_really_really_mean_it_not_faking"];
    if args.text("pool2") != Some(name) || !confirmed.iter().any(|switch| args.switch(switch)) {
        let text = format!(
            "this destroys all data in pool {name} for good; to do it, pass the name twice, followed by \
             --yes-i-really-really-mean-it"
        );
        return Reply::error(Errno::EPERM, text).into();
    }
    match pools::delete(cx.state, cx.options, cx.now, id) {
        Ok(changes) => Proposal::new(Reply::done(format!("pool '{name}' removed")), changes),
        Err(refused) => Reply::error(refused.errno, refused.text).into(),
    }
}

fn rename(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let (from, to) = (args.required("srcpool"), args.required("destpool"));
    let id = match named(cx, from) {
        Ok((id, _)) => id,
        Err(reply) => return reply.into(),
    };
    if from == to {
        return Reply::done(format!("pool '{from}' renamed to '{to}'")).into();
    }
    if find(cx.state.osdmap(), to).is_some() {
        return Reply::error(Errno::EEXIST, format!("pool '{to}' already exists")).into();
    }
    if let Err(refused) = pools::check_name(to) {
        return Reply::error(refused.errno, refused.text).into();
    }
    publish(cx, format!("pool '{from}' renamed to '{to}'"), |inc| {
        inc.new_pool_names.insert(id, to.to_owned());
    })
}

/// As many as pools of real clusters can have.
const MAX_APPLICATIONS: usize = 32;
const MAX_METADATA: usize = 128;

fn application_enable(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let (name, app) = (args.required("pool"), args.required("app"));
    let (id, pool) = match named(cx, name) {
        Ok(found) => found,
        Err(reply) => return reply.into(),
    };
    let done = format!("enabled application '{app}' on pool '{name}'");
    let apps = &pool.application_metadata;
    if apps.contains_key(app) {
        return Reply::done(done).into();
    }
    if app.is_empty() || app.len() > MAX_METADATA {
        return Reply::error(Errno::EINVAL, format!("application name must have 1 to {MAX_METADATA} bytes"))
            .into();
    }
    if !apps.is_empty() && !args.switch("yes_i_really_mean_it") {
        let text = format!(
            "pool '{name}' already has an enabled application; pass --yes-i-really-mean-it to proceed anyway"
        );
        return Reply::error(Errno::EPERM, text).into();
    }
    if apps.len() >= MAX_APPLICATIONS {
        return Reply::error(Errno::EINVAL, format!("pool '{name}' has too many applications")).into();
    }
    edit(cx, id, done, |pool| {
        pool.application_metadata.insert(app.to_owned(), Default::default());
    })
}

fn application_disable(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let (name, app) = (args.required("pool"), args.required("app"));
    let (id, pool) = match named(cx, name) {
        Ok(found) => found,
        Err(reply) => return reply.into(),
    };
    if !pool.application_metadata.contains_key(app) {
        return Reply::done(format!("application '{app}' is not enabled on pool '{name}'")).into();
    }
    if !args.switch("yes_i_really_mean_it") {
        let text =
            "data of the application may become unusable; pass --yes-i-really-mean-it to proceed anyway";
        return Reply::error(Errno::EPERM, text).into();
    }
    edit(cx, id, format!("disable application '{app}' on pool '{name}'"), |pool| {
        pool.application_metadata.remove(app);
    })
}

fn enabled<'a>(cx: &'a Context<'_>, name: &str, app: &str) -> Result<(PoolId, &'a Pool), Reply> {
    let (id, pool) = named(cx, name)?;
    if pool.application_metadata.contains_key(app) {
        return Ok((id, pool));
    }
    Err(Reply::error(Errno::ENOENT, format!("application '{app}' is not enabled on pool '{name}'")))
}

fn application_set(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let (name, app) = (args.required("pool"), args.required("app"));
    let (key, value) = (args.required("key"), args.required("value"));
    let (id, pool) = match enabled(cx, name, app) {
        Ok(found) => found,
        Err(reply) => return reply.into(),
    };
    let full =
        pool.application_metadata.get(app).is_some_and(|m| m.len() >= MAX_METADATA && !m.contains_key(key));
    if full || key.is_empty() || key.len() > MAX_METADATA || value.len() > MAX_METADATA {
        let text = format!("keys and values have up to {MAX_METADATA} bytes, and there are as many of them");
        return Reply::error(Errno::EINVAL, text).into();
    }
    let done = format!("set application '{app}' key '{key}' to '{value}' on pool '{name}'");
    edit(cx, id, done, |pool| {
        let metadata = pool.application_metadata.entry(app.to_owned()).or_default();
        metadata.insert(key.to_owned(), value.to_owned());
    })
}

fn application_rm(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let (name, app, key) = (args.required("pool"), args.required("app"), args.required("key"));
    let (id, pool) = match enabled(cx, name, app) {
        Ok(found) => found,
        Err(reply) => return reply.into(),
    };
    if !pool.application_metadata.get(app).is_some_and(|m| m.contains_key(key)) {
        return Reply::done(format!("application '{app}' on pool '{name}' does not have key '{key}'")).into();
    }
    edit(cx, id, format!("removed application '{app}' key '{key}' on pool '{name}'"), |pool| {
        if let Some(metadata) = pool.application_metadata.get_mut(app) {
            metadata.remove(key);
        }
    })
}

fn application_get(cx: &Context<'_>, args: &Args) -> Reply {
    let show = |value: Value| if cx.plain() { Reply::output(pretty(&value)) } else { cx.json(&value, true) };
    let map = cx.state.osdmap();
    let Some(name) = args.text("pool") else {
        let all = map
            .pools()
            .filter_map(|(id, pool)| Some((map.pool_name(id)?.to_owned(), json!(pool.application_metadata))));
        return show(Value::Object(Map::from_iter(all)));
    };
    let (_, pool) = match named(cx, name) {
        Ok(found) => found,
        Err(reply) => return reply,
    };
    let Some(app) = args.text("app") else { return show(json!(pool.application_metadata)) };
    let Some(metadata) = pool.application_metadata.get(app) else {
        return Reply::error(Errno::ENOENT, format!("pool '{name}' has no application '{app}'"));
    };
    let Some(key) = args.text("key") else { return show(json!(metadata)) };
    match metadata.get(key) {
        Some(value) if cx.plain() => Reply::output(format!("{value}\n")),
        Some(value) => cx.json(&json!(value), true),
        None => {
            Reply::error(Errno::ENOENT, format!("application '{app}' on pool '{name}' has no key '{key}'"))
        }
    }
}
