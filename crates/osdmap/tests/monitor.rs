//! What a monitor does with maps: make the first one, publish changes, and never lose an OSD's history.

use sepiola_osdmap::{
    ApplyError, CANONICAL_FEATURES, CrushMap, Incremental, OsdBoot, OsdMap, OsdState, OsdXInfo, Pool,
    WEIGHT_IN,
    crush::{ChooseArg, ChooseArgs},
};
use sepiola_wire::{EntityAddr, EntityAddrVec, Epoch, OsdId, PgId, PoolId, UTime, Uuid};

const FSID: Uuid = Uuid::from_u128(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff);

fn addrs(port: u16, nonce: u32) -> EntityAddrVec {
    EntityAddr::msgr2(([127, 0, 0, 1], port).into(), nonce).into()
}

fn boot(id: i32) -> OsdBoot {
    OsdBoot {
        id: OsdId(id),
        uuid: Uuid::from_u128(id as u128 + 1),
        client_addrs: addrs(6800 + id as u16, 1),
        cluster_addrs: addrs(6900 + id as u16, 1),
        features: 0x3f01_cfbd_fffd_ffff,
        last_clean: (Epoch(0), Epoch(0)),
    }
}

/// Publishes a change, and checks that every form of the new epoch is the same map.
fn publish(map: &OsdMap, change: impl FnOnce(&mut Incremental)) -> OsdMap {
    let mut inc = map.next_incremental(UTime::from_secs(map.epoch().0 + 100));
    change(&mut inc);
    let published = map.publish(inc).unwrap();
    let read = Incremental::decode(&published.incremental).unwrap();
    let applied = map.apply_checked(&read).unwrap();
    assert_eq!(applied.encode(CANONICAL_FEATURES), published.full);
    let decoded = OsdMap::decode(&published.full).unwrap();
    assert_eq!(decoded.encode(CANONICAL_FEATURES), published.full);
    published.map
}

/// A cluster of `osds` on one host with a pool of 8 pgs and two copies.
fn cluster(osds: i32) -> OsdMap {
    let map = OsdMap::new(FSID, UTime::from_secs(100));
    let map = publish(&map, |inc| {
        let mut crush = map.crush().clone();
        for id in 0..osds {
            crush.set_device(id, WEIGHT_IN, "h0").unwrap();
            inc.boot_osd(&map, &boot(id));
        }
        inc.set_crush(&crush);
    });
    publish(&map, |inc| {
        let id = inc.add_pool(&map, "data", Pool::replicated(2, 8, 0, inc.modified));
        assert_eq!(id, PoolId(1));
    })
}

#[test]
fn a_new_cluster_places_its_pgs_on_its_osds() {
    let map = cluster(3);
    assert_eq!(map.osd_counts(), (3, 3, 3));
    let pool = map.pool_by_name("data").unwrap();
    assert_eq!(map.pool(pool).unwrap().last_change, Epoch(3));
    let mut used = std::collections::BTreeSet::new();
    for ps in 0..8 {
        let place = map.pg_to_up_acting(PgId::new(pool, ps));
        assert_eq!(place.up.len(), 2);
        assert_ne!(place.up[0], place.up[1]);
        assert_eq!(place.acting_primary, Some(place.up[0]));
        used.extend(place.up.clone());
    }
    assert_eq!(used.len(), 3);
    let crush = map.crush();
    let root = crush.bucket(crush.item_by_name("default").unwrap()).unwrap();
    assert_eq!(root.weight, 3 * WEIGHT_IN);
    assert_eq!(crush.max_devices, 3);
}

