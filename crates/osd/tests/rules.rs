//! When an OSD answers, waits, or stays silent; limits; capabilities; atomicity.

mod common;

use std::sync::Arc;

use bytes::Bytes;
use common::{Client, POOL, Reply, Request, blob, empty_osd, map, next_map, osd};
use sepiola_messages::{
    Command, CommandReply, OsdMapMessage, WireMessage, kind,
    osd_op::{OpArgs, OpCode, OpFlags, OpSpec, RequestFlags, WatchOp},
};
use sepiola_msgr2::{MessageHeader, Payload};
use sepiola_objectstore::MemStore;
use sepiola_osd::{HandleError, Handled, Scratch};
use sepiola_osdmap::{Incremental, OsdMap, OsdState};
use sepiola_wire::{Cookie, EntityAddr, Epoch, Errno, OsdId, PgId, SnapId, Tid};

const RETURNVEC: u32 = 0x400_0000;

fn mark_down(next: &mut Incremental) {
    next.new_state.insert(OsdId(0), OsdState::UP.0);
}

#[test]
fn a_request_ahead_of_the_map_waits_and_keeps_its_place() {
    let osd = osd();
    let mut client = Client::admin();
    let ahead = Request::on("x", [OpSpec::append("1")]).with(|head| head.map_epoch = Epoch(9)).tid(1);
    assert_eq!(client.send(&osd, &ahead), []);
    assert_eq!(osd.wanted_epoch(), Epoch(9));
    // It could be answered now, but not before the one that was sent earlier.
    let later = Request::on("x", [OpSpec::append("2")]).tid(2);
    assert_eq!(client.send(&osd, &later), []);
    // Other sessions go on.
    assert_eq!(Client::admin().run(&osd, "y", [OpSpec::write_full("y")]).result, 0);

    osd.apply_map(next_map(&map(), |_| {})).unwrap();
    let pushed = client.pushed.0.lock().unwrap().clone();
    let replies: Vec<_> = pushed.iter().filter(|sent| sent.header.kind == kind::OSD_OPREPLY).collect();
    assert_eq!(replies.iter().map(|sent| sent.header.tid).collect::<Vec<_>>(), [Tid(1), Tid(2)]);
    assert!(replies.iter().all(|sent| Reply::of(sent).result == 0));
    let read = Request::on("x", [OpSpec::read(0, 0)]).with(|head| head.map_epoch = Epoch(9));
    assert_eq!(client.call(&osd, &read).outputs, [b"12"]);
}

#[test]
fn what_waits_is_forgotten_with_its_session() {
    let osd = osd();
    let mut client = Client::admin();
    let ahead = Request::on("x", [OpSpec::append("1")]).with(|head| head.map_epoch = Epoch(9));
    assert_eq!(client.send(&osd, &ahead), []);
    let pushed = client.pushed.clone();
    drop(client);
    osd.apply_map(next_map(&map(), |_| {})).unwrap();
    assert_eq!(*pushed.0.lock().unwrap(), []);
}

#[test]
fn misdirected_requests_are_dropped() {
    let osd = osd();
    let mut client = Client::admin();
    let stat = || Request::on("x", [OpSpec::write_full("x")]);
    assert_eq!(client.call(&osd, &stat()).result, 0);
    let other_pg = stat().with(|head| head.spg.pg.ps = (head.spg.pg.ps + 1) % 32);
    assert_eq!(client.send(&osd, &other_pg), []);
    let beyond = stat().with(|head| head.spg.pg.ps = 77);
    assert_eq!(client.send(&osd, &beyond), []);
    let other_pool = stat().with(|head| head.spg.pg.pool.0 = 99);
    assert_eq!(client.send(&osd, &other_pool), []);
    let shard = stat().with(|head| head.spg.shard = 0);
    assert_eq!(client.send(&osd, &shard), []);
}

