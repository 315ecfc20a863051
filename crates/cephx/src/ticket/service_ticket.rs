//! The owner's half of a ticket.

use std::time::Duration;

use sepiola_crypto::CryptoKey;
use sepiola_wire::{Decode, DecodeError, Encode, Features, Put, Reader};

/// The session key of a ticket and how long it is good for, sealed for the owner.
pub(crate) struct ServiceTicket {
    pub(crate) session_key: CryptoKey,
    /// From the moment of issue; whole seconds and nanoseconds on the wire.
    pub(crate) validity: Duration,
}

impl Encode for ServiceTicket {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_u8(1);
        self.session_key.encode(out, features);
        out.put_u32(u32::try_from(self.validity.as_secs()).unwrap_or(u32::MAX));
        out.put_u32(self.validity.subsec_nanos());
    }
}

impl Decode for ServiceTicket {
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        if r.u8()? != 1 {
            return Err(DecodeError::Invalid("unknown service ticket version"));
        }
        let session_key = CryptoKey::decode(r)?;
        let (sec, nsec) = (r.u32()?, r.u32()?);
        Ok(ServiceTicket {
            session_key,
            validity: Duration::from_secs(sec.into()) + Duration::from_nanos(nsec.into()),
        })
    }
}
