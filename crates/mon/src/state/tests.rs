//! The state is a function of its log and of nothing else.

use std::collections::BTreeMap;

use proptest::prelude::*;
use sepiola_cephx::{EntityAuth, ExpiringKey, RotatingSecrets};
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_messages::LogLevel;
use sepiola_osdmap::{Pool, WEIGHT_IN};
use sepiola_proto::{MonChange, MonEntry, MonSnapshot};
use sepiola_wire::{EntityName, EntityType, Epoch, GlobalId, OsdId, UTime};

use super::{MonState, change};
use crate::{
    log::Recovered,
    service::{cluster_log, osd_step},
    testing::TestMon,
};

/// A wish, turned into a change of the state that it meets.
#[derive(Debug, Clone)]
enum Wish {
    Entity(u8, [u8; 16], Option<[u8; 16]>),
    NoEntity(u8),
    Rotate(u8, u64),
    GlobalIds(u16),
    Config(u8, u8),
    NoConfig(u8),
    Key(u8, Vec<u8>),
    NoKey(u8),
    Pool(u8),
    NoPool(u8),
    Boot(u8),
    Down(u8),
    Weight(u8, bool),
    Monmap,
    Metadata(u8, String),
    NoMetadata(u8),
    Line(String),
}

fn wish() -> impl Strategy<Value = Wish> {
    prop_oneof![
        (0..5u8, any::<[u8; 16]>(), any::<Option<[u8; 16]>>()).prop_map(|(n, k, p)| Wish::Entity(n, k, p)),
        (0..5u8).prop_map(Wish::NoEntity),
        (0..3u8, 1..9u64).prop_map(|(s, id)| Wish::Rotate(s, id)),
        any::<u16>().prop_map(Wish::GlobalIds),
        (0..4u8, any::<u8>()).prop_map(|(n, v)| Wish::Config(n, v)),
        (0..4u8).prop_map(Wish::NoConfig),
        (0..4u8, any::<Vec<u8>>()).prop_map(|(n, v)| Wish::Key(n, v)),
        (0..4u8).prop_map(Wish::NoKey),
        (0..6u8).prop_map(Wish::Pool),
        (0..6u8).prop_map(Wish::NoPool),
        (0..4u8).prop_map(Wish::Boot),
        (0..4u8).prop_map(Wish::Down),
        (0..4u8, any::<bool>()).prop_map(|(n, w)| Wish::Weight(n, w)),
        Just(Wish::Monmap),
        (0..4u8, any::<String>()).prop_map(|(n, v)| Wish::Metadata(n, v)),
        (0..4u8).prop_map(Wish::NoMetadata),
        any::<String>().prop_map(Wish::Line),
    ]
}

fn key(secret: &[u8; 16]) -> CryptoKey {
    CryptoKey::from_secret(KeyType::Aes, UTime::from_secs(7), secret).unwrap()
}

fn client(n: u8) -> EntityName {
    EntityName::client(format!("c{n}"))
}

fn fulfil(mon: &mut TestMon, wish: &Wish) -> Vec<MonChange> {
    let map = mon.state.osdmap().clone();
    let now = UTime::from_secs(1_800_000_000 + map.epoch().0);
    let step =
        |edit: &dyn Fn(&mut sepiola_osdmap::Incremental)| vec![osd_step::step(&map, now, edit).unwrap()];
    match wish {
        Wish::Entity(n, secret, pending) => {
            let caps = BTreeMap::from([("mon".to_owned(), format!("allow {n}"))]);
            let mut entity = EntityAuth::new(key(secret), caps);
            entity.pending_key = pending.as_ref().map(key);
            vec![change::entity_set(&client(*n), &entity)]
        }
        Wish::NoEntity(n) => vec![change::entity_removed(&client(*n))],
        Wish::Rotate(service, id) => {
            let service = [EntityType::Osd, EntityType::Auth, EntityType::Mon][usize::from(*service)];
            let mut secrets = RotatingSecrets::default();
            secrets.insert(*id, ExpiringKey { key: key(&[3; 16]), expires: now });
            vec![change::rotating_set(service, &secrets)]
        }
        Wish::GlobalIds(bound) => vec![change::global_id_bound(GlobalId((*bound).into()))],
        Wish::Config(n, value) => vec![change::config_set("global", &n.to_string(), &value.to_string())],
        Wish::NoConfig(n) => vec![change::config_removed("global", &n.to_string())],
        Wish::Key(n, value) => vec![change::config_key_set(&n.to_string(), value.clone().into())],
        Wish::NoKey(n) => vec![change::config_key_removed(&n.to_string())],
        Wish::Pool(n) if map.pool_by_name(&n.to_string()).is_none() => step(&|inc| {
            inc.add_pool(&map, &n.to_string(), Pool::replicated(1, 8, 0, now));
        }),
        Wish::NoPool(n) => match map.pool_by_name(&n.to_string()) {
            Some(id) => step(&|inc| inc.remove_pool(&map, id)),
            None => vec![],
        },
        Wish::Boot(n) => {
            mon.boot((*n).into());
            vec![]
        }
        Wish::Down(n) => step(&|inc| {
            inc.mark_down(&map, OsdId((*n).into()));
        }),
        Wish::Weight(n, inside) if map.exists(OsdId((*n).into())) => {
            step(&|inc| inc.set_weight(OsdId((*n).into()), if *inside { WEIGHT_IN } else { 0 }))
        }
        Wish::Monmap => {
            let mut map = (**mon.state.monmap()).clone();
            map.epoch = map.epoch.next();
            vec![change::monmap(&map)]
        }
        Wish::Metadata(n, value) => {
            let metadata = BTreeMap::from([("hostname".to_owned(), value.clone())]);
            vec![change::osd_metadata_set(OsdId((*n).into()), &metadata)]
        }
        Wish::NoMetadata(n) => vec![change::osd_metadata_removed(OsdId((*n).into()))],
        Wish::Line(text) => vec![cluster_log::line(&mon.state, &mon.options, now, LogLevel::WARN, text)],
        Wish::Pool(_) | Wish::Weight(..) => vec![],
    }
}

