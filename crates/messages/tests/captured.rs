//! Messages captured between real clients and daemons of 16.2.15 and 20.2.4: each decodes to the fields that
//! were read from it independently, and encodes to the same bytes again.

use sepiola_messages::{osd_op::*, *};
use sepiola_wire::{EVersion, EntityAddr, Features, HObject, SnapId, UTime};
use serde_json::{Value, json};

struct Captured {
    name: String,
    kind: u16,
    version: u16,
    compat: u16,
    priority: u16,
    from_daemon: bool,
    front: Vec<u8>,
    data: Vec<u8>,
    decoded: Value,
}

fn captured() -> Vec<Captured> {
    include_str!("data/messages.jsonl")
        .lines()
        .map(|line| {
            let v: Value = serde_json::from_str(line).unwrap();
            let number = |key: &str| v[key].as_u64().unwrap() as u16;
            let bytes = |key: &str| hex::decode(v[key].as_str().unwrap_or_default()).unwrap();
            Captured {
                name: v["name"].as_str().unwrap().to_owned(),
                kind: number("type"),
                version: number("version"),
                compat: number("compat"),
                priority: number("priority"),
                from_daemon: v["dir"] == "server->client",
                front: bytes("front"),
                data: bytes("data"),
                decoded: v["decoded"].clone(),
            }
        })
        .collect()
}

/// Features under which a peer would have written the message.
fn features_of(m: &Captured) -> Features {
    let newest = m.kind == kind::OSD_OP && m.version == 9
        || m.kind == kind::MON_MAP && m.front.get(4).is_some_and(|v| *v == 10);
    if newest { Features::from_bits(0x3f07_ffff_fffd_ffff) } else { Features::SUPPORTED }
}

fn stamp(t: UTime) -> Value {
    json!([t.sec, t.nsec])
}

fn eversion(v: EVersion) -> Value {
    json!([v.epoch.0, v.version])
}

fn paxos(p: PaxosHeader) -> Value {
    json!([p.version, -1, 0])
}

fn text(bytes: &[u8]) -> Value {
    json!(String::from_utf8_lossy(bytes))
}

fn blob(bytes: &[u8]) -> Value {
    json!(format!("hex:{}", hex::encode(bytes)))
}

fn signed(snap: SnapId) -> i64 {
    snap.0 as i64
}

fn sockaddr(addr: &EntityAddr) -> Value {
    let encoded = sepiola_wire::encode_to_vec(addr, Features::SUPPORTED);
    json!([addr.kind as u8, addr.nonce, encoded.len() - 19, hex::encode(&encoded[19..])])
}

fn hobject(o: &HObject) -> Value {
    json!({
        "key": text(&o.key), "oid": text(&o.oid), "snap": signed(o.snap), "hash": o.hash,
        "max": o.max as u8, "ns": text(&o.nspace), "pool": o.pool.0,
    })
}

/// Decodes a message; gives the fields in the form of the captures, and the message encoded again.
fn fields<M: WireMessage>(m: &Captured, fields: impl FnOnce(&M) -> Value) -> (Value, Vec<u8>, Vec<u8>) {
    assert_eq!((m.kind, m.version, m.compat), (M::TYPE, M::VERSION, M::COMPAT), "{}", m.name);
    check_compat::<M>(m.compat).unwrap();
    // An OSD answers with the default priority whatever the request had.
    if m.from_daemon {
        assert_eq!(m.priority, M::PRIORITY, "{}", m.name);
    }
    let message = M::decode(m.version, &m.front, &m.data).unwrap_or_else(|e| panic!("{}: {e}", m.name));
    let mut front = Vec::new();
    message.encode_front(&mut front, features_of(m));
    (fields(&message), front, message.data().to_vec())
}

