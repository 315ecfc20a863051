//! The receiving half of an established connection.

use sepiola_wire::UTime;

use crate::{
    Error, Limits, MessageHeader, Misbehaviour, Payload, ReadBuffer,
    frame::{
        Frame, FrameDecoder, Tag,
        control::{Ack, Control, Keepalive2, Keepalive2Ack},
    },
};

/// Takes messages out of a [`ReadBuffer`], verified and in order.
#[derive(Debug)]
pub struct FrameReader {
    decoder: FrameDecoder,
    last_seq: u64,
}

/// What a peer sent.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'b> {
    /// A message.
    Message(Message<'b>),
    /// The peer asks whether we are there; answer with [`crate::FrameWriter::keepalive_ack`].
    Keepalive(UTime),
    /// The peer answers such a question; the stamp is the question's.
    KeepaliveAck(UTime),
    /// The peer has received messages up to this one.
    Ack(u64),
}

/// A message in the read buffer. Decoded by whoever knows its type.
#[derive(Debug)]
pub struct Message<'b> {
    /// Its header.
    pub header: MessageHeader,
    /// The typed part.
    pub front: &'b [u8],
    /// A second part, which few messages have.
    pub middle: &'b [u8],
    /// Bulk data.
    pub data: Payload<'b>,
}

impl FrameReader {
    pub(crate) fn new(mut decoder: FrameDecoder, limits: &Limits, last_seq: u64) -> Self {
        decoder.set_limits(limits.established());
        FrameReader { decoder, last_seq }
    }

    /// The sequence number of the last message taken.
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Takes the next event, `None` if more bytes must be read first. Aborted frames and messages that came
    /// before are passed over; a gap in the sequence is accepted. An error ends the connection.
    pub fn next<'b>(&mut self, buffer: &'b mut ReadBuffer) -> Result<Option<Event<'b>>, Error> {
        loop {
            let Some(frame) = self.decoder.poll(buffer)? else { return Ok(None) };
            if !frame.is_complete() {
                continue;
            }
            if frame.tag() != Tag::Message {
                return control_event(&frame, buffer).map(Some);
            }
            let header =
                MessageHeader::decode(frame.first(buffer)).map_err(|_| Misbehaviour::Shape(Tag::Message))?;
            if header.seq <= self.last_seq {
                continue;
            }
            self.last_seq = header.seq;
            let (front, middle, data) = frame.body(buffer);
            return Ok(Some(Event::Message(Message { header, front, middle, data })));
        }
    }
}

fn control_event<'b>(frame: &Frame, buffer: &ReadBuffer) -> Result<Event<'b>, Error> {
    let payload = frame.control(buffer)?;
    let tag = frame.tag();
    let event = match tag {
        Tag::Keepalive2 => Keepalive2::decode(payload).map(|frame| Event::Keepalive(frame.0)),
        Tag::Keepalive2Ack => Keepalive2Ack::decode(payload).map(|frame| Event::KeepaliveAck(frame.0)),
        Tag::Ack => Ack::decode(payload).map(|frame| Event::Ack(frame.0)),
        _ => return Err(Misbehaviour::Unexpected { tag, expected: "messages" }.into()),
    };
    event.map_err(|source| Misbehaviour::Decode { tag, source }.into())
}
