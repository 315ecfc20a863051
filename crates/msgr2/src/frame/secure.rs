//! Frames of secure mode: up to three AES-GCM messages.
//!
//! ```text
//! G1 = seal(P | first 48 bytes of pad16(S0), filled up with zeros) | tag          always 96 bytes
//! G2 = seal(pad16(S0)[48..]) | tag                                                if S0 is longer than 48
//! G3 = seal(pad16(S1) | .. | pad16(Sn-1) | status | 15 zeros) | tag               if there is a second segment
//! ```

use std::ops::Range;

use sepiola_crypto::{FrameOpener, FrameSealer, TAG_LEN};
use sepiola_wire::Put;

use super::{BLOCK, LATE_COMPLETE, PREAMBLE_LEN, Preamble, Rest, late_status, pad16};
use crate::{LocalFault, Misbehaviour};

/// Bytes of the first segment that travel in G1.
pub(super) const INLINE: usize = 48;
const FIRST_PLAIN: usize = PREAMBLE_LEN + INLINE;
/// Bytes of G1.
pub(super) const FIRST_LEN: usize = FIRST_PLAIN + TAG_LEN;

pub(super) fn head_len(preamble: &Preamble) -> usize {
    match pad16(preamble.len(0)) {
        len if len > INLINE => FIRST_LEN + len - INLINE + TAG_LEN,
        _ => FIRST_LEN,
    }
}

pub(super) fn rest_len(preamble: &Preamble) -> usize {
    (1..preamble.count()).map(|i| pad16(preamble.len(i))).sum::<usize>() + BLOCK + TAG_LEN
}

/// Opens G1 in place; the preamble is its first 32 bytes.
pub(super) fn open_first(opener: &mut FrameOpener, first: &mut [u8]) -> Result<(), Misbehaviour> {
    opener.open_in_place(first).map(drop).map_err(|_| Misbehaviour::Tampered)
}

/// Opens G2, if there is one, and says where the first segment lies in `head`.
pub(super) fn open_head(
    opener: &mut FrameOpener,
    preamble: &Preamble,
    head: &mut [u8],
) -> Result<Range<usize>, Misbehaviour> {
    let mut at = PREAMBLE_LEN;
    if head.len() > FIRST_LEN {
        opener.open_in_place(&mut head[FIRST_LEN..]).map_err(|_| Misbehaviour::Tampered)?;
        // Close the gap that G1's tag leaves between the two parts.
        head.copy_within(PREAMBLE_LEN..FIRST_PLAIN, PREAMBLE_LEN + TAG_LEN);
        at += TAG_LEN;
    }
    Ok(at..at + preamble.len(0))
}

/// Opens G3 and says where the segments lie in `rest`.
pub(super) fn open_rest(
    opener: &mut FrameOpener,
    preamble: &Preamble,
    rest: &mut [u8],
) -> Result<Rest, Misbehaviour> {
    let plain = opener.open_in_place(rest).map_err(|_| Misbehaviour::Tampered)?;
    let mut segments = [0..0, 0..0, 0..0];
    let mut at = 0;
    for (i, range) in segments.iter_mut().enumerate() {
        *range = at..at + preamble.len(i + 1);
        at += pad16(preamble.len(i + 1));
    }
    Ok(Rest { segments, complete: late_status(plain[at])? })
}

/// Finishes a control frame whose payload was appended behind room for the preamble at `at`.
pub(super) fn finish_control(
    sealer: &mut FrameSealer,
    out: &mut Vec<u8>,
    at: usize,
    preamble: &Preamble,
) -> Result<(), LocalFault> {
    out.patch(at, &preamble.encode());
    let padded = pad16(preamble.len(0));
    out.resize(at + PREAMBLE_LEN + padded.max(INLINE), 0);
    if padded <= INLINE {
        let tag = sealer.seal_in_place(&mut out[at..])?;
        out.put(&tag);
        return Ok(());
    }
    // Open a gap for G1's tag. Payloads beyond 48 bytes occur in handshakes only.
    let split = at + FIRST_PLAIN;
    let end = out.len();
    out.resize(end + TAG_LEN, 0);
    out.copy_within(split..end, split + TAG_LEN);
    let tag = sealer.seal_in_place(&mut out[at..split])?;
    out.patch(split, &tag);
    let tag = sealer.seal_in_place(&mut out[split + TAG_LEN..])?;
    out.put(&tag);
    Ok(())
}

/// Fills the last block of the segment that was appended at `at`.
pub(super) fn pad(out: &mut Vec<u8>, at: usize) {
    out.resize(at + pad16(out.len() - at), 0);
}

/// Seals a message whose G1 was laid out at `at`, its tag included, with the padded segments behind it.
pub(super) fn seal_message(
    sealer: &mut FrameSealer,
    out: &mut Vec<u8>,
    at: usize,
    preamble: &Preamble,
) -> Result<(), LocalFault> {
    out.patch(at, &preamble.encode());
    let tag = sealer.seal_in_place(&mut out[at..at + FIRST_PLAIN])?;
    out.patch(at + FIRST_PLAIN, &tag);
    if preamble.count() > 1 {
        out.put_u8(LATE_COMPLETE);
        out.put(&[0; BLOCK - 1]);
        let tag = sealer.seal_in_place(&mut out[at + FIRST_LEN..])?;
        out.put(&tag);
    }
    Ok(())
}