#[test]
fn an_osd_that_is_not_primary_stays_silent() {
    let osd = osd();
    let mut client = Client::admin();
    let down = next_map(&map(), mark_down);
    assert!(!down.is_up(OsdId(0)));
    osd.apply_map(down).unwrap();
    let sent = client.send(&osd, &Request::on("x", [OpSpec::stat()]));
    assert!(sent.iter().all(|message| message.header.kind == kind::OSD_MAP), "dropped");
}

#[test]
fn a_request_from_an_earlier_interval_is_dropped() {
    let osd = osd();
    // Down and up again: a new interval starts with epoch 10.
    let down = next_map(&map(), mark_down);
    let up = next_map(&down, |next| {
        let addrs = map().osd(OsdId(0)).unwrap().client_addrs.clone();
        next.new_up_client.insert(OsdId(0), addrs);
    });
    assert_eq!((up.epoch(), up.is_up(OsdId(0))), (Epoch(10), true));
    osd.apply_map(down).unwrap();
    osd.apply_map(up).unwrap();
    let mut client = Client::admin();
    let from = |epoch| Request::on("x", [OpSpec::write_full("x")]).with(|head| head.map_epoch = Epoch(epoch));
    let sent = client.send(&osd, &from(8));
    assert_eq!(sent.iter().map(|message| message.header.kind).collect::<Vec<_>>(), [kind::OSD_MAP]);
    assert_eq!(client.call(&osd, &from(10)).result, 0);
}

#[test]
fn an_interval_survives_maps_that_do_not_touch_the_pg() {
    let osd = osd();
    let map = next_map(&next_map(&map(), |_| {}), |_| {});
    osd.apply_map(map).unwrap();
    let mut client = Client::admin();
    let sent = client.send(&osd, &Request::on("x", [OpSpec::write_full("x")]));
    let kinds: Vec<_> = sent.iter().map(|message| message.header.kind).collect();
    // Without the steps in between the client gets a full map.
    assert_eq!(kinds, [kind::OSD_MAP, kind::OSD_OPREPLY]);
    let maps = OsdMapMessage::decode(4, &sent[0].front, b"").unwrap();
    assert_eq!(OsdMap::decode(&maps.full[&Epoch(10)]).unwrap().epoch(), Epoch(10));
}

#[test]
fn the_first_map_may_be_any() {
    let osd = empty_osd();
    assert_eq!(osd.epoch(), Epoch(0));
    let early = Request::on("x", [OpSpec::stat()]).with(|head| head.map_epoch = Epoch(0));
    assert_eq!(Client::admin().send(&osd, &early), []);
    let first = Arc::new(OsdMap::decode(&blob("pacific_full_e7.bin")).unwrap());
    osd.apply_map(first).unwrap();
    osd.apply_map(map()).unwrap();
    assert_eq!(osd.epoch(), Epoch(8));
    osd.apply_map(Arc::new(OsdMap::decode(&blob("pacific_full_e7.bin")).unwrap())).unwrap();
    assert_eq!(osd.epoch(), Epoch(8), "older maps change nothing");
}

#[test]
fn deleting_a_pool_frees_its_data_bit_by_bit() {
    let osd = osd();
    let mut client = Client::admin();
    for n in 0..3000 {
        // All in one pg, of which one step frees only a part.
        let name = format!("object-{n}");
        let request = Request::on(&name, [OpSpec::write_full("x")]).with(|head| {
            head.locator.key = Bytes::from_static(b"key");
            head.hash = sepiola_osdmap::hash::object_hash(b"", b"key", b"");
            head.spg.pg.ps = head.hash % 32;
        });
        assert_eq!(client.call(&osd, &request).result, 0);
    }
    assert!(!osd.has_garbage());
    let used = osd.perf().stat_bytes_used;
    let gone = next_map(&map(), |next| {
        next.old_pools.insert(POOL);
    });
    osd.apply_map(gone.clone()).unwrap();
    assert_eq!(osd.statistics().objects, 3000, "nothing waits for it to be freed");
    let request = Request::on("x", [OpSpec::read(0, 0)]).with(|head| head.map_epoch = gone.epoch());
    assert_eq!(client.send(&osd, &request), [], "dropped: the client sees the pool go by its own map");
    let mut left = vec![used];
    while osd.free_some().unwrap() {
        left.push(osd.perf().stat_bytes_used);
    }
    assert!(left.len() > 3 && left.is_sorted_by(|a, b| a >= b), "{left:?}");
    assert!(!osd.has_garbage());
    assert_eq!((osd.statistics().objects, osd.perf().stat_bytes_used), (0, 0));
}

