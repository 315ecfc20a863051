//! The ticket owner's side.

use rand_core::CryptoRng;
use sepiola_crypto::{ConnectionSecret, CryptoKey, Usage};
use sepiola_wire::{Encode, EntityType, Features, GlobalId, Put, Reader};
use subtle::ConstantTimeEq;

use crate::{envelope, envelope::NotOpened, ticket::TicketBlob};

const VERSION: u8 = 1;
const PROOF_VERSION: u8 = 2;

/// An authorizer to be written.
pub(crate) struct Authorizer<'a> {
    pub(crate) global_id: GlobalId,
    pub(crate) service: EntityType,
    pub(crate) ticket: &'a TicketBlob,
    pub(crate) session_key: &'a CryptoKey,
    pub(crate) nonce: u64,
    /// The service's challenge, in the second round.
    pub(crate) challenge: Option<u64>,
}

impl Authorizer<'_> {
    pub(crate) fn encode(&self, rng: &mut dyn CryptoRng, out: &mut Vec<u8>) {
        out.put_u8(VERSION);
        self.global_id.encode(out, Features::NONE);
        out.put_u32(self.service.as_u32());
        self.ticket.encode(out, Features::NONE);
        envelope::seal_sized(self.session_key, Usage::Authorizer, rng, out, |out| {
            out.put_u8(PROOF_VERSION);
            out.put_u64(self.nonce);
            out.put_bool(self.challenge.is_some());
            out.put_u64(self.challenge.map_or(0, |c| c.wrapping_add(1)));
        });
    }
}

/// Opens the challenge of AUTH_REPLY_MORE.
pub(crate) fn open_challenge(session_key: &CryptoKey, payload: &[u8]) -> Result<u64, NotOpened> {
    let opened = envelope::open(session_key, Usage::AuthorizerChallenge, payload)?;
    let mut r = opened.reader();
    match (r.u8(), r.u64(), r.is_empty()) {
        (Ok(1), Ok(challenge), true) => Ok(challenge),
        _ => Err(NotOpened),
    }
}

/// Opens the reply of AUTH_DONE, which proves the service by answering `nonce`, and returns the connection
/// secret, empty unless the reply has one.
pub(crate) fn open_reply(
    session_key: &CryptoKey,
    nonce: u64,
    payload: &[u8],
) -> Result<ConnectionSecret, NotOpened> {
    let mut r = Reader::new(payload);
    let sealed = r.blob().map_err(|_| NotOpened)?;
    r.finish().map_err(|_| NotOpened)?;
    let opened = envelope::open(session_key, Usage::AuthorizerReply, sealed)?;
    let mut r = opened.reader();
    let mut read = || {
        let version = r.u8()?;
        let answer = r.u64()?;
        let secret: &[u8] = if version >= 2 { r.blob()? } else { &[] };
        r.finish().map(|()| (answer, secret))
    };
    let (answer, secret) = read().map_err(|_| NotOpened)?;
    if bool::from(answer.ct_eq(&nonce.wrapping_add(1))) {
        Ok(ConnectionSecret::from_bytes(secret))
    } else {
        Err(NotOpened)
    }
}
