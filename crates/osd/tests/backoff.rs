//! Clients are told to hold back requests that cannot be served, and to go on when they can.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};

use common::{Client, POOL, Reply, Request, Sent, identity, map, next_map, osd, osd_with, with_pool};
use sepiola_cephx::PeerCaps;
use sepiola_messages::{BackoffOp, OsdBackoff, WireMessage, kind, osd_op::OpSpec};
use sepiola_msgr2::{MessageHeader, Payload};
use sepiola_objectstore::MemStore;
use sepiola_osd::Osd;
use sepiola_osdmap::OsdState;
use sepiola_wire::{Epoch, Features, OsdId, Tid, UTime};

static NOW: AtomicU32 = AtomicU32::new(1000);

fn clock() -> UTime {
    UTime::from_secs(NOW.load(Ordering::Relaxed))
}

fn backoff(sent: &Sent) -> OsdBackoff {
    assert_eq!(sent.header.kind, kind::OSD_BACKOFF);
    OsdBackoff::decode(sent.header.version, &sent.front, &sent.data).unwrap()
}

fn acknowledge(client: &mut Client, osd: &Osd, block: &OsdBackoff) {
    let mut front = Vec::new();
    let ack = OsdBackoff { op: BackoffOp::AckBlock, ..block.clone() };
    ack.encode_front(&mut front, Features::SUPPORTED);
    let header = MessageHeader::new(kind::OSD_BACKOFF, 1, 1);
    assert_eq!(client.send_raw(osd, header, &front, Payload::Borrowed(b"")), []);
}

fn append(text: &'static str, tid: u64, epoch: u32) -> Request {
    Request::on("x", [OpSpec::append(text)]).tid(tid).with(|head| head.map_epoch = Epoch(epoch))
}

/// What a client is sent besides maps.
fn answers(sent: Vec<Sent>) -> Vec<Sent> {
    sent.into_iter().filter(|sent| sent.header.kind != kind::OSD_MAP).collect()
}

fn ops_waiting(osd: &Osd) -> u64 {
    osd.dump_ops_in_flight()["num_ops"].as_u64().unwrap()
}

#[test]
fn a_pg_with_too_few_osds_is_held_back_until_it_has_enough() {
    let osd = osd();
    let mut client = Client::admin();
    let short = with_pool(&map(), |pool| (pool.size, pool.min_size) = (2, 2));
    osd.apply_map(short.clone()).unwrap();
    let sent = answers(client.send(&osd, &append("1", 1, 9)));
    let block = backoff(&sent[0]);
    let pg = append("1", 1, 9).head.spg.pg;
    assert_eq!((sent.len(), block.op, block.spg.pg, block.map_epoch), (1, BackoffOp::Block, pg, Epoch(9)));
    // As a real OSD was seen to put it: from the pg's first possible object to behind its last.
    assert_eq!((block.begin.hash, block.begin.snap.0, block.begin.pool), (pg.ps, 0, POOL));
    let object = append("1", 1, 9).head;
    let hobject = sepiola_wire::HObject {
        oid: object.oid,
        hash: object.hash,
        pool: POOL,
        snap: sepiola_wire::SnapId::HEAD,
        ..sepiola_wire::HObject::min()
    };
    assert!(block.begin < hobject && hobject < block.end);
    // Others of the same pg are dropped without another word; reads as well.
    assert_eq!(client.send(&osd, &append("2", 2, 9)), []);
    assert_eq!(client.send(&osd, &Request::on("x", [OpSpec::stat()]).with(|h| h.map_epoch = Epoch(9))), []);
    // Another client hears of it on its own.
    let mut other = Client::new(identity(PeerCaps::allow_all()));
    assert_eq!(backoff(answers(other.send(&osd, &append("z", 1, 9))).last().unwrap()).op, BackoffOp::Block);
    acknowledge(&mut client, &osd, &block);
    assert_eq!(client.send(&osd, &append("2", 2, 9)), []);

    // A map that changes nothing for the pg says nothing to its clients.
    let same = next_map(&short, |_| {});
    osd.apply_map(same.clone()).unwrap();
    assert_eq!(client.take_pushed(), []);
    let enough = with_pool(&same, |pool| pool.min_size = 1);
    osd.apply_map(enough).unwrap();
    let pushed = client.take_pushed();
    let unblock = backoff(&pushed[0]);
    assert_eq!(unblock, OsdBackoff { op: BackoffOp::Unblock, map_epoch: Epoch(11), ..block });
    // The same requests, sent again.
    for (text, tid) in [("1", 1), ("2", 2)] {
        let again = append(text, tid, 11).with(|head| head.retry_attempt = 1);
        assert_eq!(Reply::of(answers(client.send(&osd, &again)).last().unwrap()).result, 0);
    }
    let read = Request::on("x", [OpSpec::read(0, 0)]).with(|head| head.map_epoch = Epoch(11));
    assert_eq!(client.call(&osd, &read).outputs, [b"12"]);
}

