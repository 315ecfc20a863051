//! Frames of crc mode: `P | S0 crc | S1 | S2 | S3 | status crc crc crc`.
//!
//! S0's crc is absent when S0 is empty; the epilogue is absent when there is but one segment.

use std::ops::Range;

use sepiola_wire::{Put, crc32c};

use super::{LATE_COMPLETE, PREAMBLE_LEN, Preamble, Rest, late_status};
use crate::Misbehaviour;

const CRC_LEN: usize = 4;
const EPILOGUE_LEN: usize = 1 + 3 * CRC_LEN;
/// What segments' crcs start from.
const SEED: u32 = !0;

pub(super) fn head_len(preamble: &Preamble) -> usize {
    match preamble.len(0) {
        0 => PREAMBLE_LEN,
        len => PREAMBLE_LEN + len + CRC_LEN,
    }
}

pub(super) fn rest_len(preamble: &Preamble) -> usize {
    preamble.rest_content() + EPILOGUE_LEN
}

/// Verifies the first segment and says where it lies in `head`.
pub(super) fn check_head(preamble: &Preamble, head: &[u8]) -> Result<Range<usize>, Misbehaviour> {
    let segment = PREAMBLE_LEN..PREAMBLE_LEN + preamble.len(0);
    if !segment.is_empty() && crc32c(SEED, &head[segment.clone()]).to_le_bytes() != head[segment.end..] {
        return Err(Misbehaviour::SegmentCrc { segment: 0 });
    }
    Ok(segment)
}

/// Verifies the other segments and says where they lie in `rest`.
pub(super) fn check_rest(preamble: &Preamble, rest: &[u8]) -> Result<Rest, Misbehaviour> {
    let (content, epilogue) = rest.split_at(rest.len() - EPILOGUE_LEN);
    let mut segments = [0..0, 0..0, 0..0];
    let mut at = 0;
    for (i, range) in segments.iter_mut().enumerate() {
        *range = at..at + preamble.len(i + 1);
        at = range.end;
        let crc = &epilogue[1 + CRC_LEN * i..1 + CRC_LEN * (i + 1)];
        // Words of segments beyond the count are not looked at.
        if i + 1 < preamble.count() && crc32c(SEED, &content[range.clone()]).to_le_bytes() != crc {
            return Err(Misbehaviour::SegmentCrc { segment: i + 1 });
        }
    }
    Ok(Rest { segments, complete: late_status(epilogue[0])? })
}

/// Finishes a control frame whose payload was appended behind room for the preamble at `at`.
pub(super) fn finish_control(out: &mut Vec<u8>, at: usize, preamble: &Preamble) {
    out.patch(at, &preamble.encode());
    let crc = crc32c(SEED, &out[at + PREAMBLE_LEN..]);
    if preamble.len(0) > 0 {
        out.put_u32(crc);
    }
}

/// Appends the crc of the first segment, which was appended at `at`.
pub(super) fn put_head_crc(out: &mut Vec<u8>, at: usize) {
    let crc = crc32c(SEED, &out[at..]);
    out.put_u32(crc);
}

/// Appends the epilogue of the segments that were appended from `at` on.
pub(super) fn put_epilogue(out: &mut Vec<u8>, mut at: usize, preamble: &Preamble) {
    let mut crcs = [0; 3];
    for (i, crc) in crcs.iter_mut().enumerate().take(preamble.count() - 1) {
        let end = at + preamble.len(i + 1);
        *crc = crc32c(SEED, &out[at..end]);
        at = end;
    }
    out.put_u8(LATE_COMPLETE);
    for crc in crcs {
        out.put_u32(crc);
    }
}
