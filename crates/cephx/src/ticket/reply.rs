//! The list of tickets in a monitor's answer.
//!
//! `u8 1, u32 n, n x { u32 service, u8 1, sized E(key, ServiceTicket), u8 encrypted, blob ticket }`. Records
//! are 14 bytes at least.

use rand_core::CryptoRng;
use sepiola_crypto::{CryptoKey, Usage};
use sepiola_wire::{DecodeError, Encode, EntityType, Features, Put, Reader};

use super::{ServiceTicket, TicketBlob};
use crate::envelope;

/// One ticket as it came: both halves still sealed.
#[derive(Debug)]
pub(crate) struct TicketRecord<'a> {
    pub(crate) service: u32,
    pub(crate) sealed_for_owner: &'a [u8],
    /// The ticket is sealed once more, under the session key of the AUTH ticket that was presented.
    pub(crate) encrypted: bool,
    pub(crate) ticket: &'a [u8],
}

impl<'a> TicketRecord<'a> {
    fn decode(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let service = r.u32()?;
        if r.u8()? != 1 {
            return Err(DecodeError::Invalid("unknown ticket record version"));
        }
        Ok(TicketRecord { service, sealed_for_owner: r.blob()?, encrypted: r.bool()?, ticket: r.blob()? })
    }
}

/// Reads a list of tickets that must be complete.
pub(crate) fn decode_reply<'a>(r: &mut Reader<'a>) -> Result<Vec<TicketRecord<'a>>, DecodeError> {
    let n = begin(r)?;
    (0..n).map(|_| TicketRecord::decode(r)).collect()
}

/// Reads a list of tickets up to where it breaks off. Monitors break the list of extra tickets off at a
/// service they have no secrets for, though the count includes it.
pub(crate) fn decode_reply_tolerant<'a>(r: &mut Reader<'a>) -> Result<Vec<TicketRecord<'a>>, DecodeError> {
    let n = begin(r)?;
    Ok((0..n).map_while(|_| TicketRecord::decode(r).ok()).collect())
}

fn begin(r: &mut Reader<'_>) -> Result<u32, DecodeError> {
    if r.u8()? != 1 {
        return Err(DecodeError::Invalid("unknown ticket list version"));
    }
    // Not `count`: in a broken list the count is too high for the bytes. Nothing is reserved from it, and
    // reading stops with the bytes.
    r.u32()
}

/// Writes a list of tickets.
pub(crate) struct ReplyWriter<'a> {
    out: &'a mut Vec<u8>,
    count_at: usize,
    count: u32,
}

impl<'a> ReplyWriter<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        out.put_u8(1);
        let count_at = out.position();
        out.put_u32(0);
        ReplyWriter { out, count_at, count: 0 }
    }

    /// Appends a ticket whose owner's half opens with `owner_key`. With `old_session_key` the ticket is
    /// sealed under it, so that only the owner of the old ticket can use the new one.
    pub(crate) fn ticket(
        &mut self,
        service: EntityType,
        owner_key: &CryptoKey,
        owner_half: &ServiceTicket,
        ticket: &TicketBlob,
        old_session_key: Option<&CryptoKey>,
        rng: &mut dyn CryptoRng,
    ) {
        let out = &mut *self.out;
        out.put_u32(service.as_u32());
        out.put_u8(1);
        envelope::seal_sized(owner_key, Usage::TicketSessionKey, rng, out, |out| {
            owner_half.encode(out, Features::NONE);
        });
        out.put_bool(old_session_key.is_some());
        out.put_sized(|out| match old_session_key {
            None => ticket.encode(out, Features::NONE),
            Some(key) => envelope::seal(key, Usage::TicketBlob, rng, out, |out| {
                out.put_sized(|out| ticket.encode(out, Features::NONE));
            }),
        });
        self.count += 1;
        self.out.patch(self.count_at, &self.count.to_le_bytes());
    }
}
