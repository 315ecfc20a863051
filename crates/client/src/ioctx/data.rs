//! Reading and writing an object's bytes.

use std::ops::RangeBounds;

use bytes::Bytes;
use sepiola_messages::osd_op::{OpSpec, RequestFlags};
use sepiola_wire::UTime;

use super::IoCtx;
use crate::{AllocHint, Checksum, Create, Error, ObjectName, ReadOp, Result, WriteOp, compound::extent};

/// Size and time of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Bytes.
    pub size: u64,
    /// Time of the last write.
    pub mtime: UTime,
}

impl IoCtx {
    /// Reads a range of bytes; less comes back if the object ends before it.
    ///
    /// # Errors
    /// ENOENT if there is no such object.
    pub async fn read(&self, object: impl Into<ObjectName>, range: impl RangeBounds<u64>) -> Result<Bytes> {
        let extent = extent(range)?;
        if extent.is_empty {
            // The wire takes length 0 for "to the end": find out whether the object exists instead.
            self.stat(object).await?;
            return Ok(Bytes::new());
        }
        let spec = OpSpec::read(extent.offset, extent.length);
        self.read_specs("read", object.into(), vec![spec]).await?.bytes(0)
    }

    /// Reads a range of bytes without its holes: offsets and bytes. What counts as a hole is the store's
    /// affair.
    ///
    /// # Errors
    /// ENOENT if there is no such object; for an empty range.
    pub async fn sparse_read(
        &self,
        object: impl Into<ObjectName>,
        range: impl RangeBounds<u64>,
    ) -> Result<Vec<(u64, Bytes)>> {
        self.operate_read(object, ReadOp::new().sparse_read(range)?).await?.extents(0)
    }

    /// Checksums of a range, computed by the OSD: one for each `chunk_size` bytes or, if that is 0, one for
    /// all.
    ///
    /// # Errors
    /// ENOENT if there is no such object, EINVAL if the last chunk is not whole or
    /// the range of chunks has no end; for an empty range.
    pub async fn checksum(
        &self,
        object: impl Into<ObjectName>,
        kind: Checksum,
        range: impl RangeBounds<u64>,
        chunk_size: u32,
    ) -> Result<Vec<u64>> {
        self.operate_read(object, ReadOp::new().checksum(kind, range, chunk_size)?).await?.checksums(0)
    }

    /// Compares bytes of the object at an offset. What lies behind its end compares as zeros.
    ///
    /// # Errors
    /// If they differ: [`Error::mismatch_at`] tells where.
    pub async fn compare_extent(
        &self,
        object: impl Into<ObjectName>,
        offset: u64,
        data: impl Into<Bytes>,
    ) -> Result<()> {
        let spec = OpSpec::cmpext(offset, data);
        self.read_specs("compare", object.into(), vec![spec]).await.map(drop)
    }

    /// Size and modification time.
    ///
    /// # Errors
    /// ENOENT if there is no such object.
    pub async fn stat(&self, object: impl Into<ObjectName>) -> Result<Stat> {
        self.read_specs("stat", object.into(), vec![OpSpec::stat()]).await?.stat(0)
    }

    /// Writes at an offset, in bytes. Creates the object, and fills a gap before the offset with zeros.
    ///
    /// # Errors
    /// EFBIG beyond what the OSDs take in one object.
    pub async fn write(
        &self,
        object: impl Into<ObjectName>,
        offset: u64,
        data: impl Into<Bytes>,
    ) -> Result<()> {
        self.write_one("write", object.into(), OpSpec::write(offset, data)).await
    }

    /// Replaces the object's data; xattrs and omap stay. Creates the object.
    ///
    /// # Errors
    /// EFBIG beyond what the OSDs take in one object.
    pub async fn write_full(&self, object: impl Into<ObjectName>, data: impl Into<Bytes>) -> Result<()> {
        self.write_one("write", object.into(), OpSpec::write_full(data)).await
    }

    /// Writes at the end. Creates the object.
    ///
    /// # Errors
    /// EFBIG beyond what the OSDs take in one object.
    pub async fn append(&self, object: impl Into<ObjectName>, data: impl Into<Bytes>) -> Result<()> {
        self.write_one("append to", object.into(), OpSpec::append(data)).await
    }

    /// Repeats a pattern over `length` bytes from an offset on. Creates the object.
    ///
    /// # Errors
    /// EINVAL unless `length` is a multiple of the pattern's length.
    pub async fn write_same(
        &self,
        object: impl Into<ObjectName>,
        offset: u64,
        length: u64,
        pattern: impl Into<Bytes>,
    ) -> Result<()> {
        self.write_one("write", object.into(), OpSpec::write_same(offset, length, pattern)).await
    }

    /// Tells the store what sizes, in bytes, and what use of the object to expect. Creates the object.
    ///
    /// # Errors
    /// None of its own.
    pub async fn set_alloc_hint(
        &self,
        object: impl Into<ObjectName>,
        object_size: u64,
        write_size: u64,
        hint: AllocHint,
    ) -> Result<()> {
        self.operate(object, WriteOp::new().alloc_hint(object_size, write_size, hint)).await.map(drop)
    }

    /// Replaces `object` by a copy of another object, which `source` places.
    ///
    /// # Errors
    /// ENOENT if the other one is missing; EOPNOTSUPP from OSDs of Sepiola if another OSD has it.
    pub async fn copy_from(
        &self,
        object: impl Into<ObjectName>,
        source: &IoCtx,
        source_object: impl Into<ObjectName>,
    ) -> Result<()> {
        self.operate(object, WriteOp::new().copy_from(source, source_object, 0)).await.map(drop)
    }

    /// Zeroes a range of bytes; one that reaches the end shortens the object.
    ///
    /// # Errors
    /// For an empty range.
    pub async fn zero(&self, object: impl Into<ObjectName>, offset: u64, length: u64) -> Result<()> {
        if length == 0 {
            return Err(Error::InvalidArgument("zeroing nothing".into()));
        }
        self.write_one("zero", object.into(), OpSpec::zero(offset, length)).await
    }

    /// Sets the size, in bytes; growth is filled with zeros. A missing object stays missing.
    ///
    /// # Errors
    /// EFBIG beyond what the OSDs take in one object.
    pub async fn truncate(&self, object: impl Into<ObjectName>, size: u64) -> Result<()> {
        self.write_one("truncate", object.into(), OpSpec::truncate(size)).await
    }

    /// Creates an empty object.
    ///
    /// # Errors
    /// EEXIST if it exists and `create` is exclusive.
    pub async fn create(&self, object: impl Into<ObjectName>, create: Create) -> Result<()> {
        self.write_one("create", object.into(), OpSpec::create(create == Create::Exclusive)).await
    }

    /// Deletes the object with its xattrs and omap.
    ///
    /// # Errors
    /// ENOENT if there is no such object.
    pub async fn remove(&self, object: impl Into<ObjectName>) -> Result<()> {
        self.write_one("remove", object.into(), OpSpec::delete()).await
    }

    pub(super) async fn write_one(&self, what: &'static str, object: ObjectName, spec: OpSpec) -> Result<()> {
        self.write_specs(what, object, vec![spec], UTime::now(), RequestFlags::NONE).await.map(drop)
    }
}
