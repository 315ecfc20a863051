//! Who the peer turned out to be, and what it may do here.

use std::{collections::BTreeMap, net::IpAddr};

use sepiola_wire::{EntityName, EntityType, GlobalId};

use crate::caps::{CapsError, MonCaps, OsdAccess, OsdCaps, Rwx};

/// The peer of an authenticated connection, as the accepting side knows it.
#[derive(Debug, Clone)]
pub struct AuthenticatedPeer {
    /// The entity, proven by its key or its ticket (believed with method none).
    pub name: EntityName,
    /// The client instance; watches, locks and request ids are bound to it.
    pub global_id: GlobalId,
    /// What it may do at this service.
    pub caps: PeerCaps,
}

/// Capabilities of a peer at one service: the text, parsed once.
#[derive(Debug, Clone)]
pub struct PeerCaps {
    text: String,
    rights: Rights,
}

#[derive(Debug, Clone)]
enum Rights {
    Everything,
    Mon(MonCaps),
    Osd(OsdCaps),
    // Services without a grammar here keep the text only.
    Opaque,
    Nothing,
}

impl PeerCaps {
    /// Everything is allowed: method none.
    pub fn allow_all() -> Self {
        PeerCaps { text: "allow *".to_owned(), rights: Rights::Everything }
    }

    /// Parses `text` in the grammar of `service`. Empty text grants nothing.
    pub fn parse(service: EntityType, text: &str) -> Result<Self, CapsError> {
        let rights = match service {
            _ if text.is_empty() => Rights::Nothing,
            EntityType::Mon => Rights::Mon(MonCaps::parse(text)?),
            EntityType::Osd => Rights::Osd(OsdCaps::parse(text)?),
            _ => Rights::Opaque,
        };
        Ok(PeerCaps { text: text.to_owned(), rights })
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True where no check is made at all (method none).
    pub fn is_allow_all(&self) -> bool {
        matches!(self.rights, Rights::Everything)
    }

    /// Whether an operation on an object is allowed. Does not allocate.
    pub fn allows_osd(&self, access: &OsdAccess<'_>) -> bool {
        match &self.rights {
            Rights::Everything => true,
            Rights::Osd(caps) => caps.allows(access),
            _ => false,
        }
    }

    /// Whether a monitor service or command is allowed; see [`MonCaps::allows_from`].
    pub fn allows_mon(
        &self,
        addr: Option<IpAddr>,
        entity: &EntityName,
        service: &str,
        command: Option<(&str, &BTreeMap<String, String>)>,
        need: Rwx,
    ) -> bool {
        match &self.rights {
            Rights::Everything => true,
            Rights::Mon(caps) => caps.allows_from(addr, entity, service, command, need),
            _ => false,
        }
    }
}
