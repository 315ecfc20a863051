//! Frames against vectors: computed ones that real daemons' frames agree with, and recorded ones.

mod common;

use std::collections::BTreeSet;

use common::{data, feed, unhex};
use sepiola_crypto::{ConnectionSecret, CryptoOptions, Role, frame_keys};
use sepiola_msgr2::{
    Limits, ReadBuffer,
    frame::{
        FrameDecoder, FrameEncoder, Tag,
        control::{
            Ack, AuthBadMethod, AuthDone, AuthReplyMore, AuthRequest, AuthRequestMore, AuthSignature,
            ClientIdent, Control, Hello, Keepalive2, Keepalive2Ack, ServerIdent, SessionReconnect,
            SessionReconnectOk, SessionReset, SessionRetry, SessionRetryGlobal,
        },
    },
};

struct Row {
    mode: String,
    name: String,
    tag: Tag,
    segments: Vec<Vec<u8>>,
    wire: Vec<u8>,
}

fn rows() -> (ConnectionSecret, Vec<Row>) {
    let file = data("frames.json");
    let rows = file["frames"].as_array().unwrap().iter().map(|row| Row {
        mode: row["mode"].as_str().unwrap().to_owned(),
        name: row["name"].as_str().unwrap().to_owned(),
        tag: Tag::from_u8(row["tag"].as_u64().unwrap() as u8).unwrap(),
        segments: row["segments"].as_array().unwrap().iter().map(unhex).collect(),
        wire: unhex(&row["wire"]),
    });
    (ConnectionSecret::from_bytes(&unhex(&file["connection_secret"])), rows.collect())
}

#[test]
fn every_vector_is_built_and_parsed() {
    let (secret, rows) = rows();
    assert_eq!(rows.len(), 22);
    for mode in ["crc", "secure"] {
        let limits = Limits::default();
        let (mut encoder, mut decoder) = match mode {
            "crc" => (FrameEncoder::crc(), FrameDecoder::crc(limits.established())),
            _ => (
                FrameEncoder::secure(frame_keys(&secret, Role::Client, CryptoOptions::default()).unwrap().0),
                FrameDecoder::secure(
                    frame_keys(&secret, Role::Server, CryptoOptions::default()).unwrap().1,
                    limits.established(),
                ),
            ),
        };
        let mut buffer = ReadBuffer::new();
        for row in rows.iter().filter(|row| row.mode == mode) {
            let mut out = Vec::new();
            match &row.segments[..] {
                [payload] => encoder.single(&mut out, row.tag, |out| out.extend_from_slice(payload)).unwrap(),
                [header, front, middle, payload] => encoder
                    .message(
                        &mut out,
                        header.first_chunk().unwrap(),
                        |out| out.extend_from_slice(front),
                        middle,
                        // In pieces, to see that their boundaries do not show.
                        &[&payload[..payload.len() / 3], &payload[payload.len() / 3..]],
                        &limits,
                    )
                    .unwrap(),
                _ => panic!("{}: no such shape", row.name),
            }
            assert_eq!(hex::encode(&out), hex::encode(&row.wire), "{mode} {}", row.name);

            for (i, &byte) in row.wire.iter().enumerate() {
                assert!(decoder.poll(&mut buffer).unwrap().is_none(), "{mode} {}: early at {i}", row.name);
                feed(&mut buffer, &[byte]);
            }
            let frame = decoder.poll(&mut buffer).unwrap().expect("a whole frame");
            assert_eq!(frame.tag(), row.tag);
            assert!(frame.is_complete());
            assert_eq!(frame.first(&buffer), row.segments[0]);
            let (front, middle, payload) = frame.body(&buffer);
            let mut segments = row.segments.clone();
            segments.resize(4, Vec::new());
            assert_eq!((front, middle, &payload[..]), (&segments[1][..], &segments[2][..], &segments[3][..]));
        }
    }
}

/// Decodes and encodes again; `None` if the payload does not decode.
fn again<'a, F: Control<'a>>(payload: &'a [u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    F::decode(payload).ok()?.encode(&mut out);
    Some(out)
}

#[test]
fn recorded_control_frames_decode_and_encode_to_the_same_bytes() {
    let mut kinds = BTreeSet::new();
    for frame in data("control.json")["frames"].as_array().unwrap() {
        let what = frame["what"].as_str().unwrap();
        let again: fn(&[u8]) -> Option<Vec<u8>> = match what {
            "HELLO" => |p| again::<Hello>(p),
            "AUTH_REQUEST" => |p| again::<AuthRequest<'_>>(p),
            "AUTH_BAD_METHOD" => |p| again::<AuthBadMethod>(p),
            "AUTH_REPLY_MORE" => |p| again::<AuthReplyMore<'_>>(p),
            "AUTH_REQUEST_MORE" => |p| again::<AuthRequestMore<'_>>(p),
            "AUTH_DONE" => |p| again::<AuthDone<'_>>(p),
            "AUTH_SIGNATURE" => |p| again::<AuthSignature>(p),
            "CLIENT_IDENT" => |p| again::<ClientIdent>(p),
            "SERVER_IDENT" => |p| again::<ServerIdent>(p),
            "SESSION_RECONNECT" => |p| again::<SessionReconnect>(p),
            "SESSION_RECONNECT_OK" => |p| again::<SessionReconnectOk>(p),
            "SESSION_RESET" => |p| again::<SessionReset>(p),
            "SESSION_RETRY" => |p| again::<SessionRetry>(p),
            "SESSION_RETRY_GLOBAL" => |p| again::<SessionRetryGlobal>(p),
            "KEEPALIVE2" => |p| again::<Keepalive2>(p),
            "KEEPALIVE2_ACK" => |p| again::<Keepalive2Ack>(p),
            "ACK" => |p| again::<Ack>(p),
            other => panic!("{other}"),
        };
        let payload = unhex(&frame["payload"]);
        assert_eq!(again(&payload).as_ref(), Some(&payload), "{what}");
        for len in 0..payload.len() {
            assert_eq!(again(&payload[..len]), None, "{what} of {len} bytes");
        }
        // Newer peers may append fields.
        assert_eq!(again(&[&payload[..], b"tail"].concat()), Some(payload), "{what}");
        kinds.insert(what.to_owned());
    }
    assert_eq!(kinds.len(), 17);
}