#[test]
fn a_restarted_osd_keeps_its_weight_and_its_history() {
    let map = cluster(2);
    let map = publish(&map, |inc| inc.set_weight(OsdId(1), WEIGHT_IN / 2));
    let down = publish(&map, |inc| assert!(inc.mark_down(&map, OsdId(1))));
    let osd = down.osd(OsdId(1)).unwrap();
    assert!(!osd.is_up() && osd.exists());
    assert_eq!(osd.info.down_at, down.epoch());
    assert_eq!(osd.xinfo.down_stamp, down.modified());
    assert!(!down.next_incremental(UTime::ZERO).mark_down(&down, OsdId(1)), "already down");
    for ps in 0..8 {
        let place = down.pg_to_up_acting(PgId::new(PoolId(1), ps));
        assert_eq!(place.up, [OsdId(0)]);
    }
    let up = publish(&down, |inc| inc.boot_osd(&down, &boot(1)));
    let osd = up.osd(OsdId(1)).unwrap();
    assert!(osd.is_up());
    assert_eq!((osd.weight, osd.info.up_from), (WEIGHT_IN / 2, up.epoch()));
    assert_eq!(osd.info.down_at, down.epoch());
}

#[test]
fn an_osd_that_is_removed_leaves_nothing_behind() {
    let map = cluster(2);
    let map = publish(&map, |inc| {
        inc.new_primary_affinity.insert(OsdId(1), 0);
        assert!(inc.mark_down(&map, OsdId(1)));
    });
    assert_eq!(map.primary_affinity(OsdId(1)), 0);
    let map = publish(&map, |inc| {
        inc.remove_osd(&map, OsdId(1));
        let mut crush = map.crush().clone();
        crush.remove_device(1).unwrap();
        inc.set_crush(&crush);
    });
    let osd = map.osd(OsdId(1)).unwrap();
    assert_eq!(*osd, Default::default());
    assert_eq!(map.primary_affinity(OsdId(1)), WEIGHT_IN);
    let crush = map.crush();
    assert_eq!(crush.bucket(crush.item_by_name("default").unwrap()).unwrap().weight, WEIGHT_IN);
    assert_eq!((crush.item_by_name("osd.1"), crush.max_devices), (None, 1));
}

#[test]
fn pool_ids_are_never_used_again() {
    let map = cluster(1);
    let gone = publish(&map, |inc| inc.remove_pool(&map, PoolId(1)));
    assert_eq!((gone.pools().count(), gone.pool_by_name("data"), gone.pool_name(PoolId(1))), (0, None, None));
    let map = publish(&gone, |inc| {
        assert_eq!(inc.add_pool(&gone, "a", Pool::replicated(1, 1, 0, inc.modified)), PoolId(2));
        assert_eq!(inc.add_pool(&gone, "b", Pool::replicated(1, 1, 0, inc.modified)), PoolId(3));
    });
    assert_eq!(map.pool_max(), PoolId(3));
    let map = publish(&map, |inc| {
        let pool = inc.edit_pool(&map, PoolId(2)).unwrap();
        pool.application_metadata.entry("rbd".to_owned()).or_default();
        inc.edit_pool(&map, PoolId(2)).unwrap().quota_max_objects = 7;
        assert!(inc.edit_pool(&map, PoolId(1)).is_none());
    });
    let pool = map.pool(PoolId(2)).unwrap();
    assert_eq!((pool.quota_max_objects, pool.last_change), (7, map.epoch()));
    assert!(pool.application_metadata.contains_key("rbd"));
}

#[test]
fn temporary_and_explicit_mappings_come_and_go() {
    let map = cluster(3);
    let pg = PgId::new(PoolId(1), 3);
    let natural = map.pg_to_up_acting(pg).clone();
    let (first, second) = (natural.up[0], natural.up[1]);
    let third = (0..3).map(OsdId).find(|osd| !natural.up.contains(osd)).unwrap();

    let changed = publish(&map, |inc| {
        inc.new_pg_temp.insert(pg, vec![third, first]);
        inc.new_primary_temp.insert(pg, first);
        inc.new_pg_upmap_items.insert(pg, vec![(second, third)]);
    });
    let place = changed.pg_to_up_acting(pg);
    assert_eq!((&place.up[..], place.up_primary), (&[first, third][..], Some(first)));
    assert_eq!((&place.acting[..], place.acting_primary), (&[third, first][..], Some(first)));

    let restored = publish(&changed, |inc| {
        inc.new_pg_temp.insert(pg, vec![]);
        inc.new_primary_temp.insert(pg, OsdId(-1));
        inc.old_pg_upmap_items.insert(pg);
    });
    assert_eq!(*restored.pg_to_up_acting(pg), natural);

    let explicit = publish(&restored, |inc| _ = inc.new_pg_upmap.insert(pg, vec![third, second]));
    assert_eq!(explicit.pg_to_up_acting(pg).up, [third, second]);
    let out = publish(&explicit, |inc| inc.set_weight(third, 0));
    assert_eq!(out.pg_to_up_acting(pg).up, natural.up, "an explicit mapping to an OSD that is out is void");
    let gone = publish(&out, |inc| inc.remove_pool(&out, PoolId(1)));
    assert!(gone.pg_upmap().is_empty());
}

