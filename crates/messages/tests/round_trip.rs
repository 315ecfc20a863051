//! What one side writes, the other reads: messages and layouts that the captures do not hold.

use bytes::Bytes;
use proptest::prelude::*;
use sepiola_messages::{osd_op::*, proto::*, *};
use sepiola_wire::{
    Cookie, EVersion, Encode as _, Epoch, Features, GlobalId, HObject, ObjectLocator, PgId, PoolId, SnapId,
    SpgId, UTime, Uuid,
};

fn again<M: WireMessage + PartialEq + std::fmt::Debug>(message: &M) {
    let mut front = Vec::new();
    message.encode_front(&mut front, Features::SUPPORTED);
    assert_eq!(&M::decode(M::VERSION, &front, message.data()).unwrap(), message);
    // Newer senders append fields.
    front.extend_from_slice(b"more");
    M::decode(M::VERSION + 1, &front, message.data()).unwrap();
}

#[test]
fn messages_without_captures_round_trip() {
    again(&Auth { protocol: 2, payload: Bytes::from_static(b"sealed"), monmap_epoch: 3 });
    again(&AuthReply {
        protocol: 2,
        result: -13,
        global_id: GlobalId(4123),
        payload: Bytes::from_static(b"sealed"),
        message: "no".into(),
    });
    again(&OsdMapMessage {
        fsid: Uuid::from_u128(7),
        incremental: [(Epoch(9), Bytes::from_static(b"inc"))].into(),
        full: [(Epoch(8), Bytes::from_static(b"full"))].into(),
        oldest: Epoch(1),
        newest: Epoch(12),
    });
    again(&MonSubscribeAck { interval: 300, fsid: Uuid::from_u128(7) });
    again(&Statfs { pool: Some(PoolId(3)), ..Statfs::default() });
    again(&Config { options: [("debug_ms".to_owned(), "0/0".to_owned())].into() });
}

#[test]
fn private_messages_round_trip() {
    let mut front = Vec::new();
    let boot = OsdBoot { osd_id: 3, osd_uuid: vec![7; 16].into(), map_epoch: 12, ..OsdBoot::default() };
    boot.encode_front(&mut front, Features::SUPPORTED);
    assert!(is_private(OsdBoot::TYPE) && !is_private(OsdMapMessage::TYPE));
    assert_eq!(OsdBoot::decode(1, &front, b"").unwrap(), boot);
    assert!(OsdBoot::decode(1, &front[..front.len() - 1], b"").is_err());
}

#[test]
fn secrets_in_transit_are_not_printed() {
    let payload = Bytes::from_static(b"ticket");
    let auth = Auth { protocol: 2, payload: payload.clone(), monmap_epoch: 0 };
    let reply = AuthReply { payload, ..AuthReply::default() };
    assert!(!format!("{auth:?} {reply:?}").contains("ticket"));
}

#[test]
fn the_ends_of_a_map_message_are_over_both_maps() {
    let mut m = OsdMapMessage::default();
    assert_eq!((m.first(), m.last()), (None, None));
    m.incremental = [(Epoch(9), Bytes::new()), (Epoch(10), Bytes::new())].into();
    m.full = [(Epoch(8), Bytes::new())].into();
    assert_eq!((m.first(), m.last()), (Some(Epoch(8)), Some(Epoch(10))));
}

fn write_full() -> OsdOp {
    let pg = PgId::new(PoolId(1), 31);
    let head = RequestHead::new(
        SpgId::replicated(pg),
        1_828_249_343,
        Epoch(7),
        ObjectLocator::new(PoolId(1)),
        Bytes::from_static(b"obj1"),
    );
    OsdOp { head, ops: vec![OpSpec::write_full(&b"some object body\n"[..])] }
}

#[test]
fn a_reply_repeats_the_request_and_carries_outcomes() {
    let mut op = write_full();
    op.ops.push(OpSpec::read(0, 4096));
    op.ops.push(OpSpec::getxattr(b"k"));
    op.head.flags = RequestFlags::WRITE | RequestFlags::ONDISK | RequestFlags::RETRY;
    op.head.retry_attempt = 2;
    let mut front = Vec::new();
    op.encode_front(&mut front, Features::SUPPORTED);
    let data = op.data_parts().collect::<Vec<_>>().concat();
    let request = OsdOpRequest::decode(REQUEST_VERSION, &front, &data).unwrap();
    assert!(request.has_write_op());
    assert_eq!(request.to_owned(Some(data.clone().into())), op);

    let version = EVersion { epoch: Epoch(7), version: 9 };
    let head =
        ReplyHead { user_version: 5, replay_version: version, ..ReplyHead::new(&request, 0, Epoch(8)) };
    let outcomes = [
        OpOutcome::default(),
        OpOutcome { rval: 3, output_len: 3, write_back: WriteBack::Length(3) },
        OpOutcome { rval: -61, output_len: 0, write_back: WriteBack::ValueLen(6) },
    ];
    let mut front = Vec::new();
    encode_reply(&mut front, &head, request.raw_ops(), &outcomes);
    let reply = OsdOpReplyRef::decode(REPLY_VERSION, &front, b"abc").unwrap();
    assert_eq!(reply.head(), head);
    assert_eq!(reply.flags.0, 0x20 | 0x8 | 0x5);
    assert_eq!((reply.retry_attempt, reply.map_epoch), (2, Epoch(8)));
    let ops: Vec<_> = reply.ops().collect();
    assert_eq!(ops.iter().map(|o| o.rval).collect::<Vec<_>>(), [0, 3, -61]);
    assert_eq!(ops[1].output, b"abc");
    assert_eq!(ops[1].args.extent().length, 3);
    assert_eq!(ops[2].args.xattr().value_len, 6);
    assert!(OsdOpReplyRef::decode(REPLY_VERSION, &front, b"ab").is_err());

    // Nothing executed: no outcomes, and no claim that anything is on disk beyond what was asked.
    let mut front = Vec::new();
    encode_reply(&mut front, &ReplyHead::early(&request, -2, Epoch(8)), request.raw_ops(), &[]);
    let reply = OsdOpReplyRef::decode(REPLY_VERSION, &front, b"").unwrap();
    assert_eq!((reply.result, reply.flags.0), (-2, 0x20 | 0x8 | 0x4));
    assert!(reply.ops().all(|o| o.rval == 0 && o.output.is_empty()));
}

