//! The frame layouts, against computed vectors that real daemons' frames agree with.

mod common;

use common::{data, feed, unhex};
use sepiola_crypto::{ConnectionSecret, CryptoOptions, Role, frame_keys};
use sepiola_msgr2::{
    Limits, ReadBuffer,
    frame::{FrameDecoder, FrameEncoder, Tag},
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