#[test]
fn a_client_that_gets_blocklisted_is_told_on_the_session_that_it_has() {
    let osd = osd();
    let mut client = Client::admin();
    assert_eq!(client.run(&osd, "x", [OpSpec::write_full("x")]).result, 0);
    let addr = EntityAddr::client("127.0.0.1".parse().unwrap(), 77);
    let map = next_map(&map(), |next| {
        next.new_blocklist.insert(addr.into(), Default::default());
    });
    // One that waits for the map is refused by it.
    let waiting = Request::on("x", [OpSpec::append("y")]).with(|head| head.map_epoch = map.epoch());
    assert_eq!(client.send(&osd, &waiting), []);
    osd.apply_map(map.clone()).unwrap();
    assert_eq!(Reply::of(&client.take_pushed()[0]).result, Errno::ESHUTDOWN.to_wire());
    let on = |epoch| Request::on("x", [OpSpec::stat()]).with(|head| head.map_epoch = epoch);
    assert_eq!(client.call(&osd, &on(map.epoch())).result, Errno::ESHUTDOWN.to_wire());
    let mut other = common::identity(sepiola_cephx::PeerCaps::allow_all());
    other.addr.nonce = 78;
    assert_eq!(Client::new(other).call(&osd, &on(map.epoch())).result, 0);
    // It ends as it began.
    let lifted = next_map(&map, |next| {
        next.old_blocklist.push(addr.into());
    });
    osd.apply_map(lifted.clone()).unwrap();
    let sent = client.send(&osd, &on(lifted.epoch()));
    assert_eq!(Reply::of(sent.last().unwrap()).result, 0);
}

#[test]
fn capabilities_are_checked_per_request() {
    let osd = osd();
    Client::admin().run(&osd, "x", [OpSpec::write_full("x")]);
    let write = || [OpSpec::write_full("y")];
    let read = || [OpSpec::read(0, 0)];
    let denied = Errno::EPERM.to_wire();
    let results = |caps: &str| {
        let mut client = Client::with_caps(caps);
        (client.run(&osd, "x", read()).result, client.run(&osd, "x", write()).result)
    };
    assert_eq!(results("allow rw"), (0, 0));
    assert_eq!(results("allow r"), (0, denied));
    assert_eq!(results("allow w"), (denied, 0));
    assert_eq!(results("allow rw pool=bench"), (0, 0));
    assert_eq!(results("allow rw pool=other"), (denied, denied));
    assert_eq!(results("allow rw namespace=ns"), (denied, denied));
    assert_eq!(results("allow rw object_prefix x"), (0, 0));
    assert_eq!(results("allow rw object_prefix y"), (denied, denied));
    assert_eq!(results(""), (denied, denied));
    // Reading and writing in one message needs both.
    let both = [OpSpec::write_full("z"), OpSpec::stat()];
    assert_eq!(Client::with_caps("allow w").run(&osd, "x", both).result, denied);
    let reply = Client::with_caps("allow r").run(&osd, "x", write());
    assert_eq!((reply.replay, reply.flags & 1), (Default::default(), 0), "refused before execution");
}

