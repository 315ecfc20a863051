//! The state that the ops of one message share.

use std::collections::BTreeMap;

use bytes::Bytes;
use sepiola_objectstore::{
    Change, KeyRef, ObjectInfo, ObjectStat, ObjectStore, StoreError, Transaction, WriteData,
};
use sepiola_wire::{Errno, PgId, UTime};

use super::{Failure, Limits, Outputs, copy_from::Sources};
use crate::class::Caller;

/// Data above this size is kept in the buffer that it arrived in.
const KEEP_ABOVE: usize = 64 << 10;

/// One message's run on one object.
pub(crate) struct Execution<'a, 'o> {
    store: &'a dyn ObjectStore,
    collection: PgId,
    object: KeyRef<'a>,
    /// The limits in force.
    pub limits: &'a Limits,
    /// The message's time stamp, zero if the client gave none.
    pub mtime: UTime,
    /// Who sent the message.
    pub caller: Caller,
    /// The message's data, if it arrived in a buffer of its own.
    shared: Option<&'a Bytes>,
    before: Option<ObjectStat>,
    exists: bool,
    size: u64,
    /// What will be kept with the object.
    pub info: ObjectInfo,
    transaction: Transaction<'a>,
    /// What the ops return.
    pub out: &'o mut Outputs,
    /// Bytes written, for statistics.
    pub written: u64,
    /// What the message's copies are made of, in order.
    pub sources: Sources,
    /// The user version that a copy brought along.
    pub copied_version: Option<u64>,
}

impl<'a, 'o> Execution<'a, 'o> {
    /// Looks the object up and starts with an empty transaction.
    pub fn start(
        store: &'a dyn ObjectStore,
        object: KeyRef<'a>,
        transaction: Transaction<'a>,
        limits: &'a Limits,
        caller: Caller,
        out: &'o mut Outputs,
    ) -> Result<Self, StoreError> {
        let collection = transaction.collection();
        let before = store.stat(collection, object).wait()?;
        let stat = before.unwrap_or_default();
        Ok(Execution {
            store,
            collection,
            object,
            limits,
            mtime: UTime::ZERO,
            caller,
            shared: None,
            before,
            exists: before.is_some(),
            size: stat.size,
            info: stat.info,
            transaction,
            out,
            written: 0,
            sources: Sources::new(),
            copied_version: None,
        })
    }

    /// Sets the time stamp that writes give the object.
    pub fn with_mtime(mut self, mtime: UTime) -> Self {
        self.mtime = mtime;
        self
    }

    /// Says which buffer the ops' input lies in.
    pub fn with_shared(mut self, shared: Option<&'a Bytes>) -> Self {
        self.shared = shared;
        self
    }

    /// Sets what copies are made of.
    pub fn with_sources(mut self, sources: Sources) -> Self {
        self.sources = sources;
        self
    }

    /// The object before the message.
    pub fn before(&self) -> Option<&ObjectStat> {
        self.before.as_ref()
    }

    /// Whether the object exists at this point of the message.
    pub fn exists(&self) -> bool {
        self.exists
    }

    /// The object's size at this point of the message.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// ENOENT unless the object exists at this point.
    pub fn require(&self) -> Result<(), Failure> {
        if self.exists { Ok(()) } else { Err(Errno::ENOENT.into()) }
    }

    /// True when the object needs more room after the message than before it: it is new, larger, or has got
    /// attributes or omap entries.
    pub fn grows(&self) -> bool {
        let before = self.before.map_or(0, |before| before.size);
        self.exists
            && (self.before.is_none()
                || self.size > before
                || self.transaction.changes().iter().any(|(_, change)| {
                    use Change::{OmapSet, OmapSetHeader, SetXattr};
                    matches!(change, OmapSet { .. } | OmapSetHeader(_) | SetXattr { .. })
                }))
    }

    /// True when the message has changed something so far.
    pub fn has_changes(&self) -> bool {
        !self.transaction.is_empty()
    }

