//! A store in memory: for tests, benches and the mini-cluster's default.

mod data;
mod object;

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use sepiola_wire::PgId;

use crate::{
    Change, CollectionStats, Completion, Fetch, KeyRef, ObjectKey, ObjectStat, ObjectStore, OmapPage,
    OmapQuery, ReadData, StoreError, Submitted, Transaction,
};
use object::Object;

/// Objects in ordered maps, one per collection, each behind a lock of its own. Everything answers at
/// once and nothing survives the process.
#[derive(Debug, Default)]
pub struct MemStore {
    collections: RwLock<HashMap<PgId, Mutex<Collection>>>,
}

#[derive(Debug, Default)]
struct Collection {
    objects: BTreeMap<ObjectKey, Object>,
    stats: CollectionStats,
}

impl MemStore {
    /// A store without collections.
    pub fn new() -> Self {
        Self::default()
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
        Fetch::Ready(
            self.with(collection, |c| c.objects.get(object.as_bytes()).map(f).ok_or(StoreError::NoObject)),
        )
    }
}

impl Collection {
    /// Applies changes in order. Most transactions are several changes to one object, which is looked up once.
    fn apply<'a>(&mut self, changes: impl Iterator<Item = (KeyRef<'a>, Change<'a>)>) {
        let Collection { objects, stats } = self;
        let mut changes = changes.peekable();
        while let Some((key, change)) = changes.next() {
            if matches!(change, Change::Remove) {
                if let Some(gone) = objects.remove(key.as_bytes()) {
                    gone.subtract_from(stats);
                }
                continue;
            }
            if !objects.contains_key(key.as_bytes()) {
                if change.needs_object() {
                    continue;
                }
                stats.objects += 1;
                objects.insert(key.to_owned(), Object::default());
            }
            let Some(object) = objects.get_mut(key.as_bytes()) else { continue };
            object.apply(change, stats);
            while let Some((_, change)) =
                changes.next_if(|(next, change)| *next == key && !matches!(change, Change::Remove))
            {
                object.apply(change, stats);
            }
        }
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
        drop(gone);
        Ok(())
    }

    fn collections(&self) -> Vec<PgId> {
        self.collections.read().keys().copied().collect()
    }

    fn submit(&self, transaction: &mut Transaction<'_>, _later: &mut dyn FnMut() -> Completion) -> Submitted {
        Submitted::Done(self.with(transaction.collection(), |c| {
            c.apply(transaction.drain());
            Ok(())
        }))
    }

    fn stat(&self, collection: PgId, object: KeyRef<'_>) -> Fetch<Option<ObjectStat>> {
        Fetch::Ready(self.with(collection, |c| Ok(c.objects.get(object.as_bytes()).map(Object::stat))))
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
        let range = (Bound::Included(from.as_bytes()), Bound::Unbounded);
        Fetch::Ready(self.with(collection, |c| {
            Ok(c.objects.range::<[u8], _>(range).take(max).map(|(key, _)| key.clone()).collect())
        }))
    }

    fn stats(&self, collection: PgId) -> Result<CollectionStats, StoreError> {
        self.with(collection, |c| Ok(c.stats))
    }
}
