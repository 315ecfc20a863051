//! The service's side.

use rand_core::CryptoRng;
use sepiola_crypto::{ConnectionSecret, CryptoKey, Usage};
use sepiola_wire::{Decode, EntityType, GlobalId, Put, Reader, UTime};
use subtle::ConstantTimeEq;

use crate::{
    envelope,
    server::ExpiringKey,
    ticket::{ExpiryCheck, InvalidTicket, TicketBlob, TicketInfo},
};

/// An authorizer whose ticket is good and whose sender knows the ticket's session key, now or at some
/// earlier time: without the answer to a challenge of this connection it may be a recording.
pub(crate) struct Presented {
    pub(crate) ticket: TicketInfo,
    pub(crate) nonce: u64,
    has_challenge: bool,
    challenge_plus_one: u64,
}

impl Presented {
    /// Reads an authorizer for `service`. `secret` looks up the service's secrets by number. Returns it and
    /// leaves what follows it in the reader.
    pub(crate) fn open(
        r: &mut Reader<'_>,
        service: EntityType,
        secret: impl FnOnce(u64) -> Option<ExpiringKey>,
        now: UTime,
    ) -> Result<Self, InvalidTicket> {
        if r.u8()? != 1 {
            return Err(InvalidTicket);
        }
        let global_id = GlobalId::decode(r)?;
        if r.u32()? != service.as_u32() {
            return Err(InvalidTicket);
        }
        let blob = TicketBlob::decode(r)?;
        let sealed_proof = r.blob()?;
        let secret = secret(blob.secret_id).ok_or(InvalidTicket)?;
        let ticket = TicketInfo::open(&blob.sealed, &secret, now, ExpiryCheck::Enforce)?;
        if ticket.global_id != global_id {
            return Err(InvalidTicket);
        }
        let opened = envelope::open(&ticket.session_key, Usage::Authorizer, sealed_proof)
            .map_err(|_| InvalidTicket)?;
        let mut proof = opened.reader();
        if proof.u8()? != 2 {
            return Err(InvalidTicket);
        }
        let nonce = proof.u64()?;
        let has_challenge = proof.bool()?;
        let challenge_plus_one = proof.u64()?;
        proof.finish()?;
        Ok(Presented { ticket, nonce, has_challenge, challenge_plus_one })
    }

    /// Whether it answers `challenge`.
    pub(crate) fn answers(&self, challenge: u64) -> bool {
        let expected = challenge.wrapping_add(1);
        self.has_challenge & bool::from(self.challenge_plus_one.ct_eq(&expected))
    }
}

/// The payload of AUTH_REPLY_MORE.
pub(crate) fn seal_challenge(session_key: &CryptoKey, challenge: u64, rng: &mut dyn CryptoRng) -> Vec<u8> {
    let mut out = Vec::new();
    envelope::seal(session_key, Usage::AuthorizerChallenge, rng, &mut out, |out| {
        out.put_u8(1);
        out.put_u64(challenge);
    });
    out
}

/// The payload of AUTH_DONE; with a secret in secure mode.
pub(crate) fn seal_reply(
    session_key: &CryptoKey,
    nonce: u64,
    secret: Option<&ConnectionSecret>,
    rng: &mut dyn CryptoRng,
) -> Vec<u8> {
    let mut out = Vec::new();
    envelope::seal_sized(session_key, Usage::AuthorizerReply, rng, &mut out, |out| {
        out.put_u8(if secret.is_some() { 2 } else { 1 });
        out.put_u64(nonce.wrapping_add(1));
        if let Some(secret) = secret {
            out.put_blob(secret.as_bytes());
        }
    });
    out
}
