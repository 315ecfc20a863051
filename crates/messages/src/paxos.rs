//! The header that most monitor messages begin with.

use sepiola_wire::{Decode, DecodeError, Encode, Features, Put, Reader};

/// 18 bytes: the newest version of the service's map that the sender has (a reply's epoch), then two
/// fields without meaning today.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PaxosHeader {
    /// Map version; 0 if none.
    pub version: u64,
}

impl Encode for PaxosHeader {
    fn encode(&self, out: &mut Vec<u8>, _: Features) {
        out.put_u64(self.version);
        out.put_i16(-1);
        out.put_u64(0);
    }
}

impl Decode for PaxosHeader {
    const MIN_SIZE: usize = 18;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let version = r.u64()?;
        r.i16()?;
        r.u64()?;
        Ok(PaxosHeader { version })
    }
}
