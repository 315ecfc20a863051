//! What a monitor's authenticator needs from the monitor.

use std::sync::Arc;

use rand_core::CryptoRng;
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_wire::{EntityName, EntityType, GlobalId, UTime};

use super::{AllowedAuth, EntityAuth, ExpiringKey, RotatingSecrets, TicketLife};

/// The monitor's keys, as authentication reads them. Called while a handshake runs, so nothing here may
/// block; a monitor keeps what it needs in memory.
pub trait KeyServer: Send + Sync {
    /// The record of an entity.
    fn entity(&self, name: &EntityName) -> Option<EntityAuth>;

    /// The rotating secrets of a service: auth, mon, osd, mds or mgr.
    fn rotating(&self, service: EntityType) -> Option<Arc<RotatingSecrets>>;

    /// A global_id that was never given out before, or `None` if none is at hand: the peer has to come back.
    fn assign_global_id(&self) -> Option<GlobalId>;

    /// An entity has authenticated with its pending key, which should now become its key.
    fn pending_key_used(&self, name: &EntityName) {
        let _ = name;
    }
}

/// The rotating secrets of every service, for stores that keep them together.
pub type MonSecrets = std::collections::BTreeMap<EntityType, RotatingSecrets>;

/// What a monitor requires and hands out.
#[derive(Debug, Clone)]
pub struct MonAuthPolicy {
    /// Methods and modes by peer.
    pub allowed: AllowedAuth,
    /// Lives of tickets.
    pub ticket_life: TicketLife,
    /// `auth_allowed_ciphers`: a principal whose key is of another type is treated like a wrong key.
    pub allowed_ciphers: Vec<KeyType>,
    decoy: CryptoKey,
}

impl MonAuthPolicy {
    /// A policy with default lives and both ciphers.
    ///
    /// `usual` is the type that most principals' keys have: an entity that does not exist is checked
    /// against a key of this type that nobody has, so that asking for it takes as long as for one that
    /// does.
    pub fn new(allowed: AllowedAuth, usual: KeyType, rng: &mut dyn CryptoRng) -> Self {
        MonAuthPolicy {
            allowed,
            ticket_life: TicketLife::default(),
            allowed_ciphers: vec![KeyType::Aes256k, KeyType::Aes],
            decoy: CryptoKey::generate(usual, UTime::ZERO, rng),
        }
    }

    pub(super) fn decoy(&self) -> &CryptoKey {
        &self.decoy
    }
}

/// The secret that a ticket for `service` names. The number that stands for the fixed key of the entity
/// `SERVICE.` names none: that key is for monitors among each other, which is another door.
pub(super) fn ticket_secret(keys: &dyn KeyServer, service: EntityType, id: u64) -> Option<ExpiringKey> {
    keys.rotating(service)?.get(id).cloned()
}
