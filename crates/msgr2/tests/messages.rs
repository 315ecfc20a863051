//! Established connections: order, loss, damage, sizes, and where the bytes lie.

mod common;

use common::{
    feed,
    pair::{ADMIN, Cluster, connect, plain},
    raw::preamble,
};
use proptest::prelude::*;
use sepiola_cephx::{AuthMethod, ConMode};
use sepiola_crypto::{ConnectionSecret, CryptoOptions, FrameSealer, KeyType, Role, SealError, frame_keys};
use sepiola_msgr2::{
    Error, Established, Event, FrameReader, Limits, LocalFault, MessageHeader, Misbehaviour, Payload,
    ReadBuffer,
    frame::{
        FrameDecoder, FrameEncoder, MESSAGE_HEADER_LEN, Preamble, Tag,
        control::{Ack, Keepalive2},
    },
};
use sepiola_wire::{Tid, UTime};

const MODES: [ConMode; 2] = [ConMode::Crc, ConMode::Secure];

/// The two ends of a fresh connection: client, server.
fn ends(mode: ConMode) -> (Established, Established) {
    let cluster = Cluster::new(KeyType::Aes, &[AuthMethod::Cephx], &[mode]);
    let pair = connect(cluster.client(&cluster.keeper(ADMIN), &[mode]), cluster.mon(), plain);
    (pair.client.established(), pair.server.established())
}

/// A sender whose frames can be tampered with at will, and the reader that gets them. In crc mode frames
/// need no keys.
struct Raw {
    encoder: FrameEncoder,
    open: Established,
    input: ReadBuffer,
}

impl Raw {
    fn crc() -> Self {
        Raw { encoder: FrameEncoder::crc(), open: ends(ConMode::Crc).1, input: ReadBuffer::new() }
    }

    fn reader(&mut self) -> &mut FrameReader {
        &mut self.open.reader
    }

    fn message(&mut self, seq: u64) -> Vec<u8> {
        let header = MessageHeader { seq, ..MessageHeader::new(1, 1, 1) }.encode();
        let mut out = Vec::new();
        let front = |out: &mut Vec<u8>| out.extend_from_slice(b"front");
        self.encoder.message(&mut out, &header, front, b"", &[b"data"], &Limits::default()).unwrap();
        out
    }

    fn seqs(&mut self) -> Vec<u64> {
        let mut seqs = Vec::new();
        while let Some(event) = self.open.reader.next(&mut self.input).unwrap() {
            let Event::Message(message) = event else { panic!("{event:?}") };
            seqs.push(message.header.seq);
        }
        seqs
    }
}

#[test]
fn duplicates_are_dropped_and_gaps_accepted() {
    let mut raw = Raw::crc();
    for seq in [1, 2, 2, 1, 3, 7, 5, 8, 0] {
        let bytes = raw.message(seq);
        feed(&mut raw.input, &bytes);
    }
    assert_eq!(raw.seqs(), [1, 2, 3, 7, 8]);
    assert_eq!(raw.reader().last_seq(), 8);
}

/// An aborted frame has no effect: its number is not used up.
#[test]
fn an_aborted_frame_is_as_if_it_had_never_been() {
    let mut raw = Raw::crc();
    let good = raw.message(1);
    let status = good.len() - 13;
    assert_eq!(good[status], 0x0e);
    let with_status = |status_byte: u8| {
        let mut bytes = good.clone();
        bytes[status] = status_byte;
        bytes
    };
    for aborted in [0x01, 0xf1] {
        feed(&mut raw.input, &with_status(aborted));
        assert_eq!(raw.seqs(), [0; 0]);
        assert_eq!(raw.reader().last_seq(), 0);
    }
    // The high nibble means nothing.
    feed(&mut raw.input, &with_status(0x3e));
    assert_eq!(raw.seqs(), [1]);

    // Its content is verified all the same.
    let mut damaged = with_status(0x01);
    damaged[status - 1] ^= 1;
    feed(&mut raw.input, &damaged);
    let error = raw.open.reader.next(&mut raw.input).unwrap_err();
    assert!(matches!(error, Error::PeerMisbehaved(Misbehaviour::SegmentCrc { segment: 3 })), "{error}");

    let mut raw = Raw::crc();
    feed(&mut raw.input, &with_status(0x02));
    let error = raw.open.reader.next(&mut raw.input).unwrap_err();
    assert!(matches!(error, Error::PeerMisbehaved(Misbehaviour::LateStatus(2))), "{error}");
}

