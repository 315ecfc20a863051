//! Random transactions on a store and on a naive model must leave the same objects, listings and totals.

use std::collections::BTreeMap;

use proptest::prelude::*;
use sepiola_objectstore::{
    Change, CollectionStats, Fetch, MemStore, ObjectKey, ObjectRef, ObjectStore, OmapQuery, RemovalLimit,
    StoreError, Submitted, Transaction, WriteData,
};
use sepiola_wire::{HObject, PgId, PoolId, SnapId};

const PG: PgId = PgId::new(PoolId(3), 5);

#[derive(Debug, Default, Clone, PartialEq)]
struct Model {
    data: Vec<u8>,
    xattrs: BTreeMap<Vec<u8>, Vec<u8>>,
    omap: BTreeMap<Vec<u8>, Vec<u8>>,
    header: Vec<u8>,
}

/// Changes that own what they hold, so that proptest can generate and print them.
#[derive(Debug, Clone)]
enum Step {
    Touch,
    WriteFull(Vec<u8>),
    Write(u64, Vec<u8>),
    Zero(u64, u64),
    Truncate(u64),
    Remove,
    SetXattr(Vec<u8>, Vec<u8>),
    RemoveXattr(Vec<u8>),
    OmapSet(Vec<u8>, Vec<u8>),
    OmapHeader(Vec<u8>),
    OmapRemove(Vec<u8>),
    OmapRemoveRange(Vec<u8>, Vec<u8>),
    OmapClear,
}

/// Both forms, so that both are tested.
fn input(data: &[u8]) -> WriteData<'_> {
    if data.len().is_multiple_of(2) { data.into() } else { data.to_vec().into() }
}

impl Step {
    fn change(&self) -> Change<'_> {
        match self {
            Step::Touch => Change::Touch,
            Step::WriteFull(data) => Change::WriteFull(WriteData::Borrowed(data)),
            Step::Write(offset, data) => Change::Write { offset: *offset, data: input(data) },
            Step::Zero(offset, length) => Change::Zero { offset: *offset, length: *length },
            Step::Truncate(size) => Change::Truncate(*size),
            Step::Remove => Change::Remove,
            Step::SetXattr(name, value) => Change::SetXattr { name: input(name), value: input(value) },
            Step::RemoveXattr(name) => Change::RemoveXattr { name: input(name) },
            Step::OmapSet(key, value) => Change::OmapSet { key: input(key), value: input(value) },
            Step::OmapHeader(header) => Change::OmapSetHeader(input(header)),
            Step::OmapRemove(key) => Change::OmapRemove { key: input(key) },
            Step::OmapRemoveRange(first, last) => {
                Change::OmapRemoveRange { first: input(first), last: input(last) }
            }
            Step::OmapClear => Change::OmapClear,
        }
    }

    fn apply(&self, objects: &mut BTreeMap<HObject, Model>, name: &HObject) {
        let removes = matches!(
            self,
            Step::Remove
                | Step::RemoveXattr(_)
                | Step::OmapRemove(_)
                | Step::OmapRemoveRange(..)
                | Step::OmapClear
        );
        if removes && !objects.contains_key(name) {
            return;
        }
        let object = objects.entry(name.clone()).or_default();
        match self {
            Step::Touch => {}
            Step::WriteFull(data) => object.data = data.clone(),
            Step::Write(offset, data) => {
                let end = *offset as usize + data.len();
                if object.data.len() < end {
                    object.data.resize(end, 0);
                }
                object.data[*offset as usize..end].copy_from_slice(data);
            }
            Step::Zero(offset, length) => {
                let end = ((offset + length) as usize).min(object.data.len());
                let start = (*offset as usize).min(end);
                object.data[start..end].fill(0);
            }
            Step::Truncate(size) => object.data.resize(*size as usize, 0),
            Step::Remove => drop(objects.remove(name)),
            Step::SetXattr(name, value) => drop(object.xattrs.insert(name.clone(), value.clone())),
            Step::RemoveXattr(name) => drop(object.xattrs.remove(name)),
            Step::OmapSet(key, value) => drop(object.omap.insert(key.clone(), value.clone())),
            Step::OmapHeader(header) => object.header = header.clone(),
            Step::OmapRemove(key) => drop(object.omap.remove(key)),
            Step::OmapRemoveRange(first, last) => object.omap.retain(|key, _| key < first || key >= last),
            Step::OmapClear => {
                object.omap.clear();
                object.header.clear();
            }
        }
    }
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(vec![0u8, 1, b'a', b'b', 0xff]), 0..3)
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    (any::<u8>(), prop_oneof![4 => 0usize..200, 2 => 60_000usize..70_000, 1 => 130_000usize..200_000])
        .prop_map(|(fill, len)| (0..len).map(|i| fill.wrapping_add(i as u8)).collect())
}

