//! One object in memory.

use std::collections::BTreeMap;
use std::ops::Bound;

use bytes::Bytes;

use super::{
    data::Data,
    usage::{Usage, entry_cost, object_cost},
};
use crate::{Change, KeyRef, ObjectInfo, ObjectStat, OmapPage, OmapQuery};

#[derive(Debug, Default)]
pub(super) struct Object {
    pub data: Data,
    pub info: ObjectInfo,
    pub xattrs: BTreeMap<Bytes, Bytes>,
    pub omap: BTreeMap<Bytes, Bytes>,
    pub omap_header: Bytes,
    omap_bytes: u64,
    /// Attributes and the omap header, with what it costs to keep them and the omap's entries.
    metadata: u64,
}

impl Object {
    pub fn stat(&self) -> ObjectStat {
        ObjectStat {
            size: self.data.size(),
            has_omap: !self.omap.is_empty() || !self.omap_header.is_empty(),
            info: self.info,
        }
    }

    /// A new object's part in its collection's totals.
    pub fn add_to(key: KeyRef<'_>, usage: &mut Usage) {
        usage.stats.objects += 1;
        usage.metadata += object_cost(key);
    }

    /// Takes the object out of its collection's totals.
    pub fn subtract_from(&self, key: KeyRef<'_>, usage: &mut Usage) {
        usage.stats.objects -= 1;
        usage.stats.bytes -= self.data.size();
        usage.stats.omap_keys -= self.omap.len() as u64;
        usage.stats.omap_bytes -= self.omap_bytes;
        usage.metadata -= object_cost(key) + self.metadata;
    }

    /// Bytes that the object takes, besides what [`object_cost`] says.
    pub fn size(&self) -> u64 {
        self.data.size() + self.omap_bytes + self.metadata
    }

    /// Applies any change but a removal of the object.
    pub fn apply(&mut self, change: Change<'_>, usage: &mut Usage) {
        match change {
            Change::Touch | Change::Remove => {}
            Change::SetInfo(info) => self.info = info,
            Change::WriteFull(_) | Change::Write { .. } | Change::Zero { .. } | Change::Truncate(_) => {
                usage.stats.bytes -= self.data.size();
                match change {
                    Change::WriteFull(data) => self.data = Data::whole(data.into_bytes()),
                    Change::Write { offset, data } => self.data.write(offset, data),
                    Change::Zero { offset, length } => self.data.zero(offset, length),
                    Change::Truncate(size) => self.data.truncate(size),
                    _ => {}
                }
                usage.stats.bytes += self.data.size();
            }
            Change::SetXattr { .. } | Change::RemoveXattr { .. } | Change::OmapSetHeader(_) => {
                usage.metadata -= self.metadata;
                self.change_metadata(change);
                usage.metadata += self.metadata;
            }
            Change::OmapSet { .. }
            | Change::OmapRemove { .. }
            | Change::OmapRemoveRange { .. }
            | Change::OmapClear => {
                usage.stats.omap_keys -= self.omap.len() as u64;
                usage.stats.omap_bytes -= self.omap_bytes;
                usage.metadata -= self.metadata;
                self.change_omap(change);
                usage.stats.omap_keys += self.omap.len() as u64;
                usage.stats.omap_bytes += self.omap_bytes;
                usage.metadata += self.metadata;
            }
        }
    }

    fn change_metadata(&mut self, change: Change<'_>) {
        match change {
            Change::SetXattr { name, value } => {
                self.remove_xattr(name.as_slice());
                self.metadata += entry_cost(name.len(), value.len());
                self.xattrs.insert(name.into_bytes(), value.into_bytes());
            }
            Change::RemoveXattr { name } => self.remove_xattr(name.as_slice()),
            Change::OmapSetHeader(header) => self.set_header(header.into_bytes()),
            _ => {}
        }
    }

    fn remove_xattr(&mut self, name: &[u8]) {
        if let Some(value) = self.xattrs.remove(name) {
            self.metadata -= entry_cost(name.len(), value.len());
        }
    }

    fn set_header(&mut self, header: Bytes) {
        self.metadata -= self.omap_header.len() as u64;
        self.metadata += header.len() as u64;
        self.omap_header = header;
    }

    fn change_omap(&mut self, change: Change<'_>) {
        match change {
            Change::OmapSet { key, value } => {
                self.omap_bytes += (key.len() + value.len()) as u64;
                match self.omap.get_mut(key.as_slice()) {
                    Some(former) => {
                        self.omap_bytes -= (key.len() + former.len()) as u64;
                        *former = value.into_bytes();
                    }
                    None => {
                        self.metadata += entry_cost(0, 0);
                        self.omap.insert(key.into_bytes(), value.into_bytes());
                    }
                }
            }
            Change::OmapRemove { key } => self.omap_remove(key.as_slice()),
            Change::OmapRemoveRange { first, last } => {
                let (first, last) = (first.as_slice(), last.as_slice());
                if first >= last {
                    return;
                }
                let range = (Bound::Included(first), Bound::Excluded(last));
                let keys: Vec<Bytes> =
                    self.omap.range::<[u8], _>(range).map(|(key, _)| key.clone()).collect();
                keys.iter().for_each(|key| self.omap_remove(key));
            }
            Change::OmapClear => {
                self.metadata -= self.omap.len() as u64 * entry_cost(0, 0);
                self.omap.clear();
                self.omap_bytes = 0;
                self.set_header(Bytes::new());
            }
            _ => {}
        }
    }

    fn omap_remove(&mut self, key: &[u8]) {
        if let Some(value) = self.omap.remove(key) {
            self.omap_bytes -= (key.len() + value.len()) as u64;
            self.metadata -= entry_cost(0, 0);
        }
    }

    pub fn omap_range(&self, query: OmapQuery<'_>) -> OmapPage {
        // The empty key is a key like any other, but "behind the empty key" is how callers ask for all.
        let from = if query.after.is_empty() || query.prefix > query.after {
            Bound::Included(query.prefix)
        } else {
            Bound::Excluded(query.after)
        };
        let mut page = OmapPage::default();
        let mut bytes = 0;
        for (key, value) in self.omap.range::<[u8], _>((from, Bound::Unbounded)) {
            if !key.starts_with(query.prefix) {
                break;
            }
            if page.entries.len() >= query.max_entries || bytes >= query.max_bytes {
                page.more = true;
                break;
            }
            let value = if query.keys_only { Bytes::new() } else { value.clone() };
            bytes += key.len() + value.len();
            page.entries.push((key.clone(), value));
        }
        page
    }
}
