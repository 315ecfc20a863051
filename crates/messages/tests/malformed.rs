//! Bytes from a peer that was broken or hostile: decoders give errors, never panics, and never trust counts.

use proptest::prelude::*;
use sepiola_messages::{osd_op::*, proto::*, *};
use sepiola_wire::Decode as _;

struct Sample {
    kind: u16,
    version: u16,
    front: Vec<u8>,
    data: Vec<u8>,
}

fn samples() -> Vec<Sample> {
    include_str!("data/messages.jsonl")
        .lines()
        .map(|line| {
            let v: serde_json::Value = serde_json::from_str(line).unwrap();
            let bytes = |key: &str| hex::decode(v[key].as_str().unwrap_or_default()).unwrap();
            Sample {
                kind: v["type"].as_u64().unwrap() as u16,
                version: v["version"].as_u64().unwrap() as u16,
                front: bytes("front"),
                data: bytes("data"),
            }
        })
        .collect()
}

/// Reads everything that a daemon or client would read of the message.
fn decode_all_of(kind: u16, version: u16, front: &[u8], data: &[u8]) -> bool {
    fn is_ok<M: WireMessage>(version: u16, front: &[u8], data: &[u8]) -> bool {
        M::decode(version, front, data).is_ok()
    }
    match kind {
        kind::OSD_OP => OsdOpRequest::decode(version, front, data).is_ok_and(|q| {
            for op in q.ops() {
                let _ =
                    (input::xattr(&op), input::xattr_name(&op), input::call(&op), input::list_cursor(&op));
                let _ = (input::omap_get_keys(&op), input::omap_get_vals(&op), input::omap_rm_range(&op));
                let _ = (input::notify(&op), input::notify_ack(&op), input::copy_from(&op));
                let _ = input::omap_keys(&op).map(|items| assert_eq!(items.len(), items.count()));
                let _ = input::omap_entries(&op).map(|items| assert_eq!(items.len(), items.count()));
                let _ = input::omap_cmp(&op).map(|items| assert_eq!(items.len(), items.count()));
                let _ = (op.code.to_string(), op.args.watch(), op.args.copy_from());
            }
            q.snaps.iter().count();
            q.to_owned(None);
            true
        }),
        kind::OSD_OPREPLY => OsdOpReplyRef::decode(version, front, data).is_ok_and(|a| {
            for op in a.ops() {
                let shared = bytes::Bytes::copy_from_slice(op.output);
                let _ = (output::SparseRead::decode(&shared), output::OmapKeys::decode(&shared));
                let _ = (output::OmapVals::decode(&shared), output::decode_entries(&shared));
                let mut r = sepiola_wire::Reader::new(op.output);
                let _ = output::Watchers::decode(&mut r.clone());
                let _ = output::SnapSet::decode(&mut r.clone());
                let _ = output::Listing::decode(&mut r.clone());
                let _ = output::Stat::decode(&mut r);
            }
            true
        }),
        kind::MON_MAP => MonMapMessage::decode(version, front, data).is_ok_and(|m| m.map().is_ok()),
        kind::WATCH_NOTIFY => WatchNotify::decode(version, front, data).is_ok_and(|w| {
            let _ = sepiola_wire::decode_all::<NotifyResult>(&w.result);
            true
        }),
        kind::POOLOP_REPLY => PoolOpReply::decode(version, front, data).is_ok_and(|p| {
            p.snap_id();
            true
        }),
        kind::PING => is_ok::<Ping>(version, front, data),
        kind::MON_GET_MAP => is_ok::<MonGetMap>(version, front, data),
        kind::STATFS => is_ok::<Statfs>(version, front, data),
        kind::STATFS_REPLY => is_ok::<StatfsReply>(version, front, data),
        kind::MON_SUBSCRIBE => is_ok::<MonSubscribe>(version, front, data),
        kind::MON_SUBSCRIBE_ACK => is_ok::<MonSubscribeAck>(version, front, data),
        kind::AUTH => is_ok::<Auth>(version, front, data),
        kind::AUTH_REPLY => is_ok::<AuthReply>(version, front, data),
        kind::MON_GET_VERSION => is_ok::<MonGetVersion>(version, front, data),
        kind::MON_GET_VERSION_REPLY => is_ok::<MonGetVersionReply>(version, front, data),
        kind::OSD_MAP => OsdMapMessage::decode(version, front, data).is_ok_and(|m| m.first() <= m.last()),
        kind::POOLOP => is_ok::<PoolOp>(version, front, data),
        kind::MON_COMMAND => is_ok::<MonCommand>(version, front, data),
        kind::MON_COMMAND_ACK => is_ok::<MonCommandAck>(version, front, data),
        kind::GET_POOL_STATS => is_ok::<GetPoolStats>(version, front, data),
        kind::GET_POOL_STATS_REPLY => is_ok::<GetPoolStatsReply>(version, front, data),
        kind::OSD_BACKOFF => is_ok::<OsdBackoff>(version, front, data),
        kind::CONFIG => is_ok::<Config>(version, front, data),
        kind::COMMAND => is_ok::<Command>(version, front, data),
        kind::COMMAND_REPLY => is_ok::<CommandReply>(version, front, data),
        kind::MGR_MAP => is_ok::<MgrMap>(version, front, data),
        kind::SEPIOLA_OSD_BOOT => is_ok::<OsdBoot>(version, front, data),
        kind::SEPIOLA_OSD_STATS => is_ok::<OsdStats>(version, front, data),
        kind::SEPIOLA_OSD_FAILURE => is_ok::<OsdFailureReport>(version, front, data),
        other => panic!("type {other}"),
    }
}

