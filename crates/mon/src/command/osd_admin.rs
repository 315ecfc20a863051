//! Adding and removing OSDs, and numbers of the OSD map that an administrator sets.

use std::collections::BTreeMap;

use rand_core::CryptoRng;
use sepiola_cephx::EntityAuth;
use sepiola_osdmap::{Incremental, OsdState, Release, WEIGHT_IN};
use sepiola_wire::{EntityName, Errno, OsdId, Uuid};
use serde_json::{Value, json};

use super::{
    Command, Context, Proposal, Reply, Run,
    osd_state::{named, osd_id},
    pool::publish,
    signature::{Args, Kind, many, opt, req},
};
use crate::state::change;

const ID: super::Arg = req("id", Kind::Osd);
const CONFIRM: super::Arg = opt("yes_i_really_mean_it", Kind::Switch);
const RATIO: &[super::Arg] = &[req("ratio", Kind::Float(0.0, 1.0))];
const GROUP: &[super::Arg] = &[req("flags", Kind::Text), many("who", Kind::Text)];

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "osd new",
        args: &[req("uuid", Kind::Uuid), opt("id", Kind::Osd)],
        help: "announce an OSD by its store's UUID; its key may be in a JSON file, -i <file>",
        module: "osd",
        perm: "rw",
        run: Run::Write(new),
    },
    Command {
        words: "osd create",
        args: &[opt("uuid", Kind::Uuid), opt("id", Kind::Osd)],
        help: "announce an OSD",
        module: "osd",
        perm: "rw",
        run: Run::Write(new),
    },
    Command {
        words: "osd rm",
        args: &[many("ids", Kind::Text)],
        help: "forget OSDs that are down",
        module: "osd",
        perm: "rw",
        run: Run::Write(rm),
    },
    Command {
        words: "osd purge",
        args: &[ID, opt("force", Kind::Switch), CONFIRM],
        help: "forget an OSD that is down, its place in CRUSH and its key",
        module: "osd",
        perm: "rw",
        run: Run::Write(purge),
    },
    Command {
        words: "osd primary-affinity",
        args: &[ID, req("weight", Kind::Float(0.0, 1.0))],
        help: "how often an OSD is made primary, 0.0 to 1.0",
        module: "osd",
        perm: "rw",
        run: Run::Write(primary_affinity),
    },
    Command {
        words: "osd set-full-ratio",
        args: RATIO,
        help: "how full an OSD may be before writes stop",
        module: "osd",
        perm: "rw",
        run: Run::Write(|cx, args, _| ratio(cx, args, "full", |inc, ratio| inc.new_full_ratio = ratio)),
    },
    Command {
        words: "osd set-backfillfull-ratio",
        args: RATIO,
        help: "how full an OSD may be before it takes no more data of others",
        module: "osd",
        perm: "rw",
        run: Run::Write(|cx, args, _| {
            ratio(cx, args, "backfillfull", |inc, ratio| inc.new_backfillfull_ratio = ratio)
        }),
    },
    Command {
        words: "osd set-nearfull-ratio",
        args: RATIO,
        help: "how full an OSD may be before it is warned of",
        module: "osd",
        perm: "rw",
        run: Run::Write(|cx, args, _| {
            ratio(cx, args, "nearfull", |inc, ratio| inc.new_nearfull_ratio = ratio)
        }),
    },
    Command {
        words: "osd set-require-min-compat-client",
        args: &[req("version", Kind::Text), CONFIRM],
        help: "the oldest release of clients that may connect",
        module: "osd",
        perm: "rw",
        run: Run::Write(require_min_compat_client),
    },
    Command {
        words: "osd get-require-min-compat-client",
        args: &[],
        help: "show the oldest release of clients that may connect",
        module: "osd",
        perm: "r",
        run: Run::Read(|cx, _| Reply::output(format!("{}\n", cx.state.osdmap().require_min_compat_client()))),
    },
    Command {
        words: "osd set-group",
        args: GROUP,
        help: "give flags to single OSDs: noup,nodown,noin,noout",
        module: "osd",
        perm: "rw",
        run: Run::Write(|cx, args, _| group(cx, args, true)),
    },
    Command {
        words: "osd unset-group",
        args: GROUP,
        help: "take flags from single OSDs: noup,nodown,noin,noout",
        module: "osd",
        perm: "rw",
        run: Run::Write(|cx, args, _| group(cx, args, false)),
    },
];

