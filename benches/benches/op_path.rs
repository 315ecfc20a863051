//! A 4 KiB operation without sockets, in one process: what the code itself costs, step by step. In-process
//! figures: they say nothing about a cluster and must not be compared with Ceph's.
//!
//! `cargo bench -p sepiola-benches`. Every write goes to the same object, so memory does not grow; the
//! first write of an object costs more.

use std::{hint::black_box, time::Duration};

use criterion::{
    BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime,
};
use sepiola_benches::{
    Op,
    frames::{Message, POOL},
    in_process::{BothEnds, Pipe},
};
use sepiola_cluster::MsMode;
use sepiola_crypto::{CryptoOptions, Role};
use sepiola_messages::osd_op::OsdOpRequest;
use sepiola_objectstore::{Change, KeyBuf, MemStore, ObjectRef, ObjectStore, Transaction};
use sepiola_wire::{Epoch, PgId, SnapId};

const SIZE: usize = 4096;
const MODES: [MsMode; 2] = [MsMode::Crc, MsMode::Secure];

fn group<'a>(c: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(format!("in process, {name}"));
    group.throughput(Throughput::Elements(1));
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    group
}

fn frames(c: &mut Criterion) {
    for op in Op::ALL {
        let mut group = group(c, &format!("the request of a 4 KiB {op}"));
        let request = Message::request(op, SIZE, Epoch(2));
        for mode in MODES {
            let mut pipe = Pipe::new(mode, CryptoOptions::default(), Role::Client, Role::Server);
            group.bench_function(format!("seal/{mode}"), |b| {
                b.iter(|| {
                    pipe.clear();
                    pipe.send(black_box(&request));
                });
            });
            let mut pipe = Pipe::new(mode, CryptoOptions::default(), Role::Client, Role::Server);
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
            let mut both = BothEnds::new(mode, CryptoOptions::default());
            let written = both.exchange(&Message::request(Op::Write, SIZE, Epoch(2)));
            let request = Message::request(op, SIZE, Epoch(2));
            if op == Op::Rand {
                // An error would be answered with nothing.
                assert!(both.exchange(&request) > written + SIZE / 2);
            }
            group.bench_function(format!("{op}/{mode}"), |b| b.iter(|| both.exchange(black_box(&request))));
        }
    }
    group.finish();
}

criterion_group!(op_path, frames, store, operations);
criterion_main!(op_path);
