//! One object in memory.

use std::collections::BTreeMap;
use std::ops::Bound;

use bytes::Bytes;

use super::data::Data;
use crate::{Change, CollectionStats, ObjectInfo, ObjectStat, OmapPage, OmapQuery, WriteData};

#[derive(Debug, Default)]
pub(super) struct Object {
    pub data: Data,
    pub info: ObjectInfo,
    pub xattrs: BTreeMap<Bytes, Bytes>,
    pub omap: BTreeMap<Bytes, Bytes>,
    pub omap_header: Bytes,
    omap_bytes: u64,
}

impl Object {
    pub fn stat(&self) -> ObjectStat {
        ObjectStat {
            size: self.data.size(),
            has_omap: !self.omap.is_empty() || !self.omap_header.is_empty(),
            info: self.info,
        }
    }

    /// Takes the object out of its collection's totals.
    pub fn subtract_from(&self, stats: &mut CollectionStats) {
        stats.objects -= 1;
        stats.bytes -= self.data.size();
        stats.omap_keys -= self.omap.len() as u64;
        stats.omap_bytes -= self.omap_bytes;
    }

    /// Applies any change but a removal of the object.
    pub fn apply(&mut self, change: Change<'_>, stats: &mut CollectionStats) {
        match change {
            Change::Touch | Change::Remove => {}
            Change::SetInfo(info) => self.info = info,
            Change::WriteFull(_) | Change::Write { .. } | Change::Zero { .. } | Change::Truncate(_) => {
                stats.bytes -= self.data.size();
                match change {
                    Change::WriteFull(data) => self.data = Data::whole(data.into_bytes()),
                    Change::Write { offset, data } => self.data.write(offset, data),
                    Change::Zero { offset, length } => self.data.zero(offset, length),
                    Change::Truncate(size) => self.data.truncate(size),
                    _ => {}
                }
                stats.bytes += self.data.size();
            }
            Change::SetXattr { name, value } => set(&mut self.xattrs, name, value),
            Change::RemoveXattr { name } => drop(self.xattrs.remove(name.as_slice())),
            Change::OmapSetHeader(header) => self.omap_header = header.into_bytes(),
            Change::OmapSet { .. }
            | Change::OmapRemove { .. }
            | Change::OmapRemoveRange { .. }
            | Change::OmapClear => {
                stats.omap_keys -= self.omap.len() as u64;
                stats.omap_bytes -= self.omap_bytes;
                self.change_omap(change);
                stats.omap_keys += self.omap.len() as u64;
                stats.omap_bytes += self.omap_bytes;
            }
        }
    }

    fn change_omap(&mut self, change: Change<'_>) {
        match change {
            Change::OmapSet { key, value } => {
                if let Some(former) = self.omap.get(key.as_slice()) {
                    self.omap_bytes -= (key.len() + former.len()) as u64;
                }
                self.omap_bytes += (key.len() + value.len()) as u64;
                set(&mut self.omap, key, value);
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
                self.omap.clear();
                self.omap_bytes = 0;
                self.omap_header = Bytes::new();
            }
            _ => {}
        }
    }

    fn omap_remove(&mut self, key: &[u8]) {
        if let Some(value) = self.omap.remove(key) {
            self.omap_bytes -= (key.len() + value.len()) as u64;
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

fn set(map: &mut BTreeMap<Bytes, Bytes>, name: WriteData<'_>, value: WriteData<'_>) {
    match map.get_mut(name.as_slice()) {
        Some(former) => *former = value.into_bytes(),
        None => drop(map.insert(name.into_bytes(), value.into_bytes())),
    }
}
