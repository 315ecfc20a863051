//! `osd pool set-quota` and `osd pool get-quota`. The flags that follow from usage are set elsewhere.

use rand_core::CryptoRng;
use sepiola_config::units::{bytes, count, parse_count, parse_size};
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
        help: "limit objects or bytes of a pool; 0 is no limit",
        module: "osd",
        perm: "rw",
        run: Run::Write(set),
    },
    Command {
        words: "osd pool get-quota",
        args: &[req("pool", Kind::Pool)],
        help: "limits on objects and bytes of a pool",
        module: "osd",
        perm: "r",
        run: Run::Read(get),
    },
];

fn set(cx: &Context<'_>, args: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let (name, field, val) = (args.required("pool"), args.required("field"), args.required("val"));
    let (id, _) = match named(cx, name) {
        Ok(found) => found,
        Err(reply) => return reply.into(),
    };
    let of_bytes = field == "max_bytes";
    let Some(limit) = (if of_bytes { parse_size(val) } else { parse_count(val) }) else {
        return Reply::error(Errno::EINVAL, format!("error parsing value '{val}'")).into();
    };
    edit(cx, id, format!("set-quota {field} = {limit} for pool {name}"), |pool| {
        if of_bytes {
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
    let (max_objects, max_bytes) = (pool.quota_max_objects, pool.quota_max_bytes);
    let used = cx.stats.pool(id).sums;
    if cx.plain() {
        let limit = |limit: u64, text: &dyn Fn(u64) -> String, current: &str| match limit {
            0 => "N/A".to_owned(),
            limit => format!("{}  (current num {current})", text(limit)),
        };
        let objects = |n: u64| format!("{} objects", count(n));
        return Reply::output(format!(
            "quotas for pool '{name}':\n  max objects: {}\n  max bytes  : {}",
            limit(max_objects, &objects, &format!("objects: {} objects", used.objects)),
            limit(max_bytes, &bytes, &format!("bytes: {} bytes", used.bytes)),
        ));
    }
    let value = json!({
        "pool_name": name,
        "pool_id": id.0,
        "quota_max_objects": max_objects,
        "current_num_objects": used.objects,
        "quota_max_bytes": max_bytes,
        "current_num_bytes": used.bytes,
    });
    cx.json(&value, true)
}
