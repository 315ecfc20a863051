//! Compound writes.

use bytes::Bytes;
use sepiola_messages::osd_op::{CmpOp, OpFlags, OpSpec};
use sepiola_wire::{SnapId, UTime};

use super::{sorted_entries, sorted_keys};

/// What to do if the object exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Create {
    /// Fail with EEXIST.
    Exclusive,
    /// Leave it as it is.
    Idempotent,
}

/// Operations that change one object, carried out in order and atomically: if one fails, none has happened.
///
/// ```no_run
/// # async fn example(io: sepiola_client::IoCtx) -> Result<(), sepiola_client::Error> {
/// use sepiola_client::{Exclusive, WriteOp};
/// let op = WriteOp::new().create(Exclusive).set_xattr("k", "v").omap_set([("a", "1"), ("b", "2")]);
/// io.operate("obj", op).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "an operation does nothing until it is given to `IoCtx::operate`"]
pub struct WriteOp {
    pub(crate) specs: Vec<OpSpec>,
    pub(crate) mtime: Option<UTime>,
}

/// What came of a compound write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteResult {
    /// The object's user version after it.
    pub version: u64,
}

impl WriteOp {
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

    /// The modification time that the object gets; now, if not set.
    pub fn mtime(mut self, mtime: UTime) -> Self {
        self.mtime = Some(mtime);
        self
    }

    /// Lets the operation added last fail without failing the whole.
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

    /// Fails with ENOENT unless the object exists.
    pub fn assert_exists(self) -> Self {
        self.with(OpSpec::stat())
    }

    /// Creates the object.
    pub fn create(self, create: Create) -> Self {
        self.with(OpSpec::create(create == Create::Exclusive))
    }

    /// Writes at an offset, in bytes.
    pub fn write(self, offset: u64, data: impl Into<Bytes>) -> Self {
        self.with(OpSpec::write(offset, data))
    }

    /// Replaces the object's data.
    pub fn write_full(self, data: impl Into<Bytes>) -> Self {
        self.with(OpSpec::write_full(data))
    }

    /// Writes at the end.
    pub fn append(self, data: impl Into<Bytes>) -> Self {
        self.with(OpSpec::append(data))
    }

    /// Repeats a pattern over `length` bytes, a multiple of the pattern's length.
    pub fn write_same(self, offset: u64, length: u64, pattern: impl Into<Bytes>) -> Self {
        self.with(OpSpec::write_same(offset, length, pattern))
    }

    /// Zeroes a range of bytes; one that reaches the end shortens the object.
    pub fn zero(self, offset: u64, length: u64) -> Self {
        self.with(OpSpec::zero(offset, length))
    }

    /// Sets the size in bytes.
    pub fn truncate(self, size: u64) -> Self {
        self.with(OpSpec::truncate(size))
    }

    /// Deletes the object.
    pub fn remove(self) -> Self {
        self.with(OpSpec::delete())
    }

    /// Replaces the object by what it was at a snapshot.
    pub fn rollback(self, snap: SnapId) -> Self {
        self.with(OpSpec::rollback(snap))
    }

    /// Tells the store what sizes, in bytes, and what use to expect. Never fails.
    pub fn alloc_hint(self, object_size: u64, write_size: u64, flags: u32) -> Self {
        self.with(OpSpec::set_alloc_hint(object_size, write_size, flags))
    }

    /// Fails with ECANCELED unless the bytes at `offset` are `data`.
    pub fn compare_extent(self, offset: u64, data: impl Into<Bytes>) -> Self {
        self.with(OpSpec::cmpext(offset, data))
    }

    /// Sets an xattr.
    pub fn set_xattr(self, name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Self {
        self.with(OpSpec::setxattr(name.as_ref(), value.as_ref()))
    }

    /// Removes an xattr; one that is missing is no error.
    pub fn rm_xattr(self, name: impl AsRef<[u8]>) -> Self {
        self.with(OpSpec::rmxattr(name.as_ref()))
    }

    /// Fails with ECANCELED unless *value `op` stored value* holds for an xattr.
    pub fn compare_xattr(self, name: impl AsRef<[u8]>, op: CmpOp, value: impl AsRef<[u8]>) -> Self {
        self.with(OpSpec::cmpxattr(name.as_ref(), op, value.as_ref()))
    }

    /// Sets omap entries.
    pub fn omap_set<K, V>(self, entries: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: AsRef<[u8]>,
        V: AsRef<[u8]>,
    {
        self.with(OpSpec::omap_set(sorted_entries(entries).into_iter()))
    }

    /// Sets the omap header.
    pub fn omap_set_header(self, header: impl Into<Bytes>) -> Self {
        self.with(OpSpec::omap_set_header(header))
    }

    /// Removes omap entries.
    pub fn omap_rm_keys<K: AsRef<[u8]>>(self, keys: impl IntoIterator<Item = K>) -> Self {
        self.with(OpSpec::omap_rm_keys(sorted_keys(keys).into_iter()))
    }

    /// Removes the omap entries from `first` to just before `last`.
    pub fn omap_rm_range(self, first: impl AsRef<[u8]>, last: impl AsRef<[u8]>) -> Self {
        self.with(OpSpec::omap_rm_range(first.as_ref(), last.as_ref()))
    }

    /// Removes all omap entries and the omap header.
    pub fn omap_clear(self) -> Self {
        self.with(OpSpec::omap_clear())
    }

    /// Fails with ECANCELED unless *stored value `op` value* holds for each omap entry. OSDs know
    /// [`CmpOp::Eq`], [`CmpOp::Lt`] and [`CmpOp::Gt`] here.
    pub fn omap_compare<K, V>(self, entries: impl IntoIterator<Item = (K, CmpOp, V)>) -> Self
    where
        K: AsRef<[u8]>,
        V: AsRef<[u8]>,
    {
        let entries = sorted_entries(entries.into_iter().map(|(key, op, value)| (key, (op, value))));
        self.with(OpSpec::omap_cmp(entries.into_iter().map(|(key, (op, value))| (key, op, value))))
    }

    /// Calls a method of an object class that writes.
    pub fn call(self, class: &str, method: &str, input: impl AsRef<[u8]>) -> Self {
        self.with(OpSpec::call(class, method, input.as_ref()))
    }
}