#[test]
fn a_failing_op_leaves_nothing_behind() {
    let osd = osd();
    let mut client = Client::admin();
    client.run(&osd, "x", [OpSpec::write_full("old"), OpSpec::setxattr(b"a", b"1")]);
    let ops = [
        OpSpec::write_full("new"),
        OpSpec::setxattr(b"a", b"2"),
        OpSpec::omap_set([("k", "v")].into_iter()),
        OpSpec::create(true),
        OpSpec::append("never"),
    ];
    let reply = client.run(&osd, "x", ops);
    assert_eq!((reply.result, reply.rvals), (-17, vec![0, 0, 0, -17, 0]));
    let check = [OpSpec::read(0, 0), OpSpec::getxattr(b"a"), OpSpec::omap_get_keys(b"", 10)];
    let reply = client.run(&osd, "x", check);
    assert_eq!(reply.outputs, [&b"old"[..], b"1", &[0, 0, 0, 0, 0]]);

    let ops = [OpSpec::create(true), OpSpec::append("x"), OpSpec::assert_version(99)];
    assert_eq!(client.run(&osd, "new", ops).result, Errno::EOVERFLOW.to_wire());
    assert_eq!(client.run(&osd, "new", [OpSpec::stat()]).result, Errno::ENOENT.to_wire());
}

#[test]
fn later_ops_see_what_earlier_ones_did_to_existence_size_and_attributes() {
    let osd = osd();
    let mut client = Client::admin();
    let request = |name: &str, ops: Vec<OpSpec>| Request::on(name, ops).flags(RETURNVEC);
    let ops = vec![
        OpSpec::append("abc"),
        OpSpec::append("def"),
        OpSpec::stat(),
        OpSpec::setxattr(b"a", b"1"),
        OpSpec::getxattr(b"a"),
        OpSpec::getxattrs(),
    ];
    let reply = client.call(&osd, &request("x", ops));
    assert_eq!(reply.result, 0);
    assert_eq!(reply.outputs[2][..8], 6u64.to_le_bytes());
    assert_eq!(reply.outputs[4], b"1");
    assert_eq!(reply.outputs[5], [1, 0, 0, 0, 1, 0, 0, 0, b'a', 1, 0, 0, 0, b'1']);
    let ops = vec![
        OpSpec::delete(),
        OpSpec::create(true),
        OpSpec::getxattrs(),
        OpSpec::append("z"),
        OpSpec::stat(),
    ];
    let reply = client.call(&osd, &request("x", ops));
    assert_eq!(reply.result, 0);
    assert_eq!((&reply.outputs[2][..], &reply.outputs[4][..8]), (&[0; 4][..], &1u64.to_le_bytes()[..]));
    let reply = client.call(&osd, &request("x", vec![OpSpec::delete(), OpSpec::stat()]));
    assert_eq!(reply.result, Errno::ENOENT.to_wire());
    assert_eq!(client.run(&osd, "x", [OpSpec::read(0, 0)]).outputs, [b"z"]);
}

#[test]
fn versions_of_a_deleted_and_recreated_object_go_on() {
    let osd = osd();
    let mut client = Client::admin();
    client.run(&osd, "x", [OpSpec::append("1")]);
    let deleted = client.run(&osd, "x", [OpSpec::delete()]);
    let created = client.run(&osd, "x", [OpSpec::append("2")]);
    assert_eq!((deleted.user_version, created.user_version), (2, 3));
}

