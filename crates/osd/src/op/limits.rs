//! What a client may ask for at most.

use sepiola_wire::Errno;

use super::Failure;

/// Limits of requests; the defaults are Ceph's.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of data in one message (`osd_max_write_size`).
    pub max_write: usize,
    /// Bytes of an object (`osd_max_object_size`).
    pub max_object: u64,
    /// Bytes of an object's name or locator key (`osd_max_object_name_len`).
    pub max_name: usize,
    /// Bytes of a namespace (`osd_max_object_namespace_len`).
    pub max_nspace: usize,
    /// Bytes of an attribute's name (`osd_max_attr_name_len`).
    pub max_xattr_name: usize,
    /// Bytes of an attribute's value (`osd_max_attr_size`); `None` for as much as a message can carry.
    pub max_xattr_value: Option<u32>,
    /// Bytes that one op of a write may return (`osd_max_write_op_reply_len`).
    pub max_write_reply: usize,
    /// Entries in one omap reply (`osd_max_omap_entries_per_request`).
    pub max_omap_entries: usize,
    /// Bytes of keys and values in one omap reply (`osd_max_omap_bytes_per_request`); replies are limited to
    /// half of [`Limits::max_reply`] in any case.
    pub max_omap_bytes: usize,
    /// Objects in one listing reply (`osd_max_pgls`).
    pub max_listing: usize,
    /// Ops in one message.
    pub max_ops: usize,
    /// Bytes in the answer to one message, so that many reads in one message cannot exhaust memory.
    pub max_reply: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_write: 90 << 20,
            max_object: 128 << 20,
            max_name: 2048,
            max_nspace: 256,
            max_xattr_name: 100,
            max_xattr_value: None,
            max_write_reply: 64,
            max_omap_entries: 1024,
            max_omap_bytes: 1 << 30,
            max_listing: 1024,
            max_ops: 1024,
            max_reply: 256 << 20,
        }
    }
}

impl Limits {
    /// Checks that a range to be written lies within the largest object.
    pub(crate) fn check_range(&self, offset: u64, length: u64) -> Result<(), Failure> {
        let fits = offset < self.max_object && offset.saturating_add(length) <= self.max_object;
        if fits { Ok(()) } else { Err(Errno::EFBIG.into()) }
    }
}