fn offset() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..200, 65_000u64..66_000, 0u64..300_000]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        Just(Step::Touch),
        bytes().prop_map(Step::WriteFull),
        (offset(), bytes()).prop_map(|(o, d)| Step::Write(o, d)),
        (offset(), bytes()).prop_map(|(o, d)| Step::Write(o, d)),
        (offset(), offset()).prop_map(|(o, l)| Step::Zero(o, l)),
        offset().prop_map(Step::Truncate),
        Just(Step::Remove),
        (text(), text()).prop_map(|(n, v)| Step::SetXattr(n, v)),
        text().prop_map(Step::RemoveXattr),
        (text(), text()).prop_map(|(k, v)| Step::OmapSet(k, v)),
        text().prop_map(Step::OmapHeader),
        text().prop_map(Step::OmapRemove),
        (text(), text()).prop_map(|(a, b)| Step::OmapRemoveRange(a, b)),
        Just(Step::OmapClear),
    ]
}

/// Few names, so that steps meet; hashes that do not follow the name, so that every part of the order counts.
fn name() -> impl Strategy<Value = HObject> {
    (prop::sample::select(vec![0u32, 1, 2, 0x8000_0000]), text(), text(), text()).prop_map(
        |(hash, nspace, key, oid)| HObject {
            key: if key == oid { Vec::new() } else { key }.into(),
            oid: oid.into(),
            snap: SnapId::HEAD,
            hash,
            max: false,
            nspace: nspace.into(),
            pool: PG.pool,
        },
    )
}

fn submit(store: &MemStore, transaction: &mut Transaction<'_>) -> Submitted {
    store.submit(transaction, &mut || unreachable!("a store in memory answers at once"))
}

fn check(store: &MemStore, objects: &BTreeMap<HObject, Model>, windows: &[(u64, u64)]) {
    let listed = store.list(PG, sepiola_objectstore::KeyRef::START, usize::MAX).wait().unwrap();
    let listed: Vec<HObject> = listed.iter().map(|key| key.to_hobject(PG.pool).unwrap()).collect();
    assert_eq!(listed, objects.keys().cloned().collect::<Vec<_>>());

    let mut totals = CollectionStats::default();
    for (name, model) in objects {
        let key = ObjectKey::new(ObjectRef::of(name));
        let key = key.as_ref();
        let stat = store.stat(PG, key).wait().unwrap().unwrap();
        assert_eq!(stat.size, model.data.len() as u64);
        assert_eq!(stat.has_omap, !model.omap.is_empty() || !model.header.is_empty());
        assert_eq!(store.read(PG, key, 0, u64::MAX).wait().unwrap().into_bytes(), model.data);
        for (offset, length) in windows {
            let end = ((offset + length) as usize).min(model.data.len());
            let start = (*offset as usize).min(end);
            let window = store.read(PG, key, *offset, *length).wait().unwrap();
            assert_eq!(window.into_bytes(), model.data[start..end]);
        }
        let owned = |pairs: Vec<(bytes::Bytes, bytes::Bytes)>| -> BTreeMap<Vec<u8>, Vec<u8>> {
            pairs.into_iter().map(|(k, v)| (k.to_vec(), v.to_vec())).collect()
        };
        assert_eq!(owned(store.xattrs(PG, key).wait().unwrap()), model.xattrs);
        let query =
            OmapQuery { after: b"", prefix: b"", max_entries: 1000, max_bytes: usize::MAX, keys_only: false };
        let page = store.omap_range(PG, key, query).wait().unwrap();
        assert_eq!((owned(page.entries), page.more), (model.omap.clone(), false));
        assert_eq!(store.omap_header(PG, key).wait().unwrap(), model.header);

        totals.objects += 1;
        totals.bytes += model.data.len() as u64;
        totals.omap_keys += model.omap.len() as u64;
        totals.omap_bytes += model.omap.iter().map(|(k, v)| (k.len() + v.len()) as u64).sum::<u64>();
    }
    assert_eq!(store.stats(PG).unwrap(), totals);
    assert!(store.space().used >= totals.bytes + totals.omap_bytes);
    assert_eq!(store.space().used == 0, objects.is_empty());
}

