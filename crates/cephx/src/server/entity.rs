//! The record of one entity in the monitors' key table.

use std::collections::BTreeMap;

use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_wire::{Decode, DecodeError, Encode, Features, Put, Reader};

/// Key and capabilities of an entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityAuth {
    /// The key.
    pub key: CryptoKey,
    /// A key that will replace it once it was used.
    pub pending_key: Option<CryptoKey>,
    /// Capability text by service name: "mon", "osd", "mds", "mgr".
    pub caps: BTreeMap<String, String>,
}

impl EntityAuth {
    /// A record without pending key.
    pub fn new(key: CryptoKey, caps: BTreeMap<String, String>) -> Self {
        EntityAuth { key, pending_key: None, caps }
    }

    /// The capability text for a service, if it is not empty.
    pub fn caps_for(&self, service: &str) -> Option<&str> {
        self.caps.get(service).map(String::as_str).filter(|text| !text.is_empty())
    }
}

/// What is left of a field that once held a user number.
const OLD_AUID: u64 = u64::MAX;

impl Encode for EntityAuth {
    /// Version 3, which releases from 17 on write.
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_u8(3);
        out.put_u64(OLD_AUID);
        self.key.encode(out, features);
        out.put_len(self.caps.len());
        for (service, text) in &self.caps {
            service.encode(out, features);
            out.put_sized(|out| text.encode(out, features));
        }
        match &self.pending_key {
            Some(key) => key.encode(out, features),
            None => CryptoKey::none().encode(out, features),
        }
    }
}

impl Decode for EntityAuth {
    const MIN_SIZE: usize = 25;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let version = r.u8()?;
        if !(2..=3).contains(&version) {
            return Err(DecodeError::Invalid("unknown entity record version"));
        }
        r.u64()?;
        let key = CryptoKey::decode(r)?;
        let count = r.count(8)?;
        let mut caps = BTreeMap::new();
        for _ in 0..count {
            let service = r.utf8()?.to_owned();
            let mut value = r.sub_blob()?;
            let text = if value.is_empty() { String::new() } else { value.utf8()?.to_owned() };
            value.finish()?;
            caps.insert(service, text);
        }
        let pending_key = if version >= 3 { Some(CryptoKey::decode(r)?) } else { None };
        Ok(EntityAuth { key, pending_key: pending_key.filter(|k| k.kind() != KeyType::None), caps })
    }
}
