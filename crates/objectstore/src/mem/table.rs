//! A collection's objects in key order.
//!
//! Keys begin with the object's hash, bit-reversed. Objects are found by that number, which lies in the
//! nodes of the tree: a search follows no pointer to a key before it has arrived. Objects that share a
//! hash are rare, and ordered among themselves by the whole key.

use std::collections::{BTreeMap, btree_map};

use super::object::Object;
use crate::{KeyRef, ObjectKey};

#[derive(Debug, Default)]
pub(super) struct Table {
    by_hash: BTreeMap<u32, Slot>,
}

/// The objects of one hash, by key; never empty.
type Slot = Vec<Entry>;

#[derive(Debug)]
struct Entry {
    key: ObjectKey,
    object: Object,
}

impl Table {
    pub fn get(&self, key: KeyRef<'_>) -> Option<&Object> {
        let slot = self.by_hash.get(&prefix(key))?;
        Some(&slot[find(slot, key).ok()?].object)
    }

    pub fn get_mut(&mut self, key: KeyRef<'_>) -> Option<&mut Object> {
        let slot = self.by_hash.get_mut(&prefix(key))?;
        let at = find(slot, key).ok()?;
        Some(&mut slot[at].object)
    }

    /// Adds an object that is not there yet.
    pub fn insert(&mut self, key: KeyRef<'_>, object: Object) -> &mut Object {
        let slot = self.by_hash.entry(prefix(key)).or_default();
        let (Ok(at) | Err(at)) = find(slot, key);
        // Nearly every slot stays at one entry.
        slot.reserve_exact(1);
        slot.insert(at, Entry { key: key.to_owned(), object });
        &mut slot[at].object
    }

    pub fn remove(&mut self, key: KeyRef<'_>) -> Option<Object> {
        let btree_map::Entry::Occupied(mut found) = self.by_hash.entry(prefix(key)) else { return None };
        let at = find(found.get(), key).ok()?;
        if found.get().len() == 1 {
            return found.remove().pop().map(|entry| entry.object);
        }
        Some(found.get_mut().remove(at).object)
    }

    /// Takes the first object out.
    pub fn pop_first(&mut self) -> Option<(ObjectKey, Object)> {
        let mut first = self.by_hash.first_entry()?;
        let entry = first.get_mut().remove(0);
        if first.get().is_empty() {
            first.remove();
        }
        Some((entry.key, entry.object))
    }

    pub fn is_empty(&self) -> bool {
        self.by_hash.is_empty()
    }

    /// The keys from `from` on, itself included.
    pub fn keys_from<'t>(&'t self, from: KeyRef<'t>) -> impl Iterator<Item = &'t ObjectKey> {
        let slots = self.by_hash.range(prefix(from)..).map(|(_, slot)| slot);
        slots.flatten().map(|entry| &entry.key).skip_while(move |key| key.as_ref() < from)
    }
}

/// The first four bytes as a number that orders as they do; what a shorter key lacks counts as zeros.
fn prefix(key: KeyRef<'_>) -> u32 {
    let bytes = key.as_bytes();
    let given = bytes.len().min(4);
    let mut number = [0; 4];
    number[..given].copy_from_slice(&bytes[..given]);
    u32::from_be_bytes(number)
}

fn find(slot: &[Entry], key: KeyRef<'_>) -> Result<usize, usize> {
    slot.binary_search_by(|entry| entry.key.as_ref().cmp(&key))
}

#[cfg(test)]
mod tests {
    use sepiola_wire::SnapId;

    use super::*;
    use crate::ObjectRef;

    fn key(hash: u32, name: &str) -> ObjectKey {
        let snap = SnapId::HEAD;
        ObjectKey::new(ObjectRef { hash, nspace: b"", key: b"", name: name.as_bytes(), snap })
    }

    fn names(table: &Table, from: KeyRef<'_>) -> Vec<ObjectKey> {
        table.keys_from(from).cloned().collect()
    }

    #[test]
    fn objects_of_one_hash_are_apart_and_in_order() {
        let mut table = Table::default();
        let keys = ["b", "c", "a"].map(|name| key(7, name));
        for (size, key) in (1..).zip(&keys) {
            let object = table.insert(key.as_ref(), Object::default());
            object.data.truncate(size);
        }
        let sizes = keys.each_ref().map(|key| table.get(key.as_ref()).unwrap().data.size());
        assert_eq!(sizes, [1, 2, 3]);
        let [b, c, a] = keys;
        assert_eq!(names(&table, KeyRef::START), [a.clone(), b.clone(), c.clone()]);
        assert_eq!(names(&table, b.as_ref()), [b.clone(), c.clone()]);
        assert_eq!(table.remove(b.as_ref()).unwrap().data.size(), 1);
        assert!(table.get(b.as_ref()).is_none() && table.remove(b.as_ref()).is_none());
        assert_eq!(names(&table, KeyRef::START), [a.clone(), c.clone()]);
        assert_eq!(table.pop_first().unwrap().0, a);
        assert!(!table.is_empty() && table.remove(c.as_ref()).is_some() && table.is_empty());
        assert!(table.pop_first().is_none());
    }

    #[test]
    fn hashes_order_by_their_reversed_bits_and_listings_start_anywhere() {
        let mut table = Table::default();
        // Reversed: 0x8000_0000, 0x4000_0000, 0xc000_0000.
        let [one, two, three] = [1, 2, 3].map(|hash| key(hash, "object"));
        for key in [&three, &one, &two] {
            table.insert(key.as_ref(), Object::default());
        }
        assert_eq!(names(&table, KeyRef::START), [two.clone(), one.clone(), three.clone()]);
        let mut after = crate::KeyBuf::default();
        assert_eq!(names(&table, after.set_after(two.as_ref())), [one, three]);
    }
}
