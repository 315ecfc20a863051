//! What can be wrong with a map.

use sepiola_wire::{DecodeError, Epoch};
use thiserror::Error;

/// Why a full map or an incremental was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MapError {
    /// The bytes are no map.
    #[error("malformed map: {0}")]
    Decode(#[from] DecodeError),
    /// The checksum does not match.
    #[error("the map's checksum is {found:#010x}, its bytes have {computed:#010x}")]
    Crc {
        /// The checksum that came with the map.
        found: u32,
        /// The checksum of the bytes.
        computed: u32,
    },
}

/// Why an incremental could not be applied.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// It belongs behind another map.
    #[error("incremental {incremental} does not follow map {map}")]
    WrongEpoch {
        /// The map's epoch.
        map: Epoch,
        /// The incremental's epoch.
        incremental: Epoch,
    },
    /// It belongs to another cluster.
    #[error("the incremental is of another cluster")]
    WrongCluster,
    /// The result is not the map that the sender has.
    #[error("the resulting map's checksum is {computed:#010x}, expected {expected:#010x}")]
    Crc {
        /// The checksum that the sender announced.
        expected: u32,
        /// The checksum of the result.
        computed: u32,
    },
    /// A map or CRUSH map inside the incremental is malformed.
    #[error(transparent)]
    Map(#[from] MapError),
    /// The incremental asks for something that no map can have.
    #[error("{0}")]
    Invalid(&'static str),
}

impl From<DecodeError> for ApplyError {
    fn from(e: DecodeError) -> Self {
        ApplyError::Map(e.into())
    }
}
