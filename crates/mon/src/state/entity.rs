//! Entities as log entries carry them.

use sepiola_cephx::EntityAuth;
use sepiola_crypto::CryptoKey;
use sepiola_proto::{MonCap, MonEntity};
use sepiola_wire::{EntityName, decode_all};

use super::{ApplyError, change::stored};

pub(super) fn to_proto(name: &EntityName, entity: &EntityAuth) -> MonEntity {
    MonEntity {
        name: name.to_string(),
        key: if entity.key.is_none() { Default::default() } else { stored(&entity.key) },
        pending_key: entity.pending_key.as_ref().map(stored).unwrap_or_default(),
        caps: entity
            .caps
            .iter()
            .map(|(service, text)| MonCap { service: service.clone(), text: text.clone() })
            .collect(),
    }
}

pub(super) fn from_proto(entity: &MonEntity) -> Result<(EntityName, EntityAuth), ApplyError> {
    let name = entity.name.parse().map_err(|_| ApplyError("an entity's name does not parse"))?;
    let decode = |bytes: &[u8]| match bytes {
        [] => Ok(None),
        _ => decode_all::<CryptoKey>(bytes).map(Some).map_err(|_| ApplyError("a key does not decode")),
    };
    let caps = entity.caps.iter().map(|c| (c.service.clone(), c.text.clone())).collect();
    let mut auth = EntityAuth::new(decode(&entity.key)?.unwrap_or_else(CryptoKey::none), caps);
    auth.pending_key = decode(&entity.pending_key)?;
    Ok((name, auth))
}
