//! Opening frames where they were received.

use std::ops::Range;

use sepiola_crypto::FrameOpener;

use super::{PREAMBLE_LEN, Preamble, Tag, crc, secure};
use crate::{
    Error, LocalFault, Misbehaviour, Payload,
    limits::SegmentLimits,
    read_buffer::{BODY_IN_PLACE, DATA_IN_PLACE, ReadBuffer},
};

/// Takes frames out of a [`ReadBuffer`], verified and in the clear. An error ends the connection.
#[derive(Debug)]
pub struct FrameDecoder {
    layout: Layout,
    limits: SegmentLimits,
    stage: Stage,
}

#[derive(Debug)]
enum Layout {
    Crc,
    Secure(FrameOpener),
}

/// How much of the frame at the front of the buffer was opened. Opening happens once, so it is remembered
/// while the rest of the frame is on its way.
#[derive(Debug)]
enum Stage {
    /// Nothing.
    First,
    /// The preamble.
    Head(Preamble),
    /// The preamble and the first segment, which lies there.
    Rest(Preamble, Range<usize>),
    /// There was an error, so nothing that follows has a meaning.
    Failed,
}

/// A verified frame: positions in the [`ReadBuffer`] that it was taken from, good until that buffer is
/// read into again.
#[derive(Debug)]
pub struct Frame {
    tag: Tag,
    complete: bool,
    position: usize,
    /// Bytes in the buffer, from `position` on.
    len: usize,
    first: Range<usize>,
    /// Where the other segments lie: from `position` on, or in a buffer of their own.
    others: [Range<usize>; 3],
    own_body: bool,
}

impl FrameDecoder {
    /// A decoder for frames with checksums.
    pub fn crc(limits: SegmentLimits) -> Self {
        FrameDecoder { layout: Layout::Crc, limits, stage: Stage::First }
    }

    /// A decoder for encrypted frames.
    pub fn secure(opener: FrameOpener, limits: SegmentLimits) -> Self {
        FrameDecoder { layout: Layout::Secure(opener), limits, stage: Stage::First }
    }

    pub(crate) fn set_limits(&mut self, limits: SegmentLimits) {
        self.limits = limits;
    }

    /// Takes the next frame, if all of it has arrived. Frames that their sender aborted are returned too,
    /// see [`Frame::is_complete`].
    pub fn poll(&mut self, buffer: &mut ReadBuffer) -> Result<Option<Frame>, Error> {
        self.open(buffer).inspect_err(|_| self.stage = Stage::Failed)
    }

    fn open(&mut self, buffer: &mut ReadBuffer) -> Result<Option<Frame>, Error> {
        loop {
            match &self.stage {
                Stage::First => {
                    buffer.release_held();
                    let Some(first) = buffer.unread().get_mut(..self.layout.first_len()) else {
                        return Ok(None);
                    };
                    let preamble = self.layout.open_first(first)?;
                    self.limits.check(&preamble)?;
                    self.stage = Stage::Head(preamble);
                }
                &Stage::Head(preamble) => {
                    let head_len = self.layout.head_len(&preamble);
                    let Some(head) = buffer.unread().get_mut(..head_len) else { return Ok(None) };
                    let first = self.layout.open_head(&preamble, head)?;
                    if preamble.count() == 1 {
                        self.stage = Stage::First;
                        let position = buffer.position();
                        buffer.consume(head_len);
                        return Ok(Some(Frame {
                            tag: preamble.tag(),
                            complete: true,
                            position,
                            len: head_len,
                            first,
                            others: [0..0, 0..0, 0..0],
                            own_body: false,
                        }));
                    }
                    if preamble.len(3) > DATA_IN_PLACE || preamble.rest_content() > BODY_IN_PLACE {
                        buffer.begin_body(head_len, self.layout.rest_len(&preamble));
                    }
                    self.stage = Stage::Rest(preamble, first);
                }
                Stage::Rest(preamble, first) => {
                    let (preamble, first) = (*preamble, first.clone());
                    return self.open_rest(buffer, preamble, first);
                }
                Stage::Failed => return Err(LocalFault::Failed.into()),
            }
        }
    }