#[test]
fn an_epoch_that_moves_nothing_keeps_the_places_it_knows() {
    let map = cluster(2);
    let pg = PgId::new(PoolId(1), 1);
    let before: *const _ = map.pg_to_up_acting(pg);
    let next = publish(&map, |inc| {
        inc.add_pool(&map, "other", Pool::replicated(1, 4, 0, inc.modified));
        inc.new_up_thru.insert(OsdId(0), Epoch(3));
    });
    assert!(std::ptr::eq(before, next.pg_to_up_acting(pg)), "not computed again");
    let edited = publish(&next, |inc| inc.edit_pool(&next, PoolId(1)).unwrap().size = 1);
    assert_eq!(edited.pg_to_up_acting(pg).up.len(), 1);
    let reweighted = publish(&next, |inc| inc.set_weight(next.pg_to_up_acting(pg).up[0], 0));
    assert_eq!(reweighted.pg_to_up_acting(pg).up.len(), 1);
}

/// Each kind of override on its own, after the places were looked up: what was computed before must not
/// outlive it.
#[test]
fn every_override_alone_moves_a_pg_that_was_looked_up_before() {
    type Change = fn(&mut Incremental, PgId, [OsdId; 3]);
    let changes: [(&str, Change); 9] = [
        ("pg_temp", |inc, pg, [a, b, _]| _ = inc.new_pg_temp.insert(pg, vec![b, a])),
        ("primary_temp", |inc, pg, [_, b, _]| _ = inc.new_primary_temp.insert(pg, b)),
        ("upmap", |inc, pg, [a, _, c]| _ = inc.new_pg_upmap.insert(pg, vec![c, a])),
        ("upmap items", |inc, pg, [a, _, c]| _ = inc.new_pg_upmap_items.insert(pg, vec![(a, c)])),
        ("upmap primary", |inc, pg, [_, b, _]| _ = inc.new_pg_upmap_primaries.insert(pg, b)),
        ("affinity", |inc, _, [a, ..]| _ = inc.new_primary_affinity.insert(a, 0)),
        ("weight", |inc, _, [a, ..]| inc.set_weight(a, 0)),
        ("state", |inc, _, [a, ..]| _ = inc.new_state.insert(a, 0)),
        ("CRUSH", |inc, _, [a, ..]| {
            let mut crush = cluster(3).crush().clone();
            crush.set_device(a.0, 0, "h0").unwrap();
            inc.set_crush(&crush);
        }),
    ];
    let map = cluster(3);
    let pg = PgId::new(PoolId(1), 3);
    let before = map.pg_to_up_acting(pg).clone();
    let third = (0..3).map(OsdId).find(|osd| !before.up.contains(osd)).unwrap();
    for (name, change) in changes {
        let mut inc = map.next_incremental(UTime::from_secs(200));
        change(&mut inc, pg, [before.up[0], before.up[1], third]);
        let next = map.apply(&inc).unwrap();
        assert_ne!(*next.pg_to_up_acting(pg), before, "{name}");
        assert_eq!(*map.pg_to_up_acting(pg), before);
    }
}

