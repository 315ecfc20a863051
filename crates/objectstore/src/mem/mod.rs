//! A store in memory: for tests, benches and the mini-cluster's default.

mod data;
mod object;
mod table;
mod usage;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use sepiola_wire::PgId;

use crate::{
    Change, CollectionStats, Completion, Fetch, KeyRef, ObjectKey, ObjectStat, ObjectStore, OmapPage,
    OmapQuery, ReadData, RemovalLimit, Space, StoreError, Submitted, Transaction,
};
use object::Object;
use table::Table;
use usage::{Usage, growth};

/// What a store may hold unless it is told otherwise, as Ceph's.
const DEFAULT_CAPACITY: u64 = 1 << 30;

/// Objects in ordered maps, one per collection, each behind a lock of its own. Everything answers at
/// once and nothing survives the process.
///
/// A store refuses what would take it above its capacity. Transactions on other collections at the same
/// moment are not seen, so that it can end up above it by what those add.
#[derive(Debug)]
pub struct MemStore {
    collections: RwLock<HashMap<PgId, Mutex<Collection>>>,
    capacity: u64,
    used: AtomicU64,
}

impl Default for MemStore {
    fn default() -> Self {
        Self::with_capacity(DEFAULT_CAPACITY)
    }
}

#[derive(Debug, Default)]
struct Collection {
    objects: Table,
    usage: Usage,
}

impl MemStore {
    /// A store without collections that may hold 1 GiB.
    pub fn new() -> Self {
        Self::default()
    }

    /// A store without collections that may hold so many bytes.
    pub fn with_capacity(capacity: u64) -> Self {
        MemStore { collections: RwLock::default(), capacity, used: AtomicU64::new(0) }
    }

    /// Accounts for a change of a collection's usage.
    fn account(&self, before: u64, after: u64) {
        // Overwrites change nothing, and then nobody else's cache line is touched.
        if after > before {
            self.used.fetch_add(after - before, Ordering::Relaxed);
        } else if before > after {
            self.used.fetch_sub(before - after, Ordering::Relaxed);
        }
    }

    fn has_room(&self, objects: &Table, transaction: &Transaction<'_>) -> bool {
        let used = self.used.load(Ordering::Relaxed);
        let changes = transaction.changes();
        // What objects and entries cost besides their bytes is left to the exact calculation; a transaction
        // is far from a megabyte of it.
        let most = changes.iter().fold(1 << 20, |sum: u64, (_, c)| sum.saturating_add(c.adds_at_most()));
        if used.saturating_add(most) <= self.capacity && changes.len() <= 1024 {
            return true;
        }
        let growth = growth(objects, changes);
        growth <= 0 || i128::from(used) + growth <= i128::from(self.capacity)
    }

    fn with<T>(
        &self,
        collection: PgId,
        f: impl FnOnce(&mut Collection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let collections = self.collections.read();
        let found = collections.get(&collection).ok_or(StoreError::NoCollection(collection))?;
        f(&mut found.lock())
    }

    fn with_object<T>(&self, collection: PgId, object: KeyRef<'_>, f: impl FnOnce(&Object) -> T) -> Fetch<T> {
        Fetch::Ready(self.with(collection, |c| c.objects.get(object).map(f).ok_or(StoreError::NoObject)))
    }
}

impl Collection {
    /// Applies changes in order. Most transactions are several changes to one object, which is looked up once.
    fn apply<'a>(&mut self, changes: impl Iterator<Item = (KeyRef<'a>, Change<'a>)>) {
        let Collection { objects, usage } = self;
        let mut changes = changes.peekable();
        while let Some((key, change)) = changes.next() {
            if matches!(change, Change::Remove) {
                if let Some(gone) = objects.remove(key) {
                    gone.subtract_from(key, usage);
                }
                continue;
            }
            let rest = std::iter::from_fn(|| {
                changes.next_if(|(next, change)| *next == key && !matches!(change, Change::Remove))
            });
            let changes_of_object = std::iter::once(change).chain(rest.map(|(_, change)| change));
            match objects.get_mut(key) {
                Some(object) => changes_of_object.for_each(|change| object.apply(change, usage)),
                None => create(objects, key, changes_of_object, usage),
            }
        }
    }
}