#[test]
fn limits_have_their_own_errors() {
    let osd = osd();
    let mut client = Client::admin();
    let mut result = |request: Request| client.call(&osd, &request).result;
    let named = |name: &str| Request::on(name, [OpSpec::create(false)]);
    let in_place = |request: Request, key: &[u8], nspace: &[u8]| {
        request.with(|head| {
            head.locator.key = Bytes::copy_from_slice(key);
            head.locator.nspace = Bytes::copy_from_slice(nspace);
        })
    };
    let too_long = Errno::ENAMETOOLONG.to_wire();
    assert_eq!(result(named(&"n".repeat(2048))), 0);
    assert_eq!(result(named(&"n".repeat(2049))), too_long);
    assert_eq!(result(in_place(named("x"), &[b'k'; 2049], b"")), too_long);
    assert_eq!(result(in_place(named("x"), b"", &[b'n'; 257])), too_long);
    assert_eq!(result(named("")), Errno::EINVAL.to_wire());
    assert_eq!(result(Request::on("x", [OpSpec::setxattr(&[b'a'; 101], b"")])), too_long);
    assert_eq!(result(Request::on("x", [OpSpec::setxattr(&[b'a'; 100], b"")])), 0);
    let too_big = Errno::EFBIG.to_wire();
    let max = 128 << 20;
    assert_eq!(result(Request::on("x", [OpSpec::write(max - 1, "1")])), 0);
    assert_eq!(result(Request::on("x", [OpSpec::write(max - 1, "12")])), too_big);
    assert_eq!(result(Request::on("x", [OpSpec::write(u64::MAX, "12")])), too_big);
    assert_eq!(result(Request::on("x", [OpSpec::append("1")])), too_big);
    assert_eq!(result(Request::on("x", [OpSpec::truncate(max + 1)])), too_big);
    assert_eq!(result(Request::on("x", [OpSpec::write_same(0, 1 << 40, "1")])), too_big);
    let large = Request::on("x", [OpSpec::write_full(vec![0; (90 << 20) + 1])]);
    assert_eq!(result(large), Errno::EMSGSIZE.to_wire());
    // Reads that would fill memory.
    let reads = Request::on("x", (0..3).map(|_| OpSpec::read(0, 0)));
    assert_eq!(result(reads), Errno::EMSGSIZE.to_wire());
    let parallel = Request::on("x", [OpSpec::stat()]).flags(RequestFlags::PARALLELEXEC.0);
    assert_eq!(result(parallel), Errno::EINVAL.to_wire());
    let write_to_snap = named("x").with(|head| head.snap = SnapId(4));
    assert_eq!(result(write_to_snap), Errno::EINVAL.to_wire());
}

#[test]
fn limits_are_settings() {
    let osd = common::osd_with(MemStore::new(), |config| {
        let limits = &mut config.limits;
        (limits.max_write, limits.max_object, limits.max_xattr_value) = (100, 1000, Some(10));
        (limits.max_xattr_name, limits.max_name, limits.max_nspace) = (5, 6, 7);
        (limits.max_omap_entries, limits.max_omap_bytes) = (3, 50);
    });
    osd.apply_map(map()).unwrap();
    let mut client = Client::admin();
    let mut result = |op| client.run(&osd, "x", [op]).result;
    let (too_big, too_long) = (Errno::EFBIG.to_wire(), Errno::ENAMETOOLONG.to_wire());
    assert_eq!(result(OpSpec::append(vec![0; 101])), Errno::EMSGSIZE.to_wire());
    assert_eq!(result(OpSpec::write(950, vec![0; 51])), too_big);
    assert_eq!(result(OpSpec::setxattr(b"a", &[0; 11])), too_big);
    assert_eq!(result(OpSpec::setxattr(b"a", &[0; 10])), 0);
    assert_eq!(result(OpSpec::setxattr(b"abcdef", b"")), too_long);
    assert_eq!(client.run(&osd, "1234567", [OpSpec::stat()]).result, too_long);
    let entries: Vec<_> =
        (0..5).map(|n| (format!("k{n}"), "v".repeat(if n == 3 { 60 } else { 1 }))).collect();
    for half in entries.chunks(3) {
        assert_eq!(client.run(&osd, "x", [OpSpec::omap_set(half.iter().map(|(k, v)| (k, v)))]).result, 0);
    }
    let mut page = |after: &[u8]| {
        let page = client.run(&osd, "x", [OpSpec::omap_get_vals(after, 100, b"")]).outputs.remove(0);
        (page[0], page[page.len() - 1])
    };
    assert_eq!(page(b""), (3, 1), "by number");
    assert_eq!(page(b"k2"), (1, 1), "by size");
    assert_eq!(page(b"k3"), (1, 0));
}

