//! Reading and writing an object's bytes.

use std::ops::RangeBounds;

use bytes::Bytes;
use sepiola_messages::osd_op::OpSpec;
use sepiola_wire::UTime;

use super::IoCtx;
use crate::{Create, Error, ObjectName, Result, compound::extent};

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
    /// ```no_run
    /// # async fn example(io: sepiola_client::IoCtx) -> Result<(), sepiola_client::Error> {
    /// let head = io.read("obj", 0..4096).await?;
    /// let all = io.read("obj", ..).await?;
    /// # Ok(())
    /// # }
    /// ```
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
        self.write_specs(what, object, vec![spec], UTime::now()).await.map(drop)
    }
}
