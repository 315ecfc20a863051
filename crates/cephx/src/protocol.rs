//! The requests of both authentications with a monitor: AUTH_REQUEST(_MORE) and MAuth.

use sepiola_wire::{Decode, DecodeError, Encode, EntityName, Features, GlobalId, Put, Reader};

use crate::ticket::TicketBlob;

/// First byte of AUTH_REQUEST: which kind of peer is meant.
pub(crate) mod auth_mode {
    /// To anything but a monitor. The byte is also the authorizer's version.
    pub(crate) const AUTHORIZER: u8 = 1;
    /// The whole range that means "authorizer".
    pub(crate) const AUTHORIZER_RANGE: std::ops::RangeInclusive<u8> = 1..=9;
    /// To a monitor.
    pub(crate) const MON: u8 = 10;
    /// The whole range that means "monitor".
    pub(crate) const MON_RANGE: std::ops::RangeInclusive<u8> = 10..=19;
}

/// Renew or get the AUTH ticket.
pub(crate) const GET_AUTH_SESSION_KEY: u16 = 0x0100;
/// Get tickets for services.
pub(crate) const GET_PRINCIPAL_SESSION_KEY: u16 = 0x0200;
/// Get the rotating secrets.
pub(crate) const GET_ROTATING_KEY: u16 = 0x0400;

/// How AUTH_REQUEST begins for a monitor, and for a service with method none.
pub(crate) struct Hello {
    pub(crate) mode: u8,
    pub(crate) name: EntityName,
    /// Zero asks for a new one.
    pub(crate) global_id: GlobalId,
}

impl Hello {
    pub(crate) fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(17 + self.name.id.len());
        out.put_u8(self.mode);
        self.name.encode(&mut out, Features::NONE);
        self.global_id.encode(&mut out, Features::NONE);
        out
    }

    pub(crate) fn from_slice(payload: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(payload);
        let hello =
            Hello { mode: r.u8()?, name: EntityName::decode(&mut r)?, global_id: GlobalId::decode(&mut r)? };
        r.finish()?;
        Ok(hello)
    }
}

/// What a client answers to the monitor's challenge.
pub(crate) struct Authenticate {
    pub(crate) client_challenge: u64,
    pub(crate) key: u64,
    /// The AUTH ticket that proves the claimed global_id.
    pub(crate) old_ticket: TicketBlob,
    pub(crate) other_keys: u32,
}

impl Authenticate {
    /// With the request number in front.
    pub(crate) fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + self.old_ticket.sealed.len());
        out.put_u16(GET_AUTH_SESSION_KEY);
        out.put_u8(3); // version 3: the old ticket is there whenever a global_id is claimed
        out.put_u64(self.client_challenge);
        out.put_u64(self.key);
        self.old_ticket.encode(&mut out, Features::NONE);
        out.put_u32(self.other_keys);
        out
    }

    /// Behind the request number.
    pub(crate) fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let version = r.u8()?;
        if !(1..=3).contains(&version) {
            return Err(DecodeError::Invalid("unknown authenticate version"));
        }
        let request = Authenticate {
            client_challenge: r.u64()?,
            key: r.u64()?,
            old_ticket: TicketBlob::decode(r)?,
            other_keys: if version >= 2 { r.u32()? } else { 0 },
        };
        r.finish()?;
        Ok(request)
    }
}

/// The header of a monitor's answers.
pub(crate) fn put_answer_header(out: &mut Vec<u8>, request: u16) {
    out.put_u16(request);
    out.put_i32(0);
}

/// Reads the header of a monitor's answer. A negative status is the only form of an error.
pub(crate) fn read_answer_header(r: &mut Reader<'_>) -> Result<(u16, i32), DecodeError> {
    Ok((r.u16()?, r.i32()?))
}
