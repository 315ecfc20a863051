//! Exchanges recorded with real daemons, replayed through the state machines in both roles.

mod common;

use common::{RECORDINGS, Recording, feed};
use sepiola_msgr2::{
    Established, Event, FrameWriter, Handshake, MessageHeader, Progress, ReadBuffer,
    frame::control::{Control, Keepalive2, Keepalive2Ack},
};
use sepiola_wire::{EntityType, UTime};

/// One side of a connection, through both phases.
enum Side {
    Opening(Box<Handshake>),
    Open(Box<Established>),
}

impl Side {
    fn step(self, input: &mut ReadBuffer) -> Self {
        let Side::Opening(mut handshake) = self else { return self };
        match handshake.advance(input, UTime::from_secs(1), &mut rand::rng()).unwrap() {
            Progress::Ready => Side::Open(Box::new(handshake.into_established())),
            _ => Side::Opening(handshake),
        }
    }

    fn take_output(&mut self, len: usize) -> Vec<u8> {
        match self {
            Side::Opening(handshake) => {
                let out = handshake.output();
                out.drain(..len.min(out.len())).collect()
            }
            Side::Open(open) => {
                let pending = open.writer.pending();
                let bytes = pending[..len.min(pending.len())].to_vec();
                open.writer.consume(bytes.len());
                bytes
            }
        }
    }

    fn open(&mut self) -> &mut Established {
        match self {
            Side::Open(open) => open,
            Side::Opening(_) => panic!("the handshake is not done"),
        }
    }
}

fn write(writer: &mut FrameWriter, what: &str, segments: &[Vec<u8>]) {
    match what {
        "KEEPALIVE2" => writer.keepalive(Keepalive2::decode(&segments[0]).unwrap().0).unwrap(),
        "KEEPALIVE2_ACK" => writer.keepalive_ack(Keepalive2Ack::decode(&segments[0]).unwrap().0).unwrap(),
        "MESSAGE" => {
            let header = MessageHeader::decode(&segments[0]).unwrap();
            let part = |i: usize| segments.get(i).map_or(&[][..], |s| &s[..]);
            writer.acknowledge(header.ack_seq);
            // seq is the writer's own business.
            let header = MessageHeader { seq: 0, ..header };
            writer.message(&header, |out| out.extend_from_slice(part(1)), part(2), &[part(3)]).unwrap();
        }
        other => panic!("{other} is no frame of an open connection"),
    }
}

fn read(open: &mut Established, input: &mut ReadBuffer, what: &str, segments: &[Vec<u8>]) {
    let event = open.reader.next(input).unwrap().expect("a whole frame");
    match (what, event) {
        ("KEEPALIVE2", Event::Keepalive(stamp)) => {
            assert_eq!(Keepalive2::decode(&segments[0]).unwrap().0, stamp);
        }
        ("KEEPALIVE2_ACK", Event::KeepaliveAck(stamp)) => {
            assert_eq!(Keepalive2Ack::decode(&segments[0]).unwrap().0, stamp);
        }
        ("MESSAGE", Event::Message(message)) => {
            let part = |i: usize| segments.get(i).map_or(&[][..], |s| &s[..]);
            assert_eq!(message.header, MessageHeader::decode(&segments[0]).unwrap());
            assert_eq!((message.front, message.middle, &message.data[..]), (part(1), part(2), part(3)));
        }
        (what, event) => panic!("{what} was read as {event:?}"),
    }
}

/// Plays one side against the recorded bytes of the other, `chunk` bytes at a time.
fn replay(name: &str, as_client: bool, chunk: usize) {
    let recording = Recording::load(name);
    let mut side = Side::Opening(Box::new(if as_client {
        Handshake::client(recording.client_config(), recording.client_auth())
    } else {
        Handshake::server(recording.server_config(), recording.server_auth())
    }));
    let mut input = ReadBuffer::new();
    let mut opened = false;
    for step in &recording.steps {
        let handshake_over = matches!(&step.what[..], "KEEPALIVE2" | "KEEPALIVE2_ACK" | "MESSAGE");
        if step.by_client == as_client {
            if handshake_over {
                write(&mut side.open().writer, &step.what, &step.segments);
            }
            let ours = side.take_output(step.wire.len());
            assert_eq!(hex::encode(ours), hex::encode(&step.wire), "{name}: our {}", step.what);
        } else {
            for piece in step.wire.chunks(chunk) {
                feed(&mut input, piece);
                side = side.step(&mut input);
            }
            if handshake_over {
                read(side.open(), &mut input, &step.what, &step.segments);
            }
        }
        opened |= step.what == "SERVER_IDENT";
    }
    assert!(opened);
    assert!(side.take_output(usize::MAX).is_empty(), "{name}: more than was recorded");

    let open = side.open();
    let (ours, theirs) = (recording.client_ident(), recording.server_ident());
    assert_eq!(open.peer.mode, recording.mode());
    assert_eq!(open.peer.method, recording.method());
    assert_eq!(open.peer.features, ours.supported & theirs.supported);
    assert_eq!(open.peer.global_id, recording.auth_done().global_id);
    assert!(open.peer.lossy && open.session.lossy);
    if as_client {
        assert_eq!(open.peer.addrs, theirs.addrs);
        assert_eq!(open.session.peer_global_seq, theirs.global_seq);
        assert_eq!(open.peer.source().kind, recording.hello(false).kind as u8);
    } else {
        assert_eq!(open.peer.addrs, ours.addrs);
        assert_eq!(open.peer.kind, EntityType::Client);
        assert_eq!(open.peer.source().num, recording.auth_done().global_id.0 as i64);
    }
}

#[test]
fn as_the_client() {
    for name in RECORDINGS {
        replay(name, true, usize::MAX);
    }
}

#[test]
fn as_the_server() {
    for name in RECORDINGS {
        replay(name, false, usize::MAX);
    }
}

#[test]
fn byte_by_byte() {
    for name in RECORDINGS {
        replay(name, true, 1);
        replay(name, false, 1);
    }
}