fn mon_map(m: &MonMapMessage) -> Value {
    let map = m.map().unwrap();
    let newest = map.auth.is_some();
    let mons: serde_json::Map<_, _> = map
        .mons
        .iter()
        .map(|(name, i)| {
            let mut info = json!({
                "v": if newest { 6 } else { 5 }, "c": 1, "name": i.name,
                "addrs": i.addrs.0.iter().map(sockaddr).collect::<Vec<_>>(),
                "prio": i.priority, "weight": i.weight, "crush_loc": i.crush_location,
            });
            if newest {
                info["time_added"] = stamp(i.time_added);
            }
            (name.clone(), info)
        })
        .collect();
    let mut v = json!({
        "v": if newest { 10 } else { 9 }, "c": 6, "fsid": map.fsid.to_string(), "epoch": map.epoch.0,
        "lc": stamp(map.last_changed), "created": stamp(map.created),
        "persistent": [1, 1, format!("{:#x}", map.persistent_features)],
        "optional": [1, 1, format!("{:#x}", map.optional_features)],
        "mons": mons, "ranks": map.ranks, "min_mon_release": map.min_mon_release,
        "removed_ranks": map.removed_ranks, "strategy": map.election_strategy,
        "disallowed": map.disallowed_leaders, "stretch": map.stretch_mode as u8,
        "tiebreaker": map.tiebreaker, "stretch_marked_down": map.stretch_marked_down,
    });
    if let Some(auth) = &map.auth {
        assert_eq!((auth.epoch, auth.service, &auth.allowed[..], auth.preferred), (0, 2, &[2][..], 2));
        // The independent decoder leaves the ciphers undecoded.
        v["x10"] = hex::encode(&m.blob[m.blob.len() - 20..]).into();
    }
    v
}

fn request(m: &Captured) -> (Value, Vec<u8>, Vec<u8>) {
    let q = OsdOpRequest::decode(m.version, &m.front, &m.data).unwrap();
    assert_eq!(m.version, request_version(features_of(m)));
    let ops: Vec<_> = q
        .ops()
        .map(|op| {
            json!({"op": op.code.0, "flags": op.flags.0, "u": hex::encode(op.args.0),
                   "plen": op.input.len(), "in": blob(op.input)})
        })
        .collect();
    let l = q.locator;
    let mut v = json!({
        "spg": [q.spg.pg.pool.0, q.spg.pg.ps, q.spg.shard], "hash": q.hash, "epoch": q.map_epoch.0,
        "flags": q.flags.0, "reqid": [[q.reqid.name.kind, q.reqid.name.num], q.reqid.tid.0, q.reqid.inc],
        "trace": [0, 0, 0], "client_inc": q.client_inc, "mtime": stamp(q.mtime),
        "oloc": [if l.hash == -1 { 3 } else { 6 }, l.pool.0, -1, text(l.key), text(l.nspace), l.hash],
        "oid": text(q.oid), "ops": ops, "snapid": signed(q.snap), "snap_seq": q.snap_seq.0,
        "snaps": q.snaps.iter().map(|s| s.0).collect::<Vec<_>>(), "retry": q.retry_attempt,
        "features": q.features.bits(),
    });
    if m.version >= 9 {
        v["otel"] = json!([1, 1, 0]);
    }
    let owned = q.to_owned(None);
    let mut front = Vec::new();
    owned.encode_front(&mut front, features_of(m));
    (v, front, owned.data_parts().collect::<Vec<_>>().concat())
}

