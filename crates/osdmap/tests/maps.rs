//! Full maps and incrementals of real monitors: read, written back byte for byte, applied.

use std::path::PathBuf;

use sepiola_osdmap::{
    ApplyError, CANONICAL_FEATURES, Incremental, MapError, MapFlags, OSD_NONE, OsdMap, PoolFlags, WEIGHT_IN,
};
use sepiola_wire::{AddrType, EntityAddr, Epoch, Features, OsdId, PgId, PoolId, Reader, UTime};

/// What a 20.2.4 monitor encodes maps with.
const TENTACLE_FEATURES: Features = Features::from_bits(0x0f04_0880_9021_2a04);

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/osdmap").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn names(prefix: &str, suffix: &str) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(prefix) && name.ends_with(suffix))
        .collect();
    names.sort();
    names
}

/// The features that a captured blob was written with: its client section's version tells the release.
fn features_of(blob: &[u8], reef_version: u8) -> Features {
    const SECTION_VERSION: usize = 6;
    if blob[SECTION_VERSION] >= reef_version { TENTACLE_FEATURES } else { CANONICAL_FEATURES }
}

#[test]
fn full_maps_reencode_byte_for_byte() {
    let full =
        [names("pacific_full", ".bin"), names("tentacle32_full", ".bin"), names("map9", ".bin")].concat();
    assert_eq!(full.len(), 7);
    for name in full.iter().map(String::as_str).chain(["min_viable.bin"]) {
        let blob = bytes(name);
        let map = OsdMap::decode(&blob).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut features = features_of(&blob, 10);
        if name.starts_with("map9_upmap_primaries") {
            // Client section 10 with pools of layout 29.
            features = CANONICAL_FEATURES | Features::SERVER_REEF;
        }
        assert!(map.encode(features) == blob, "{name} differs");
    }
}

#[test]
fn incrementals_reencode_byte_for_byte() {
    let all = [names("pacific_", ".bin"), names("tentacle_", ".bin")].concat();
    let all: Vec<_> = all.into_iter().filter(|name| name.contains("_inc_")).collect();
    assert_eq!(all.len(), 13);
    for name in all {
        let blob = bytes(&name);
        let inc = Incremental::decode(&blob).unwrap_or_else(|e| panic!("{name}: {e}"));
        let expected = if name.starts_with("tentacle") { TENTACLE_FEATURES } else { CANONICAL_FEATURES };
        assert_eq!(inc.encode_features, expected, "{name}");
        let written = inc.encode(features_of(&blob, 9));
        let pools_v29 = inc.encode(CANONICAL_FEATURES | Features::SERVER_REEF);
        assert!(written == blob || pools_v29 == blob, "{name} differs");
    }
}

#[test]
fn applying_an_incremental_gives_the_monitors_next_map() {
    let before = OsdMap::decode(&bytes("pacific_full_e7.bin")).unwrap();
    let inc = Incremental::decode(&bytes("pacific_inc_e8.bin")).unwrap();
    let after = before.apply_checked(&inc).unwrap();
    assert!(after.encode(inc.encode_features) == bytes("pacific_full_e8.bin"));
    assert_eq!(after.epoch(), Epoch(8));
}

/// Every result has the checksum that the monitor computed for it, over removed and destroyed OSDs, upmaps,
/// temporary mappings, several blocklist entries (whose order matters), pools that come and go.
#[test]
fn every_epoch_of_real_monitors_is_reproduced() {
    for (name, epochs) in [("pacific_chain.blobs", 48), ("tentacle_chain.blobs", 52)] {
        let file = bytes(name);
        let mut r = Reader::new(&file);
        let mut map = OsdMap::decode(r.blob().unwrap()).unwrap();
        while !r.is_empty() {
            let blob = r.blob().unwrap();
            let inc = Incremental::decode(blob).unwrap();
            assert!(inc.encode(inc.encode_features) == blob, "{name} {}", inc.epoch);
            map = map.apply_checked(&inc).unwrap_or_else(|e| panic!("{name} {}: {e}", inc.epoch));
        }
        assert_eq!(map.epoch(), Epoch(epochs));
    }
}

