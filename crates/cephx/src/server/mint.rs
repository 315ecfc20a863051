//! Issuing tickets.

use std::time::Duration;

use rand_core::CryptoRng;
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_wire::{EntityName, EntityType, GlobalId, UTime};

use super::RotatingSecrets;
use crate::ticket::{ServiceTicket, TicketBlob, TicketInfo};

/// A fresh ticket: the owner's half and the sealed half.
pub(super) struct Minted {
    pub(super) owner_half: ServiceTicket,
    pub(super) blob: TicketBlob,
}

/// Whom a ticket is for.
pub(super) struct Owner<'a> {
    pub(super) name: &'a EntityName,
    pub(super) global_id: GlobalId,
    /// The type of the key it authenticated with.
    pub(super) key_type: KeyType,
}

/// Issues a ticket for `service`, or `None` if the service has no secret that could seal one now.
///
/// The session key of the AUTH ticket has the type of the owner's key. Other services may be older than
/// the owner: their session keys have the smaller of the owner's type and the sealing secret's.
pub(super) fn mint(
    owner: &Owner<'_>,
    service: EntityType,
    secrets: &RotatingSecrets,
    caps: Option<&str>,
    ttl: Duration,
    now: UTime,
    rng: &mut dyn CryptoRng,
) -> Option<Minted> {
    let (secret_id, secret) = secrets.sealing(now)?;
    let validity = secrets.ticket_life(now, ttl);
    if validity.is_zero() {
        return None;
    }
    let kind = match service {
        EntityType::Auth => owner.key_type,
        _ => owner.key_type.min(secret.key.kind()),
    };
    let session_key = CryptoKey::generate(kind, now, rng);
    let info = TicketInfo {
        name: owner.name.clone(),
        global_id: owner.global_id,
        created: now,
        expires: now.saturating_add(validity),
        caps: caps.map(str::to_owned),
        session_key: session_key.clone(),
    };
    let sealed = info.seal(&secret.key, rng);
    Some(Minted {
        owner_half: ServiceTicket { session_key, validity },
        blob: TicketBlob { secret_id, sealed },
    })
}