fn reply(m: &Captured) -> (Value, Vec<u8>, Vec<u8>) {
    let a = OsdOpReplyRef::decode(m.version, &m.front, &m.data).unwrap();
    let ops: Vec<_> = a
        .ops()
        .map(|op| {
            json!({"op": op.code.0, "flags": op.flags.0, "u": hex::encode(op.args.0),
                   "plen": op.output.len(), "rval": op.rval, "out": blob(op.output)})
        })
        .collect();
    let v = json!({
        "oid": text(a.oid), "pg": [a.pg.pool.0, a.pg.ps], "flags": a.flags.0, "result": a.result,
        "bad_replay": eversion(a.bad_replay_version), "epoch": a.map_epoch.0, "ops": ops,
        "retry": a.retry_attempt, "replay": eversion(a.replay_version), "uv": a.user_version,
        "redir": a.redirect.is_some() as u8, "trace": [0, 0, 0],
    });
    let outcomes: Vec<_> = a
        .ops()
        .map(|op| OpOutcome { rval: op.rval, output_len: op.output.len() as u32, ..OpOutcome::default() })
        .collect();
    // As a server has them: the request's operations, whose input lengths the writer replaces.
    let mut echoed = a.raw_ops().to_vec();
    echoed.iter_mut().for_each(|raw| raw[RAW_OP_SIZE - 4..].fill(0xee));
    let mut front = Vec::new();
    encode_reply(&mut front, &a.head(), &echoed, &outcomes);
    (v, front, a.data().to_vec())
}

fn round_trip(m: &Captured) -> (Value, Vec<u8>, Vec<u8>) {
    match m.kind {
        kind::PING => fields::<Ping>(m, |_| Value::Null),
        kind::MON_MAP => fields(m, mon_map),
        kind::MON_GET_MAP => fields::<MonGetMap>(m, |_| json!({})),
        kind::STATFS => fields(
            m,
            |s: &Statfs| json!({"paxos": paxos(s.paxos), "fsid": s.fsid.to_string(), "has_pool": s.pool.is_some() as u8}),
        ),
        kind::STATFS_REPLY => fields(m, |s: &StatfsReply| {
            json!({"fsid": s.fsid.to_string(), "version": s.version, "kb": s.kb, "kb_used": s.kb_used,
                   "kb_avail": s.kb_avail, "num_objects": s.num_objects})
        }),
        kind::MON_SUBSCRIBE => fields(m, |s: &MonSubscribe| {
            let subs: serde_json::Map<_, _> =
                s.what.iter().map(|(k, s)| (k.clone(), json!([s.start, s.flags.0]))).collect();
            json!({"subs": subs, "hostname": s.hostname})
        }),
        kind::MON_GET_VERSION => fields(m, |g: &MonGetVersion| json!({"handle": g.handle, "what": g.what})),
        kind::MON_GET_VERSION_REPLY => fields(
            m,
            |g: &MonGetVersionReply| json!({"handle": g.handle, "version": g.version, "oldest": g.oldest}),
        ),
        kind::OSD_OP => request(m),
        kind::OSD_OPREPLY => reply(m),
        kind::WATCH_NOTIFY => fields(m, |w: &WatchNotify| {
            json!({"msg_ver": 1, "opcode": w.op as u8, "cookie": w.cookie.0, "ver": w.version,
                   "notify_id": w.notify_id, "bl": blob(&w.payload), "return_code": w.return_code,
                   "notifier_gid": w.notifier.0})
        }),
        kind::POOLOP => fields(m, |p: &PoolOp| {
            json!({"paxos": paxos(p.paxos), "fsid": p.fsid.to_string(), "pool": p.pool, "op": p.op.0,
                   "auid": 0, "snapid": p.snap.0, "name": p.name, "pad": 0, "crush_rule": p.crush_rule})
        }),
        kind::POOLOP_REPLY => fields(m, |p: &PoolOpReply| {
            json!({"paxos": paxos(p.paxos), "fsid": p.fsid.to_string(), "reply": p.result,
                   "epoch": p.epoch.0, "has": p.data.is_some() as u8,
                   "blob": p.data.as_ref().map(|d| blob(d))})
        }),
        kind::MON_COMMAND => fields(
            m,
            |c: &MonCommand| json!({"paxos": paxos(c.paxos), "fsid": c.fsid.to_string(), "cmd": c.cmd}),
        ),
        kind::MON_COMMAND_ACK => fields(
            m,
            |c: &MonCommandAck| json!({"paxos": paxos(c.paxos), "r": c.result, "rs": c.status, "cmd": c.cmd}),
        ),
        kind::GET_POOL_STATS => fields(
            m,
            |g: &GetPoolStats| json!({"paxos": paxos(g.paxos), "fsid": g.fsid.to_string(), "pools": g.pools}),
        ),
        kind::GET_POOL_STATS_REPLY => fields(m, |g: &GetPoolStatsReply| {
            let bench = &g.pools["bench"];
            assert_eq!((bench.sum.num_bytes, bench.sum.num_objects, bench.sum.num_object_copies), (34, 2, 2));
            assert_eq!((bench.sum.num_wr, bench.sum.num_wr_kb, bench.up, bench.acting), (3, 3, 32, 32));
            assert!(!g.per_pool);
            Value::Null
        }),
        kind::OSD_BACKOFF => fields(m, |b: &OsdBackoff| {
            json!({"spg": [b.spg.pg.pool.0, b.spg.pg.ps, b.spg.shard], "epoch": b.map_epoch.0,
                   "op": b.op as u8, "id": b.id, "begin": hobject(&b.begin), "end": hobject(&b.end)})
        }),
        kind::CONFIG => fields(m, |c: &Config| json!({"config": c.options})),
        kind::COMMAND => fields(m, |c: &Command| json!({"fsid": c.fsid.to_string(), "cmd": c.cmd})),
        kind::COMMAND_REPLY => fields(m, |c: &CommandReply| json!({"r": c.result, "rs": c.status})),
        kind::MGR_MAP => fields::<MgrMap>(m, |_| Value::Null),
        other => panic!("no message of type {other} ({}) is known", m.name),
    }
}

