//! What came of a compound operation.

use std::collections::BTreeMap;

use bytes::Bytes;
use sepiola_messages::osd_op::output;
use sepiola_wire::{DecodeError, Errno, Reader, decode_all};

use crate::{Error, Result, ioctx::OmapPage, ioctx::Stat, objecter::Reply};

/// What came of a compound read. Operations are numbered from 0, in the order in which they were added.
#[derive(Debug, Clone)]
pub struct ReadResult {
    pub(crate) reply: Reply,
    pub(crate) what: &'static str,
    pub(crate) object: Bytes,
}

/// What came of a compound write. Results of single operations are there if [`WriteOp::return_results`] asked
/// for them; they are numbered from 0, in the order in which they were added.
///
/// [`WriteOp::return_results`]: crate::WriteOp::return_results
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WriteResult {
    /// The object's user version after it.
    pub version: u64,
    pub(crate) results: ReadResult,
}

impl WriteResult {
    /// The number that an operation returned.
    ///
    /// # Errors
    /// As [`ReadResult::value`].
    pub fn value(&self, index: usize) -> Result<i32> {
        self.results.value(index)
    }

    /// What an operation gave back, such as a class method's answer.
    ///
    /// # Errors
    /// As [`ReadResult::value`].
    pub fn bytes(&self, index: usize) -> Result<Bytes> {
        self.results.bytes(index)
    }
}

impl ReadResult {
    /// The object's user version.
    pub fn version(&self) -> u64 {
        self.reply.user_version
    }

    fn outcome(&self, index: usize) -> Result<(i32, Bytes)> {
        let (rval, output) = self
            .reply
            .output(index)
            .ok_or_else(|| Error::PeerMisbehaved("the reply lacks an operation".to_owned()))?;
        match Errno::from_wire(rval) {
            Ok(value) => Ok((value, output)),
            Err(errno) => Err(Error::operation(errno, self.what, &self.object)),
        }
    }

    /// The number that an operation returned, 0 for most.
    ///
    /// # Errors
    /// The operation's own error, if it was allowed to fail and did.
    pub fn value(&self, index: usize) -> Result<i32> {
        Ok(self.outcome(index)?.0)
    }

    /// The raw output of an operation.
    ///
    /// # Errors
    /// As [`ReadResult::value`].
    pub fn bytes(&self, index: usize) -> Result<Bytes> {
        Ok(self.outcome(index)?.1)
    }

    fn decoded<T>(&self, index: usize, decode: impl FnOnce(&Bytes) -> Result<T, DecodeError>) -> Result<T> {
        decode(&self.bytes(index)?).map_err(|e| Error::PeerMisbehaved(format!("malformed output: {e}")))
    }

    /// The output of [`ReadOp::stat`](crate::ReadOp::stat).
    ///
    /// # Errors
    /// As [`ReadResult::value`], and if the output is not of that kind.
    pub fn stat(&self, index: usize) -> Result<Stat> {
        let stat: output::Stat = self.decoded(index, |bytes| decode_all(bytes))?;
        Ok(Stat { size: stat.size, mtime: stat.mtime })
    }

    /// The output of [`ReadOp::sparse_read`](crate::ReadOp::sparse_read): offsets and bytes.
    ///
    /// # Errors
    /// As [`ReadResult::stat`].
    pub fn extents(&self, index: usize) -> Result<Vec<(u64, Bytes)>> {
        let read = self.decoded(index, output::SparseRead::decode)?;
        let mut data = read.data;
        let extents = read.extents.into_iter().map(|(offset, length)| {
            let length = usize::try_from(length).ok().filter(|length| *length <= data.len());
            let length = length
                .ok_or_else(|| Error::PeerMisbehaved("a sparse read without all of its bytes".to_owned()))?;
            Ok((offset, data.split_to(length)))
        });
        extents.collect()
    }

    /// The output of [`ReadOp::checksum`](crate::ReadOp::checksum), a number for each chunk.
    ///
    /// # Errors
    /// As [`ReadResult::stat`].
    pub fn checksums(&self, index: usize) -> Result<Vec<u64>> {
        self.decoded(index, |bytes| {
            let r = &mut Reader::new(bytes);
            let count = r.count(4)?;
            // Which of the two widths it is follows from what there is.
            let wide = r.remaining() >= count * 8;
            (0..count).map(|_| if wide { r.u64() } else { r.u32().map(u64::from) }).collect()
        })
    }

    /// The output of [`ReadOp::get_xattrs`](crate::ReadOp::get_xattrs) or
    /// [`ReadOp::omap_get_vals_by_keys`](crate::ReadOp::omap_get_vals_by_keys).
    ///
    /// # Errors
    /// As [`ReadResult::stat`].
    pub fn entries(&self, index: usize) -> Result<BTreeMap<Bytes, Bytes>> {
        Ok(self.decoded(index, output::decode_entries)?.into_iter().collect())
    }

    /// The output of [`ReadOp::omap_get_vals`](crate::ReadOp::omap_get_vals).
    ///
    /// # Errors
    /// As [`ReadResult::stat`].
    pub fn omap_page(&self, index: usize) -> Result<OmapPage> {
        let page = self.decoded(index, output::OmapVals::decode)?;
        Ok(OmapPage { entries: page.entries, more: page.more })
    }

    /// The output of [`ReadOp::omap_get_keys`](crate::ReadOp::omap_get_keys): keys, and whether there are
    /// more.
    ///
    /// # Errors
    /// As [`ReadResult::stat`].
    pub fn omap_keys(&self, index: usize) -> Result<(Vec<Bytes>, bool)> {
        let page = self.decoded(index, output::OmapKeys::decode)?;
        Ok((page.keys, page.more))
    }

    pub(crate) fn listing(&self, index: usize) -> Result<output::Listing> {
        self.decoded(index, |bytes| decode_all(bytes))
    }
}
