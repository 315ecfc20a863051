//! Transactions: lists of changes to the objects of one collection.

use bytes::Bytes;
use sepiola_wire::PgId;

use crate::{KeyRef, ObjectInfo};

/// Bytes of a change: data, and the names and values of attributes and omap entries.
#[derive(Debug, Clone)]
pub enum WriteData<'a> {
    /// A view, which the store copies once into an allocation of its own.
    Borrowed(&'a [u8]),
    /// A buffer that the store may keep. Give one only if most of the buffer is this data.
    Shared(Bytes),
}

impl WriteData<'_> {
    /// The data.
    pub fn as_slice(&self) -> &[u8] {
        match self {
            WriteData::Borrowed(data) => data,
            WriteData::Shared(data) => data,
        }
    }

    /// Bytes to write.
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// True when there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }

    /// The data as a buffer, without copying one that is shared.
    pub fn to_bytes(&self) -> Bytes {
        match self {
            WriteData::Borrowed(data) => Bytes::copy_from_slice(data),
            WriteData::Shared(data) => data.clone(),
        }
    }

    /// A buffer that holds the data and nothing else worth mentioning.
    pub(crate) fn into_bytes(self) -> Bytes {
        match self {
            WriteData::Borrowed(data) => Bytes::copy_from_slice(data),
            WriteData::Shared(data) => data,
        }
    }
}

impl<'a> From<&'a [u8]> for WriteData<'a> {
    fn from(data: &'a [u8]) -> Self {
        WriteData::Borrowed(data)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for WriteData<'a> {
    fn from(data: &'a [u8; N]) -> Self {
        WriteData::Borrowed(data)
    }
}

impl From<Vec<u8>> for WriteData<'_> {
    fn from(data: Vec<u8>) -> Self {
        WriteData::Shared(data.into())
    }
}

impl From<Bytes> for WriteData<'_> {
    fn from(data: Bytes) -> Self {
        WriteData::Shared(data)
    }
}

/// One change to one object. Every change but [`Change::Remove`] and the removals of attributes and
/// omap entries creates the object if it does not exist.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Change<'a> {
    /// Creates the object if it does not exist.
    Touch,
    /// Replaces all data.
    WriteFull(WriteData<'a>),
    /// Writes at an offset in bytes; a gap behind the former end reads as zeros. Writing nothing
    /// behind the end extends the object to the offset.
    Write {
        /// Where to write.
        offset: u64,
        /// What to write.
        data: WriteData<'a>,
    },
    /// Zeroes a range without changing the size; what lies behind the end is ignored.
    Zero {
        /// Start of the range.
        offset: u64,
        /// Its length.
        length: u64,
    },
    /// Sets the size, cutting or extending with zeros.
    Truncate(u64),
    /// Removes the object with everything it has. Removing a missing object does nothing.
    Remove,
    /// Sets an extended attribute.
    SetXattr {
        /// Its name.
        name: WriteData<'a>,
        /// Its value.
        value: WriteData<'a>,
    },
    /// Removes an extended attribute.
    RemoveXattr {
        /// Its name.
        name: WriteData<'a>,
    },
    /// Sets an omap entry.
    OmapSet {
        /// Its key.
        key: WriteData<'a>,
        /// Its value.
        value: WriteData<'a>,
    },
    /// Sets the omap header.
    OmapSetHeader(WriteData<'a>),
    /// Removes an omap entry.
    OmapRemove {
        /// Its key.
        key: WriteData<'a>,
    },
    /// Removes the omap entries from `first` up to, not including, `last`.
    OmapRemoveRange {
        /// The first key.
        first: WriteData<'a>,
        /// The key behind the last one.
        last: WriteData<'a>,
    },
    /// Removes all omap entries and the header.
    OmapClear,
    /// Replaces what the OSD keeps with the object.
    SetInfo(ObjectInfo),
}

impl Change<'_> {
    /// Bytes that the change can add at most.
    pub(crate) fn adds_at_most(&self) -> u64 {
        match self {
            Change::WriteFull(data) | Change::OmapSetHeader(data) => data.len() as u64,
            Change::Write { offset, data } => offset.saturating_add(data.len() as u64),
            Change::Truncate(size) => *size,
            Change::SetXattr { name: key, value } | Change::OmapSet { key, value } => {
                (key.len() + value.len()) as u64
            }
            _ => 0,
        }
    }

    /// True for changes that do nothing to an object that does not exist.
    pub fn needs_object(&self) -> bool {
        use Change::{OmapClear, OmapRemove, OmapRemoveRange, Remove, RemoveXattr};
        matches!(self, Remove | RemoveXattr { .. } | OmapRemove { .. } | OmapRemoveRange { .. } | OmapClear)
    }
}

/// Changes to the objects of one collection, applied in order, all or none.
#[derive(Debug)]
pub struct Transaction<'a> {
    collection: PgId,
    changes: Vec<(KeyRef<'a>, Change<'a>)>,
}

impl<'a> Transaction<'a> {
    /// A transaction without changes.
    pub fn new(collection: PgId) -> Self {
        Transaction { collection, changes: Vec::new() }
    }

    /// A transaction without changes that takes over this one's memory.
    pub fn recycle<'b>(mut self, collection: PgId) -> Transaction<'b> {
        self.changes.clear();
        // An empty vector mapped into another lifetime: the standard library collects in place, so the
        // allocation survives.
        let changes = self.changes.into_iter().map(|_| unreachable!("the vector is empty")).collect();
        Transaction { collection, changes }
    }

    /// Adds a change.
    pub fn push(&mut self, object: KeyRef<'a>, change: Change<'a>) {
        self.changes.push((object, change));
    }

    /// The collection.
    pub fn collection(&self) -> PgId {
        self.collection
    }

    /// The changes in order.
    pub fn changes(&self) -> &[(KeyRef<'a>, Change<'a>)] {
        &self.changes
    }

    /// Takes the changes out, leaving the memory for the next ones.
    pub fn drain(&mut self) -> impl Iterator<Item = (KeyRef<'a>, Change<'a>)> + '_ {
        self.changes.drain(..)
    }

    /// True without changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// An attribute as the pending changes leave it: `Some(Some(value))` set, `Some(None)` removed,
    /// `None` untouched.
    pub fn pending_xattr(&self, object: KeyRef<'_>, attr: &[u8]) -> Option<Option<&[u8]>> {
        self.changes.iter().rev().filter(|(key, _)| *key == object).find_map(|(_, change)| match change {
            Change::SetXattr { name, value } if name.as_slice() == attr => Some(Some(value.as_slice())),
            Change::RemoveXattr { name } if name.as_slice() == attr => Some(None),
            Change::Remove => Some(None),
            _ => None,
        })
    }
}
