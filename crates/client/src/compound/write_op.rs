//! Compound writes.

use bytes::Bytes;
use sepiola_messages::osd_op::{CmpOp, CopyFrom, OpFlags, OpSpec, RequestFlags};
use sepiola_wire::{SnapId, UTime};

use super::{Advice, AllocHint, omap_cmp, sorted_entries, sorted_keys};
use crate::{IoCtx, ObjectName};

/// What to do if the object exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Create {
    /// Fail with EEXIST.
    Exclusive,
    /// Leave it as it is.
    Idempotent,
}

/// Operations that change one object, carried out in order and atomically: if one fails, none has happened.
#[derive(Debug, Clone, Default)]
#[must_use = "an operation does nothing until it is given to `IoCtx::operate`"]
pub struct WriteOp {
    pub(crate) specs: Vec<OpSpec>,
    pub(crate) mtime: Option<UTime>,
    pub(crate) flags: RequestFlags,
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

    /// Asks for the results and outputs of the single operations, which writes do not give by themselves;
    /// they are in [`WriteResult`](crate::WriteResult).
    pub fn return_results(mut self) -> Self {
        self.flags |= RequestFlags::RETURNVEC;
        self
    }

    /// Tries also when the cluster or the pool is full, and fails with ENOSPC or EDQUOT instead of waiting.
    pub fn full_try(mut self) -> Self {
        self.flags |= RequestFlags::FULL_TRY;
        self
    }

    /// Goes ahead although the cluster or the pool is full, as deletions do by themselves. Needs the right
    /// to do everything with the pool.
    pub fn full_force(mut self) -> Self {
        self.flags |= RequestFlags::FULL_FORCE;
        self
    }

    /// Tells what to expect of the bytes that the operation added last touches.
    pub fn advise(mut self, advice: Advice) -> Self {
        if let Some(last) = self.specs.last_mut() {
            last.flags |= advice.flags();
        }
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

    /// Tells the store what sizes, in bytes, and what use to expect. Creates the object, and never fails.
    pub fn alloc_hint(self, object_size: u64, write_size: u64, hint: AllocHint) -> Self {
        self.with(OpSpec::set_alloc_hint(object_size, write_size, hint.0))
    }

    /// Replaces the object by a copy of another one, which `source` places, with data, xattrs and omap. Fails
    /// with ERANGE or EOVERFLOW unless that has this user version; 0 takes any. Sepiola's OSDs answer
    /// EOPNOTSUPP if the other object is on another OSD.
    pub fn copy_from(self, source: &IoCtx, object: impl Into<ObjectName>, version: u64) -> Self {
        let args =
            CopyFrom { src_snap: source.read_snapshot().0, src_version: version, ..CopyFrom::default() };
        self.with(OpSpec::copy_from(object.into().as_bytes(), &source.locator(), args))
    }

    /// Fails unless the bytes at `offset` are `data`; [`Error::mismatch_at`](crate::Error::mismatch_at) tells
    /// where they differ. What lies behind the end of the object compares as zeros.
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

    /// Fails with ECANCELED unless *value `op` stored value* holds for an xattr that holds a number in
    /// decimal digits; one that is missing counts as 0.
    pub fn compare_xattr_u64(self, name: impl AsRef<[u8]>, op: CmpOp, value: u64) -> Self {
        self.with(OpSpec::cmpxattr_u64(name.as_ref(), op, value))
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
        self.with(omap_cmp(entries))
    }

    /// Calls a method of an object class that writes.
    pub fn call(self, class: &str, method: &str, input: impl AsRef<[u8]>) -> Self {
        self.with(OpSpec::call(class, method, input.as_ref()))
    }
}
