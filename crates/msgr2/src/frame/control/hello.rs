//! HELLO, the first frame of both sides.

use sepiola_wire::{Decode, DecodeError, Encode, EntityAddr, EntityType, Features, Put, Reader};

use super::{Control, Tag};

/// Who the sender says it is and how it sees the receiver. Nothing in it is authenticated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// The sender's type.
    pub kind: EntityType,
    /// The receiver's address as the sender sees it.
    pub seen: EntityAddr,
}

impl Control<'_> for Hello {
    const TAG: Tag = Tag::Hello;

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u8(self.kind as u8);
        self.seen.encode(out, Features::SUPPORTED);
    }

    fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(payload);
        let kind = EntityType::from_u32(r.u8()?.into())
            .filter(|kind| !matches!(kind, EntityType::Auth | EntityType::Any))
            .ok_or(DecodeError::Invalid("unknown entity type"))?;
        Ok(Hello { kind, seen: EntityAddr::decode(&mut r)? })
    }
}