    fn open_rest(
        &mut self,
        buffer: &mut ReadBuffer,
        preamble: Preamble,
        first: Range<usize>,
    ) -> Result<Option<Frame>, Error> {
        let position = buffer.position();
        let head_len = self.layout.head_len(&preamble);
        let (rest, len, own_body) = match buffer.whole_body() {
            Some(None) => return Ok(None),
            Some(Some(body)) => {
                let rest = self.layout.open_rest(&preamble, body)?;
                buffer.hold_body();
                (rest, head_len, true)
            }
            None => {
                let end = head_len + self.layout.rest_len(&preamble);
                let Some(bytes) = buffer.unread().get_mut(head_len..end) else { return Ok(None) };
                let mut rest = self.layout.open_rest(&preamble, bytes)?;
                for range in &mut rest.segments {
                    *range = head_len + range.start..head_len + range.end;
                }
                (rest, end, false)
            }
        };
        buffer.consume(len);
        self.stage = Stage::First;
        Ok(Some(Frame {
            tag: preamble.tag(),
            complete: rest.complete,
            position,
            len,
            first,
            others: rest.segments,
            own_body,
        }))
    }
}

impl Layout {
    fn first_len(&self) -> usize {
        match self {
            Layout::Crc => PREAMBLE_LEN,
            Layout::Secure(_) => secure::FIRST_LEN,
        }
    }

    fn open_first(&mut self, first: &mut [u8]) -> Result<Preamble, Misbehaviour> {
        if let Layout::Secure(opener) = self {
            secure::open_first(opener, first)?;
        }
        let preamble = first.first_chunk().expect("both layouts begin with a whole preamble");
        Preamble::decode(preamble)
    }

    fn head_len(&self, preamble: &Preamble) -> usize {
        match self {
            Layout::Crc => crc::head_len(preamble),
            Layout::Secure(_) => secure::head_len(preamble),
        }
    }

    fn open_head(&mut self, preamble: &Preamble, head: &mut [u8]) -> Result<Range<usize>, Misbehaviour> {
        match self {
            Layout::Crc => crc::check_head(preamble, head),
            Layout::Secure(opener) => secure::open_head(opener, preamble, head),
        }
    }

    fn rest_len(&self, preamble: &Preamble) -> usize {
        match self {
            Layout::Crc => crc::rest_len(preamble),
            Layout::Secure(_) => secure::rest_len(preamble),
        }
    }

    fn open_rest(&mut self, preamble: &Preamble, rest: &mut [u8]) -> Result<super::Rest, Misbehaviour> {
        match self {
            Layout::Crc => crc::check_rest(preamble, rest),
            Layout::Secure(opener) => secure::open_rest(opener, preamble, rest),
        }
    }
}

impl Frame {
    /// What the frame is.
    pub fn tag(&self) -> Tag {
        self.tag
    }

    /// False if its sender aborted it: it must then have no effect.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// The first segment: a control frame's payload or a message's header.
    pub fn first<'b>(&self, buffer: &'b ReadBuffer) -> &'b [u8] {
        &buffer.at(self.position)[self.first.clone()]
    }

    /// The payload of a control frame, which must have no other segment.
    pub fn control<'b>(&self, buffer: &'b ReadBuffer) -> Result<&'b [u8], Misbehaviour> {
        if self.others.iter().any(|range| !range.is_empty()) {
            return Err(Misbehaviour::Shape(self.tag));
        }
        Ok(self.first(buffer))
    }

    /// The front, middle and data segments.
    pub fn body<'b>(&self, buffer: &'b ReadBuffer) -> (&'b [u8], &'b [u8], Payload<'b>) {
        let [front, middle, data] = self.others.clone();
        if !self.own_body {
            let bytes = buffer.at(self.position);
            return (&bytes[front], &bytes[middle], Payload::Borrowed(&bytes[data]));
        }
        let body = buffer.held();
        // Whoever keeps the data keeps the whole body, so that must not be mostly something else.
        let payload = if data.len() >= body.len() / 2 {
            Payload::Owned(body.slice(data))
        } else {
            Payload::Borrowed(&body[data])
        };
        (&body[front], &body[middle], payload)
    }

    /// The frame's bytes in the buffer. In crc mode they are what travelled.
    pub(crate) fn raw<'b>(&self, buffer: &'b ReadBuffer) -> &'b [u8] {
        &buffer.at(self.position)[..self.len]
    }
}
