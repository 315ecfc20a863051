//! Bytes that no honest peer sends: decoding ends with an error or a map, never with a panic or a hang.

use std::{fs, path::PathBuf, sync::LazyLock};

use proptest::prelude::*;
use sepiola_osdmap::{
    CrushMap, Incremental, OsdMap, WEIGHT_IN,
    crush::{Bucket, BucketKind, Rule, RuleKind, RuleStep, Tunables},
};
use sepiola_wire::{PgId, crc32c, decode_all, encode_to_vec};

fn load(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(folder);
    let mut all: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "bin"))
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap()))
        .collect();
    all.sort();
    all
}

static MAPS: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| load("osdmap"));
static CRUSH: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| load("crush"));

/// Repairs the checksum, so that mutations reach the decoder behind it.
fn seal(blob: &mut [u8], behind: usize) {
    if blob.len() < 6 + 4 + behind {
        return;
    }
    let at = blob.len() - 4 - behind;
    let mut covered = blob[..at].to_vec();
    covered.extend_from_slice(&blob[at + 4..]);
    let crc = crc32c(!0, &covered);
    blob[at..at + 4].copy_from_slice(&crc.to_le_bytes());
}

/// Uses a decoded map as a reader would.
fn exercise(map: &OsdMap) {
    for (id, pool) in map.pools().take(4) {
        for ps in [0, pool.pg_num / 2, u32::MAX] {
            map.pg_to_up_acting(PgId::new(id, ps));
        }
    }
    map.encode(sepiola_osdmap::CANONICAL_FEATURES);
}

type Mutations = Vec<(prop::sample::Index, u8)>;

fn mutated(blob: &[u8], mutations: &Mutations, cut: Option<&prop::sample::Index>) -> Vec<u8> {
    let mut blob = blob.to_vec();
    for (at, value) in mutations {
        let at = at.index(blob.len());
        blob[at] = *value;
    }
    if let Some(cut) = cut {
        blob.truncate(cut.index(blob.len()));
    }
    blob
}

