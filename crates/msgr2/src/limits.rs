//! Sizes that a peer may reach, checked before anything is allocated for it.

use crate::{Misbehaviour, frame::Preamble};

const KIB: u32 = 1 << 10;
const MIB: u32 = 1 << 20;

/// The largest control frame payload after authentication. The largest real one, an identity frame with
/// a handful of addresses, takes a few hundred bytes; messages carry everything that grows.
pub(crate) const MAX_CONTROL: u32 = 64 * KIB;

/// Limits on what is received, in bytes.
///
/// The protocol itself has none. The values after authentication are those of the Linux kernel client,
/// except `data`, which leaves room for the 90 MiB writes that OSDs accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// One frame before the handshake is complete.
    pub handshake_frame: u32,
    /// All bytes of one direction up to the end of authentication.
    pub handshake_total: u32,
    /// The front segment of a message.
    pub front: u32,
    /// The middle segment of a message.
    pub middle: u32,
    /// The data segment of a message.
    pub data: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            handshake_frame: 16 * KIB,
            handshake_total: 128 * KIB,
            front: 16 * MIB,
            middle: 16 * MIB,
            data: 96 * MIB,
        }
    }
}

impl Limits {
    /// What holds until a connection is established.
    pub fn handshake(&self) -> SegmentLimits {
        SegmentLimits([self.handshake_frame.min(MAX_CONTROL), 0, 0, 0])
    }

    /// What holds from then on.
    pub fn established(&self) -> SegmentLimits {
        SegmentLimits([MAX_CONTROL, self.front, self.middle, self.data])
    }
}

/// The limit of each of a frame's four segments in one phase of a connection.
#[derive(Debug, Clone, Copy)]
pub struct SegmentLimits(pub(crate) [u32; 4]);

impl SegmentLimits {
    pub(crate) fn check(&self, preamble: &Preamble) -> Result<(), Misbehaviour> {
        for (segment, &limit) in self.0.iter().enumerate() {
            let len = preamble.len(segment);
            if len > limit as usize {
                return Err(Misbehaviour::TooLarge { segment, len, limit: limit as usize });
            }
        }
        Ok(())
    }
}