/// Takes everything away, step by step, and expects that nothing is left of it.
fn empty(store: &MemStore, objects: usize) {
    let mut steps = 0;
    while !store.remove_some(PG, RemovalLimit { objects: 2, bytes: u64::MAX }).unwrap() {
        steps += 1;
        assert_eq!(store.stats(PG).unwrap().objects as usize, objects - 2 * steps);
    }
    assert_eq!((store.collections(), store.space().used), (vec![], 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_store_behaves_like_plain_maps(
        names in prop::collection::vec(name(), 1..4),
        transactions in prop::collection::vec(prop::collection::vec((0usize..4, step()), 1..4), 1..12),
        windows in prop::collection::vec((offset(), offset()), 3),
    ) {
        let store = MemStore::new();
        store.create_collection(PG).unwrap();
        let mut objects = BTreeMap::new();
        let keys: Vec<ObjectKey> = names.iter().map(|name| ObjectKey::new(ObjectRef::of(name))).collect();
        for steps in &transactions {
            let mut transaction = Transaction::new(PG);
            for (index, step) in steps {
                let index = index % names.len();
                transaction.push(keys[index].as_ref(), step.change());
                step.apply(&mut objects, &names[index]);
            }
            prop_assert_eq!(submit(&store, &mut transaction), Submitted::Done(Ok(())));
            prop_assert!(transaction.is_empty());
        }
        check(&store, &objects, &windows);
        empty(&store, objects.len());
    }

    #[test]
    fn no_transaction_takes_a_store_above_its_capacity(
        names in prop::collection::vec(name(), 1..4),
        transactions in prop::collection::vec(prop::collection::vec((0usize..4, step()), 1..4), 1..20),
    ) {
        const CAPACITY: u64 = 150_000;
        let store = MemStore::with_capacity(CAPACITY);
        let keys: Vec<ObjectKey> = names.iter().map(|name| ObjectKey::new(ObjectRef::of(name))).collect();
        store.create_collection(PG).unwrap();
        for steps in &transactions {
            let mut transaction = Transaction::new(PG);
            for (index, step) in steps {
                transaction.push(keys[index % names.len()].as_ref(), step.change());
            }
            let before = store.space().used;
            match submit(&store, &mut transaction) {
                Submitted::Done(Ok(())) => {
                    prop_assert!(store.space().used <= CAPACITY || store.space().used <= before)
                }
                refused => {
                    prop_assert_eq!(refused, Submitted::Done(Err(StoreError::Full)));
                    prop_assert_eq!(store.space().used, before);
                }
            }
            prop_assert!(transaction.is_empty());
        }
    }

    #[test]
    fn keys_sort_as_objects_do(a in name(), b in name()) {
        let (ka, kb) = (ObjectKey::new(ObjectRef::of(&a)), ObjectKey::new(ObjectRef::of(&b)));
        prop_assert_eq!(ka.cmp(&kb), a.cmp(&b));
        prop_assert_eq!(ka.to_hobject(PG.pool).unwrap(), a);
    }
}

fn object(name: &'static [u8]) -> ObjectKey {
    ObjectKey::new(ObjectRef { hash: 5, nspace: b"", key: b"", name, snap: SnapId::HEAD })
}

#[test]
fn a_removed_collection_is_gone_with_its_objects() {
    let store = MemStore::new();
    store.create_collection(PG).unwrap();
    let key = object(b"x");
    let mut transaction = Transaction::new(PG);
    transaction.push(key.as_ref(), Change::Touch);
    assert_eq!(submit(&store, &mut transaction), Submitted::Done(Ok(())));
    store.remove_collection(PG).unwrap();
    assert_eq!(store.collections(), []);
    assert_eq!(store.stats(PG), Err(StoreError::NoCollection(PG)));
    let Fetch::Ready(Err(error)) = store.stat(PG, key.as_ref()) else { panic!("an answer at once") };
    assert_eq!(error, StoreError::NoCollection(PG));
    let mut transaction = Transaction::new(PG);
    transaction.push(key.as_ref(), Change::Touch);
    assert_eq!(submit(&store, &mut transaction), Submitted::Done(Err(StoreError::NoCollection(PG))));
}

#[test]
fn omap_pages_stop_at_their_limits_and_say_so() {
    let store = MemStore::new();
    store.create_collection(PG).unwrap();
    let key = object(b"x");
    let mut transaction = Transaction::new(PG);
    for name in [b"a1", b"a2", b"b1", b"b2"] {
        transaction.push(key.as_ref(), Change::OmapSet { key: name.into(), value: b"0123456789".into() });
    }
    assert_eq!(submit(&store, &mut transaction), Submitted::Done(Ok(())));
    let names = |after: &[u8], prefix: &[u8], max_entries, max_bytes| {
        let query = OmapQuery { after, prefix, max_entries, max_bytes, keys_only: false };
        let page = store.omap_range(PG, key.as_ref(), query).wait().unwrap();
        let names: Vec<_> =
            page.entries.into_iter().map(|(k, _)| String::from_utf8(k.to_vec()).unwrap()).collect();
        (names.join(","), page.more)
    };
    assert_eq!(names(b"a1", b"", 2, 1000), ("a2,b1".into(), true));
    assert_eq!(names(b"", b"b", 9, 1000), ("b1,b2".into(), false));
    assert_eq!(names(b"b1", b"b", 9, 1000), ("b2".into(), false));
    assert_eq!(names(b"", b"a", 9, 1000), ("a1,a2".into(), false));
    assert_eq!(names(b"", b"", 9, 13), ("a1,a2".into(), true));
    assert_eq!(names(b"", b"", 0, 1000), ("".into(), true));
}

#[test]
fn a_full_store_takes_what_makes_room_and_then_goes_on() {
    let store = MemStore::with_capacity(1 << 20);
    store.create_collection(PG).unwrap();
    let (a, b) = (object(b"a"), object(b"b"));
    let run = |key: &ObjectKey, change: Change<'static>| {
        let mut transaction = Transaction::new(PG);
        transaction.push(key.as_ref(), change);
        submit(&store, &mut transaction)
    };
    let half = || Change::WriteFull(vec![0; 600_000].into());
    let done = Submitted::Done(Ok(()));
    assert_eq!(run(&a, half()), done);
    assert_eq!(run(&b, half()), Submitted::Done(Err(StoreError::Full)));
    assert_eq!(store.stat(PG, b.as_ref()).wait().unwrap(), None, "nothing of it was applied");
    // Overwriting and cutting need no room.
    assert_eq!(run(&a, half()), done);
    assert_eq!(run(&a, Change::Truncate(100)), done);
    assert_eq!(run(&b, half()), done);
    assert_eq!(run(&a, Change::Truncate(600_000)), Submitted::Done(Err(StoreError::Full)));
    assert_eq!(run(&b, Change::Remove), done);
    assert_eq!(run(&a, Change::Truncate(600_000)), done);
}
