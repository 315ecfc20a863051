//! CONFIG: options that the cluster's configuration sets for this entity.

use std::collections::BTreeMap;

use sepiola_wire::{Decode, DecodeError, Encode, Features, Reader};

use crate::{PRIORITY_HIGH, WireMessage, kind};

/// Monitor to client. Stock clients do not finish connecting before they have received one, so an empty
/// one is sent too.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Config {
    /// Values by option name.
    pub options: BTreeMap<String, String>,
}

impl WireMessage for Config {
    const TYPE: u16 = kind::CONFIG;
    const VERSION: u16 = 1;
    const COMPAT: u16 = 1;
    const PRIORITY: u16 = PRIORITY_HIGH;

    fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        self.options.encode(out, features);
    }

    fn decode(_: u16, front: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
        Ok(Config { options: Decode::decode(&mut Reader::new(front))? })
    }
}
