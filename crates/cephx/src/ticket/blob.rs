//! The opaque form that a ticket's owner carries around.

use std::fmt;

use sepiola_wire::{Decode, DecodeError, Encode, Features, Put, Reader};

/// A sealed ticket and the number of the secret that sealed it.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct TicketBlob {
    /// Which rotating secret; 0 in an absent ticket. `u64::MAX`, which stands for the fixed key of the entity
    /// `SERVICE.`, is the number of no secret here.
    pub secret_id: u64,
    /// The sealed bytes; empty in an absent ticket.
    pub sealed: Vec<u8>,
}

impl TicketBlob {
    /// True if this stands for "no ticket".
    pub fn is_absent(&self) -> bool {
        self.sealed.is_empty()
    }
}

impl fmt::Debug for TicketBlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TicketBlob(secret {}, {} bytes)", self.secret_id, self.sealed.len())
    }
}

impl Encode for TicketBlob {
    fn encode(&self, out: &mut Vec<u8>, _: Features) {
        out.put_u8(1);
        out.put_u64(self.secret_id);
        out.put_blob(&self.sealed);
    }
}

impl Decode for TicketBlob {
    const MIN_SIZE: usize = 13;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        if r.u8()? != 1 {
            return Err(DecodeError::Invalid("unknown ticket blob version"));
        }
        Ok(TicketBlob { secret_id: r.u64()?, sealed: r.blob()?.to_vec() })
    }
}