#[test]
fn a_write_must_not_return_much() {
    let osd = osd();
    let mut client = Client::admin();
    client.run(&osd, "x", [OpSpec::write_full(vec![b'x'; 65])]);
    let ops = |length| [OpSpec::setxattr(b"a", b"1"), OpSpec::read(0, length)];
    let reply = client.call(&osd, &Request::on("x", ops(64)).flags(RETURNVEC));
    assert_eq!((reply.result, reply.outputs[1].len()), (0, 64));
    let before = client.run(&osd, "x", [OpSpec::stat()]).user_version;
    let reply = client.call(&osd, &Request::on("x", ops(65)).flags(RETURNVEC));
    assert_eq!((reply.result, reply.rvals[1]), (Errno::EOVERFLOW.to_wire(), Errno::EOVERFLOW.to_wire()));
    assert_eq!(client.run(&osd, "x", [OpSpec::stat()]).user_version, before, "nothing was written");
}

#[test]
fn a_duplicate_gets_the_outputs_again_and_changes_nothing() {
    let osd = osd();
    let mut client = Client::admin();
    client.run(&osd, "x", [OpSpec::write_full("abc")]);
    let request = || Request::on("x", [OpSpec::append("d"), OpSpec::read(0, 2)]).flags(RETURNVEC).tid(500);
    let first = client.call(&osd, &request());
    // Another session of the same client, as after a reconnect.
    let mut client = Client::admin();
    let again = client.call(&osd, &request().with(|head| head.retry_attempt = 1));
    assert_eq!((&again.outputs, &again.rvals, again.result), (&first.outputs, &first.rvals, first.result));
    assert_eq!((again.replay, again.user_version), (first.replay, first.user_version));
    assert_eq!(client.run(&osd, "x", [OpSpec::read(0, 0)]).outputs, [b"abcd"]);
    // The same number of another client is another request.
    let mut other = common::identity(sepiola_cephx::PeerCaps::allow_all());
    other.source.num += 1;
    Client::new(other).call(&osd, &request());
    assert_eq!(client.run(&osd, "x", [OpSpec::read(0, 0)]).outputs, [b"abcdd"]);
}

#[test]
fn what_is_not_there_yet_says_so() {
    let osd = osd();
    let mut client = Client::admin();
    client.run(&osd, "x", [OpSpec::write_full("x")]);
    let unsupported = Errno::EOPNOTSUPP.to_wire();
    for op in [
        OpSpec::watch(Cookie(1), WatchOp::Watch, 0, 0),
        OpSpec::notify(Cookie(1), 1, b""),
        OpSpec::list_snaps(),
        OpSpec::rollback(SnapId(1)),
        OpSpec::new(OpCode(0x2fff), OpArgs::NONE, ""),
    ] {
        assert_eq!(client.run(&osd, "x", [op.clone()]).result, unsupported, "{op:?}");
    }
    let context = Request::on("x", [OpSpec::append("y")])
        .with(|head| (head.snap_seq, head.snaps) = (SnapId(5), vec![SnapId(5), SnapId(3)]));
    assert_eq!(client.call(&osd, &context).result, unsupported, "a clone would be needed");
    assert_eq!(client.run(&osd, "x", [OpSpec::call("rgw", "x", b"")]).result, Errno::EPERM.to_wire());
}

#[test]
fn failok_goes_on_behind_a_failure() {
    let osd = osd();
    let mut client = Client::admin();
    let hint = OpSpec::setxattr(&[b'a'; 200], b"").with_flags(OpFlags::FAILOK);
    let reply = client.run(&osd, "x", [hint, OpSpec::write_full("x")]);
    assert_eq!((reply.result, reply.rvals), (0, vec![Errno::ENAMETOOLONG.to_wire(), 0]));
    assert_eq!(client.run(&osd, "x", [OpSpec::read(0, 0)]).outputs, [b"x"]);
}