/// The same under encryption, where only somebody with the keys can say so.
#[test]
fn an_aborted_encrypted_frame() {
    let secret = ConnectionSecret::from_bytes(&[9; 64]);
    let (mut sealer, _) = frame_keys(&secret, Role::Client, CryptoOptions::default()).unwrap();
    let (_, opener) = frame_keys(&secret, Role::Server, CryptoOptions::default()).unwrap();
    let mut decoder = FrameDecoder::secure(opener, Limits::default().established());
    let mut input = ReadBuffer::new();
    for (status, complete) in [(0x01, Some(false)), (0x0e, Some(true)), (0x00, None)] {
        feed(&mut input, &sealed_message(&mut sealer, b"front", status));
        match complete {
            Some(complete) => {
                let frame = decoder.poll(&mut input).unwrap().unwrap();
                assert_eq!((frame.is_complete(), frame.body(&input).0), (complete, &b"front"[..]));
            }
            None => assert!(matches!(
                decoder.poll(&mut input),
                Err(Error::PeerMisbehaved(Misbehaviour::LateStatus(0)))
            )),
        }
    }
}

/// A message laid out by hand after the specification, with any late status.
fn sealed_message(sealer: &mut FrameSealer, front: &[u8], status: u8) -> Vec<u8> {
    let mut out =
        Preamble::new(Tag::Message, [MESSAGE_HEADER_LEN, front.len(), 0, 0]).unwrap().encode().to_vec();
    out.extend_from_slice(&MessageHeader { seq: 1, ..MessageHeader::new(1, 1, 1) }.encode());
    out.resize(80, 0);
    let tag = sealer.seal_in_place(&mut out).unwrap();
    out.extend_from_slice(&tag);
    let at = out.len();
    out.extend_from_slice(front);
    out.resize(at + front.len().next_multiple_of(16), 0);
    out.push(status);
    out.resize(out.len() + 15, 0);
    let tag = sealer.seal_in_place(&mut out[at..]).unwrap();
    out.extend_from_slice(&tag);
    out
}

#[test]
fn keepalives_and_acks() {
    for mode in MODES {
        let (mut client, mut server) = ends(mode);
        let stamp = UTime { sec: 5, nsec: 6 };
        client.writer.keepalive(stamp).unwrap();
        client.writer.ack(41).unwrap();
        let mut input = ReadBuffer::new();
        feed(&mut input, client.writer.pending());
        let Some(Event::Keepalive(asked)) = server.reader.next(&mut input).unwrap() else { panic!() };
        server.writer.keepalive_ack(asked).unwrap();
        assert!(matches!(server.reader.next(&mut input).unwrap(), Some(Event::Ack(41))));
        assert!(server.reader.next(&mut input).unwrap().is_none());
        feed(&mut input, server.writer.pending());
        assert!(
            matches!(client.reader.next(&mut input).unwrap(), Some(Event::KeepaliveAck(s)) if s == stamp)
        );
    }
}

#[test]
fn acknowledgements_ride_on_messages() {
    let (mut client, mut server) = ends(ConMode::Secure);
    client.writer.acknowledge(9);
    client.writer.acknowledge(4);
    client.writer.message(&MessageHeader::new(1, 1, 1), |_| {}, b"", &[]).unwrap();
    let mut input = ReadBuffer::new();
    feed(&mut input, client.writer.pending());
    let Some(Event::Message(message)) = server.reader.next(&mut input).unwrap() else { panic!() };
    assert_eq!((message.header.seq, message.header.ack_seq), (1, 9));
}