#[test]
fn captured_messages_decode_to_their_fields_and_encode_to_their_bytes() {
    let all = captured();
    assert_eq!(all.len(), 182);
    for (i, m) in all.iter().enumerate() {
        let (decoded, front, data) = round_trip(m);
        assert_eq!(decoded, m.decoded, "fields of message {i}, {}", m.name);
        assert_eq!(hex::encode(front), hex::encode(&m.front), "front of message {i}, {}", m.name);
        assert_eq!(hex::encode(data), hex::encode(&m.data), "data of message {i}, {}", m.name);
    }
}

/// The operation built again by the constructor that a client would use.
fn rebuilt(op: &OpRef<'_>) -> Option<OpSpec> {
    let extent = op.args.extent();
    let input = || op.input.to_vec();
    let cookie = |n| sepiola_wire::Cookie(n);
    let xattr_op = || CmpOp::from_u8(op.args.xattr().cmp_op).unwrap();
    Some(match op.code {
        OpCode::READ => OpSpec::read(extent.offset, extent.length),
        OpCode::SPARSE_READ => OpSpec::sparse_read(extent.offset, extent.length),
        OpCode::STAT => OpSpec::stat(),
        OpCode::WRITE => OpSpec::write(extent.offset, input()),
        OpCode::WRITE_FULL => OpSpec::write_full(input()),
        OpCode::APPEND => OpSpec::append(input()),
        OpCode::TRUNCATE => OpSpec::truncate(extent.offset),
        OpCode::ZERO => OpSpec::zero(extent.offset, extent.length),
        OpCode::CREATE => OpSpec::create(op.flags.contains(OpFlags::EXCL)),
        OpCode::DELETE => OpSpec::delete(),
        OpCode::ROLLBACK => OpSpec::rollback(op.args.snap().id()),
        OpCode::WRITE_SAME => {
            let args = op.args.write_same();
            OpSpec::write_same(args.offset, args.length, input())
        }
        OpCode::CMPEXT => OpSpec::cmpext(extent.offset, input()),
        OpCode::SET_ALLOC_HINT => {
            let args = op.args.alloc_hint();
            OpSpec::set_alloc_hint(args.expected_object_size, args.expected_write_size, args.flags)
        }
        OpCode::ASSERT_VERSION => OpSpec::assert_version(op.args.assert_version().version),
        OpCode::CHECKSUM => OpSpec::checksum(op.args.checksum(), input()),
        OpCode::SETXATTR => {
            let (name, value) = input::xattr(op).unwrap();
            OpSpec::setxattr(name, value)
        }
        OpCode::CMPXATTR => {
            let (name, value) = input::xattr(op).unwrap();
            OpSpec::cmpxattr(name, xattr_op(), value)
        }
        OpCode::GETXATTR => OpSpec::getxattr(input::xattr_name(op).unwrap()),
        OpCode::GETXATTRS => OpSpec::getxattrs(),
        OpCode::RMXATTR => OpSpec::rmxattr(input::xattr_name(op).unwrap()),
        OpCode::OMAP_GET_KEYS => {
            let list = input::omap_get_keys(op).unwrap();
            OpSpec::omap_get_keys(list.start_after, list.max)
        }
        OpCode::OMAP_GET_VALS => {
            let list = input::omap_get_vals(op).unwrap();
            OpSpec::omap_get_vals(list.start_after, list.max, list.prefix)
        }
        OpCode::OMAP_GET_HEADER => OpSpec::omap_get_header(),
        OpCode::OMAP_GET_VALS_BY_KEYS => OpSpec::omap_get_vals_by_keys(input::omap_keys(op).unwrap()),
        OpCode::OMAP_SET_VALS => OpSpec::omap_set(input::omap_entries(op).unwrap()),
        OpCode::OMAP_CLEAR => OpSpec::omap_clear(),
        OpCode::OMAP_RM_KEYS => OpSpec::omap_rm_keys(input::omap_keys(op).unwrap()),
        OpCode::OMAP_RM_RANGE => {
            let (first, last) = input::omap_rm_range(op).unwrap();
            OpSpec::omap_rm_range(first, last)
        }
        OpCode::OMAP_CMP => {
            let compared = input::omap_cmp(op).unwrap();
            OpSpec::omap_cmp(compared.map(|(k, v, c)| (k, CmpOp::from_u8(c as u8).unwrap(), v)))
        }
        OpCode::CALL => {
            let call = input::call(op).unwrap();
            let name = |bytes| std::str::from_utf8(bytes).unwrap();
            OpSpec::call(name(call.class), name(call.method), call.input)
        }
        OpCode::WATCH => {
            let args = op.args.watch();
            OpSpec::watch(
                cookie(args.cookie),
                WatchOp::from_u8(args.op).unwrap(),
                args.generation,
                args.timeout,
            )
        }
        OpCode::NOTIFY => {
            let notify = input::notify(op).unwrap();
            OpSpec::notify(cookie(op.args.notify().cookie), notify.timeout, notify.payload)
        }
        OpCode::NOTIFY_ACK => {
            let ack = input::notify_ack(op).unwrap();
            OpSpec::notify_ack(ack.notify_id, ack.cookie, ack.reply)
        }
        OpCode::LIST_WATCHERS => OpSpec::list_watchers(),
        OpCode::LIST_SNAPS => OpSpec::list_snaps(),
        OpCode::PGNLS => {
            let args = op.args.pgls();
            OpSpec::pgnls(&input::list_cursor(op).unwrap(), args.max_entries, args.start_epoch)
        }
        OpCode::COPY_FROM => {
            let source = input::copy_from(op).unwrap();
            OpSpec::copy_from(&source.oid, &source.locator, op.args.copy_from())
        }
        _ => return None,
    })
}

