//! `osd dump`: the OSD map for people and programs.

use std::fmt::Write as _;

use sepiola_osdmap::{Osd, OsdMap, Release};
use sepiola_wire::{Errno, OsdId};
use serde_json::{Map, Value, json};

use super::{
    Command, Context, Reply, Run,
    format::{numbers, weight},
    mon::{addrvec_json, legacy_addr},
    pool_dump,
    signature::{Args, Kind, opt},
};

pub(super) const COMMANDS: &[Command] = &[Command {
    words: "osd dump",
    args: &[opt("epoch", Kind::Int(0))],
    help: "all of the OSD map but CRUSH: flags, pools, OSDs, blocklist",
    module: "osd",
    perm: "r",
    run: Run::Read(dump),
}];

fn dump(cx: &Context<'_>, args: &Args) -> Reply {
    let map = cx.state.osdmap();
    if args.int("epoch").is_some_and(|e| e != 0 && e != i64::from(map.epoch().0)) {
        return Reply::error(Errno::ENOENT, "there is no full map for that epoch");
    }
    if cx.plain() { Reply::output(text(map)) } else { cx.json(&to_json(map), true) }
}

/// What straw2 buckets and the usual tunables ask of clients.
const MIN_COMPAT_CLIENT: Release = Release::JEWEL;

fn text(map: &OsdMap) -> String {
    let ratios = map.full_ratios();
    let mut out = format!(
        "epoch {}\nfsid {}\ncreated {}\nmodified {}\nflags {}\ncrush_version {}\nfull_ratio {}\n\
         backfillfull_ratio {}\nnearfull_ratio {}\nrequire_min_compat_client {}\nmin_compat_client {}\n\
         require_osd_release {}\nstretch_mode_enabled {}\n",
        map.epoch(),
        map.fsid(),
        map.created(),
        map.modified(),
        map.flags(),
        map.crush_version(),
        ratios.full,
        ratios.backfillfull,
        ratios.nearfull,
        map.require_min_compat_client(),
        MIN_COMPAT_CLIENT,
        map.require_osd_release(),
        map.stretch_mode().enabled,
    );
    out += &pool_dump::pool_lines(map);
    let _ = writeln!(out, "max_osd {}", map.max_osd());
    for (id, osd) in map.osds() {
        out += &osd_line(map, id, osd);
    }
    for (pg, osds) in map.pg_temp() {
        let _ = writeln!(out, "pg_temp {pg} {:?}", osds.iter().map(|o| o.0).collect::<Vec<_>>());
    }
    for (pg, osd) in map.primary_temp() {
        let _ = writeln!(out, "primary_temp {pg} {osd}");
    }
    for (addr, until) in map.blocklist() {
        let _ = writeln!(out, "blocklist {addr} expires {until}");
    }
    for (addr, until) in map.range_blocklist() {
        let _ = writeln!(out, "range blocklist {addr} expires {until}");
    }
    out
}

/// An OSD's line.
pub(super) fn osd_line(map: &OsdMap, id: OsdId, osd: &Osd) -> String {
    let (info, mut out) = (&osd.info, String::new());
    let _ = write!(
        out,
        "osd.{id} {:<4} {:<3} weight {}",
        if osd.is_up() { "up" } else { "down" },
        if osd.is_in() { "in" } else { "out" },
        weight(osd.weight),
    );
    let affinity = weight(map.primary_affinity(id));
    if affinity != 1.0 {
        let _ = write!(out, " primary_affinity {affinity}");
    }
    let _ = writeln!(
        out,
        " up_from {} up_thru {} down_at {} last_clean_interval [{},{}) {} {} {} {}",
        info.up_from,
        info.up_thru,
        info.down_at,
        info.last_clean_begin,
        info.last_clean_end,
        osd.client_addrs,
        osd.cluster_addrs,
        osd.state,
        osd.uuid,
    );
    out
}

pub(super) fn osd_json(map: &OsdMap, id: OsdId, osd: &Osd) -> Value {
    let info = &osd.info;
    json!({
        "osd": id.0,
        "uuid": osd.uuid.to_string(),
        "up": u8::from(osd.is_up()),
        "in": u8::from(osd.is_in()),
        "weight": weight(osd.weight),
        "primary_affinity": weight(map.primary_affinity(id)),
        "last_clean_begin": info.last_clean_begin.0,
        "last_clean_end": info.last_clean_end.0,
        "up_from": info.up_from.0,
        "up_thru": info.up_thru.0,
        "down_at": info.down_at.0,
        "lost_at": info.lost_at.0,
        "public_addrs": addrvec_json(&osd.client_addrs),
        "cluster_addrs": addrvec_json(&osd.cluster_addrs),
        "heartbeat_back_addrs": addrvec_json(&osd.heartbeat_back_addrs),
        "heartbeat_front_addrs": addrvec_json(&osd.heartbeat_front_addrs),
        "public_addr": legacy_addr(&osd.client_addrs),
        "cluster_addr": legacy_addr(&osd.cluster_addrs),
        "heartbeat_back_addr": legacy_addr(&osd.heartbeat_back_addrs),
        "heartbeat_front_addr": legacy_addr(&osd.heartbeat_front_addrs),
        "state": osd.state.names().collect::<Vec<_>>(),
    })
}

