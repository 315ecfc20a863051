//! `osd pool set-quota` and `osd pool get-quota`. The flags that follow from usage are set elsewhere.

use rand_core::CryptoRng;
use sepiola_wire::Errno;
use serde_json::json;

use super::{
    Command, Context, Proposal, Reply, Run,
    pool::{edit, named},
    signature::{Args, Kind, req},
};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "osd pool set-quota",
        args: &[
            req("pool", Kind::Pool),
            req("field", Kind::Choice("max_objects|max_bytes")),
            req("val", Kind::Text),
        ],
        help: "set object or byte limit on pool",
        module: "osd",
        perm: "rw",
        run: Run::Write(set),
    },
    Command {
        words: "osd pool get-quota",
        args: &[req("pool", Kind::Pool)],
        help: "obtain object or byte limits for pool",
        module: "osd",
        perm: "r",
        run: Run::Read(get),
    },
];

/// A number with an optional unit: `10`, `4K`, `1Gi`. Objects are counted in powers of 1000, bytes in powers
/// of 1024.
fn parse(text: &str, base: u64) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.strip_suffix('B').unwrap_or(unit);
    let power = match unit.strip_suffix('i').unwrap_or(unit) {
        "" => 0,
        "K" | "k" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        "P" => 5,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(base.checked_pow(power)?)
}

fn set(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let (name, field, val) = (args.required("pool"), args.required("field"), args.required("val"));
    let (id, _) = match named(cx, name) {
        Ok(found) => found,
        Err(reply) => return reply.into(),
    };
    let bytes = field == "max_bytes";
    let Some(limit) = parse(val, if bytes { 1024 } else { 1000 }) else {
        return Reply::error(Errno::EINVAL, format!("error parsing value '{val}'")).into();
    };
    edit(cx, id, format!("set-quota {field} = {limit} for pool {name}"), |pool| {
        if bytes {
            pool.quota_max_bytes = limit;
        } else {
            pool.quota_max_objects = limit;
        }
    })
}

fn get(cx: &Context<'_>, args: &Args) -> Reply {
    let name = args.required("pool");
    let (id, pool) = match named(cx, name) {
        Ok(found) => found,
        Err(reply) => return reply,
    };
    let (objects, bytes) = (pool.quota_max_objects, pool.quota_max_bytes);
    if cx.plain() {
        let text = |limit: u64, unit: &str| match limit {
            0 => "N/A".to_owned(),
            limit => format!("{limit} {unit}"),
        };
        return Reply::output(format!(
            "quotas for pool '{name}':\n  max objects: {}\n  max bytes  : {}",
            text(objects, "objects"),
            text(bytes, "bytes"),
        ));
    }
    let value =
        json!({"pool_name": name, "pool_id": id.0, "quota_max_objects": objects, "quota_max_bytes": bytes});
    cx.json(&value, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_may_have_units() {
        assert_eq!(parse("4096", 1024), Some(4096));
        assert_eq!(parse("10K", 1000), Some(10_000));
        assert_eq!(parse("2Mi", 1024), Some(2 << 20));
        assert_eq!(parse("1GiB", 1024), Some(1 << 30));
        for wrong in ["", "K", "-1", "1X", "99999999999P"] {
            assert_eq!(parse(wrong, 1024), None, "{wrong}");
        }
    }
}
