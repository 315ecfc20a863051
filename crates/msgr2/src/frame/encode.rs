//! Appending frames to an output buffer.

use sepiola_crypto::FrameSealer;
use sepiola_wire::Put;

use super::{MESSAGE_HEADER_LEN, PREAMBLE_LEN, Preamble, Tag, control::Control, crc, secure};
use crate::{Error, Limits, LocalFault};

/// Writes frames at the end of an output buffer and seals them there, in the order in which they leave.
#[derive(Debug)]
pub struct FrameEncoder(Layout);

#[derive(Debug)]
enum Layout {
    Crc,
    Secure(FrameSealer),
    Failed,
}

impl FrameEncoder {
    /// An encoder for frames with checksums.
    pub fn crc() -> Self {
        FrameEncoder(Layout::Crc)
    }

    /// An encoder for encrypted frames.
    pub fn secure(sealer: FrameSealer) -> Self {
        FrameEncoder(Layout::Secure(sealer))
    }

    /// Appends a control frame.
    pub fn control<'a, F: Control<'a>>(&mut self, out: &mut Vec<u8>, frame: &F) -> Result<(), Error> {
        self.single(out, F::TAG, |out| frame.encode(out))
    }

    /// Appends a frame of one segment.
    pub fn single(
        &mut self,
        out: &mut Vec<u8>,
        tag: Tag,
        payload: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), Error> {
        let at = out.len();
        out.resize(at + PREAMBLE_LEN, 0);
        payload(out);
        let len = out.len() - at - PREAMBLE_LEN;
        let result = match (Preamble::new(tag, [len, 0, 0, 0]), &mut self.0) {
            (None, _) => Err(LocalFault::TooLarge { segment: 0, len, limit: u32::MAX as usize }),
            (_, Layout::Failed) => Err(LocalFault::Failed),
            (Some(preamble), Layout::Crc) => {
                crc::finish_control(out, at, &preamble);
                Ok(())
            }
            (Some(preamble), Layout::Secure(sealer)) => secure::finish_control(sealer, out, at, &preamble),
        };
        self.settle(out, at, result)
    }

    /// Appends a message with this header, see [`super::MessageHeader::encode`]. `front` appends the front
    /// segment; data is given in pieces. After an error `out` is as it was.
    pub fn message(
        &mut self,
        out: &mut Vec<u8>,
        header: &[u8; MESSAGE_HEADER_LEN],
        front: impl FnOnce(&mut Vec<u8>),
        middle: &[u8],
        data: &[&[u8]],
        limits: &Limits,
    ) -> Result<(), Error> {
        let at = out.len();
        let data_len = data.iter().map(|piece| piece.len()).sum();
        // Room for everything but the front, whose length only its encoder knows.
        out.reserve(2 * secure::FIRST_LEN + middle.len() + data_len);
        out.resize(at + PREAMBLE_LEN, 0);
        out.put(header);
        match &self.0 {
            Layout::Secure(_) => out.resize(at + secure::FIRST_LEN, 0),
            Layout::Crc | Layout::Failed => crc::put_head_crc(out, at + PREAMBLE_LEN),
        }
        let rest = out.len();
        front(out);
        let lengths = [MESSAGE_HEADER_LEN, out.len() - rest, middle.len(), data_len];
        let result = message_preamble(lengths, limits)
            .and_then(|preamble| self.finish_message(out, at, rest, &preamble, middle, data));
        self.settle(out, at, result)
    }

    /// Completes the message at `at` whose front was appended at `rest`.
    fn finish_message(
        &mut self,
        out: &mut Vec<u8>,
        at: usize,
        rest: usize,
        preamble: &Preamble,
        middle: &[u8],
        data: &[&[u8]],
    ) -> Result<(), LocalFault> {
        match &mut self.0 {
            Layout::Failed => Err(LocalFault::Failed),
            Layout::Crc => {
                out.patch(at, &preamble.encode());
                out.put(middle);
                data.iter().for_each(|piece| out.put(piece));
                if preamble.count() > 1 {
                    crc::put_epilogue(out, rest, preamble);
                }
                Ok(())
            }
            Layout::Secure(sealer) => {
                secure::pad(out, rest);
                out.put(middle);
                secure::pad(out, rest);
                data.iter().for_each(|piece| out.put(piece));
                secure::pad(out, rest);
                secure::seal_message(sealer, out, at, preamble)
            }
        }
    }

    /// Takes a half-written frame back: it must not leave. A frame that failed to be sealed may have used
    /// up a nonce that the peer will wait for, so nothing can follow it.
    fn settle(&mut self, out: &mut Vec<u8>, at: usize, result: Result<(), LocalFault>) -> Result<(), Error> {
        if let Err(error) = &result {
            out.truncate(at);
            if matches!(error, LocalFault::Seal(_)) {
                self.0 = Layout::Failed;
            }
        }
        result.map_err(Error::from)
    }
}

fn message_preamble(lengths: [usize; 4], limits: &Limits) -> Result<Preamble, LocalFault> {
    let limits = [MESSAGE_HEADER_LEN as u32, limits.front, limits.middle, limits.data];
    for (segment, (&len, limit)) in lengths.iter().zip(limits).enumerate() {
        let limit = limit as usize;
        if len > limit {
            return Err(LocalFault::TooLarge { segment, len, limit });
        }
    }
    Ok(Preamble::new(Tag::Message, lengths).expect("the limits fit into 32 bits"))
}