    /// Adds a change that also makes the object exist.
    pub fn change(&mut self, change: Change<'a>) {
        self.exists = true;
        self.transaction.push(self.object, change);
    }

    /// Adds a change to data, after which the object has `size` bytes.
    pub fn change_data(&mut self, change: Change<'a>, size: u64) {
        self.change(change);
        self.size = size;
    }

    /// Removes the object.
    pub fn remove(&mut self) {
        self.transaction.push(self.object, Change::Remove);
        self.exists = false;
        self.size = 0;
        // A later op of the message may create it anew; its versions go on from the old object's.
        self.info = ObjectInfo { user_version: self.info.user_version, ..ObjectInfo::default() };
    }

    /// An op's input as the store takes it: by reference if it arrived in a buffer of its own, else as
    /// a view to be copied once.
    pub fn write_data(&self, input: &'a [u8]) -> WriteData<'a> {
        match self.shared {
            Some(buffer) if input.len() > KEEP_ABOVE => WriteData::Shared(buffer.slice_ref(input)),
            _ => WriteData::Borrowed(input),
        }
    }

    /// Asks the store about the object as it was before the message; `T::default()` if it did not exist.
    pub fn stored<T: Default>(
        &self,
        read: impl FnOnce(&dyn ObjectStore, PgId, KeyRef<'a>) -> sepiola_objectstore::Fetch<T>,
    ) -> Result<T, Failure> {
        if self.before.is_none() {
            return Ok(T::default());
        }
        read(self.store, self.collection, self.object).wait().map_err(|error| store_failure(&error))
    }

    /// An attribute at this point of the message.
    pub fn xattr(&self, name: &[u8]) -> Result<Option<Bytes>, Failure> {
        match self.transaction.pending_xattr(self.object, name) {
            Some(pending) => Ok(pending.map(Bytes::copy_from_slice)),
            None => self.stored(|store, pg, object| store.xattr(pg, object, name)),
        }
    }

    /// Checks that the outputs so far may grow by `more` bytes.
    pub fn reserve_output(&self, more: u64) -> Result<(), Failure> {
        let total = (self.out.total() as u64).saturating_add(more);
        if total > self.limits.max_reply as u64 { Err(Errno::EMSGSIZE.into()) } else { Ok(()) }
    }

    /// All attributes at this point of the message.
    pub fn xattrs(&self) -> Result<BTreeMap<Bytes, Bytes>, Failure> {
        let stored = self.stored(|store, pg, object| store.xattrs(pg, object))?;
        let mut all = stored.into_iter().collect();
        self.apply_pending_xattrs(&mut all);
        Ok(all)
    }

    fn apply_pending_xattrs(&self, attributes: &mut BTreeMap<Bytes, Bytes>) {
        for (_, change) in self.transaction.changes() {
            match change {
                Change::Remove => attributes.clear(),
                Change::SetXattr { name, value } => {
                    attributes.insert(name.to_bytes(), value.to_bytes());
                }
                Change::RemoveXattr { name } => drop(attributes.remove(name.as_slice())),
                _ => {}
            }
        }
    }

    /// The transaction, with the object's information as its last change if the object exists, and the
    /// outputs.
    pub fn into_parts(mut self) -> (Transaction<'a>, &'o mut Outputs) {
        if self.exists {
            self.transaction.push(self.object, Change::SetInfo(self.info));
        }
        (self.transaction, self.out)
    }

    /// The transaction's memory, without its changes.
    pub fn abandon<'b>(self) -> Transaction<'b> {
        self.transaction.recycle(self.collection)
    }
}

/// A store that fails is an I/O error to clients, unless it is just full; the log says more.
pub(crate) fn store_failure(error: &StoreError) -> Failure {
    if *error == StoreError::Full {
        return Errno::ENOSPC.into();
    }
    tracing::error!(%error, "object store failed");
    Errno::EIO.into()
}