#[test]
fn a_chain_of_incrementals_tells_the_story_that_made_it() {
    let mut map = OsdMap::decode(&bytes("pacific_full_e8.bin")).unwrap();
    for epoch in 9..=13 {
        let inc = Incremental::decode(&bytes(&format!("pacific_inc_e{epoch}.bin"))).unwrap();
        assert_eq!(
            map.apply(&Incremental::new(map.fsid(), Epoch(epoch + 1), inc.modified)).map(drop),
            Err(ApplyError::WrongEpoch { map: Epoch(epoch - 1), incremental: Epoch(epoch + 1) },)
        );
        map = map.apply(&inc).unwrap();
        let pool = map.pool(PoolId(1)).unwrap();
        assert!(epoch < 9 || pool.flags.has(PoolFlags::POOL_SNAPS));
        let snaps: Vec<_> = pool.snaps.values().map(|snap| snap.name.as_str()).collect();
        assert_eq!(snaps, if epoch == 9 { vec!["s1"] } else { vec![] }, "epoch {epoch}");
        // Removal is news for one epoch, and work for the OSDs until the snapshot is purged.
        assert_eq!(map.new_removed_snaps().contains_key(&PoolId(1)), epoch == 10);
        assert_eq!(map.removed_snaps_queue().contains_key(&PoolId(1)), epoch >= 10, "epoch {epoch}");
        assert_eq!(pool.application_metadata.contains_key("myapp"), epoch >= 11);
        assert_eq!(map.pool_by_name("newp"), (epoch >= 12).then_some(PoolId(2)));
        // The checksums are those of maps with another host name, so only the rest can be compared:
        // what is written can be read back as the same map.
        let written = map.encode(CANONICAL_FEATURES);
        assert_eq!(OsdMap::decode(&written).unwrap().encode(CANONICAL_FEATURES), written);
    }
    assert_eq!(map.pool(PoolId(2)).unwrap().last_change, Epoch(12));
}

#[test]
fn a_changed_byte_or_checksum_is_refused() {
    for name in ["pacific_full_e7.bin", "tentacle32_full_e7.bin"] {
        let blob = bytes(name);
        for at in [6, 40, blob.len() / 2, blob.len() - 1] {
            let mut blob = blob.clone();
            blob[at] ^= 1;
            assert!(OsdMap::decode(&blob).is_err(), "{name} at {at}");
        }
    }
    let mut inc = bytes("pacific_inc_e8.bin");
    let last = inc.len() - 1;
    inc[last] ^= 1;
    assert!(matches!(Incremental::decode(&inc), Err(MapError::Crc { .. })), "full_crc is covered too");

    let map = OsdMap::decode(&bytes("pacific_full_e7.bin")).unwrap();
    let mut inc = Incremental::decode(&bytes("pacific_inc_e8.bin")).unwrap();
    inc.full_crc ^= 1;
    assert!(matches!(map.apply_checked(&inc), Err(ApplyError::Crc { .. })));
    inc.fsid = sepiola_wire::Uuid::nil();
    assert!(matches!(map.apply(&inc), Err(ApplyError::WrongCluster)));
}

/// `[1,2147483647,3], p1` of the dumps.
fn set(text: &str) -> (Vec<OsdId>, Option<OsdId>) {
    let (list, primary) = text.split_once("], p").unwrap();
    let number = |n: &str| OsdId(n.parse().unwrap());
    let list = list.trim_start_matches('[').split(',').filter(|n| !n.is_empty()).map(number).collect();
    (list, Some(number(primary)).filter(|primary| primary.0 >= 0))
}