/// Handshake frames have no place here, and messages must have a whole header.
#[test]
fn frames_out_of_place() {
    for tag in [Tag::Hello, Tag::AuthDone, Tag::ClientIdent, Tag::SessionReset, Tag::Wait] {
        let mut raw = Raw::crc();
        let mut out = Vec::new();
        raw.encoder.single(&mut out, tag, |out| out.push(0)).unwrap();
        feed(&mut raw.input, &out);
        let error = raw.open.reader.next(&mut raw.input).unwrap_err();
        assert!(matches!(error, Error::PeerMisbehaved(Misbehaviour::Unexpected { .. })), "{error}");
    }
    for len in [0, 40, 42] {
        let mut raw = Raw::crc();
        let mut out = Vec::new();
        raw.encoder.single(&mut out, Tag::Message, |out| out.resize(out.len() + len, 0)).unwrap();
        feed(&mut raw.input, &out);
        let error = raw.open.reader.next(&mut raw.input).unwrap_err();
        assert!(matches!(error, Error::PeerMisbehaved(Misbehaviour::Shape(Tag::Message))), "{error}");
    }
    // A control frame with a second segment.
    let mut raw = Raw::crc();
    let mut bytes = raw.message(1);
    let as_ack = Preamble::new(Tag::Ack, [41, 5, 0, 4]).unwrap().encode();
    bytes[..as_ack.len()].copy_from_slice(&as_ack);
    feed(&mut raw.input, &bytes);
    let error = raw.open.reader.next(&mut raw.input).unwrap_err();
    assert!(matches!(error, Error::PeerMisbehaved(Misbehaviour::Shape(Tag::Ack))), "{error}");
    // A short one.
    let mut raw = Raw::crc();
    let mut out = Vec::new();
    raw.encoder.single(&mut out, Tag::Ack, |out| out.resize(out.len() + 7, 0)).unwrap();
    feed(&mut raw.input, &out);
    let error = raw.open.reader.next(&mut raw.input).unwrap_err();
    assert!(matches!(error, Error::PeerMisbehaved(Misbehaviour::Decode { tag: Tag::Ack, .. })), "{error}");
}

/// After an error nothing is taken any more, whatever follows.
#[test]
fn an_error_is_the_end() {
    let mut raw = Raw::crc();
    let mut bad = raw.message(1);
    bad[0] ^= 1;
    feed(&mut raw.input, &bad);
    let good = raw.message(2);
    feed(&mut raw.input, &good);
    assert!(raw.open.reader.next(&mut raw.input).is_err());
    assert!(matches!(raw.open.reader.next(&mut raw.input), Err(Error::Local(LocalFault::Failed))));
}

#[test]
fn a_flipped_bit_in_an_encrypted_message_is_noticed_wherever_it_is() {
    let len = {
        let (mut client, _) = ends(ConMode::Secure);
        write(&mut client, 70, 9, 33);
        client.writer.pending().len()
    };
    for at in 0..len {
        let (mut client, mut server) = ends(ConMode::Secure);
        write(&mut client, 70, 9, 33);
        let mut bytes = client.writer.pending().to_vec();
        bytes[at] ^= 1 << (at % 8);
        let mut input = ReadBuffer::new();
        feed(&mut input, &bytes);
        let error = server.reader.next(&mut input).unwrap_err();
        assert!(matches!(error, Error::PeerMisbehaved(Misbehaviour::Tampered)), "byte {at}: {error}");
    }
}

/// Encrypted frames swapped, repeated or left out do not open: their place is part of their nonce.
#[test]
fn encrypted_frames_out_of_order() {
    for order in [&[1, 0][..], &[0, 0], &[1]] {
        let (mut client, mut server) = ends(ConMode::Secure);
        let frames = [0, 1].map(|_| {
            write(&mut client, 5, 0, 5);
            let frame = client.writer.pending().to_vec();
            client.writer.consume(frame.len());
            frame
        });
        let mut input = ReadBuffer::new();
        order.iter().for_each(|&i| feed(&mut input, &frames[i]));
        let result = loop {
            match server.reader.next(&mut input) {
                Ok(Some(_)) => {}
                other => break other.map(drop),
            }
        };
        assert!(matches!(result, Err(Error::PeerMisbehaved(Misbehaviour::Tampered))), "{order:?}");
    }
}

fn write(from: &mut Established, front: usize, middle: usize, data: usize) {
    let pattern = |len: usize, salt: usize| (0..len).map(|i| (i * 7 + salt) as u8).collect::<Vec<_>>();
    let (front, middle, data) = (pattern(front, 1), pattern(middle, 2), pattern(data, 3));
    let header = MessageHeader::new(42, 1, 1).with_tid(Tid(data.len() as u64));
    from.writer.message(&header, |out| out.extend_from_slice(&front), &middle, &[&data]).unwrap();
}

/// Delivers through `spare_mut` in reads of at most `chunk` bytes; returns what was in each message.
fn deliver(
    bytes: &[u8],
    chunk: usize,
    reader: &mut FrameReader,
    input: &mut ReadBuffer,
    mut seen: impl FnMut(&[u8], &[u8], Payload<'_>),
) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let spare = input.spare_mut();
        let n = spare.len().min(chunk).min(rest.len());
        assert!(n > 0, "no room though everything was taken");
        spare[..n].copy_from_slice(&rest[..n]);
        input.commit(n);
        rest = &rest[n..];
        while let Some(event) = reader.next(input).unwrap() {
            let Event::Message(message) = event else { panic!("{event:?}") };
            seen(message.front, message.middle, message.data);
        }
    }
}

