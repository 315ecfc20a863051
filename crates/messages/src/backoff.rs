//! OSD_BACKOFF: an OSD stops and resumes a client's operations on a range of a pg.

use sepiola_wire::{Decode, DecodeError, Encode, Epoch, Features, HObject, Put, Reader, SpgId};

use crate::{WireMessage, kind};

/// What a backoff message asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum BackoffOp {
    /// OSD to client: keep operations on the range back. The one that triggered it was dropped.
    Block = 1,
    /// Client to OSD: understood.
    AckBlock = 2,
    /// OSD to client: send again.
    Unblock = 3,
}

/// Client and OSD. The range is `[begin, end)`, or the single object `begin` if both are equal. A backoff
/// ends with its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OsdBackoff {
    /// The pg.
    pub spg: SpgId,
    /// The sender's map.
    pub map_epoch: Epoch,
    /// What to do.
    pub op: BackoffOp,
    /// Number within the session, counting up.
    pub id: u64,
    /// Start of the range.
    pub begin: HObject,
    /// End of the range.
    pub end: HObject,
}

impl WireMessage for OsdBackoff {
    const TYPE: u16 = kind::OSD_BACKOFF;
    const VERSION: u16 = 1;
    const COMPAT: u16 = 1;

    fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        self.spg.encode(out, features);
        self.map_epoch.encode(out, features);
        out.put_u8(self.op as u8);
        out.put_u64(self.id);
        self.begin.encode(out, features);
        self.end.encode(out, features);
    }

    fn decode(_: u16, front: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(front);
        Ok(OsdBackoff {
            spg: SpgId::decode(r)?,
            map_epoch: Epoch::decode(r)?,
            op: match r.u8()? {
                1 => BackoffOp::Block,
                2 => BackoffOp::AckBlock,
                3 => BackoffOp::Unblock,
                _ => return Err(DecodeError::Invalid("unknown backoff operation")),
            },
            id: r.u64()?,
            begin: HObject::decode(r)?,
            end: HObject::decode(r)?,
        })
    }
}