#[test]
fn the_front_of_a_write_has_the_size_that_real_clients_send() {
    let mut front = Vec::new();
    write_full().encode_front(&mut front, Features::SUPPORTED);
    assert_eq!(front.len(), 213);
    let squid = Features::from_bits(0x3f07_ffff_fffd_ffff);
    let mut front = Vec::new();
    write_full().encode_front(&mut front, squid);
    assert_eq!((request_version(squid), front.len()), (9, 220));
}

#[test]
fn a_redirect_is_read() {
    let op = write_full();
    let mut front = Vec::new();
    op.encode_front(&mut front, Features::SUPPORTED);
    let request = OsdOpRequest::decode(8, &front, b"some object body\n").unwrap();
    let mut front = Vec::new();
    encode_reply(&mut front, &ReplyHead::new(&request, 0, Epoch(8)), request.raw_ops(), &[]);
    // The flag and the trace end a reply.
    front.truncate(front.len() - 25);
    front.push(1);
    let locator = ObjectLocator { nspace: Bytes::from_static(b"ns"), ..ObjectLocator::new(PoolId(4)) };
    sepiola_wire::Put::put_versioned(&mut front, 1, 1, |out| {
        locator.encode(out, Features::SUPPORTED);
        sepiola_wire::Put::put_blob(out, b"other");
        sepiola_wire::Put::put_u32(out, 0);
    });
    front.extend_from_slice(&[0; 24]);
    let reply = OsdOpReplyRef::decode(8, &front, b"").unwrap();
    assert_eq!(reply.redirect, Some(Redirect { locator, oid: b"other" }));
}

#[test]
fn watchers_and_checksums_round_trip() {
    let watchers = output::Watchers(vec![output::Watcher {
        name: sepiola_wire::EntityNum::client(GlobalId(4115)),
        cookie: Cookie(77),
        timeout: 30,
        addr: "10.0.0.1:0/5".parse().unwrap(),
    }]);
    let bytes = sepiola_wire::encode_to_vec(&watchers, Features::SUPPORTED);
    assert_eq!(sepiola_wire::decode_all::<output::Watchers>(&bytes), Ok(watchers));
    let mut out = Vec::new();
    output::put_checksums64(&mut out, &[1, u64::MAX]);
    assert_eq!(sepiola_wire::decode_all::<Vec<u64>>(&out), Ok(vec![1, u64::MAX]));
}

#[test]
fn an_old_style_listing_leaves_namespaces_out() {
    let listing = output::Listing {
        next: HObject::max(),
        entries: vec![output::ListEntry {
            nspace: Bytes::from_static(b"ns"),
            oid: Bytes::from_static(b"o"),
            key: Bytes::new(),
        }],
    };
    let (mut old, new) = (Vec::new(), sepiola_wire::encode_to_vec(&listing, Features::SUPPORTED));
    listing.encode_pgls(&mut old);
    assert_eq!(old.len() + 6, new.len());
}

fn op_spec() -> impl Strategy<Value = OpSpec> {
    (any::<u16>(), any::<u32>(), any::<[u8; 28]>(), prop::collection::vec(any::<u8>(), 0..64)).prop_map(
        |(code, flags, args, input)| OpSpec {
            code: OpCode(code),
            flags: OpFlags(flags),
            args: OpArgs(args),
            input: input.into(),
        },
    )
}

proptest! {
    #[test]
    fn any_request_round_trips(
        ids in any::<(i64, u32, i8, u32, u32, u32, i32)>(),
        names in any::<(Vec<u8>, Vec<u8>, Vec<u8>)>(),
        snaps in any::<(u64, u64, Vec<u64>)>(),
        mtime in any::<(u32, u32)>(),
        ops in prop::collection::vec(op_spec(), 0..6),
        squid in any::<bool>(),
    ) {
        let (pool, ps, shard, hash, epoch, flags, retry) = ids;
        let (oid, key, nspace) = names;
        let spg = SpgId { pg: PgId::new(PoolId(pool), ps), shard };
        let locator = ObjectLocator { pool: PoolId(pool), key: key.into(), nspace: nspace.into(), hash: -1 };
        let head = RequestHead {
            flags: RequestFlags(flags),
            mtime: UTime { sec: mtime.0, nsec: mtime.1 },
            snap: SnapId(snaps.0),
            snap_seq: SnapId(snaps.1),
            snaps: snaps.2.into_iter().map(SnapId).collect(),
            retry_attempt: retry,
            ..RequestHead::new(spg, hash, Epoch(epoch), locator, oid.into())
        };
        let op = OsdOp { head, ops };
        let features = if squid { Features::from_bits(0x3f07_ffff_fffd_ffff) } else { Features::SUPPORTED };
        let mut front = Vec::new();
        op.encode_front(&mut front, features);
        let data = op.data_parts().collect::<Vec<_>>().concat();
        let request = OsdOpRequest::decode(request_version(features), &front, &data).unwrap();
        prop_assert_eq!(request.hobject().oid, op.head.oid.clone());
        prop_assert_eq!(request.to_owned(None), op);
    }
}
