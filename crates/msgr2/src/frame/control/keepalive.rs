//! The control frames of an established connection.

use sepiola_wire::{Decode, DecodeError, Encode, Features, Put, Reader, UTime};

use super::{Control, Tag};

/// KEEPALIVE2: asks for a [`Keepalive2Ack`] with the same stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keepalive2(pub UTime);

impl Control<'_> for Keepalive2 {
    const TAG: Tag = Tag::Keepalive2;

    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out, Features::SUPPORTED);
    }

    fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        UTime::decode(&mut Reader::new(payload)).map(Keepalive2)
    }
}

/// KEEPALIVE2_ACK: repeats the stamp of a [`Keepalive2`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keepalive2Ack(pub UTime);

impl Control<'_> for Keepalive2Ack {
    const TAG: Tag = Tag::Keepalive2Ack;

    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out, Features::SUPPORTED);
    }

    fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        UTime::decode(&mut Reader::new(payload)).map(Keepalive2Ack)
    }
}

/// ACK: messages up to this sequence number have arrived; for lossless sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack(pub u64);

impl Control<'_> for Ack {
    const TAG: Tag = Tag::Ack;

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.0);
    }

    fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        Reader::new(payload).u64().map(Ack)
    }
}
