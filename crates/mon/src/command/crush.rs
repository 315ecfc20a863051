//! `osd crush`: buckets, rules, classes and tunables.

use serde_json::{Value, json};

use sepiola_osdmap::crush::{Bucket, BucketAlg, CrushMap, Rule, RuleStep, Tunables};
use sepiola_wire::{Errno, OsdId};

use super::{
    Command, Context, Reply, Run,
    osd_tree::{device_class, item_name},
    signature::{Args, Kind, many, opt, req},
};

const NAME: Kind = Kind::Chars("[A-Za-z0-9-_.]");

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "osd crush rule ls",
        args: &[],
        help: "names of the CRUSH rules",
        module: "osd",
        perm: "r",
        run: Run::Read(rule_ls),
    },
    Command {
        words: "osd crush dump",
        args: &[],
        help: "all of the CRUSH map, as JSON",
        module: "osd",
        perm: "r",
        run: Run::Read(|cx, _| cx.document(&dump(cx.state.osdmap().crush()))),
    },
    Command {
        words: "osd crush rule dump",
        args: &[opt("name", NAME)],
        help: "steps of a CRUSH rule, or of all",
        module: "osd",
        perm: "r",
        run: Run::Read(rule_dump),
    },
    Command {
        words: "osd crush ls",
        args: &[req("node", NAME)],
        help: "what is directly below a bucket",
        module: "osd",
        perm: "r",
        run: Run::Read(ls),
    },
    Command {
        words: "osd crush class ls",
        args: &[],
        help: "device classes that there are",
        module: "osd",
        perm: "r",
        run: Run::Read(class_ls),
    },
    Command {
        words: "osd crush class ls-osd",
        args: &[req("class", Kind::Chars("[A-Za-z0-9-_]"))],
        help: "OSDs of a device class",
        module: "osd",
        perm: "r",
        run: Run::Read(class_osds),
    },
    Command {
        words: "osd crush get-device-class",
        args: &[many("ids", Kind::Text)],
        help: "device classes of these OSDs",
        module: "osd",
        perm: "r",
        run: Run::Read(get_device_class),
    },
    Command {
        words: "osd crush show-tunables",
        args: &[],
        help: "the parameters that CRUSH computes with",
        module: "osd",
        perm: "r",
        run: Run::Read(|cx, _| cx.document(&tunables(cx.state.osdmap().crush()))),
    },
    Command {
        words: "osd crush get-tunable",
        args: &[req("tunable", Kind::Choice("straw_calc_version"))],
        help: "one of the parameters that CRUSH computes with",
        module: "osd",
        perm: "r",
        run: Run::Read(get_tunable),
    },
    Command {
        words: "osd crush weight-set ls",
        args: &[],
        help: "pools that have weights of their own in CRUSH",
        module: "osd",
        perm: "r",
        run: Run::Read(weight_sets),
    },
];

fn type_name(crush: &CrushMap, id: u16) -> String {
    crush.type_names.get(&id.into()).cloned().unwrap_or_default()
}

/// The names of the buckets that hold an item, by their types.
pub(super) fn location(crush: &CrushMap, item: i32) -> Value {
    let named = |bucket: &Bucket| (type_name(crush, bucket.type_id), item_name(crush, bucket.id).into());
    Value::Object(crush.ancestors(item).map(named).collect())
}

fn dump(crush: &CrushMap) -> Value {
    let devices = (0..crush.max_devices).map(|id| {
        let known = crush.item_names.contains_key(&id);
        let mut device =
            json!({"id": id, "name": if known { item_name(crush, id) } else { format!("device{id}") }});
        let class = device_class(crush, OsdId(id));
        if !class.is_empty() {
            device["class"] = class.into();
        }
        device
    });
    let types = crush.type_names.iter().map(|(id, name)| json!({"type_id": id, "name": name}));
    let rules = crush.rules.iter().zip(0..).filter_map(|(rule, n)| Some(rule_json(crush, n, rule.as_ref()?)));
    json!({
        "devices": devices.collect::<Vec<_>>(),
        "types": types.collect::<Vec<_>>(),
        "buckets": crush.buckets.iter().flatten().map(|b| bucket_json(crush, b)).collect::<Vec<_>>(),
        "rules": rules.collect::<Vec<_>>(),
        "tunables": tunables(crush),
        "choose_args": {},
    })
}