/// Numbers above this would make every map large.
const MAX_OSD: i32 = 9_999;

fn new(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let map = cx.state.osdmap();
    let uuid = args.text("uuid").and_then(|text| Uuid::parse_str(text).ok());
    let known = uuid.and_then(|uuid| map.osds().find(|(_, osd)| osd.uuid == uuid).map(|(id, _)| id));
    let wanted = args.osd("id").map(OsdId);
    if let Some(id) = known {
        if wanted.is_some_and(|wanted| wanted != id) {
            let text = format!("uuid {} already in use for different id {id}", uuid.unwrap_or_default());
            return Reply::error(Errno::EEXIST, text).into();
        }
        return told(cx, id).into();
    }
    let free = || (0..=MAX_OSD).map(OsdId).find(|id| !map.exists(*id));
    let Some(id) = wanted.or_else(free).filter(|id| id.0 <= MAX_OSD) else {
        return Reply::error(Errno::EINVAL, format!("an OSD's number is at most {MAX_OSD}")).into();
    };
    if map.exists(id) {
        return Reply::error(Errno::EEXIST, format!("osd.{id} already exists")).into();
    }
    let mut proposal = publish(cx, "", |inc| {
        inc.new_max_osd = Some(map.max_osd().max(id.0 + 1));
        inc.new_state.insert(id, OsdState::EXISTS.with(OsdState::NEW).0);
        inc.new_uuid.insert(id, uuid.unwrap_or_default());
        inc.new_weight.insert(id, 0);
    });
    if proposal.reply.result != 0 {
        return proposal;
    }
    proposal.reply = told(cx, id);
    match secret(cx) {
        Err(reply) => return reply.into(),
        // A key that the OSD has already stays.
        Ok(Some(key)) if cx.state.entity(&EntityName::osd(id)).is_none() => {
            let caps = [("mon", "allow profile osd"), ("osd", "allow *"), ("mgr", "allow profile osd")];
            let caps: BTreeMap<_, _> = caps.map(|(s, c)| (s.to_owned(), c.to_owned())).into();
            proposal.changes.push(change::entity_set(&EntityName::osd(id), &EntityAuth::new(key, caps)));
        }
        Ok(_) => {}
    }
    proposal
}

fn told(cx: &Context<'_>, id: OsdId) -> Reply {
    if cx.plain() { Reply::output(format!("{id}\n")) } else { cx.json(&json!({ "osdid": id.0 }), true) }
}

/// The key in the input, `{"cephx_secret": "..."}`; none if there is no input.
fn secret(cx: &Context<'_>) -> Result<Option<sepiola_crypto::CryptoKey>, Reply> {
    if cx.input.trim_ascii().is_empty() {
        return Ok(None);
    }
    let bad = |text: &str| Reply::error(Errno::EINVAL, text);
    let given: Value = serde_json::from_slice(cx.input).map_err(|_| bad("the input is no JSON"))?;
    let Some(text) = given.get("cephx_secret").and_then(Value::as_str) else { return Ok(None) };
    sepiola_crypto::CryptoKey::from_base64(text).map(Some).map_err(|_| bad("cephx_secret is no key"))
}

fn rm(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let map = cx.state.osdmap();
    let (mut gone, mut status, mut busy) = (Vec::new(), String::new(), false);
    for text in args.texts("ids") {
        let id = match osd_id(&text) {
            Ok(id) => id,
            Err(reply) => return reply.into(),
        };
        if !map.exists(id) {
            status += &format!("osd.{id} does not exist. ");
        } else if map.is_up(id) {
            status += &format!("osd.{id} is still up; must be down before removal. ");
            busy = true;
        } else {
            gone.push(id);
        }
    }
    if busy {
        return Reply::error(Errno::EBUSY, status).into();
    }
    if gone.is_empty() {
        return Reply::done(status).into();
    }
    let names: Vec<_> = gone.iter().map(|id| format!("osd.{id}")).collect();
    let mut proposal = publish(cx, format!("{status}removed {}", names.join(", ")), |inc| {
        gone.iter().for_each(|id| inc.remove_osd(map, *id));
    });
    if proposal.reply.result == 0 {
        proposal.changes.extend(gone.iter().map(|id| change::osd_metadata_removed(*id)));
    }
    proposal
}