/// What a 16.2.15 OSD sent to a 16.2.15 client, and what that client answered.
const BLOCK: &str = "01011200000001010000000000000001000000ffffffffff0c000000010100000000000000040321000000000000\
    0000000000000000000000000001000000000000000001000000000000000403210000000000000000000000feffffffffffffff\
    1100000000000000000100000000000000";

#[test]
fn backoffs_are_those_of_a_real_osd() {
    let mut latest = with_pool(&map(), |pool| (pool.size, pool.min_size) = (2, 2));
    while latest.epoch() < Epoch(12) {
        latest = next_map(&latest, |_| {});
    }
    let osd = common::empty_osd();
    osd.apply_map(latest.clone()).unwrap();
    let mut client = Client::admin();
    let object = |name: &str| Request::on(name, [OpSpec::stat()]).with(|head| head.map_epoch = Epoch(12));
    let name = (0..).map(|n| format!("object-{n}")).find(|name| object(name).head.spg.pg.ps == 1).unwrap();
    let sent = client.send(&osd, &object(&name));
    assert_eq!(hex::encode(&sent[0].front), BLOCK);
    let ack = BLOCK.replacen("0c00000001", "0c00000002", 1);
    let header = MessageHeader::new(kind::OSD_BACKOFF, 1, 1);
    client.send_raw(&osd, header, &hex::decode(ack).unwrap(), Payload::Borrowed(b""));
    osd.apply_map(with_pool(&latest, |pool| pool.min_size = 1)).unwrap();
    let unblock = BLOCK.replacen("0c00000001", "0d00000003", 1);
    assert_eq!(hex::encode(&client.take_pushed()[0].front), unblock);
}

#[test]
fn what_was_sent_before_a_client_heard_of_its_backoff_does_not_overtake_what_was_dropped() {
    let osd = osd();
    let mut client = Client::admin();
    let short = with_pool(&map(), |pool| (pool.size, pool.min_size) = (2, 2));
    osd.apply_map(short.clone()).unwrap();
    let block = backoff(answers(client.send(&osd, &append("1", 1, 9))).last().unwrap());
    osd.apply_map(with_pool(&short, |pool| pool.min_size = 1)).unwrap();
    assert_eq!(backoff(&client.take_pushed()[0]).op, BackoffOp::Unblock);
    // On its way already when the first one was dropped.
    assert_eq!(answers(client.send(&osd, &append("2", 2, 9))), []);
    acknowledge(&mut client, &osd, &block);
    for (text, tid) in [("1", 1), ("2", 2)] {
        let again = append(text, tid, 10).with(|head| head.retry_attempt = 1);
        assert_eq!(Reply::of(answers(client.send(&osd, &again)).last().unwrap()).result, 0);
    }
    let read = Request::on("x", [OpSpec::read(0, 0)]).with(|head| head.map_epoch = Epoch(10));
    assert_eq!(client.call(&osd, &read).outputs, [b"12"]);
}