#[test]
fn every_pg_is_where_the_published_dumps_have_it() {
    let mut pgs = 0;
    for dump in names("map9", ".pgs.txt") {
        let map = OsdMap::decode(&bytes(&dump.replace(".pgs.txt", ".bin"))).unwrap();
        let mut pool = PoolId(0);
        for line in std::fs::read_to_string(path(&dump)).unwrap().lines() {
            if let Some(header) = line.strip_prefix("pool ") {
                let (id, pg_num) = header.split_once(" pg_num ").unwrap();
                pool = PoolId(id.parse().unwrap());
                assert_eq!(map.pool(pool).unwrap().pg_num, pg_num.parse::<u32>().unwrap());
                continue;
            }
            let (pg, rest) = line.split_once(" raw (").unwrap();
            let (raw, rest) = rest.split_once(") up (").unwrap();
            let (up, acting) = rest.split_once(") acting (").unwrap();
            let pg: PgId = pg.parse().unwrap();
            assert_eq!(pg.pool, pool);
            let place = map.pg_to_up_acting(pg);
            assert_eq!(map.pg_to_raw(pg), set(raw).0, "{dump} {pg} raw");
            assert_eq!((place.up.clone(), place.up_primary), set(up), "{dump} {pg} up");
            assert_eq!(
                (place.acting.clone(), place.acting_primary),
                set(acting.trim_end_matches(')')),
                "{dump} {pg} acting"
            );
            pgs += 1;
        }
    }
    assert_eq!(pgs, 4 * 208);
}

#[test]
fn objects_are_where_the_published_dump_has_them() {
    let map = OsdMap::decode(&bytes("map9_overrides.bin")).unwrap();
    let mut objects = 0;
    for line in std::fs::read_to_string(path("map9_overrides.objects.txt")).unwrap().lines() {
        let parts: Vec<&str> = line.split([' ', '\'']).filter(|part| !part.is_empty()).collect();
        let ["object", name, "->", pg, "->", acting] = parts[..] else { panic!("{line}") };
        let pg: PgId = pg.parse().unwrap();
        assert_eq!(map.object_to_pg(pg.pool, name.as_bytes(), b"", b""), Some(pg), "{line}");
        let acting = set(&format!("{acting}, p-1")).0;
        assert_eq!(map.pg_to_up_acting(pg).acting, acting, "{line}");
        objects += 1;
    }
    assert_eq!(objects, 20);
}

#[test]
fn unknown_pools_are_nowhere() {
    let map = OsdMap::decode(&bytes("map9_plain.bin")).unwrap();
    assert_eq!(map.object_to_pg(PoolId(99), b"o", b"", b""), None);
    assert!(map.pg_to_up_acting(PgId::new(PoolId(99), 0)).acting_primary.is_none());
    let pool = map.pool(PoolId(1)).unwrap();
    let beyond = PgId::new(PoolId(1), pool.pg_num + 5);
    assert_eq!(map.pg_to_up_acting(beyond), map.pg_to_up_acting(map.fold_pg(beyond).unwrap()));
}

#[test]
fn shards_of_erasure_coded_pools_are_places() {
    let map = OsdMap::decode(&bytes("map9_overrides.bin")).unwrap();
    let (id, pool) = map.pools().find(|(_, pool)| pool.is_erasure()).unwrap();
    for ps in 0..pool.pg_num {
        let place = map.pg_to_up_acting(PgId::new(id, ps));
        assert_eq!(place.acting.len(), usize::from(pool.size), "holes stay");
        let shard = usize::try_from(place.primary_shard(pool)).unwrap();
        assert_eq!(Some(place.acting[shard]), place.acting_primary);
        assert_ne!(place.acting_primary, Some(OSD_NONE));
    }
    let (_, replicated) = map.pools().find(|(_, pool)| !pool.is_erasure()).unwrap();
    assert_eq!(map.pg_to_up_acting(PgId::new(PoolId(1), 0)).primary_shard(replicated), -1);
}