/// Applies changes to an object that does not exist. Those that need one do nothing until another makes it.
fn create<'a>(
    objects: &mut Table,
    key: KeyRef<'_>,
    changes: impl Iterator<Item = Change<'a>>,
    usage: &mut Usage,
) {
    let mut object = None;
    for change in changes.skip_while(Change::needs_object) {
        object.get_or_insert_with(Object::default).apply(change, usage);
    }
    if let Some(object) = object {
        Object::add_to(key, usage);
        objects.insert(key, object);
    }
}

impl ObjectStore for MemStore {
    fn create_collection(&self, collection: PgId) -> Result<(), StoreError> {
        self.collections.write().entry(collection).or_default();
        Ok(())
    }

    fn remove_collection(&self, collection: PgId) -> Result<(), StoreError> {
        // Taken out under the lock, freed after it: freeing a large collection takes a while.
        let gone = self.collections.write().remove(&collection);
        if let Some(gone) = gone {
            self.account(gone.into_inner().usage.bytes(), 0);
        }
        Ok(())
    }

    fn remove_some(&self, collection: PgId, limit: RemovalLimit) -> Result<bool, StoreError> {
        let mut freed = Vec::new();
        {
            let collections = self.collections.read();
            let Some(found) = collections.get(&collection) else { return Ok(true) };
            let Collection { objects, usage } = &mut *found.lock();
            let before = usage.bytes();
            while freed.len() < limit.objects && before - usage.bytes() < limit.bytes {
                let Some((key, object)) = objects.pop_first() else { break };
                object.subtract_from(key.as_ref(), usage);
                freed.push(object);
            }
            self.account(before, usage.bytes());
        }
        // Freed without a lock: it takes longer than taking them out.
        drop(freed);
        let mut collections = self.collections.write();
        let empty = collections.get_mut(&collection).is_none_or(|c| c.get_mut().objects.is_empty());
        if empty {
            collections.remove(&collection);
        }
        Ok(empty)
    }

    fn collections(&self) -> Vec<PgId> {
        self.collections.read().keys().copied().collect()
    }

    fn submit(&self, transaction: &mut Transaction<'_>, _later: &mut dyn FnMut() -> Completion) -> Submitted {
        Submitted::Done(self.with(transaction.collection(), |c| {
            if !self.has_room(&c.objects, transaction) {
                drop(transaction.drain());
                return Err(StoreError::Full);
            }
            let before = c.usage.bytes();
            c.apply(transaction.drain());
            self.account(before, c.usage.bytes());
            Ok(())
        }))
    }

    fn stat(&self, collection: PgId, object: KeyRef<'_>) -> Fetch<Option<ObjectStat>> {
        Fetch::Ready(self.with(collection, |c| Ok(c.objects.get(object).map(Object::stat))))
    }

    fn read(&self, collection: PgId, object: KeyRef<'_>, offset: u64, length: u64) -> Fetch<ReadData> {
        self.with_object(collection, object, |o| o.data.read(offset, length))
    }

    fn xattr(&self, collection: PgId, object: KeyRef<'_>, name: &[u8]) -> Fetch<Option<Bytes>> {
        self.with_object(collection, object, |o| o.xattrs.get(name).cloned())
    }

    fn xattrs(&self, collection: PgId, object: KeyRef<'_>) -> Fetch<Vec<(Bytes, Bytes)>> {
        self.with_object(collection, object, |o| {
            o.xattrs.iter().map(|(n, v)| (n.clone(), v.clone())).collect()
        })
    }

    fn omap_header(&self, collection: PgId, object: KeyRef<'_>) -> Fetch<Bytes> {
        self.with_object(collection, object, |o| o.omap_header.clone())
    }

    fn omap_range(&self, collection: PgId, object: KeyRef<'_>, query: OmapQuery<'_>) -> Fetch<OmapPage> {
        self.with_object(collection, object, |o| o.omap_range(query))
    }

    fn omap_get(&self, collection: PgId, object: KeyRef<'_>, key: &[u8]) -> Fetch<Option<Bytes>> {
        self.with_object(collection, object, |o| o.omap.get(key).cloned())
    }

    fn list(&self, collection: PgId, from: KeyRef<'_>, max: usize) -> Fetch<Vec<ObjectKey>> {
        Fetch::Ready(self.with(collection, |c| Ok(c.objects.keys_from(from).take(max).cloned().collect())))
    }

    fn space(&self) -> Space {
        Space { total: self.capacity, used: self.used.load(Ordering::Relaxed) }
    }

    fn stats(&self, collection: PgId) -> Result<CollectionStats, StoreError> {
        self.with(collection, |c| Ok(c.usage.stats))
    }
}