#[test]
fn constructors_build_the_operations_that_real_clients_send() {
    let mut left_out = Vec::new();
    for m in captured().iter().filter(|m| m.kind == kind::OSD_OP) {
        let request = OsdOpRequest::decode(m.version, &m.front, &m.data).unwrap();
        for op in request.ops() {
            match rebuilt(&op) {
                Some(spec) => {
                    let spec = spec.with_flags(op.flags);
                    assert_eq!((spec.code, spec.flags, spec.args), (op.code, op.flags, op.args));
                    assert_eq!(spec.input, op.input, "input of {}", op.code);
                }
                None => left_out.push(op.code),
            }
        }
    }
    // Only copy-from2 has no constructor.
    left_out.dedup();
    assert_eq!(left_out, [OpCode::COPY_FROM2]);
}

/// An operation's output, read and written again.
fn rewritten(op: &ReplyOpRef<'_>) -> Option<Vec<u8>> {
    let shared = bytes::Bytes::copy_from_slice(op.output);
    let mut out = Vec::new();
    fn again<T: sepiola_wire::Decode + sepiola_wire::Encode>(bytes: &[u8], out: &mut Vec<u8>) {
        sepiola_wire::decode_all::<T>(bytes).unwrap().encode(out, Features::SUPPORTED);
    }
    match op.code {
        OpCode::STAT => again::<output::Stat>(op.output, &mut out),
        OpCode::PGNLS => again::<output::Listing>(op.output, &mut out),
        OpCode::LIST_SNAPS => again::<output::SnapSet>(op.output, &mut out),
        OpCode::LIST_WATCHERS => again::<output::Watchers>(op.output, &mut out),
        OpCode::SPARSE_READ => {
            let read = output::SparseRead::decode(&shared).unwrap();
            output::put_sparse_read(&mut out, &read.extents, &read.data);
        }
        OpCode::OMAP_GET_KEYS => {
            let list = output::OmapKeys::decode(&shared).unwrap();
            let mut writer = output::ListWriter::new(&mut out);
            list.keys.iter().for_each(|key| writer.key(key));
            writer.finish_with_more(list.more);
        }
        OpCode::OMAP_GET_VALS => {
            let list = output::OmapVals::decode(&shared).unwrap();
            let mut writer = output::ListWriter::new(&mut out);
            list.entries.iter().for_each(|(key, value)| writer.entry(key, value));
            writer.finish_with_more(list.more);
        }
        OpCode::GETXATTRS | OpCode::OMAP_GET_VALS_BY_KEYS => {
            let entries = output::decode_entries(&shared).unwrap();
            let mut writer = output::ListWriter::new(&mut out);
            entries.iter().for_each(|(key, value)| writer.entry(key, value));
            writer.finish();
        }
        OpCode::CHECKSUM => {
            let values: Vec<u32> = sepiola_wire::decode_all(op.output).unwrap();
            output::put_checksums32(&mut out, &values);
        }
        _ => return None,
    }
    Some(out)
}

