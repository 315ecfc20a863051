//! MGR_MAP, kept opaque: Sepiola has no manager, and clients need none for I/O.

use bytes::Bytes;
use sepiola_wire::{DecodeError, Features, Put};

use crate::{PRIORITY_HIGH, WireMessage, kind};

/// Monitor to client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MgrMap {
    /// The encoded map.
    pub blob: Bytes,
}

impl WireMessage for MgrMap {
    const TYPE: u16 = kind::MGR_MAP;
    const VERSION: u16 = 1;
    const COMPAT: u16 = 1;
    const PRIORITY: u16 = PRIORITY_HIGH;

    fn encode_front(&self, out: &mut Vec<u8>, _: Features) {
        out.put(&self.blob);
    }

    fn decode(_: u16, front: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
        Ok(MgrMap { blob: Bytes::copy_from_slice(front) })
    }
}
