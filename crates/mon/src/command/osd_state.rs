//! Marking OSDs in, out and down; flags of the cluster.

use rand_core::CryptoRng;
use sepiola_osdmap::{Incremental, MapFlags, WEIGHT_IN};
use sepiola_wire::{Errno, OsdId};

use super::{
    Command, Context, Proposal, Reply, Run,
    pool::publish,
    signature::{Args, Kind, many, opt, req},
};

const FLAG: super::Arg = req(
    "key",
    Kind::Choice(
        "full|pause|noup|nodown|noout|noin|nobackfill|norebalance|norecover|noscrub|nodeep-scrub|notieragent|nosnaptrim|pglog_hardlimit|noautoscale",
    ),
);

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "osd set",
        args: &[FLAG, opt("yes_i_really_mean_it", Kind::Switch)],
        help: "switch on a flag of the whole cluster",
        module: "osd",
        perm: "rw",
        run: Run::Write(|cx, args, _| set_flag(cx, args, true)),
    },
    Command {
        words: "osd unset",
        args: &[FLAG],
        help: "switch off a flag of the whole cluster",
        module: "osd",
        perm: "rw",
        run: Run::Write(|cx, args, _| set_flag(cx, args, false)),
    },
    Command {
        words: "osd pause",
        args: &[],
        help: "hold all reads and writes of clients",
        module: "osd",
        perm: "rw",
        run: Run::Write(|cx, _, _| flip(cx, PAUSE, "pauserd,pausewr", true)),
    },
    Command {
        words: "osd unpause",
        args: &[],
        help: "let reads and writes of clients go on",
        module: "osd",
        perm: "rw",
        run: Run::Write(|cx, _, _| flip(cx, PAUSE, "pauserd,pausewr", false)),
    },
    Command {
        words: "osd out",
        args: &[many("ids", Kind::Text)],
        help: "move all data away from OSDs",
        module: "osd",
        perm: "rw",
        run: Run::Write(|cx, args, _| mark(cx, args, "out", |inc, id| inc.set_weight(id, 0))),
    },
    Command {
        words: "osd in",
        args: &[many("ids", Kind::Text)],
        help: "let OSDs take data",
        module: "osd",
        perm: "rw",
        run: Run::Write(|cx, args, _| mark(cx, args, "in", |inc, id| inc.set_weight(id, WEIGHT_IN))),
    },
    Command {
        words: "osd down",
        args: &[many("ids", Kind::Text), opt("definitely_dead", Kind::Switch)],
        help: "take OSDs for down till they boot again",
        module: "osd",
        perm: "rw",
        run: Run::Write(down),
    },
    Command {
        words: "osd reweight",
        args: &[req("id", Kind::Osd), req("weight", Kind::Float(0.0, 1.0))],
        help: "give an OSD that share of its data in CRUSH, 0.0 to 1.0",
        module: "osd",
        perm: "rw",
        run: Run::Write(reweight),
    },
];

const PAUSE: MapFlags = MapFlags(MapFlags::PAUSERD.0 | MapFlags::PAUSEWR.0);

fn set_flag(cx: &Context<'_>, args: &Args, on: bool) -> Proposal {
    let key = args.required("key");
    match key {
        "pause" => flip(cx, PAUSE, "pauserd,pausewr", on),
        _ => match MapFlags::from_name(key) {
            Some(flag) => flip(cx, flag, key, on),
            None => Reply::error(Errno::EINVAL, format!("unrecognized flag '{key}'")).into(),
        },
    }
}

fn flip(cx: &Context<'_>, flag: MapFlags, shown: &str, on: bool) -> Proposal {
    let flags = cx.state.osdmap().flags();
    let status = format!("{shown} is {}", if on { "set" } else { "unset" });
    publish(cx, status, |inc| inc.new_flags = Some(if on { flags.with(flag) } else { flags.without(flag) }))
}

/// A number as given, with `osd.` or without; the OSD need not exist.
pub(super) fn osd_id(text: &str) -> Result<OsdId, Reply> {
    let id = text.strip_prefix("osd.").unwrap_or(text).parse().map(OsdId);
    id.map_err(|_| Reply::error(Errno::EINVAL, format!("invalid osd id {text}")))
}

/// The OSDs that an argument names: ids, `all`, `any` or `*`.
pub(super) fn named(cx: &Context<'_>, args: &Args, argument: &str) -> Result<Vec<OsdId>, Reply> {
    let map = cx.state.osdmap();
    let mut ids = Vec::new();
    for text in args.texts(argument) {
        if matches!(text.as_str(), "all" | "any" | "*") {
            return Ok(map.osds().map(|(id, _)| id).collect());
        }
        ids.push(osd_id(&text)?);
    }
    Ok(ids)
}

/// Marks the named OSDs that are not `word` already. The status says what became of each; an OSD that
/// does not exist is no error.
fn mark(cx: &Context<'_>, args: &Args, word: &str, edit: impl Fn(&mut Incremental, OsdId)) -> Proposal {
    let ids = match named(cx, args, "ids") {
        Ok(ids) => ids,
        Err(reply) => return reply.into(),
    };
    let map = cx.state.osdmap();
    let (mut status, mut change) = (String::new(), Vec::new());
    for id in ids {
        let Some(osd) = map.osd(id).filter(|osd| osd.exists()) else {
            status += &format!("osd.{id} does not exist. ");
            continue;
        };
        let already = match word {
            "down" => !osd.is_up(),
            word => osd.is_in() == (word == "in"),
        };
        if already {
            status += &format!("osd.{id} is already {word}. ");
        } else {
            status += &format!("marked {word} osd.{id}. ");
            change.push(id);
        }
    }
    if change.is_empty() {
        return Reply::done(status).into();
    }
    publish(cx, status, |inc| change.iter().for_each(|id| edit(inc, *id)))
}

fn down(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    mark(cx, args, "down", |inc, id| {
        inc.mark_down(cx.state.osdmap(), id);
    })
}

fn reweight(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let (Some(id), Some(weight)) = (args.osd("id").map(OsdId), args.float("weight")) else {
        return Reply::error(Errno::EINVAL, "an osd and a weight are needed").into();
    };
    if !cx.state.osdmap().exists(id) {
        return Reply::error(Errno::ENOENT, format!("osd.{id} does not exist")).into();
    }
    // Within 0..=1, so the product fits.
    let fixed = (weight * f64::from(WEIGHT_IN)) as u32;
    publish(cx, format!("reweighted osd.{id} to {weight} ({fixed:x})"), |inc| inc.set_weight(id, fixed))
}