fn bucket_json(crush: &CrushMap, bucket: &Bucket) -> Value {
    let alg = match bucket.kind.alg() {
        BucketAlg::Uniform => "uniform",
        BucketAlg::List => "list",
        BucketAlg::Tree => "tree",
        BucketAlg::Straw => "straw",
        BucketAlg::Straw2 => "straw2",
    };
    let item = |(pos, id): (usize, &i32)| json!({"id": id, "weight": bucket.item_weight(pos), "pos": pos});
    json!({
        "id": bucket.id,
        "name": item_name(crush, bucket.id),
        "type_id": bucket.type_id,
        "type_name": type_name(crush, bucket.type_id),
        "weight": bucket.weight,
        "alg": alg,
        "hash": "rjenkins1",
        "items": bucket.items.iter().enumerate().map(item).collect::<Vec<_>>(),
    })
}

fn rule_json(crush: &CrushMap, number: i32, rule: &Rule) -> Value {
    let step = |step: &RuleStep| {
        let choose = |op: &str| {
            let kind = u16::try_from(step.arg2).map(|id| type_name(crush, id)).unwrap_or_default();
            json!({"op": op, "num": step.arg1, "type": kind})
        };
        let number = |op: &str| json!({"op": op, "num": step.arg1});
        match step.op {
            RuleStep::NOOP => json!({"op": "noop"}),
            RuleStep::TAKE => {
                json!({"op": "take", "item": step.arg1, "item_name": item_name(crush, step.arg1)})
            }
            RuleStep::EMIT => json!({"op": "emit"}),
            RuleStep::CHOOSE_FIRSTN => choose("choose_firstn"),
            RuleStep::CHOOSE_INDEP => choose("choose_indep"),
            RuleStep::CHOOSELEAF_FIRSTN => choose("chooseleaf_firstn"),
            RuleStep::CHOOSELEAF_INDEP => choose("chooseleaf_indep"),
            RuleStep::SET_CHOOSE_TRIES => number("set_choose_tries"),
            RuleStep::SET_CHOOSELEAF_TRIES => number("set_chooseleaf_tries"),
            other => json!({"opcode": other, "arg1": step.arg1, "arg2": step.arg2}),
        }
    };
    json!({
        "rule_id": number,
        "rule_name": crush.rule_names.get(&number).cloned().unwrap_or_default(),
        "ruleset": number,
        "type": rule.kind.0,
        "min_size": rule.min_size,
        "max_size": rule.max_size,
        "steps": rule.steps.iter().map(step).collect::<Vec<_>>(),
    })
}

fn tunables(crush: &CrushMap) -> Value {
    let t = &crush.tunables;
    let (optimal, legacy) = (*t == Tunables::JEWEL, *t == Tunables::LEGACY);
    let used = |op: u32| crush.rules.iter().flatten().any(|rule| rule.steps.iter().any(|step| step.op == op));
    let flag = u8::from;
    json!({
        "choose_local_tries": t.choose_local_tries,
        "choose_local_fallback_tries": t.choose_local_fallback_tries,
        "choose_total_tries": t.choose_total_tries,
        "chooseleaf_descend_once": t.chooseleaf_descend_once,
        "chooseleaf_vary_r": t.chooseleaf_vary_r,
        "chooseleaf_stable": t.chooseleaf_stable,
        "straw_calc_version": t.straw_calc_version,
        "allowed_bucket_algs": t.allowed_bucket_algs,
        "profile": if optimal { "jewel" } else if legacy { "argonaut" } else { "unknown" },
        "optimal_tunables": flag(optimal),
        "legacy_tunables": flag(legacy),
        "minimum_required_version": if legacy { "argonaut" } else { "jewel" },
        "require_feature_tunables": flag(!legacy),
        "require_feature_tunables2": flag(t.chooseleaf_descend_once != 0),
        "has_v2_rules": flag(used(RuleStep::CHOOSE_INDEP) || used(RuleStep::CHOOSELEAF_INDEP)),
        "require_feature_tunables3": flag(t.chooseleaf_vary_r != 0),
        "has_v3_rules": flag(used(RuleStep::SET_CHOOSELEAF_VARY_R)),
        "has_v4_buckets": flag(crush.buckets.iter().flatten().any(|b| b.kind.alg() == BucketAlg::Straw2)),
        "require_feature_tunables5": flag(t.chooseleaf_stable != 0),
        "has_v5_rules": flag(used(RuleStep::SET_CHOOSELEAF_STABLE)),
    })
}

