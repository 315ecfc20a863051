//! Frames of messenger v2.1: how they are laid out, and what the control frames say.
//!
//! A frame is a preamble and one to four segments. [`FrameEncoder`] appends frames to an output buffer and
//! seals them there; [`FrameDecoder`] opens them where they were received.

pub mod control;
mod crc;
mod decode;
mod encode;
mod message;
mod preamble;
mod secure;
mod tag;

use std::ops::Range;

pub use decode::{Frame, FrameDecoder};
pub use encode::FrameEncoder;
pub use message::{MESSAGE_HEADER_LEN, MessageHeader};
pub use preamble::{MAX_SEGMENTS, PREAMBLE_LEN, Preamble};
pub use tag::Tag;

use crate::Misbehaviour;

const BLOCK: usize = 16;
const LATE_MASK: u8 = 0x0f;
const LATE_ABORTED: u8 = 0x01;
const LATE_COMPLETE: u8 = 0x0e;

/// Where the segments behind the first lie, and whether the sender finished the frame.
struct Rest {
    segments: [Range<usize>; 3],
    complete: bool,
}

/// True for a complete frame, false for one that its sender gave up. The high nibble means nothing.
fn late_status(byte: u8) -> Result<bool, Misbehaviour> {
    match byte & LATE_MASK {
        LATE_COMPLETE => Ok(true),
        LATE_ABORTED => Ok(false),
        _ => Err(Misbehaviour::LateStatus(byte)),
    }
}

fn pad16(len: usize) -> usize {
    len.next_multiple_of(BLOCK)
}
