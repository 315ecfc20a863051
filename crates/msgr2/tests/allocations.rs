//! A message costs no allocation once a connection's buffers have their size.

mod common;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use common::pair::{ADMIN, Cluster, connect, plain};
use sepiola_cephx::{AuthMethod, ConMode};
use sepiola_crypto::KeyType;
use sepiola_msgr2::{Event, MessageHeader, ReadBuffer};

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn messages_of_4_kib_and_keepalives_allocate_nothing() {
    rounds_allocate_nothing(4, 4096);
}

/// As much as a connection's turn produces, more than it keeps while it idles.
#[test]
fn batches_of_a_mib_allocate_nothing_while_they_follow_each_other() {
    rounds_allocate_nothing(16, 60 << 10);
}

/// Exchanges batches of `messages` messages with `size` bytes of data, and a keepalive in each.
fn rounds_allocate_nothing(messages: usize, size: usize) {
    for mode in [ConMode::Crc, ConMode::Secure] {
        let cluster = Cluster::new(KeyType::Aes, &[AuthMethod::Cephx], &[mode]);
        let pair = connect(cluster.client(&cluster.keeper(ADMIN), &[mode]), cluster.mon(), plain);
        let (mut client, mut server) = (pair.client.established(), pair.server.established());
        let mut input = ReadBuffer::new();
        let data = vec![7; size];
        let header = MessageHeader::new(42, 1, 1);
        let mut round = || {
            for _ in 0..messages {
                client
                    .writer
                    .message(&header, |out| out.extend_from_slice(&data[..200]), b"", &[&data])
                    .unwrap();
            }
            client.writer.keepalive(Default::default()).unwrap();
            let mut events = 0;
            while !client.writer.pending().is_empty() {
                let n = input.extend(client.writer.pending());
                client.writer.consume(n);
                while let Some(event) = server.reader.next(&mut input).unwrap() {
                    if let Event::Message(message) = event {
                        assert_eq!(message.data.len(), data.len());
                    }
                    events += 1;
                }
            }
            assert_eq!(events, messages + 1);
        };
        // The read buffer finds its size while the first batches arrive.
        for _ in 0..8 {
            round();
        }
        let before = COUNT.get();
        for _ in 0..100 {
            round();
        }
        assert_eq!(COUNT.get() - before, 0, "{mode}");
    }
}