/// Compares with what the release's own tool printed about the same bytes.
#[test]
fn decoded_fields_are_those_of_the_published_json() {
    for name in names("", "full_e7.json")
        .iter()
        .chain(&names("", "full_e8.json"))
        .chain(&names("min_viable", ".json"))
    {
        let map = OsdMap::decode(&bytes(&name.replace(".json", ".bin"))).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&bytes(name)).unwrap();
        assert_eq!(map.epoch().0, json["epoch"].as_u64().unwrap() as u32, "{name}");
        assert_eq!(map.fsid().to_string(), json["fsid"].as_str().unwrap());
        assert_eq!(map.flags(), MapFlags(json["flags_num"].as_u64().unwrap() as u32), "{name}");
        assert_eq!(map.max_osd(), json["max_osd"].as_i64().unwrap() as i32);
        assert_eq!(map.pool_max().0, json["pool_max"].as_i64().unwrap());
        assert_eq!(map.require_osd_release().name(), json["require_osd_release"].as_str().unwrap());
        assert_eq!(map.crush_version(), json["crush_version"].as_i64().unwrap() as i32);
        for json in json["pools"].as_array().unwrap() {
            let id = PoolId(json["pool"].as_i64().unwrap());
            let pool = map.pool(id).unwrap();
            assert_eq!(map.pool_by_name(json["pool_name"].as_str().unwrap()), Some(id));
            assert_eq!(u64::from(pool.pg_num), json["pg_num"].as_u64().unwrap());
            assert_eq!(u64::from(pool.size), json["size"].as_u64().unwrap());
            assert_eq!(u64::from(pool.min_size), json["min_size"].as_u64().unwrap());
            assert_eq!(pool.flags.to_string(), json["flags_names"].as_str().unwrap());
            assert_eq!(pool.last_change.to_string(), json["last_change"].as_str().unwrap());
            assert_eq!(
                u64::from(pool.cache_target_full_ratio_micro),
                json["cache_target_full_ratio_micro"].as_u64().unwrap()
            );
        }
        for json in json["osds"].as_array().unwrap() {
            let id = OsdId(json["osd"].as_i64().unwrap() as i32);
            let osd = map.osd(id).unwrap();
            assert_eq!(osd.uuid.to_string(), json["uuid"].as_str().unwrap());
            assert_eq!(u64::from(osd.is_up()), json["up"].as_u64().unwrap());
            assert_eq!(osd.weight, (json["weight"].as_f64().unwrap() * f64::from(WEIGHT_IN)) as u32);
            assert_eq!(u64::from(osd.info.up_from.0), json["up_from"].as_u64().unwrap());
            assert_eq!(u64::from(osd.info.up_thru.0), json["up_thru"].as_u64().unwrap());
            let addr = osd.client_addrs.msgr2().unwrap();
            let socket = addr.socket.unwrap();
            assert_eq!(addr.to_string(), format!("v2:{socket}/{}", addr.nonce));
            let printed = &json["public_addrs"]["addrvec"].as_array().unwrap()[0];
            assert_eq!(socket.to_string(), printed["addr"].as_str().unwrap());
            assert_eq!(u64::from(addr.nonce), printed["nonce"].as_u64().unwrap());
        }
    }
}

#[test]
fn blocklisted_clients_are_found_by_instance_by_host_and_by_network() {
    let mut map = OsdMap::decode(&bytes("map9_plain.bin")).unwrap();
    let addr = |text: &str| text.parse::<EntityAddr>().unwrap();
    let network = |text: &str, bits| EntityAddr { kind: AddrType::Cidr, nonce: bits, ..addr(text) };
    let mut inc = map.next_incremental(UTime::from_secs(1));
    let expires = UTime::from_secs(9);
    inc.new_blocklist.insert(addr("10.0.0.1:0/77").into(), expires);
    inc.new_blocklist.insert(addr("10.0.0.2:0/0").into(), expires);
    inc.new_range_blocklist.insert(network("10.1.0.0:0", 16).into(), expires);
    inc.new_range_blocklist.insert(network("[fd00:1::]:0", 32).into(), expires);
    map = OsdMap::decode(&map.publish(inc).unwrap().full).unwrap();
    for (client, listed) in [
        ("v2:10.0.0.1:0/77", true),
        ("10.0.0.1:0/78", false),
        ("10.0.0.2:0/5", true),
        ("v2:10.0.0.2:6800/5", true),
        ("10.1.255.3:0/1", true),
        ("10.2.0.0:0/1", false),
        ("[fd00:1::9]:0/1", true),
        ("[fd00:2::9]:0/1", false),
    ] {
        assert_eq!(map.is_blocklisted(&addr(client)), listed, "{client}");
    }
    assert!(!map.is_blocklisted(&EntityAddr::BLANK));
    let mut inc = map.next_incremental(UTime::from_secs(2));
    inc.old_blocklist.push(addr("10.0.0.2:0/0").into());
    inc.old_range_blocklist.push(network("10.1.0.0:0", 16).into());
    map = map.apply(&inc).unwrap();
    assert!(!map.is_blocklisted(&addr("10.0.0.2:0/5")) && !map.is_blocklisted(&addr("10.1.255.3:0/1")));
}