#[test]
fn tell_answers_what_it_knows() {
    let osd = osd();
    let mut client = Client::admin();
    let tell = |client: &mut Client, cmd: &str| {
        let command = Command { fsid: map().fsid(), cmd: vec![cmd.to_owned()], input: Bytes::new() };
        let mut front = Vec::new();
        command.encode_front(&mut front, sepiola_wire::Features::SUPPORTED);
        let header = MessageHeader { tid: Tid(7), ..MessageHeader::new(kind::COMMAND, 1, 1) };
        let sent = client.send_raw(&osd, header, &front, Payload::Borrowed(b""));
        assert_eq!(sent[0].header.tid, Tid(7));
        CommandReply::decode(1, &sent[0].front, &sent[0].data).unwrap()
    };
    let reply = tell(&mut client, r#"{"prefix":"get_command_descriptions"}"#);
    let descriptions: serde_json::Value = serde_json::from_slice(&reply.output).unwrap();
    assert_eq!(descriptions["cmd001"]["sig"][0], "version");
    let reply = tell(&mut client, r#"{"prefix":"version"}"#);
    assert!(String::from_utf8(reply.output.to_vec()).unwrap().contains("sepiola"));
    let query = |pgid: &str| format!(r#"{{"prefix":"pg","cmd":"query","pgid":"{pgid}"}}"#);
    let reply = tell(&mut client, &query("1.1f"));
    let pg: serde_json::Value = serde_json::from_slice(&reply.output).unwrap();
    assert_eq!((&pg["state"], &pg["acting"][0]), (&"active+clean".into(), &0.into()));
    for unknown in ["1.20", "2.0", "x"] {
        assert_eq!(tell(&mut client, &query(unknown)).result, Errno::ENOENT.to_wire());
    }
    assert_eq!(tell(&mut client, r#"{"prefix":"bench"}"#).result, Errno::EINVAL.to_wire());
    assert_eq!(tell(&mut client, "version").result, Errno::EINVAL.to_wire());
    let refused = [
        "",
        "allow r pool=bench",
        "allow rwx",
        "allow * pool=bench",
        "allow * namespace=\"\"",
        "profile rbd",
    ];
    for caps in refused {
        let mut client = Client::with_caps(caps);
        for command in [r#"{"prefix":"version"}"#, r#"{"prefix":"config set"}"#, &query("1.1f"), "x"] {
            assert_eq!(tell(&mut client, command).result, Errno::EPERM.to_wire(), "{caps}: {command}");
        }
        assert_eq!(tell(&mut client, r#"{"prefix":"get_command_descriptions"}"#).result, 0);
    }
    assert_eq!(tell(&mut Client::with_caps("allow *"), &query("1.1f")).result, 0);
}

#[test]
fn whoever_may_do_nothing_does_not_get_to_wait_for_a_map_either() {
    let osd = osd();
    let ahead = Request::on("x", [OpSpec::read(0, 1)]).with(|head| head.map_epoch = Epoch(0x7fff_ffff));
    for caps in ["", "allow r pool=other", "allow w"] {
        let mut client = Client::with_caps(caps);
        assert_eq!(client.call(&osd, &ahead).result, Errno::EPERM.to_wire(), "{caps}");
    }
    assert_eq!(osd.ops_in_flight(std::time::Duration::ZERO, 0).1, 0);
    let mut allowed = Client::with_caps("allow r pool=bench");
    assert_eq!(allowed.send(&osd, &ahead), []);
    assert_eq!(osd.ops_in_flight(std::time::Duration::ZERO, 0).1, 1);
}

#[test]
fn malformed_and_unknown_messages() {
    let osd = osd();
    let client = Client::admin();
    let handle = |kind, front: &[u8]| {
        let header = MessageHeader::new(kind, 8, 3);
        let (mut scratch, mut out) = (Scratch::default(), common::Outbox::default());
        let data = Payload::Borrowed(b"");
        osd.handle(&client.session, &header, front, data, &mut scratch, &mut out)
    };
    assert_eq!(handle(12345, b"").unwrap(), Handled::Unknown);
    let (front, _) = Request::on("x", [OpSpec::stat()]).encoded();
    for length in 0..front.len() {
        let result = handle(kind::OSD_OP, &front[..length]);
        assert!(matches!(result, Err(HandleError::Malformed { kind: kind::OSD_OP, .. })), "{length}");
    }
}

#[test]
fn pgs_of_an_osd_are_those_that_crush_gives_it() {
    let map = map();
    for ps in 0..32 {
        assert_eq!(map.pg_to_up_acting(PgId::new(POOL, ps)).acting_primary, Some(OsdId(0)));
    }
}