/// Every type that a peer could send bytes for.
const KINDS: &[u16] = &[
    2, 4, 5, 13, 14, 15, 16, 17, 18, 19, 20, 41, 42, 43, 44, 48, 49, 50, 51, 58, 59, 61, 62, 97, 98, 0x704,
    0xe001, 0xe003, 0xe005,
];

#[derive(Debug, Clone)]
enum Damage {
    Flip { at: prop::sample::Index, with: u8 },
    Cut { at: prop::sample::Index },
    Count { at: prop::sample::Index },
    Insert { at: prop::sample::Index, byte: u8 },
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        (any::<prop::sample::Index>(), 1..=255u8).prop_map(|(at, with)| Damage::Flip { at, with }),
        any::<prop::sample::Index>().prop_map(|at| Damage::Cut { at }),
        any::<prop::sample::Index>().prop_map(|at| Damage::Count { at }),
        (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Insert { at, byte }),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    if bytes.is_empty() {
        return;
    }
    match damage {
        Damage::Flip { at, with } => {
            let at = at.index(bytes.len());
            bytes[at] ^= with;
        }
        Damage::Cut { at } => bytes.truncate(at.index(bytes.len())),
        Damage::Count { at } => {
            let at = at.index(bytes.len());
            let end = bytes.len().min(at + 4);
            bytes[at..end].fill(0xff);
        }
        Damage::Insert { at, byte } => bytes.insert(at.index(bytes.len()), *byte),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damaged_messages_never_panic(
        which in any::<prop::sample::Index>(),
        fronts in prop::collection::vec(damage(), 0..4),
        datas in prop::collection::vec(damage(), 0..2),
        version in prop_oneof![4 => Just(None), 1 => any::<u16>().prop_map(Some)],
    ) {
        let samples = samples_once();
        let sample = &samples[which.index(samples.len())];
        let (mut front, mut data) = (sample.front.clone(), sample.data.clone());
        fronts.iter().for_each(|d| apply(&mut front, d));
        datas.iter().for_each(|d| apply(&mut data, d));
        decode_all_of(sample.kind, version.unwrap_or(sample.version), &front, &data);
    }

    #[test]
    fn noise_never_panics(
        kind in prop::sample::select(KINDS),
        version in 0..12u16,
        front in prop::collection::vec(any::<u8>(), 0..300),
        data in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        decode_all_of(kind, version, &front, &data);
    }
}

fn samples_once() -> &'static [Sample] {
    static SAMPLES: std::sync::OnceLock<Vec<Sample>> = std::sync::OnceLock::new();
    SAMPLES.get_or_init(samples)
}

#[test]
fn a_front_cut_anywhere_is_refused() {
    for sample in samples_once() {
        // These two are opaque or empty by nature.
        if matches!(sample.kind, kind::MGR_MAP | kind::MON_GET_MAP | kind::PING) {
            continue;
        }
        assert!(decode_all_of(sample.kind, sample.version, &sample.front, &sample.data));
        for cut in 0..sample.front.len() {
            assert!(
                !decode_all_of(sample.kind, sample.version, &sample.front[..cut], &sample.data),
                "{} cut at {cut}",
                kind::name(sample.kind)
            );
        }
    }
}

#[test]
fn inputs_must_add_up_to_the_data() {
    let sample = samples_once().iter().find(|s| s.kind == kind::OSD_OP && !s.data.is_empty()).unwrap();
    let decode = |data: &[u8]| OsdOpRequest::decode(sample.version, &sample.front, data).map(|_| ());
    decode(&sample.data).unwrap();
    assert!(decode(&sample.data[1..]).is_err());
    assert!(decode(&[&sample.data[..], b"x"].concat()).is_err());
}

#[test]
fn a_request_with_too_many_operations_is_refused() {
    let sample = samples_once().iter().find(|s| s.kind == kind::OSD_OP && s.data.is_empty()).unwrap();
    let request = OsdOpRequest::decode(sample.version, &sample.front, b"").unwrap();
    let mut op = OsdOp { head: request.to_owned(None).head, ops: vec![OpSpec::stat(); MAX_OPS] };
    op.head.snaps.clear();
    let mut front = Vec::new();
    op.encode_front(&mut front, sepiola_wire::Features::SUPPORTED);
    assert_eq!(OsdOpRequest::decode(8, &front, b"").unwrap().ops().len(), MAX_OPS);

    // One more, by hand: the count stands before the operations, and two snapshot ids, the count of
    // snapshots, the attempt and the features behind them.
    let tail = front.len() - (8 + 8 + 4 + 4 + 8);
    let count_at = tail - MAX_OPS * RAW_OP_SIZE - 2;
    front[count_at..count_at + 2].copy_from_slice(&(MAX_OPS as u16 + 1).to_le_bytes());
    front.splice(tail..tail, [0; RAW_OP_SIZE]);
    assert_eq!(
        OsdOpRequest::decode(8, &front, b"").map(|_| ()),
        Err(sepiola_wire::DecodeError::Invalid("too many operations in one request"))
    );
}
