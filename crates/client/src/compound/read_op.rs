//! Compound reads.

use std::{collections::BTreeMap, ops::RangeBounds};

use bytes::Bytes;
use sepiola_messages::osd_op::{CmpOp, OpFlags, OpSpec, output};
use sepiola_wire::{DecodeError, Errno, decode_all};

use super::{extent, sorted_keys};
use crate::{Error, Result, ioctx::OmapPage, ioctx::Stat, objecter::Reply};

/// Reads of one object that all see the same state of it.
///
/// ```no_run
/// # async fn example(io: sepiola_client::IoCtx) -> Result<(), sepiola_client::Error> {
/// use sepiola_client::ReadOp;
/// let result = io.operate_read("obj", ReadOp::new().stat().read(0..4096)?.get_xattr("k")).await?;
/// let (stat, data, value) = (result.stat(0)?, result.bytes(1)?, result.bytes(2)?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "an operation does nothing until it is given to `IoCtx::operate_read`"]
pub struct ReadOp {
    pub(crate) specs: Vec<OpSpec>,
}

/// What came of a compound read. Operations are numbered from 0, in the order in which they were added.
#[derive(Debug, Clone)]
pub struct ReadResult {
    pub(crate) reply: Reply,
    pub(crate) what: &'static str,
    pub(crate) object: Bytes,
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

    /// Fails with ERANGE or EOVERFLOW unless the object's user version is `version`.
    pub fn assert_version(self, version: u64) -> Self {
        self.with(OpSpec::assert_version(version))
    }

    /// Size and modification time; read with [`ReadResult::stat`].
    pub fn stat(self) -> Self {
        self.with(OpSpec::stat())
    }

    /// A range of bytes; less comes back if the object ends before it. Read with [`ReadResult::bytes`].
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

    /// Fails with ECANCELED unless the bytes at `offset` are `data`.
    pub fn compare_extent(self, offset: u64, data: impl Into<Bytes>) -> Self {
        self.with(OpSpec::cmpext(offset, data))
    }

    /// An xattr; read with [`ReadResult::bytes`].
    pub fn get_xattr(self, name: impl AsRef<[u8]>) -> Self {
        self.with(OpSpec::getxattr(name.as_ref()))
    }

    /// All xattrs; read with [`ReadResult::entries`].
    pub fn get_xattrs(self) -> Self {
        self.with(OpSpec::getxattrs())
    }

    /// Fails with ECANCELED unless *value `op` stored value* holds for an xattr.
    pub fn compare_xattr(self, name: impl AsRef<[u8]>, op: CmpOp, value: impl AsRef<[u8]>) -> Self {
        self.with(OpSpec::cmpxattr(name.as_ref(), op, value.as_ref()))
    }

    /// The omap header; read with [`ReadResult::bytes`].
    pub fn omap_get_header(self) -> Self {
        self.with(OpSpec::omap_get_header())
    }

    /// At most `max` omap entries behind `start_after` whose keys start with `prefix`; read with
    /// [`ReadResult::omap_page`].
    pub fn omap_get_vals(self, start_after: impl AsRef<[u8]>, prefix: impl AsRef<[u8]>, max: u64) -> Self {
        self.with(OpSpec::omap_get_vals(start_after.as_ref(), max, prefix.as_ref()))
    }

    /// The omap entries of given keys, as far as they exist; read with [`ReadResult::entries`].
    pub fn omap_get_vals_by_keys<K: AsRef<[u8]>>(self, keys: impl IntoIterator<Item = K>) -> Self {
        self.with(OpSpec::omap_get_vals_by_keys(sorted_keys(keys).into_iter()))
    }

    /// Calls a method of an object class that only reads; read with [`ReadResult::bytes`].
    pub fn call(self, class: &str, method: &str, input: impl AsRef<[u8]>) -> Self {
        self.with(OpSpec::call(class, method, input.as_ref()))
    }
}

impl ReadResult {
    /// The object's user version.
    pub fn version(&self) -> u64 {
        self.reply.user_version
    }

    /// The raw output of an operation.
    ///
    /// # Errors
    /// The operation's own error, if it was allowed to fail and did.
    pub fn bytes(&self, index: usize) -> Result<Bytes> {
        let (rval, output) = self
            .reply
            .output(index)
            .ok_or_else(|| Error::PeerMisbehaved("the reply lacks an operation".to_owned()))?;
        match Errno::from_wire(rval) {
            Ok(_) => Ok(output),
            Err(errno) => Err(Error::operation(errno, self.what, &self.object)),
        }
    }

    fn decoded<T>(&self, index: usize, decode: impl FnOnce(&Bytes) -> Result<T, DecodeError>) -> Result<T> {
        decode(&self.bytes(index)?).map_err(|e| Error::PeerMisbehaved(format!("malformed output: {e}")))
    }

    /// The output of [`ReadOp::stat`].
    ///
    /// # Errors
    /// As [`ReadResult::bytes`], and if the output is not of that kind.
    pub fn stat(&self, index: usize) -> Result<Stat> {
        let stat: output::Stat = self.decoded(index, |bytes| decode_all(bytes))?;
        Ok(Stat { size: stat.size, mtime: stat.mtime })
    }

    /// The output of [`ReadOp::get_xattrs`] or [`ReadOp::omap_get_vals_by_keys`].
    ///
    /// # Errors
    /// As [`ReadResult::stat`].
    pub fn entries(&self, index: usize) -> Result<BTreeMap<Bytes, Bytes>> {
        Ok(self.decoded(index, output::decode_entries)?.into_iter().collect())
    }

    /// The output of [`ReadOp::omap_get_vals`].
    ///
    /// # Errors
    /// As [`ReadResult::stat`].
    pub fn omap_page(&self, index: usize) -> Result<OmapPage> {
        let page = self.decoded(index, output::OmapVals::decode)?;
        Ok(OmapPage { entries: page.entries, more: page.more })
    }

    pub(crate) fn omap_keys(&self, index: usize) -> Result<(Vec<Bytes>, bool)> {
        let page = self.decoded(index, output::OmapKeys::decode)?;
        Ok((page.keys, page.more))
    }

    pub(crate) fn listing(&self, index: usize) -> Result<output::Listing> {
        self.decoded(index, |bytes| decode_all(bytes))
    }
}