#[test]
fn large_data_has_a_buffer_of_its_own_and_the_read_buffer_stays_small() {
    const KIB: usize = 1 << 10;
    for mode in MODES {
        for (len, owned) in
            [(64 * KIB, false), (64 * KIB + 1, true), (4096 * KIB, true), (90 * 1024 * KIB, true)]
        {
            let (mut client, mut server) = ends(mode);
            write(&mut client, 200, 0, len);
            write(&mut client, 200, 0, 100);
            let mut input = ReadBuffer::new();
            let mut kept = Vec::new();
            deliver(client.writer.pending(), 128 * KIB, &mut server.reader, &mut input, |front, _, data| {
                assert_eq!(front.len(), 200);
                assert_eq!(matches!(data, Payload::Owned(_)), owned && data.len() == len, "{mode} {len}");
                let lies_at = data.as_ptr();
                let bytes = data.into_bytes();
                // Keeping it costs no copy.
                assert_eq!(bytes.as_ptr() == lies_at, owned && bytes.len() == len);
                kept.push(bytes);
            });
            assert_eq!([kept[0].len(), kept[1].len()], [len, 100]);
            assert!(kept[0].iter().enumerate().all(|(i, &byte)| byte == (i * 7 + 3) as u8));
            assert!(input.capacity() <= 256 * KIB, "{}", input.capacity());
        }
    }
}

/// A body that is mostly front is not pinned by whoever keeps its data.
#[test]
fn a_large_front_does_not_ride_on_kept_data() {
    for mode in MODES {
        let (mut client, mut server) = ends(mode);
        write(&mut client, 1 << 20, 3, 70 << 10);
        write(&mut client, 1 << 20, 1 << 20, 0);
        let mut lengths = Vec::new();
        let mut input = ReadBuffer::new();
        deliver(client.writer.pending(), 1 << 16, &mut server.reader, &mut input, |front, middle, data| {
            assert!(matches!(data, Payload::Borrowed(_)));
            lengths.push((front.len(), middle.len(), data.len()));
        });
        assert_eq!(lengths, [(1 << 20, 3, 70 << 10), (1 << 20, 1 << 20, 0)]);
    }
}

/// A message lies in the read buffer, where it was read to and opened.
#[test]
fn small_messages_are_views_of_the_read_buffer() {
    for mode in MODES {
        let (mut client, mut server) = ends(mode);
        write(&mut client, 100, 10, 4096);
        let mut input = ReadBuffer::new();
        let storage = input.spare_mut().as_ptr_range();
        feed(&mut input, client.writer.pending());
        let Some(Event::Message(message)) = server.reader.next(&mut input).unwrap() else { panic!() };
        for view in [message.front, message.middle, &message.data[..]] {
            let lies = view.as_ptr_range();
            assert!(storage.start <= lies.start && lies.end <= storage.end, "{mode}");
        }
    }
}

/// Announcing data reserves nothing beyond the limit, and beyond the limit nothing at all.
#[test]
fn announced_sizes_are_bounded_before_memory_is_reserved() {
    let limits = Limits::default();
    for lengths in [
        [41, limits.front + 1, 0, 0],
        [41, 1, limits.middle + 1, 0],
        [41, 1, 0, limits.data + 1],
        [41, u32::MAX, u32::MAX, u32::MAX],
        [65 << 10, 0, 0, 0],
    ] {
        let count = lengths.iter().rposition(|&len| len > 0).unwrap() + 1;
        let mut raw = Raw::crc();
        feed(&mut raw.input, &preamble(Tag::Message as u8, &lengths[..count]));
        let error = raw.open.reader.next(&mut raw.input).unwrap_err();
        assert!(matches!(error, Error::PeerMisbehaved(Misbehaviour::TooLarge { .. })), "{error}");
        assert_eq!(raw.input.capacity(), ReadBuffer::new().capacity());
    }
    // In place, a preamble alone makes nothing grow either.
    let mut raw = Raw::crc();
    feed(&mut raw.input, &preamble(Tag::Message as u8, &[41, 60 << 10, 0, 60 << 10]));
    assert!(raw.open.reader.next(&mut raw.input).unwrap().is_none());
    raw.input.spare_mut();
    assert_eq!(raw.input.capacity(), ReadBuffer::new().capacity());
}

