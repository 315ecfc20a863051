//! The 32 bytes that open every frame.

use sepiola_wire::crc32c;

use super::Tag;
use crate::Misbehaviour;

/// Bytes of a preamble.
pub const PREAMBLE_LEN: usize = 32;
/// Most segments that a frame can have.
pub const MAX_SEGMENTS: usize = 4;

const CRC_AT: usize = 28;
const FLAGS_AT: usize = 26;
/// Length and alignment of one segment.
const DESCRIPTOR_LEN: usize = 6;
const FLAG_COMPRESSED: u8 = 1;
/// Alignment hints for the receiver's buffers; no effect on the layout.
const ALIGNMENT: [u16; MAX_SEGMENTS] = [8, 8, 8, 4096];

/// A frame's tag and segment lengths. Lengths are of the content, without padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preamble {
    tag: Tag,
    count: u8,
    lengths: [u32; MAX_SEGMENTS],
}

impl Preamble {
    /// A preamble for segments of these lengths; trailing empty segments do not exist on the wire.
    /// `None` if a length does not fit into 32 bits.
    pub fn new(tag: Tag, lengths: [usize; MAX_SEGMENTS]) -> Option<Self> {
        let mut wire = [0; MAX_SEGMENTS];
        for (wire, len) in wire.iter_mut().zip(lengths) {
            *wire = u32::try_from(len).ok()?;
        }
        let count = wire.iter().rposition(|&len| len > 0).unwrap_or(0) as u8 + 1;
        Some(Preamble { tag, count, lengths: wire })
    }

    /// The wire form.
    pub fn encode(&self) -> [u8; PREAMBLE_LEN] {
        let mut out = [0; PREAMBLE_LEN];
        out[0] = self.tag as u8;
        out[1] = self.count;
        let descriptors = out[2..FLAGS_AT].chunks_exact_mut(DESCRIPTOR_LEN);
        for ((descriptor, len), alignment) in descriptors.zip(self.lengths).zip(ALIGNMENT).take(self.count())
        {
            descriptor[..4].copy_from_slice(&len.to_le_bytes());
            descriptor[4..].copy_from_slice(&alignment.to_le_bytes());
        }
        let crc = crc32c(0, &out[..CRC_AT]);
        out[CRC_AT..].copy_from_slice(&crc.to_le_bytes());
        out
    }

    /// Reads and checks the wire form.
    pub fn decode(bytes: &[u8; PREAMBLE_LEN]) -> Result<Self, Misbehaviour> {
        if crc32c(0, &bytes[..CRC_AT]).to_le_bytes() != bytes[CRC_AT..] {
            return Err(Misbehaviour::PreambleCrc);
        }
        let tag = Tag::from_u8(bytes[0])?;
        let count = bytes[1];
        if !(1..=MAX_SEGMENTS).contains(&usize::from(count)) {
            return Err(Misbehaviour::SegmentCount(count));
        }
        if bytes[FLAGS_AT] & FLAG_COMPRESSED != 0 {
            return Err(Misbehaviour::Compressed);
        }
        // Descriptors beyond the count are ignored: old peers filled in their alignments.
        let mut lengths = [0; MAX_SEGMENTS];
        let descriptors = bytes[2..FLAGS_AT].chunks_exact(DESCRIPTOR_LEN);
        for (len, descriptor) in lengths.iter_mut().zip(descriptors).take(count.into()) {
            *len = u32::from_le_bytes([descriptor[0], descriptor[1], descriptor[2], descriptor[3]]);
        }
        if count > 1 && lengths[usize::from(count) - 1] == 0 {
            return Err(Misbehaviour::EmptyLastSegment);
        }
        Ok(Preamble { tag, count, lengths })
    }

    /// What the frame is.
    pub fn tag(&self) -> Tag {
        self.tag
    }

    /// Segments on the wire, 1 to 4.
    pub fn count(&self) -> usize {
        self.count.into()
    }

    /// Content bytes of a segment; 0 for those beyond the count.
    pub fn len(&self, segment: usize) -> usize {
        self.lengths[segment] as usize
    }

    /// Content bytes of the segments behind the first.
    pub(crate) fn rest_content(&self) -> usize {
        self.lengths[1..].iter().map(|&len| len as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(mut bytes: [u8; PREAMBLE_LEN]) -> [u8; PREAMBLE_LEN] {
        let crc = crc32c(0, &bytes[..CRC_AT]);
        bytes[CRC_AT..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    #[test]
    fn trailing_empty_segments_vanish_and_inner_ones_stay() {
        for (lengths, count) in
            [([0, 0, 0, 0], 1), ([41, 0, 0, 0], 1), ([41, 0, 1, 0], 3), ([41, 92, 0, 666], 4)]
        {
            let preamble = Preamble::new(Tag::Message, lengths).unwrap();
            assert_eq!(preamble.count(), count);
            assert_eq!(Preamble::decode(&preamble.encode()).unwrap(), preamble);
        }
    }

    #[test]
    fn every_flipped_bit_is_refused() {
        let good = Preamble::new(Tag::Message, [41, 5, 0, 9]).unwrap().encode();
        for bit in 0..PREAMBLE_LEN * 8 {
            let mut bad = good;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(Preamble::decode(&bad).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn impossible_shapes_are_refused() {
        let good = Preamble::new(Tag::Message, [41, 5, 0, 0]).unwrap().encode();
        let with = |at: usize, value: u8| {
            let mut bytes = good;
            bytes[at] = value;
            Preamble::decode(&sealed(bytes))
        };
        assert!(matches!(with(1, 0), Err(Misbehaviour::SegmentCount(0))));
        assert!(matches!(with(1, 5), Err(Misbehaviour::SegmentCount(5))));
        assert!(matches!(with(1, 3), Err(Misbehaviour::EmptyLastSegment)));
        assert!(matches!(with(0, 99), Err(Misbehaviour::UnknownTag(99))));
        assert!(matches!(with(0, 21), Err(Misbehaviour::UnknownTag(21))));
        assert!(matches!(with(FLAGS_AT, 1), Err(Misbehaviour::Compressed)));
        // Other flag bits and descriptors beyond the count mean nothing.
        assert!(with(FLAGS_AT, 2).is_ok());
        assert!(with(18, 8).is_ok());
    }
}