fn purge(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let map = cx.state.osdmap();
    let Some(id) = args.osd("id").map(OsdId) else {
        return Reply::error(Errno::EINVAL, "an osd is needed").into();
    };
    if !map.exists(id) {
        return Reply::done(format!("osd.{id} does not exist")).into();
    }
    if !args.switch("yes_i_really_mean_it") {
        let text = "this removes the OSD and its key for good; pass --yes-i-really-mean-it to do it";
        return Reply::error(Errno::EPERM, text).into();
    }
    if map.is_up(id) {
        return Reply::error(Errno::EBUSY, format!("osd.{id} is not `down`.")).into();
    }
    let mut crush = map.crush().clone();
    if let Err(e) = crush.remove_device(id.0) {
        return Reply::error(Errno::EINVAL, e.to_string()).into();
    }
    let mut proposal = publish(cx, format!("purged osd.{id}"), |inc| {
        inc.remove_osd(map, id);
        inc.set_crush(&crush);
    });
    if proposal.reply.result == 0 {
        proposal.changes.push(change::osd_metadata_removed(id));
        if cx.state.entity(&EntityName::osd(id)).is_some() {
            proposal.changes.push(change::entity_removed(&EntityName::osd(id)));
        }
    }
    proposal
}

fn primary_affinity(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let (Some(id), Some(weight)) = (args.osd("id").map(OsdId), args.float("weight")) else {
        return Reply::error(Errno::EINVAL, "an osd and a weight are needed").into();
    };
    if !cx.state.osdmap().exists(id) {
        return Reply::error(Errno::ENOENT, format!("osd.{id} does not exist")).into();
    }
    // Within 0..=1, so the product fits.
    let fixed = (weight * f64::from(WEIGHT_IN)) as u32;
    publish(cx, format!("set osd.{id} primary-affinity to {weight} ({fixed})"), |inc| {
        inc.new_primary_affinity.insert(id, fixed);
    })
}

fn ratio(
    cx: &Context<'_>,
    args: &Args,
    which: &str,
    set: impl Fn(&mut Incremental, Option<f32>),
) -> Proposal {
    let ratio = args.float("ratio").unwrap_or_default();
    publish(cx, format!("osd set-{which}-ratio {ratio}"), |inc| set(inc, Some(ratio as f32)))
}

fn require_min_compat_client(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let version = args.required("version");
    let Some(release) = Release::from_name(version) else {
        return Reply::error(Errno::EINVAL, format!("version {version} is not recognized")).into();
    };
    publish(cx, format!("set require_min_compat_client to {version}"), |inc| {
        inc.new_require_min_compat_client = Some(release);
    })
}

fn group(cx: &Context<'_>, args: &Args, on: bool) -> Proposal {
    let mut flags = OsdState::NONE;
    for name in args.required("flags").split(',') {
        match OsdState::from_name(name).filter(|_| ["noup", "nodown", "noin", "noout"].contains(&name)) {
            Some(flag) => flags = flags.with(flag),
            None => return Reply::error(Errno::EINVAL, format!("unrecognized flag '{name}'")).into(),
        }
    }
    let ids = match named(cx, args, "who") {
        Ok(ids) => ids,
        Err(reply) => return reply.into(),
    };
    let map = cx.state.osdmap();
    // Bits in a step flip, so only those are named that are not as they should be.
    let flips = ids.iter().filter_map(|id| {
        let state = map.osd(*id)?.state;
        let flip = if on { flags.without(state).0 } else { flags.0 & state.0 };
        (flip != 0).then_some((*id, flip))
    });
    let flips: BTreeMap<_, _> = flips.collect();
    if flips.is_empty() {
        return Reply::default().into();
    }
    publish(cx, "", |inc| inc.new_state.extend(flips))
}