fn mutations() -> impl Strategy<Value = Mutations> {
    let value = prop_oneof![Just(0_u8), Just(0xff), Just(0x7f), Just(0x80), any::<u8>()];
    prop::collection::vec((any::<prop::sample::Index>(), value), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn arbitrary_bytes_decode_to_an_error_or_a_value(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = OsdMap::decode(&bytes);
        let _ = Incremental::decode(&bytes);
        let _ = decode_all::<CrushMap>(&bytes);
    }

    #[test]
    fn damaged_maps_decode_to_an_error_or_a_usable_map(
        pick in any::<prop::sample::Index>(),
        mutations in mutations(),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let (name, blob) = pick.get(&MAPS);
        let incremental = name.contains("_inc_");
        let mut blob = mutated(blob, &mutations, cut.as_ref());
        seal(&mut blob, if incremental { 4 } else { 0 });
        if incremental {
            if let Ok(inc) = Incremental::decode(&blob) {
                inc.encode(inc.encode_features);
                let base = OsdMap::decode(&MAPS.iter().find(|(name, _)| name == "pacific_full_e8.bin").unwrap().1).unwrap();
                if let Ok(map) = base.apply(&inc) {
                    exercise(&map);
                }
            }
        } else if let Ok(map) = OsdMap::decode(&blob) {
            exercise(&map);
        }
    }

    #[test]
    fn damaged_crush_maps_still_terminate(
        pick in any::<prop::sample::Index>(),
        mutations in mutations(),
        rule in 0_u32..8,
        x in any::<u32>(),
    ) {
        let (_, blob) = pick.get(&CRUSH);
        if let Ok(map) = decode_all::<CrushMap>(&mutated(blob, &mutations, None)) {
            let found = map.do_rule(rule, x, 6, &[WEIGHT_IN; 9], map.choose_args.get(&0));
            prop_assert!(found.len() <= 6);
            let again: CrushMap = decode_all(&encode_to_vec(&map, sepiola_osdmap::CANONICAL_FEATURES)).unwrap();
            prop_assert_eq!(again, map);
        }
    }
}

fn straw2(id: i32, type_id: u16, items: Vec<i32>) -> Option<Bucket> {
    let weight = WEIGHT_IN * items.len() as u32;
    let kind = BucketKind::Straw2 { item_weights: vec![WEIGHT_IN; items.len()] };
    Some(Bucket { id, type_id, weight, items, kind })
}

fn take_and_choose(op: u32, n: i32, type_id: i32) -> Option<Rule> {
    let steps = vec![
        RuleStep { op: RuleStep::SET_CHOOSE_TRIES, arg1: i32::MAX, arg2: 0 },
        RuleStep { op: RuleStep::SET_CHOOSELEAF_TRIES, arg1: i32::MAX, arg2: 0 },
        RuleStep { op: RuleStep::SET_CHOOSE_LOCAL_TRIES, arg1: i32::MAX, arg2: 0 },
        RuleStep { op: RuleStep::SET_CHOOSE_LOCAL_FALLBACK_TRIES, arg1: i32::MAX, arg2: 0 },
        RuleStep::take(-1),
        RuleStep { op, arg1: n, arg2: type_id },
        RuleStep::emit(),
    ];
    Some(Rule { kind: RuleKind::REPLICATED, min_size: 1, max_size: 10, steps })
}

#[test]
fn a_bucket_inside_itself_is_refused() {
    let mut map = CrushMap::empty(Tunables::JEWEL);
    map.buckets = vec![straw2(-1, 3, vec![-2]), straw2(-2, 2, vec![-3]), straw2(-3, 1, vec![-1, 0])];
    map.max_devices = 1;
    let blob = encode_to_vec(&map, sepiola_osdmap::CANONICAL_FEATURES);
    assert!(decode_all::<CrushMap>(&blob).is_err());
    // The same without the loop is fine, even when two buckets hold the same one.
    map.buckets[2] = straw2(-3, 1, vec![0]);
    map.buckets[0] = straw2(-1, 3, vec![-2, -3]);
    assert!(decode_all::<CrushMap>(&encode_to_vec(&map, sepiola_osdmap::CANONICAL_FEATURES)).is_ok());
}

#[test]
fn a_search_without_end_is_given_up() {
    let mut map = CrushMap::empty(Tunables::LEGACY);
    // Every OSD is out, so no number of tries succeeds.
    map.buckets = vec![straw2(-1, 3, vec![-2, -3]), straw2(-2, 1, vec![0, 1]), straw2(-3, 1, vec![2, 3])];
    map.max_devices = 4;
    for op in [
        RuleStep::CHOOSE_FIRSTN,
        RuleStep::CHOOSE_INDEP,
        RuleStep::CHOOSELEAF_FIRSTN,
        RuleStep::CHOOSELEAF_INDEP,
    ] {
        let leaf = matches!(op, RuleStep::CHOOSELEAF_FIRSTN | RuleStep::CHOOSELEAF_INDEP);
        map.rules = vec![take_and_choose(op, i32::MAX, i32::from(leaf))];
        let decoded: CrushMap = decode_all(&encode_to_vec(&map, sepiola_osdmap::CANONICAL_FEATURES)).unwrap();
        assert_eq!(decoded.do_rule(0, 7, 6, &[0; 4], None), []);
        // An empty bucket draws nothing, and must not escape the count.
        let mut empty = decoded.clone();
        empty.buckets[0] = straw2(-1, 3, vec![]);
        assert!(empty.do_rule(0, 7, 6, &[0; 4], None).iter().all(|item| *item == 0x7fff_ffff));
    }
}

#[test]
fn counts_beyond_the_bytes_are_refused_before_anything_is_reserved() {
    let mut blob = CRUSH[0].1.clone();
    for at in [4, 8] {
        blob[at..at + 4].copy_from_slice(&i32::MAX.to_le_bytes());
        assert!(decode_all::<CrushMap>(&blob).is_err());
        blob[at..at + 4].copy_from_slice(&(-1_i32).to_le_bytes());
        assert!(decode_all::<CrushMap>(&blob).is_err());
        blob.clone_from(&CRUSH[0].1);
    }
}
