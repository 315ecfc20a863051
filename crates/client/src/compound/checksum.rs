//! Checksums that an OSD computes.

use std::ops::RangeBounds;

use bytes::Bytes;
use sepiola_messages::osd_op::{Checksum as Args, OpSpec, checksum_kind};

use super::extent;
use crate::{Error, Result};

/// An algorithm and what it starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// xxHash with 32 bits and this seed.
    XxHash32(u32),
    /// xxHash with 64 bits and this seed.
    XxHash64(u64),
    /// CRC-32C, going on from this value without inversions; usually `u32::MAX`.
    Crc32c(u32),
}

impl Checksum {
    /// One sum for each `chunk_size` bytes of a range, which must be whole chunks of what the object has
    /// there; 0 sums the range as one.
    pub(crate) fn spec(self, range: impl RangeBounds<u64>, chunk_size: u32) -> Result<OpSpec> {
        let extent = extent(range)?;
        if extent.is_empty {
            return Err(Error::InvalidArgument("the checksum of an empty range".into()));
        }
        let (kind, init) = match self {
            Checksum::XxHash32(seed) => {
                (checksum_kind::XXHASH32, Bytes::copy_from_slice(&seed.to_le_bytes()))
            }
            Checksum::XxHash64(seed) => {
                (checksum_kind::XXHASH64, Bytes::copy_from_slice(&seed.to_le_bytes()))
            }
            Checksum::Crc32c(init) => (checksum_kind::CRC32C, Bytes::copy_from_slice(&init.to_le_bytes())),
        };
        let args = Args { offset: extent.offset, length: extent.length, chunk_size, kind };
        Ok(OpSpec::checksum(args, init))
    }
}
