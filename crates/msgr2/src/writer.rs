//! The sending half of an established connection.

use sepiola_wire::UTime;

use crate::{
    Error, Limits, MessageHeader,
    frame::{
        FrameEncoder,
        control::{Ack, Keepalive2, Keepalive2Ack},
    },
};

/// What an idle connection's output buffer may keep.
const KEEP: usize = 256 << 10;
/// What it may keep between batches that need it, so that large replies in a row do not pay for memory anew.
const KEEP_BUSY: usize = 6 << 20;

/// Owns a connection's output buffer; messages are encoded at its end and sealed there.
#[derive(Debug)]
pub struct FrameWriter {
    encoder: FrameEncoder,
    limits: Limits,
    out: Vec<u8>,
    /// Bytes of `out` that the socket has taken.
    written: usize,
    last_seq: u64,
    acked: u64,
}

impl FrameWriter {
    /// `out` holds what the handshake has left to be written.
    pub(crate) fn new(encoder: FrameEncoder, limits: &Limits, out: Vec<u8>, last_seq: u64) -> Self {
        FrameWriter { encoder, limits: *limits, out, written: 0, last_seq, acked: 0 }
    }

    /// The sequence number of the last message encoded.
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Appends a message. Its header's `seq` and `ack_seq` are filled in here; `front` appends the front
    /// segment to the output itself; data is given in pieces. After [`crate::LocalFault::TooLarge`] nothing
    /// was appended and the connection is as good as before; other errors end it.
    pub fn message(
        &mut self,
        header: &MessageHeader,
        front: impl FnOnce(&mut Vec<u8>),
        middle: &[u8],
        data: &[&[u8]],
    ) -> Result<(), Error> {
        self.message_within(usize::MAX, header, front, middle, data)
    }

    /// The same for a front of at most `room` bytes; its length shows only when it is encoded. A longer one
    /// is too large, with `room` as the limit.
    pub fn message_within(
        &mut self,
        room: usize,
        header: &MessageHeader,
        front: impl FnOnce(&mut Vec<u8>),
        middle: &[u8],
        data: &[&[u8]],
    ) -> Result<(), Error> {
        let header = MessageHeader { seq: self.last_seq + 1, ack_seq: self.acked, ..*header };
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        let limits = Limits { front: self.limits.front.min(room), ..self.limits };
        self.encoder.message(&mut self.out, &header.encode(), front, middle, data, &limits)?;
        self.last_seq = header.seq;
        Ok(())
    }

    /// Asks the peer whether it is there; it answers with the same stamp.
    pub fn keepalive(&mut self, stamp: UTime) -> Result<(), Error> {
        self.encoder.control(&mut self.out, &Keepalive2(stamp))
    }

    /// Answers [`crate::Event::Keepalive`] with its stamp.
    pub fn keepalive_ack(&mut self, stamp: UTime) -> Result<(), Error> {
        self.encoder.control(&mut self.out, &Keepalive2Ack(stamp))
    }

    /// Acknowledges received messages up to `seq` with the messages that follow.
    pub fn acknowledge(&mut self, seq: u64) {
        self.acked = self.acked.max(seq);
    }

    /// Acknowledges received messages up to `seq` with a frame of its own; for lossless sessions with
    /// nothing else to send.
    pub fn ack(&mut self, seq: u64) -> Result<(), Error> {
        self.acknowledge(seq);
        self.encoder.control(&mut self.out, &Ack(self.acked))
    }

    /// What the socket has to write.
    pub fn pending(&self) -> &[u8] {
        &self.out[self.written..]
    }

    /// Bytes that the output buffer holds, written ones that were not yet given back included.
    pub fn buffered(&self) -> usize {
        self.out.len()
    }

    /// Gives memory back while the connection idles; what is pending stays.
    pub fn shrink(&mut self) {
        self.out.shrink_to(KEEP);
    }

    /// Reports that the socket has taken the first `n` bytes of [`FrameWriter::pending`].
    ///
    /// # Panics
    /// If there were fewer.
    pub fn consume(&mut self, n: usize) {
        assert!(n <= self.out.len() - self.written, "more bytes than were pending");
        self.written += n;
        if self.written == self.out.len() {
            let needed = self.out.len();
            self.written = 0;
            self.out.clear();
            self.out.shrink_to(if needed > self.out.capacity() / 4 { KEEP_BUSY } else { KEEP });
        } else if self.written > KEEP && self.written > self.out.len() / 2 {
            // A peer that never lets the buffer run dry must not make it grow for ever.
            self.out.copy_within(self.written.., 0);
            self.out.truncate(self.out.len() - self.written);
            self.written = 0;
        }
    }
}