#[test]
fn outputs_of_real_osds_are_read_and_written_alike() {
    let mut seen = 0;
    for m in captured().iter().filter(|m| m.kind == kind::OSD_OPREPLY) {
        let reply = OsdOpReplyRef::decode(m.version, &m.front, &m.data).unwrap();
        for op in reply.ops().filter(|op| !op.output.is_empty()) {
            if let Some(out) = rewritten(&op) {
                assert_eq!(hex::encode(out), hex::encode(op.output), "output of {}", op.code);
                seen += 1;
            }
        }
    }
    assert!(seen >= 10, "{seen}");
}

#[test]
fn a_notification_s_result_lists_answers_and_timeouts() {
    let all = captured();
    let complete = all
        .iter()
        .filter(|m| m.kind == kind::WATCH_NOTIFY)
        .map(|m| WatchNotify::decode(m.version, &m.front, &m.data).unwrap())
        .find(|w| w.op == WatchNotifyOp::NotifyComplete)
        .unwrap();
    let result: NotifyResult = sepiola_wire::decode_all(&complete.result).unwrap();
    assert_eq!(result.acks.len(), 1);
    assert_eq!(result.acks[0].reply, "reply");
    assert!(result.timeouts.is_empty());
    assert_eq!(sepiola_wire::encode_to_vec(&result, Features::SUPPORTED), complete.result);
}
