//! After any sequence of operations, what the OSD says it stores is what a reader finds.

mod common;

use common::{Client, POOL, osd};
use proptest::prelude::*;
use sepiola_messages::osd_op::{CopyFrom, OpSpec, output::OmapVals};
use sepiola_objectstore::CollectionStats;
use sepiola_osd::Osd;
use sepiola_wire::{ObjectLocator, SnapId};

/// In several pgs.
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

#[derive(Debug, Clone)]
enum Step {
    WriteFull(usize),
    Write(u64, usize),
    WriteSame(u64, u64),
    Append(usize),
    Zero(u64, u64),
    Truncate(u64),
    Create,
    Delete,
    SetXattr(u8, usize),
    RmXattr(u8),
    OmapSet(Vec<(u8, usize)>),
    OmapHeader(usize),
    OmapRmKeys(Vec<u8>),
    OmapRmRange(u8, u8),
    OmapClear,
    CopyFrom(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let size = || prop_oneof![0usize..100, 60_000usize..140_000];
    let offset = || prop_oneof![0u64..100, 60_000u64..140_000];
    let key = || 0u8..6;
    prop_oneof![
        size().prop_map(Step::WriteFull),
        (offset(), size()).prop_map(|(o, s)| Step::Write(o, s)),
        (offset(), 1u64..50).prop_map(|(o, n)| Step::WriteSame(o, n)),
        size().prop_map(Step::Append),
        (offset(), offset()).prop_map(|(o, l)| Step::Zero(o, l)),
        offset().prop_map(Step::Truncate),
        Just(Step::Create),
        Just(Step::Delete),
        (key(), 0usize..50).prop_map(|(k, s)| Step::SetXattr(k, s)),
        key().prop_map(Step::RmXattr),
        prop::collection::vec((key(), 0usize..50), 0..4).prop_map(Step::OmapSet),
        (0usize..50).prop_map(Step::OmapHeader),
        prop::collection::vec(key(), 0..4).prop_map(Step::OmapRmKeys),
        (key(), key()).prop_map(|(a, b)| Step::OmapRmRange(a, b)),
        Just(Step::OmapClear),
        (0..NAMES.len()).prop_map(Step::CopyFrom),
    ]
}

impl Step {
    fn op(&self) -> OpSpec {
        let key = |n: &u8| format!("key-{n}");
        match self {
            Step::WriteFull(size) => OpSpec::write_full(vec![1; *size]),
            Step::Write(offset, size) => OpSpec::write(*offset, vec![2; *size]),
            Step::WriteSame(offset, times) => OpSpec::write_same(*offset, times * 3, "abc"),
            Step::Append(size) => OpSpec::append(vec![3; *size]),
            Step::Zero(offset, length) => OpSpec::zero(*offset, *length),
            Step::Truncate(size) => OpSpec::truncate(*size),
            Step::Create => OpSpec::create(true),
            Step::Delete => OpSpec::delete(),
            Step::SetXattr(name, size) => OpSpec::setxattr(key(name).as_bytes(), &vec![4; *size]),
            Step::RmXattr(name) => OpSpec::rmxattr(key(name).as_bytes()),
            Step::OmapSet(entries) => {
                let mut entries: Vec<_> = entries.iter().map(|(k, s)| (key(k), vec![5; *s])).collect();
                entries.sort();
                entries.dedup_by(|a, b| a.0 == b.0);
                OpSpec::omap_set(entries.iter().map(|(k, v)| (k, v)))
            }
            Step::OmapHeader(size) => OpSpec::omap_set_header(vec![6; *size]),
            Step::OmapRmKeys(keys) => OpSpec::omap_rm_keys(keys.iter().map(key)),
            Step::OmapRmRange(a, b) => OpSpec::omap_rm_range(key(a).as_bytes(), key(b).as_bytes()),
            Step::OmapClear => OpSpec::omap_clear(),
            Step::CopyFrom(source) => {
                let args =
                    CopyFrom { src_snap: SnapId::HEAD.0, src_version: 0, flags: 0, src_fadvise_flags: 0 };
                OpSpec::copy_from(NAMES[*source].as_bytes(), &ObjectLocator::new(POOL), args)
            }
        }
    }
}

fn recount(client: &mut Client, osd: &Osd) -> CollectionStats {
    let mut found = CollectionStats::default();
    for name in NAMES {
        let reply = client.run(osd, name, [OpSpec::stat(), OpSpec::omap_get_vals(b"", 1000, b"")]);
        if reply.result != 0 {
            continue;
        }
        let entries = OmapVals::decode(&reply.outputs[1].clone().into()).unwrap().entries;
        found.objects += 1;
        found.bytes += u64::from_le_bytes(reply.outputs[0][..8].try_into().unwrap());
        found.omap_keys += entries.len() as u64;
        found.omap_bytes += entries.iter().map(|(k, v)| (k.len() + v.len()) as u64).sum::<u64>();
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_is_counted_is_what_is_there(
        messages in prop::collection::vec((0..NAMES.len(), prop::collection::vec(step(), 1..4)), 1..25),
    ) {
        let osd = osd();
        let mut client = Client::admin();
        for (object, steps) in &messages {
            // Some fail, and then nothing of them counts.
            client.run(&osd, NAMES[*object], steps.iter().map(Step::op));
            prop_assert_eq!(osd.statistics(), recount(&mut client, &osd));
        }
        for name in NAMES {
            client.run(&osd, name, [OpSpec::delete()]);
        }
        prop_assert_eq!(osd.statistics(), CollectionStats::default());
        prop_assert_eq!(osd.perf().stat_bytes_used, 0);
    }
}
