//! Frames of crc mode as plain bytes, to take apart, change and put together again.

use sepiola_msgr2::frame::{FrameEncoder, PREAMBLE_LEN, Preamble, Tag, control::Control};
use sepiola_wire::crc32c;

pub const BANNER: &[u8] = b"ceph v2\n\x10\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// A banner or a frame with one segment.
#[derive(Debug, Clone)]
pub enum Unit {
    Banner(Vec<u8>),
    Frame(Tag, Vec<u8>),
}

impl Unit {
    /// Takes a stream of whole frames apart.
    pub fn split(mut bytes: &[u8]) -> Vec<Unit> {
        let mut units = Vec::new();
        while !bytes.is_empty() {
            if bytes.starts_with(b"ceph") {
                let (banner, rest) = bytes.split_at(BANNER.len());
                units.push(Unit::Banner(banner.to_vec()));
                bytes = rest;
                continue;
            }
            let preamble = Preamble::decode(bytes.first_chunk().unwrap()).unwrap();
            assert_eq!(preamble.count(), 1);
            let len = preamble.len(0);
            let (payload, rest) = bytes[PREAMBLE_LEN..].split_at(len);
            units.push(Unit::Frame(preamble.tag(), payload.to_vec()));
            bytes = &rest[if len > 0 { 4 } else { 0 }..];
        }
        units
    }

    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Unit::Banner(bytes) => bytes.clone(),
            Unit::Frame(tag, payload) => raw_frame(*tag, payload),
        }
    }

    pub fn content(&mut self) -> &mut Vec<u8> {
        match self {
            Unit::Banner(bytes) => bytes,
            Unit::Frame(_, payload) => payload,
        }
    }

    pub fn tag(&self) -> Option<Tag> {
        match self {
            Unit::Banner(_) => None,
            Unit::Frame(tag, _) => Some(*tag),
        }
    }
}

pub fn raw_frame(tag: Tag, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    FrameEncoder::crc().single(&mut out, tag, |out| out.extend_from_slice(payload)).unwrap();
    out
}

pub fn frame<'a>(frame: &impl Control<'a>) -> Vec<u8> {
    let mut out = Vec::new();
    FrameEncoder::crc().control(&mut out, frame).unwrap();
    out
}

/// A preamble with any lengths and a right checksum.
pub fn preamble(tag: u8, lengths: &[u32]) -> Vec<u8> {
    let mut out = vec![tag, lengths.len() as u8];
    for len in lengths {
        out.extend_from_slice(&len.to_le_bytes());
        out.extend_from_slice(&[8, 0]);
    }
    out.resize(28, 0);
    out.extend_from_slice(&crc32c(0, &out).to_le_bytes());
    out
}
