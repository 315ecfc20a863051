//! Compound reads.

use std::ops::RangeBounds;

use bytes::Bytes;
use sepiola_messages::osd_op::{CmpOp, OpFlags, OpSpec, RequestFlags};

use super::{Advice, Checksum, extent, omap_cmp, sorted_keys};
use crate::{Error, Result};

/// Reads of one object that all see the same state of it.
#[derive(Debug, Clone, Default)]
#[must_use = "an operation does nothing until it is given to `IoCtx::operate_read`"]
pub struct ReadOp {
    pub(crate) specs: Vec<OpSpec>,
    pub(crate) flags: RequestFlags,
}

impl ReadOp {
    /// An operation that does nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn with(mut self, spec: OpSpec) -> Self {
        self.specs.push(spec);
        self
    }

    /// True if nothing was added.
    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }

    /// Lets the operation added last fail without failing the whole; its error is in its place.
    pub fn allow_failure(mut self) -> Self {
        if let Some(last) = self.specs.last_mut() {
            last.flags |= OpFlags::FAILOK;
        }
        self
    }

    /// Tells what to expect of the bytes that the operation added last touches.
    pub fn advise(mut self, advice: Advice) -> Self {
        if let Some(last) = self.specs.last_mut() {
            last.flags |= advice.flags();
        }
        self
    }

    /// Lets the OSD answer only after the writes that it has begun. OSDs of Sepiola always do.
    pub fn order_reads_writes(mut self) -> Self {
        self.flags |= RequestFlags::RWORDERED;
        self
    }

    /// Fails with ENOENT unless the object exists.
    pub fn assert_exists(self) -> Self {
        self.with(OpSpec::stat())
    }

    /// Fails with ERANGE or EOVERFLOW unless the object's user version is `version`.
    pub fn assert_version(self, version: u64) -> Self {
        self.with(OpSpec::assert_version(version))
    }

    /// Size and modification time; read with [`ReadResult::stat`](crate::ReadResult::stat).
    pub fn stat(self) -> Self {
        self.with(OpSpec::stat())
    }

    /// A range of bytes; less comes back if the object ends before it. Read with [`ReadResult::bytes`](crate::ReadResult::bytes).
    ///
    /// # Errors
    /// For an empty range, which the protocol cannot express.
    pub fn read(self, range: impl RangeBounds<u64>) -> Result<Self> {
        let extent = extent(range)?;
        if extent.is_empty {
            return Err(Error::InvalidArgument("an empty range in a compound read".into()));
        }
        Ok(self.with(OpSpec::read(extent.offset, extent.length)))
    }

    /// A range of bytes without its holes; read with [`ReadResult::extents`](crate::ReadResult::extents).
    ///
    /// # Errors
    /// For an empty range, which the protocol cannot express.
    pub fn sparse_read(self, range: impl RangeBounds<u64>) -> Result<Self> {
        let extent = extent(range)?;
        if extent.is_empty {
            return Err(Error::InvalidArgument("an empty range in a compound read".into()));
        }
        Ok(self.with(OpSpec::sparse_read(extent.offset, extent.length)))
    }

    /// Checksums of a range, one for each `chunk_size` bytes or, if that is 0, one for all; read with
    /// [`ReadResult::checksums`](crate::ReadResult::checksums). OSDs answer EINVAL if the last chunk is not whole or the range of
    /// chunks has no end.
    ///
    /// # Errors
    /// For an empty range.
    pub fn checksum(self, kind: Checksum, range: impl RangeBounds<u64>, chunk_size: u32) -> Result<Self> {
        Ok(self.with(kind.spec(range, chunk_size)?))
    }

    /// Fails unless the bytes at `offset` are `data`; [`Error::mismatch_at`] tells where they differ. What
    /// lies behind the end of the object compares as zeros.
    pub fn compare_extent(self, offset: u64, data: impl Into<Bytes>) -> Self {
        self.with(OpSpec::cmpext(offset, data))
    }

    /// An xattr; read with [`ReadResult::bytes`](crate::ReadResult::bytes).
    pub fn get_xattr(self, name: impl AsRef<[u8]>) -> Self {
        self.with(OpSpec::getxattr(name.as_ref()))
    }

    /// All xattrs; read with [`ReadResult::entries`](crate::ReadResult::entries).
    pub fn get_xattrs(self) -> Self {
        self.with(OpSpec::getxattrs())
    }

    /// Fails with ECANCELED unless *value `op` stored value* holds for an xattr.
    pub fn compare_xattr(self, name: impl AsRef<[u8]>, op: CmpOp, value: impl AsRef<[u8]>) -> Self {
        self.with(OpSpec::cmpxattr(name.as_ref(), op, value.as_ref()))
    }

    /// Fails with ECANCELED unless *value `op` stored value* holds for an xattr that holds a number in
    /// decimal digits; one that is missing counts as 0.
    pub fn compare_xattr_u64(self, name: impl AsRef<[u8]>, op: CmpOp, value: u64) -> Self {
        self.with(OpSpec::cmpxattr_u64(name.as_ref(), op, value))
    }

    /// Fails with ECANCELED unless *stored value `op` value* holds for each omap entry. OSDs know
    /// [`CmpOp::Eq`], [`CmpOp::Lt`] and [`CmpOp::Gt`] here.
    pub fn omap_compare<K, V>(self, entries: impl IntoIterator<Item = (K, CmpOp, V)>) -> Self
    where
        K: AsRef<[u8]>,
        V: AsRef<[u8]>,
    {
        self.with(omap_cmp(entries))
    }

    /// At most `max` omap keys behind `start_after`; read with [`ReadResult::omap_keys`](crate::ReadResult::omap_keys).
    pub fn omap_get_keys(self, start_after: impl AsRef<[u8]>, max: u64) -> Self {
        self.with(OpSpec::omap_get_keys(start_after.as_ref(), max))
    }

    /// The omap header; read with [`ReadResult::bytes`](crate::ReadResult::bytes).
    pub fn omap_get_header(self) -> Self {
        self.with(OpSpec::omap_get_header())
    }

    /// At most `max` omap entries behind `start_after` whose keys start with `prefix`; read with
    /// [`ReadResult::omap_page`](crate::ReadResult::omap_page).
    pub fn omap_get_vals(self, start_after: impl AsRef<[u8]>, prefix: impl AsRef<[u8]>, max: u64) -> Self {
        self.with(OpSpec::omap_get_vals(start_after.as_ref(), max, prefix.as_ref()))
    }

    /// The omap entries of given keys, as far as they exist; read with [`ReadResult::entries`](crate::ReadResult::entries).
    pub fn omap_get_vals_by_keys<K: AsRef<[u8]>>(self, keys: impl IntoIterator<Item = K>) -> Self {
        self.with(OpSpec::omap_get_vals_by_keys(sorted_keys(keys).into_iter()))
    }

    /// Calls a method of an object class that only reads; read with [`ReadResult::bytes`](crate::ReadResult::bytes).
    pub fn call(self, class: &str, method: &str, input: impl AsRef<[u8]>) -> Self {
        self.with(OpSpec::call(class, method, input.as_ref()))
    }
}