#[test]
fn a_weight_that_is_set_forgets_the_one_before_an_automatic_out() {
    let map = cluster(1);
    let out = publish(&map, |inc| {
        let xinfo = OsdXInfo { old_weight: 77, ..map.osd(OsdId(0)).unwrap().xinfo };
        inc.new_xinfo.insert(OsdId(0), xinfo);
        inc.new_state.insert(OsdId(0), OsdState::AUTOOUT.0);
        inc.set_weight(OsdId(0), 0);
    });
    let osd = out.osd(OsdId(0)).unwrap();
    assert_eq!((osd.xinfo.old_weight, osd.state.has(OsdState::AUTOOUT)), (77, true));
    let back = publish(&out, |inc| inc.set_weight(OsdId(0), WEIGHT_IN));
    let osd = back.osd(OsdId(0)).unwrap();
    assert_eq!((osd.xinfo.old_weight, osd.state.has(OsdState::AUTOOUT)), (0, false));
}

/// A pool's own weight set wins over the default one, which wins over the buckets' weights.
#[test]
fn weight_sets_apply_to_their_pool_or_to_all() {
    let map = cluster(3);
    let host = map.crush().item_by_name("h0").unwrap();
    let only = |osd: usize| {
        let mut weights = vec![0; 3];
        weights[osd] = WEIGHT_IN;
        let arg = ChooseArg { weight_set: vec![weights], ids: vec![] };
        ChooseArgs([((-1 - host) as u32, arg)].into())
    };
    let with = |sets: &[(i64, usize)]| {
        let mut crush = map.crush().clone();
        crush.choose_args = sets.iter().map(|(pool, osd)| (*pool, only(*osd))).collect();
        let map = publish(&map, |inc| inc.set_crush(&crush));
        (0..8).map(|ps| map.pg_to_up_acting(PgId::new(PoolId(1), ps)).up_primary.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(with(&[(-1, 2)]), [OsdId(2); 8]);
    assert_eq!(with(&[(-1, 2), (1, 0)]), [OsdId(0); 8]);
    assert_ne!(with(&[(7, 2)]), [OsdId(2); 8]);
}

#[test]
fn a_full_map_inside_an_incremental_replaces_everything() {
    let (map, other) = (cluster(1), cluster(3));
    let mut inc = map.next_incremental(UTime::ZERO);
    inc.full_map = other.encode(CANONICAL_FEATURES).into();
    assert!(matches!(map.apply(&inc), Err(ApplyError::WrongEpoch { .. })));
    let other = publish(&other, |_| {});
    inc.full_map = other.encode(CANONICAL_FEATURES).into();
    assert_eq!(map.apply(&inc).unwrap().osd_counts(), (3, 3, 3));
}

#[test]
fn changes_beyond_the_maps_limits_are_refused() {
    let map = cluster(1);
    let refused = |change: &dyn Fn(&mut Incremental)| {
        let mut inc = map.next_incremental(UTime::ZERO);
        change(&mut inc);
        assert!(map.apply(&inc).is_err());
    };
    refused(&|inc| inc.new_max_osd = Some(i32::MAX));
    refused(&|inc| _ = inc.new_weight.insert(OsdId(5), 1));
    refused(&|inc| _ = inc.new_state.insert(OsdId(-1), 1));
    refused(&|inc| _ = inc.new_primary_affinity.insert(OsdId(5), 1));
    refused(&|inc| inc.new_pool_max = Some(PoolId(i64::MAX)));
    refused(&|inc| inc.crush = vec![0; 40].into());
}

#[test]
fn hosts_spread_replicas_when_the_rule_says_so() {
    let mut crush = CrushMap::new_cluster();
    for osd in 0..6 {
        crush.set_device(osd, WEIGHT_IN, &format!("h{}", osd / 2)).unwrap();
    }
    let rule = crush.add_replicated_rule("by_host", 1).unwrap();
    assert!(crush.set_device(9, 1, "default").is_err(), "the root is no host");
    for x in 0..200 {
        let found = crush.do_rule(rule.into(), x, 3, &[WEIGHT_IN; 6], None);
        let mut hosts: Vec<i32> = found.iter().map(|osd| osd / 2).collect();
        hosts.sort_unstable();
        assert_eq!(hosts, [0, 1, 2], "{found:?}");
    }
}
