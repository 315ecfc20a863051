//! A 4 KiB operation without sockets, in one process: what the code itself costs, step by step. In-process
//! figures: they say nothing about a cluster and must not be compared with Ceph's.
//!
//! `cargo bench -p sepiola-benches`. Every write goes to the same object, so memory does not grow; the
//! first write of an object costs more.

use std::{hint::black_box, sync::Arc, time::Duration};

use bytes::Bytes;
use criterion::{
    BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime,
};
use sepiola_benches::{
    Op,
    frames::{Message, PG_NUM, POOL, codec},
};
use sepiola_cephx::PeerCaps;
use sepiola_cluster::MsMode;
use sepiola_crypto::Role;
use sepiola_messages::osd_op::OsdOpRequest;
use sepiola_msgr2::{
    Limits, MessageHeader, ReadBuffer,
    frame::{FrameDecoder, FrameEncoder},
};
use sepiola_objectstore::{Change, KeyBuf, MemStore, ObjectRef, ObjectStore, Transaction};
use sepiola_osd::{Osd, OsdConfig, Outgoing, PeerIdentity, Push, Refusal, Scratch, Session};
use sepiola_osdmap::{OsdBoot, OsdMap, Pool, WEIGHT_IN};
use sepiola_wire::{EntityAddr, EntityNum, Epoch, Features, GlobalId, OsdId, PgId, SnapId, UTime, Uuid};

const SIZE: usize = 4096;
const MODES: [MsMode; 2] = [MsMode::Crc, MsMode::Secure];

fn group<'a>(c: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(format!("in process, {name}"));
    group.throughput(Throughput::Elements(1));
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    group
}

/// One direction of a connection, with memory in place of the socket.
struct Pipe {
    encoder: FrameEncoder,
    decoder: FrameDecoder,
    wire: Vec<u8>,
    input: ReadBuffer,
    sent: u64,
}

impl Pipe {
    fn new(mode: MsMode, from: Role, to: Role) -> Self {
        let (encoder, decoder) = (codec(mode, from).0, codec(mode, to).1);
        Pipe { encoder, decoder, wire: Vec::new(), input: ReadBuffer::new(), sent: 0 }
    }

    fn send(&mut self, message: &Message) {
        self.sent += 1;
        message.encode(&mut self.encoder, &mut self.wire, self.sent).expect("a message of ordinary size");
    }