fn rule_ls(cx: &Context<'_>, _: &Args) -> Reply {
    names(cx, cx.state.osdmap().crush().rule_names.values().cloned().collect())
}

/// A list of names: one a line, or in JSON.
fn names(cx: &Context<'_>, names: Vec<String>) -> Reply {
    if cx.plain() {
        return Reply::output(names.iter().map(|name| format!("{name}\n")).collect::<String>());
    }
    cx.json(&json!(names), true)
}

fn rule_dump(cx: &Context<'_>, args: &Args) -> Reply {
    let crush = cx.state.osdmap().crush();
    let rules = crush.rules.iter().zip(0..).filter_map(|(rule, number)| Some((number, rule.as_ref()?)));
    let Some(name) = args.text("name") else {
        return cx.document(&rules.map(|(number, rule)| rule_json(crush, number, rule)).collect());
    };
    let mut named = rules.filter(|(number, _)| crush.rule_names.get(number).is_some_and(|n| n == name));
    match named.next() {
        Some((number, rule)) => cx.document(&rule_json(crush, number, rule)),
        None => Reply::error(Errno::ENOENT, format!("unknown crush rule '{name}'")),
    }
}

fn ls(cx: &Context<'_>, args: &Args) -> Reply {
    let (crush, node) = (cx.state.osdmap().crush(), args.required("node"));
    let Some(id) = crush.item_by_name(node) else {
        return Reply::error(Errno::ENOENT, format!("node '{node}' does not exist"));
    };
    let below = crush.bucket(id).map_or(&[][..], |bucket| &bucket.items);
    names(cx, below.iter().map(|item| item_name(crush, *item)).collect())
}

fn class_ls(cx: &Context<'_>, _: &Args) -> Reply {
    let crush = cx.state.osdmap().crush();
    // A class without devices is only a name that was used once.
    let used =
        crush.class_names.iter().filter(|(id, _)| crush.item_classes.values().any(|class| class == *id));
    cx.document(&used.map(|(_, name)| Value::from(name.as_str())).collect())
}

fn class_osds(cx: &Context<'_>, args: &Args) -> Reply {
    let (crush, class) = (cx.state.osdmap().crush(), args.required("class"));
    let osds: Vec<_> =
        super::osd::ids(cx).into_iter().filter(|id| device_class(crush, *id) == class).collect();
    super::osd::list(cx, &osds)
}

fn get_device_class(cx: &Context<'_>, args: &Args) -> Reply {
    let osds = match super::osd_state::named(cx, args, "ids") {
        Ok(osds) => osds,
        Err(reply) => return reply,
    };
    let crush = cx.state.osdmap().crush();
    let classes = osds.iter().map(|id| (id, device_class(crush, *id)));
    if cx.plain() {
        return Reply::output(classes.map(|(_, class)| format!("{class}\n")).collect::<String>());
    }
    cx.json(&classes.map(|(id, class)| json!({"osd": id.0, "device_class": class})).collect(), true)
}

fn get_tunable(cx: &Context<'_>, _: &Args) -> Reply {
    let version = cx.state.osdmap().crush().tunables.straw_calc_version;
    if cx.plain() {
        Reply::output(format!("{version}\n"))
    } else {
        cx.json(&json!({ "straw_calc_version": version }), true)
    }
}

fn weight_sets(cx: &Context<'_>, _: &Args) -> Reply {
    let map = cx.state.osdmap();
    let name = |id: &i64| match id {
        -1 => Some("(compat)".to_owned()),
        id => map.pool_name(sepiola_wire::PoolId(*id)).map(str::to_owned),
    };
    names(cx, map.crush().choose_args.keys().filter_map(name).collect())
}