fn xinfo_json(id: OsdId, osd: &Osd) -> Value {
    let x = &osd.xinfo;
    json!({
        "osd": id.0,
        "down_stamp": x.down_stamp.to_string(),
        "laggy_probability": f64::from(x.laggy_probability) / f64::from(u32::MAX),
        "laggy_interval": x.laggy_interval,
        "features": x.features,
        "old_weight": weight(x.old_weight),
        "last_purged_snaps_scrub": x.last_purged_snaps_scrub.to_string(),
        "dead_epoch": x.dead_epoch.0,
    })
}

fn to_json(map: &OsdMap) -> Value {
    let ratios = map.full_ratios();
    let stretch = map.stretch_mode();
    let mut flags: Vec<_> = map.flags().names().collect();
    flags.sort_unstable();
    let blocklist: Map<_, _> =
        map.blocklist().map(|(addr, until)| (addr.to_string(), until.to_string().into())).collect();
    let range_blocklist: Map<_, _> =
        map.range_blocklist().map(|(addr, until)| (addr.to_string(), until.to_string().into())).collect();
    let mut dump = json!({
        "epoch": map.epoch().0,
        "fsid": map.fsid().to_string(),
        "created": map.created().to_string(),
        "modified": map.modified().to_string(),
        "last_up_change": map.last_up_change().to_string(),
        "last_in_change": map.last_in_change().to_string(),
        "flags": map.flags().to_string(),
        "flags_num": map.flags().0,
        "flags_set": flags,
        "crush_version": map.crush_version(),
        "full_ratio": ratios.full,
        "backfillfull_ratio": ratios.backfillfull,
        "nearfull_ratio": ratios.nearfull,
        "cluster_snapshot": "",
        "pool_max": map.pool_max().0,
        "max_osd": map.max_osd(),
        "require_min_compat_client": map.require_min_compat_client().name(),
        "min_compat_client": MIN_COMPAT_CLIENT.name(),
        "require_osd_release": map.require_osd_release().name(),
        "pools": map.pools().map(|(id, pool)| pool_dump::pool_json(map, id, pool)).collect::<Vec<_>>(),
        "osds": map.osds().map(|(id, osd)| osd_json(map, id, osd)).collect::<Vec<_>>(),
        "osd_xinfo": map.osds().map(|(id, osd)| xinfo_json(id, osd)).collect::<Vec<_>>(),
    });
    let rest = json!({
        "pg_upmap": map.pg_upmap().iter()
            .map(|(pg, osds)| json!({"pgid": pg.to_string(), "osds": numbers(osds)})).collect::<Vec<_>>(),
        "pg_upmap_items": map.pg_upmap_items().iter()
            .map(|(pg, items)| {
                let mappings: Vec<_> =
                    items.iter().map(|(from, to)| json!({"from": from.0, "to": to.0})).collect();
                json!({"pgid": pg.to_string(), "mappings": mappings})
            })
            .collect::<Vec<_>>(),
        "pg_temp": map.pg_temp().iter()
            .map(|(pg, osds)| json!({"pgid": pg.to_string(), "osds": numbers(osds)})).collect::<Vec<_>>(),
        "primary_temp": map.primary_temp().iter()
            .map(|(pg, osd)| json!({"pgid": pg.to_string(), "osd": osd.0})).collect::<Vec<_>>(),
        "blocklist": blocklist,
        "range_blocklist": range_blocklist,
        "erasure_code_profiles": map.erasure_code_profiles(),
        "removed_snaps_queue": [],
        "new_removed_snaps": [],
        "new_purged_snaps": [],
        "crush_node_flags": {},
        "device_class_flags": {},
        "stretch_mode": {
            "stretch_mode_enabled": stretch.enabled,
            "stretch_bucket_count": stretch.bucket_count,
            "degraded_stretch_mode": stretch.degraded,
            "recovering_stretch_mode": stretch.recovering,
            "stretch_mode_bucket": stretch.mode_bucket,
        },
    });
    if let (Value::Object(dump), Value::Object(rest)) = (&mut dump, rest) {
        dump.extend(rest);
    }
    dump
}