#[test]
fn a_pg_that_goes_elsewhere_is_not_waited_for() {
    let osd = osd();
    let mut client = Client::admin();
    let short = with_pool(&map(), |pool| (pool.size, pool.min_size) = (2, 2));
    osd.apply_map(short.clone()).unwrap();
    client.send(&osd, &append("1", 1, 9));
    let down = next_map(&short, |next| {
        next.new_state.insert(OsdId(0), OsdState::UP.0);
    });
    osd.apply_map(down).unwrap();
    assert_eq!(backoff(&client.take_pushed()[0]).op, BackoffOp::Unblock);
}

#[test]
fn a_client_with_too_much_waiting_is_held_back_and_loses_nothing() {
    const SENT: u64 = 3000;
    let osd = osd();
    let mut client = Client::admin();
    let mut block = None;
    for tid in 1..=SENT {
        for sent in client.send(&osd, &append("a", tid, 9)) {
            assert!(block.replace(backoff(&sent)).is_none(), "told once");
        }
    }
    let block = block.expect("it is told to hold back");
    assert_eq!(block.op, BackoffOp::Block);
    acknowledge(&mut client, &osd, &block);
    let waiting = ops_waiting(&osd);
    assert!(waiting > 0 && waiting < SENT, "{waiting}");
    osd.apply_map(next_map(&map(), |_| {})).unwrap();
    let pushed = client.take_pushed();
    assert_eq!(backoff(pushed.last().unwrap()).op, BackoffOp::Unblock);
    let replied: Vec<_> = pushed
        .iter()
        .filter(|sent| sent.header.kind == kind::OSD_OPREPLY)
        .map(|sent| sent.header.tid)
        .collect();
    assert_eq!(replied, (1..=waiting).map(Tid).collect::<Vec<_>>());
    assert_eq!(ops_waiting(&osd), 0);
    for tid in waiting + 1..=SENT {
        let again = append("a", tid, 9).with(|head| head.retry_attempt = 1);
        assert_eq!(client.call(&osd, &again).result, 0);
    }
    let stat = Request::on("x", [OpSpec::stat()]).with(|head| head.map_epoch = Epoch(9));
    assert_eq!(client.call(&osd, &stat).outputs[0][..8], SENT.to_le_bytes());
}

#[test]
fn a_change_that_clients_do_not_react_to_drops_nothing_of_theirs() {
    let osd = osd();
    let mut client = Client::admin();
    // A new interval for peering, but the primary is the same: clients send nothing again.
    osd.apply_map(with_pool(&map(), |pool| (pool.size, pool.min_size) = (2, 1))).unwrap();
    let sent = answers(client.send(&osd, &append("1", 1, 8)));
    assert_eq!(Reply::of(&sent[0]).result, 0);
}

/// Clients that show an epoch that never comes take only their share of what may wait.
#[test]
fn what_waits_for_nothing_leaves_room_for_others_and_ends() {
    let osd = osd_with(MemStore::new(), |config| config.max_parked = 10).with_clock(clock);
    osd.apply_map(map()).unwrap();
    let never = |tid| append("a", tid, u32::MAX);
    let mut hostile: Vec<_> = (0..3).map(|_| Client::admin()).collect();
    let mut told = 0;
    for (n, client) in hostile.iter_mut().enumerate() {
        for tid in 1..=5 {
            told += client.send(&osd, &never(n as u64 * 100 + tid)).len();
        }
    }
    assert_eq!((ops_waiting(&osd), told), (10, 1), "the third client is told to hold back");
    // Who need not wait does not notice.
    let mut honest = Client::admin();
    assert_eq!(honest.call(&osd, &append("b", 1, 8)).result, 0);
    // Who has to wait is held back, and may go on once those who wait for nothing are gone.
    let block = honest.send(&osd, &append("b", 2, 9));
    acknowledge(&mut honest, &osd, &backoff(&block[0]));
    osd.end_stalled();
    assert!(honest.take_pushed().is_empty());
    NOW.fetch_add(61, Ordering::Relaxed);
    osd.end_stalled();
    assert_eq!(ops_waiting(&osd), 0);
    assert_eq!(
        hostile.iter().map(|client| client.pushed.is_closed()).collect::<Vec<_>>(),
        [true, true, false]
    );
    assert_eq!(backoff(&honest.take_pushed()[0]).op, BackoffOp::Unblock);
}
