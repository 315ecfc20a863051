//! What a service reads in a ticket.

use std::time::Duration;

use rand_core::CryptoRng;
use sepiola_crypto::{CryptoKey, KeyType, Usage};
use sepiola_wire::Encode;
use sepiola_wire::{Decode, DecodeError, EntityName, EntityType, Features, GlobalId, Put, Reader, UTime};

use crate::{envelope, server::ExpiringKey};

const INFO_VERSION: u8 = 1;
const TICKET_VERSION: u8 = 2;
const CAPS_VERSION: u8 = 1;
/// What is left of a field that once held a user number.
const OLD_AUID: u64 = u64::MAX;
const NSEC_MAX: u32 = 1_000_000_000;

/// A session key is made together with its ticket; this is how much later its stamp may be.
const SESSION_KEY_LATENESS: Duration = Duration::from_secs(300);
/// How far ahead the issuer's clock may run.
const ISSUER_CLOCK_AHEAD: Duration = Duration::from_secs(300);
/// For how long after its end a ticket still passes, for clocks that differ.
pub(crate) const EXPIRY_SKEW: Duration = Duration::from_secs(5);

/// Whether the end of a ticket's life counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExpiryCheck {
    /// A ticket that gives access.
    Enforce,
    /// An AUTH ticket that only proves who had a global_id: the monitors take it for as long as they keep
    /// the secret that sealed it.
    Ignore,
}

/// The content of a ticket.
pub(crate) struct TicketInfo {
    pub(crate) name: EntityName,
    pub(crate) global_id: GlobalId,
    pub(crate) created: UTime,
    pub(crate) expires: UTime,
    /// Capabilities for the service; `None` and the empty text both grant nothing.
    pub(crate) caps: Option<String>,
    pub(crate) session_key: CryptoKey,
}

/// The ticket is altered, forged, expired, or not for us. Which of them stays unknown on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InvalidTicket;

impl From<DecodeError> for InvalidTicket {
    fn from(_: DecodeError) -> Self {
        InvalidTicket
    }
}

impl TicketInfo {
    /// Seals the ticket under a rotating secret.
    pub(crate) fn seal(&self, secret: &CryptoKey, rng: &mut dyn CryptoRng) -> Vec<u8> {
        let mut sealed = Vec::new();
        envelope::seal(secret, Usage::TicketInfo, rng, &mut sealed, |out| self.encode(out));
        sealed
    }

    /// Opens a ticket and checks everything that an issuer always writes in the same way.
    ///
    /// Keys of type 1 do not authenticate what they seal, so a ticket may have been altered bit by bit
    /// (CVE-2025-30156). An honest ticket passes every check here; a forger has to guess the plaintext of
    /// most blocks right.
    pub(crate) fn open(
        sealed: &[u8],
        secret: &ExpiringKey,
        now: UTime,
        expiry: ExpiryCheck,
    ) -> Result<Self, InvalidTicket> {
        let opened = envelope::open(&secret.key, Usage::TicketInfo, sealed).map_err(|_| InvalidTicket)?;
        let mut r = opened.reader();
        let info = Self::decode(&mut r)?;
        r.finish()?;
        if info.is_plausible(secret, now) && (expiry == ExpiryCheck::Ignore || info.is_alive(now)) {
            Ok(info)
        } else {
            Err(InvalidTicket)
        }
    }

    fn is_alive(&self, now: UTime) -> bool {
        now < self.expires.saturating_add(EXPIRY_SKEW)
    }

    fn is_plausible(&self, secret: &ExpiringKey, now: UTime) -> bool {
        let made = self.session_key.created();
        let stamps_valid = [self.created, self.expires, made].iter().all(|t| t.nsec <= NSEC_MAX);
        let named = !self.name.id.is_empty() || self.name.kind == EntityType::Mon;
        stamps_valid
            && named
            && self.global_id.0 != 0
            && self.expires > self.created
            && self.expires.saturating_since(self.created) <= secret.span()
            && self.created <= now.saturating_add(ISSUER_CLOCK_AHEAD)
            && made >= self.created
            && made <= self.created.saturating_add(SESSION_KEY_LATENESS)
            && made < self.expires
            && self.session_key.kind() != KeyType::None
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u8(INFO_VERSION);
        out.put_u8(TICKET_VERSION);
        self.name.encode(out, Features::NONE);
        out.put_u64(self.global_id.0);
        out.put_u64(OLD_AUID);
        self.created.encode(out, Features::NONE);
        self.expires.encode(out, Features::NONE);
        out.put_u8(CAPS_VERSION);
        out.put_bool(false); // allow_all: never set for anybody
        out.put_sized(|out| {
            if let Some(caps) = &self.caps {
                out.put_blob(caps.as_bytes());
            }
        });
        out.put_u32(0); // flags
        self.session_key.encode(out, Features::NONE);
    }

    fn decode(r: &mut Reader<'_>) -> Result<Self, InvalidTicket> {
        expect(r.u8()? == INFO_VERSION)?;
        expect(r.u8()? == TICKET_VERSION)?;
        let name = EntityName::decode(r)?;
        let global_id = GlobalId::decode(r)?;
        expect(r.u64()? == OLD_AUID)?;
        let created = UTime::decode(r)?;
        let expires = UTime::decode(r)?;
        expect(r.u8()? == CAPS_VERSION)?;
        expect(r.u8()? == 0)?; // allow_all
        let mut caps = r.sub_blob()?;
        let text = if caps.is_empty() { None } else { Some(caps.utf8()?.to_owned()) };
        caps.finish()?;
        expect(r.u32()? == 0)?; // flags
        let session_key = CryptoKey::decode(r)?;
        Ok(TicketInfo { name, global_id, created, expires, caps: text, session_key })
    }
}

fn expect(holds: bool) -> Result<(), InvalidTicket> {
    if holds { Ok(()) } else { Err(InvalidTicket) }
}