#[test]
fn a_message_too_large_to_send_leaves_no_trace() {
    for mode in MODES {
        let (mut client, mut server) = ends(mode);
        write(&mut client, 10, 0, 10);
        let before = client.writer.pending().to_vec();
        let big = vec![0; (16 << 20) + 1];
        let header = MessageHeader::new(1, 1, 1);
        for result in [
            client.writer.message(&header, |out| out.extend_from_slice(&big), b"", &[]),
            client.writer.message(&header, |_| {}, &big, &[]),
        ] {
            assert!(matches!(result, Err(Error::Local(LocalFault::TooLarge { .. }))));
        }
        assert_eq!(client.writer.pending(), before);
        write(&mut client, 10, 0, 10);
        let mut input = ReadBuffer::new();
        let mut count = 0;
        deliver(client.writer.pending(), 4096, &mut server.reader, &mut input, |_, _, _| count += 1);
        assert_eq!((count, server.reader.last_seq()), (2, 2));
    }
}

/// The last nonce is used, the one after it would be the first again (CVE-2020-1759).
#[test]
fn out_of_nonces() {
    let secret = ConnectionSecret::from_bytes(&[9; 64]);
    let (mut sealer, _) = frame_keys(&secret, Role::Client, CryptoOptions::default()).unwrap();
    sealer.skip_nonces(u64::MAX - 2);
    let mut encoder = FrameEncoder::secure(sealer);
    let mut out = Vec::new();
    // Three nonces are left: one for this, one for each part of a message and none for what follows.
    encoder.control(&mut out, &Keepalive2(UTime::ZERO)).unwrap();
    let header = MessageHeader::new(1, 1, 1).encode();
    let front = |out: &mut Vec<u8>| out.extend_from_slice(b"front");
    encoder.message(&mut out, &header, front, b"", &[], &Limits::default()).unwrap();
    let len = out.len();
    let error = encoder.message(&mut out, &header, front, b"", &[], &Limits::default()).unwrap_err();
    assert!(matches!(error, Error::Local(LocalFault::Seal(SealError::OutOfNonces))), "{error}");
    assert!(matches!(encoder.control(&mut out, &Ack(1)), Err(Error::Local(LocalFault::Failed))));
    assert_eq!(out.len(), len);
}

/// A peer that takes its time does not make the output grow beyond what is pending.
#[test]
fn written_output_is_given_back() {
    let (mut client, _) = ends(ConMode::Crc);
    let mut most = 0;
    for _ in 0..2000 {
        write(&mut client, 0, 0, 4096);
        // Never quite everything.
        let pending = client.writer.pending().len();
        client.writer.consume(pending - 1);
        most = most.max(client.writer.buffered());
    }
    assert!(most < 1 << 20, "{most}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Any messages in any pieces come out as they went in, in both modes.
    #[test]
    fn any_messages_in_any_pieces(
        secure: bool,
        sizes in prop::collection::vec((0usize..300, 0usize..40, prop_oneof![0usize..70, 4000usize..5000, 60_000usize..70_000]), 1..12),
        chunk in prop_oneof![1usize..100, 1000usize..100_000],
    ) {
        let (mut client, mut server) = ends(MODES[usize::from(secure)]);
        for &(front, middle, data) in &sizes {
            write(&mut client, front, middle, data);
        }
        let mut seen = Vec::new();
        let mut input = ReadBuffer::new();
        deliver(client.writer.pending(), chunk, &mut server.reader, &mut input, |front, middle, data| {
            for (part, salt) in [(front, 1), (middle, 2), (&data[..], 3)] {
                assert!(part.iter().enumerate().all(|(i, &byte)| byte == (i * 7 + salt) as u8));
            }
            seen.push((front.len(), middle.len(), data.len()));
        });
        prop_assert_eq!(seen, sizes);
    }

    /// Whatever arrives, the reader returns.
    #[test]
    fn noise_after_the_handshake(bytes in prop::collection::vec(any::<u8>(), 0..400), secure: bool) {
        let (_, mut server) = ends(MODES[usize::from(secure)]);
        let mut input = ReadBuffer::new();
        feed(&mut input, &bytes);
        while let Ok(Some(_)) = server.reader.next(&mut input) {}
    }
}