    /// Moves what was sent to the other end and opens it there.
    fn receive<R>(&mut self, take: impl FnOnce(MessageHeader, &[u8], sepiola_msgr2::Payload<'_>) -> R) -> R {
        assert_eq!(self.input.extend(&self.wire), self.wire.len(), "one message fits");
        self.wire.clear();
        let frame = self.decoder.poll(&mut self.input).expect("sealed here").expect("all of it is there");
        let header = MessageHeader::decode(frame.first(&self.input)).expect("encoded here");
        let (front, _, data) = frame.body(&self.input);
        take(header, front, data)
    }
}

impl Outgoing for Pipe {
    fn send(
        &mut self,
        header: &MessageHeader,
        front: impl FnOnce(&mut Vec<u8>),
        data: &[&[u8]],
    ) -> Result<(), Refusal> {
        self.sent += 1;
        let mut header = *header;
        header.seq = self.sent;
        let limits = Limits::default();
        Ok(self.encoder.message(&mut self.wire, &header.encode(), front, &[], data, &limits)?)
    }
}

struct Nobody;

impl Push for Nobody {
    fn push(&self, _: MessageHeader, _: Bytes, _: Bytes) {}
}

/// A map with one OSD and the pool that requests name.
fn map() -> OsdMap {
    let empty = OsdMap::new(Uuid::from_u128(1), UTime::from_secs(1));
    let mut inc = empty.next_incremental(UTime::from_secs(2));
    let mut crush = empty.crush().clone();
    crush.set_device(0, WEIGHT_IN, "host").expect("an empty map has room");
    let boot = OsdBoot {
        id: OsdId(0),
        uuid: Uuid::from_u128(2),
        client_addrs: EntityAddr::msgr2(([127, 0, 0, 1], 6800).into(), 1).into(),
        cluster_addrs: EntityAddr::msgr2(([127, 0, 0, 1], 6801).into(), 1).into(),
        features: Features::SUPPORTED.bits(),
        last_clean: (Epoch(0), Epoch(0)),
    };
    inc.boot_osd(&empty, &boot);
    inc.set_crush(&crush);
    assert_eq!(inc.add_pool(&empty, "bench", Pool::replicated(1, PG_NUM, 0, inc.modified)), POOL);
    empty.publish(inc).expect("a change of the map above").map
}

fn frames(c: &mut Criterion) {
    for op in Op::ALL {
        let mut group = group(c, &format!("the request of a 4 KiB {op}"));
        let request = Message::request(op, SIZE, Epoch(2));
        for mode in MODES {
            let mut pipe = Pipe::new(mode, Role::Client, Role::Server);
            group.bench_function(format!("seal/{mode}"), |b| {
                b.iter(|| {
                    pipe.wire.clear();
                    pipe.send(black_box(&request));
                });
            });
            let mut pipe = Pipe::new(mode, Role::Client, Role::Server);
            group.bench_function(format!("seal and open/{mode}"), |b| {
                b.iter(|| {
                    pipe.send(black_box(&request));
                    pipe.receive(|_, front, data| front.len() + data.len())
                });
            });
        }
        group.bench_function("decode", |b| {
            b.iter(|| {
                let (front, data) = (black_box(&request.front), black_box(&request.data));
                let view = OsdOpRequest::decode(request.header.version, front, data).expect("encoded here");
                view.ops().map(|op| op.input_range.len()).sum::<usize>()
            });
        });
        group.finish();
    }
}

fn store(c: &mut Criterion) {
    let mut group = group(c, "MemStore");
    let store = MemStore::new();
    let collection = PgId::new(POOL, 0);
    store.create_collection(collection).expect("an empty store");
    let mut key = KeyBuf::default();
    let object = ObjectRef { nspace: b"", key: b"", name: b"object", hash: 1, snap: SnapId::HEAD };
    let key = key.set(object);
    let data = [0x5e; SIZE];
    group.bench_function("write 4 KiB", |b| {
        b.iter(|| {
            let mut transaction = Transaction::new(collection);
            transaction.push(key, Change::Write { offset: 0, data: black_box(&data[..]).into() });
            store.apply(&mut transaction).expect("the collection exists");
        });
    });
    group.finish();
}

/// Client and OSD, each doing all that it does but for the sockets and the client's bookkeeping.
fn operations(c: &mut Criterion) {
    let mut group = group(c, "4 KiB operation, request and reply, both ends");
    for op in Op::ALL {
        for mode in MODES {
            let store = MemStore::with_capacity(1 << 40);
            let osd = Osd::new(OsdConfig::new(OsdId(0)), Arc::new(store));
            osd.apply_map(Arc::new(map())).expect("an empty store");
            let peer = PeerIdentity {
                source: EntityNum::client(GlobalId(4100)),
                caps: PeerCaps::allow_all(),
                addr: EntityAddr::client([127, 0, 0, 1].into(), 1),
                features: Features::SUPPORTED,
            };
            let session = Arc::new(Session::new(peer, Box::new(Nobody)));
            let mut scratch = Scratch::default();
            let mut there = Pipe::new(mode, Role::Client, Role::Server);
            let mut back = Pipe::new(mode, Role::Server, Role::Client);
            let mut exchange = |request: &Message| {
                there.send(request);
                there.receive(|header, front, data| {
                    let handled = osd.handle(&session, &header, front, data, &mut scratch, &mut back);
                    handled.expect("a well-formed request");
                });
                back.receive(|_, front, data| front.len() + data.len())
            };
            let written = exchange(&Message::request(Op::Write, SIZE, Epoch(2)));
            let request = Message::request(op, SIZE, Epoch(2));
            if op == Op::Rand {
                // An error would be answered with nothing.
                assert!(exchange(&request) > written + SIZE / 2);
            }
            group.bench_function(format!("{op}/{mode}"), |b| b.iter(|| exchange(black_box(&request))));
        }
    }
    group.finish();
}

criterion_group!(op_path, frames, store, operations);
criterion_main!(op_path);