proptest! {
    /// A snapshot anywhere, and replay of what follows, gives the state that never went through a restart.
    #[test]
    fn a_restart_at_any_entry_changes_nothing(
        wishes in prop::collection::vec(wish(), 1..40),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut mon = TestMon::new();
        let cut = cut.index(wishes.len());
        let (mut snapshot, mut entries) = (None, Vec::new());
        for (i, wish) in wishes.iter().enumerate() {
            if i == cut {
                snapshot = Some(mon.state.to_snapshot());
            }
            let before = mon.state.clone();
            let changes = fulfil(&mut mon, wish);
            if before == mon.state {
                let entry = MonEntry { index: mon.state.applied() + 1, changes };
                mon.state.apply(&entry).unwrap();
                if snapshot.is_some() {
                    entries.push(entry);
                }
            } else if snapshot.is_some() {
                // The boot was applied by itself: take the step from the state.
                let epoch = mon.state.osdmap().epoch();
                let (_, step) = mon.state.osd_maps().steps_from(epoch).next().unwrap();
                let changes = vec![change::osdmap_incremental(step.clone())];
                entries.push(MonEntry { index: mon.state.applied(), changes });
            }
        }
        // Through bytes, as a store has it.
        let snapshot = prost::Message::encode_to_vec(&snapshot.unwrap());
        let snapshot: MonSnapshot = prost::Message::decode(&*snapshot).unwrap();
        let replayed = MonState::replay(&Recovered { snapshot: Some(snapshot), entries }).unwrap().unwrap();
        prop_assert_eq!(&replayed, &mon.state);
        prop_assert_eq!(replayed.to_snapshot(), mon.state.to_snapshot());
    }
}

#[test]
fn an_entry_that_fails_changes_nothing() {
    let mut mon = TestMon::new();
    let before = mon.state.clone();
    let stale = osd_step::step(mon.state.osdmap(), mon.now, |_| ()).unwrap();
    let index = mon.state.applied() + 1;
    // The second step follows an epoch that is no longer the newest.
    let changes = vec![change::config_set("global", "a", "b"), stale.clone(), stale];
    assert!(mon.state.apply(&MonEntry { index, changes }).is_err());
    assert_eq!(mon.state, before);
    assert!(mon.state.apply(&MonEntry { index: index + 1, changes: vec![] }).is_err(), "a gap");
    assert!(
        mon.state.apply(&MonEntry { index, changes: vec![MonChange::default()] }).is_err(),
        "a newer change"
    );
    assert_eq!(mon.state, before);
}

#[test]
fn an_empty_log_is_no_monitor() {
    assert_eq!(MonState::replay(&Recovered::default()), Ok(None));
    let entry = MonEntry { index: 1, changes: vec![] };
    assert!(MonState::replay(&Recovered { snapshot: None, entries: vec![entry] }).is_err());
}

#[test]
fn global_ids_are_never_lowered() {
    let mut mon = TestMon::new();
    mon.apply(vec![change::global_id_bound(GlobalId(50)), change::global_id_bound(GlobalId(40))]);
    assert_eq!(mon.state.global_id_bound(), GlobalId(50));
}

#[test]
fn steps_are_kept_for_those_who_were_away() {
    let mut mon = TestMon::new();
    for _ in 0..3 * super::KEPT_INCREMENTALS {
        let step = osd_step::step(mon.state.osdmap(), mon.now, |_| ()).unwrap();
        mon.apply(vec![step]);
    }
    let maps = mon.state.osd_maps();
    let kept = maps.steps_from(Epoch(0)).count();
    assert!((super::KEPT_INCREMENTALS..=2 * super::KEPT_INCREMENTALS).contains(&kept), "{kept}");
    assert_eq!(maps.oldest().0 as usize, maps.epoch().0 as usize - kept + 1);
}
