//! What a collection takes of the store's room, and what a transaction would add to it.

use std::collections::HashMap;

use super::table::Table;
use crate::{Change, CollectionStats, KeyRef};

/// What an object costs besides its name and contents: about what its structures take.
const OBJECT: u64 = 256;
/// The same for an attribute or an omap entry.
const ENTRY: u64 = 64;

/// A collection's totals.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Usage {
    pub stats: CollectionStats,
    /// Bytes that are in none of the statistics: names, attributes, omap headers, and the structures.
    /// Without them, objects without data could fill the memory for nothing.
    pub metadata: u64,
}

impl Usage {
    /// Bytes of the store's room.
    pub fn bytes(&self) -> u64 {
        self.stats.bytes + self.stats.omap_bytes + self.metadata
    }
}

pub(super) fn object_cost(key: KeyRef<'_>) -> u64 {
    OBJECT + key.as_bytes().len() as u64
}

pub(super) fn entry_cost(name: usize, value: usize) -> u64 {
    ENTRY + (name + value) as u64
}

/// Where an object stands in the middle of a transaction.
#[derive(Debug)]
struct Sizes {
    /// Bytes of data; none while the object does not exist.
    data: Option<u64>,
    /// What its removal makes room for besides, once.
    rest: u64,
}

impl Sizes {
    fn stored(objects: &Table, key: KeyRef<'_>) -> Self {
        match objects.get(key) {
            Some(object) => {
                let data = object.data.size();
                Sizes { data: Some(data), rest: object.size() - data }
            }
            None => Sizes { data: None, rest: 0 },
        }
    }

    /// Bytes that a change adds. An entry that is replaced counts as a new one: near the end of the room
    /// it is a little more cautious than it would have to be.
    fn grow(&mut self, key: KeyRef<'_>, change: &Change<'_>) -> i128 {
        let mut growth = 0;
        if self.data.is_none() && !change.needs_object() {
            growth += i128::from(object_cost(key));
            self.data = Some(0);
        }
        let was = self.data.unwrap_or(0);
        let becomes = match change {
            Change::WriteFull(data) => data.len() as u64,
            Change::Write { offset, data } => was.max(offset.saturating_add(data.len() as u64)),
            Change::Truncate(size) => *size,
            Change::Remove => {
                growth -= i128::from(std::mem::take(&mut self.rest));
                0
            }
            Change::SetXattr { name, value } | Change::OmapSet { key: name, value } => {
                growth += i128::from(entry_cost(name.len(), value.len()));
                was
            }
            Change::OmapSetHeader(header) => {
                growth += header.len() as i128;
                was
            }
            _ => was,
        };
        let exists = self.data.is_some() && !matches!(change, Change::Remove);
        self.data = exists.then_some(becomes);
        growth + i128::from(becomes) - i128::from(was)
    }
}

/// Bytes that changes would add to what is stored, negative if they make room.
pub(super) fn growth(objects: &Table, changes: &[(KeyRef<'_>, Change<'_>)]) -> i128 {
    // Changes of several objects may take turns: each object goes on from where its last change left it.
    let mut sizes = HashMap::new();
    changes
        .iter()
        .map(|(key, change)| {
            sizes.entry(*key).or_insert_with(|| Sizes::stored(objects, *key)).grow(*key, change)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use sepiola_wire::{PgId, PoolId, SnapId};

    use crate::{Change, MemStore, ObjectKey, ObjectRef, ObjectStore, StoreError, Transaction};

    fn object(name: &'static [u8]) -> ObjectKey {
        ObjectKey::new(ObjectRef { hash: 5, nspace: b"", key: b"", name, snap: SnapId::HEAD })
    }

    #[test]
    fn changes_of_two_objects_may_take_turns() {
        let pg = PgId::new(PoolId(1), 0);
        let store = MemStore::with_capacity(150_000);
        store.create_collection(pg).unwrap();
        let (a, b) = (object(b"a"), object(b"b"));
        let apply = |changes: Vec<(&ObjectKey, Change<'_>)>| {
            let mut transaction = Transaction::new(pg);
            changes.iter().for_each(|(key, change)| transaction.push(key.as_ref(), change.clone()));
            store.apply(&mut transaction)
        };
        assert_eq!(apply(vec![(&a, Change::Truncate(60_000))]), Ok(()));
        let truncate = |to| [(&a, Change::Truncate(0)), (&b, Change::Touch), (&a, Change::Truncate(to))];
        assert_eq!(apply(truncate(149_990).into()), Err(StoreError::Full));
        assert_eq!(apply(truncate(149_000).into()), Ok(()));
    }

    #[test]
    fn to_remove_an_object_again_and_again_makes_room_only_once() {
        let pg = PgId::new(PoolId(1), 0);
        let store = MemStore::with_capacity(100_000);
        store.create_collection(pg).unwrap();
        let key = object(b"x");
        let value = vec![0; 30_000];
        let apply = |changes: Vec<Change<'_>>| {
            let mut transaction = Transaction::new(pg);
            changes.into_iter().for_each(|change| transaction.push(key.as_ref(), change));
            store.apply(&mut transaction)
        };
        let entry = || Change::OmapSet { key: (&b"k"[..]).into(), value: (&value[..]).into() };
        assert_eq!(apply(vec![entry()]), Ok(()));
        let mut changes: Vec<_> = (0..100).flat_map(|_| [Change::Remove, Change::Touch]).collect();
        changes.push(Change::Truncate(1_000_000));
        assert_eq!(apply(changes), Err(StoreError::Full));
        assert_eq!(apply(vec![Change::Remove, Change::Truncate(90_000)]), Ok(()), "once it does");
    }
}
