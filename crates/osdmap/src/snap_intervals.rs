//! Sets of snapshot ids as ascending, disjoint intervals.

use std::collections::BTreeMap;

use sepiola_wire::{Decode, DecodeError, Encode, Features, Put, Reader, SnapId};

/// A set of snapshot ids: start and length of each interval.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SnapIntervals(BTreeMap<u64, u64>);

impl SnapIntervals {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// True when no id is in the set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Start and length of each interval, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (SnapId, u64)> + '_ {
        self.0.iter().map(|(start, len)| (SnapId(*start), *len))
    }

    /// True when `id` is in the set.
    pub fn contains(&self, id: SnapId) -> bool {
        self.0.range(..=id.0).next_back().is_some_and(|(start, len)| id.0 - start < *len)
    }

    /// Adds `len` ids from `start` on, merging what touches. Ids beyond the range of `u64` are ignored.
    pub fn insert(&mut self, start: SnapId, len: u64) {
        let (mut start, mut end) = (start.0, start.0.saturating_add(len));
        if start == end {
            return;
        }
        if let Some((before, before_len)) = self.0.range(..start).next_back()
            && before + before_len >= start
        {
            end = end.max(before + before_len);
            start = *before;
        }
        while let Some((after, after_len)) = self.0.range(start..=end).next() {
            let after = *after;
            end = end.max(after + after_len);
            self.0.remove(&after);
        }
        self.0.insert(start, end - start);
    }

    /// Removes `len` ids from `start` on.
    pub fn remove(&mut self, start: SnapId, len: u64) {
        let (start, end) = (start.0, start.0.saturating_add(len));
        if start == end {
            return;
        }
        let touched: Vec<(u64, u64)> =
            self.0.range(..end).rev().map_while(|(s, l)| (s + l > start).then_some((*s, *l))).collect();
        for (s, l) in touched {
            self.0.remove(&s);
            if s < start {
                self.0.insert(s, start - s);
            }
            if s + l > end {
                self.0.insert(end, s + l - end);
            }
        }
    }

    /// Adds every id of `other`.
    pub fn insert_all(&mut self, other: &SnapIntervals) {
        other.iter().for_each(|(start, len)| self.insert(start, len));
    }

    /// Removes every id of `other`.
    pub fn remove_all(&mut self, other: &SnapIntervals) {
        other.iter().for_each(|(start, len)| self.remove(start, len));
    }
}

impl Encode for SnapIntervals {
    fn encode(&self, out: &mut Vec<u8>, _: Features) {
        out.put_len(self.0.len());
        for (start, len) in &self.0 {
            out.put_u64(*start);
            out.put_u64(*len);
        }
    }
}

impl Decode for SnapIntervals {
    const MIN_SIZE: usize = 4;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (mut set, mut last_end) = (BTreeMap::new(), None);
        for _ in 0..r.count(16)? {
            let (start, len) = (r.u64()?, r.u64()?);
            let end = start.checked_add(len).filter(|_| len > 0);
            if end.is_none() || last_end.is_some_and(|last| start < last) {
                return Err(DecodeError::Invalid("snapshot intervals are empty, overlap or overflow"));
            }
            set.insert(start, len);
            last_end = end;
        }
        Ok(SnapIntervals(set))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_like_a_set_of_numbers(steps in prop::collection::vec((any::<bool>(), 0_u64..64, 0_u64..9), 0..40)) {
            let (mut set, mut model) = (SnapIntervals::new(), BTreeSet::new());
            for (insert, start, len) in steps {
                if insert {
                    set.insert(SnapId(start), len);
                    model.extend(start..start + len);
                } else {
                    set.remove(SnapId(start), len);
                    (start..start + len).for_each(|id| { model.remove(&id); });
                }
                let ids: BTreeSet<u64> = set.iter().flat_map(|(s, l)| s.0..s.0 + l).collect();
                prop_assert_eq!(&ids, &model);
                prop_assert!((0..80).all(|id| set.contains(SnapId(id)) == model.contains(&id)));
                let mut last = None;
                for (s, l) in set.iter() {
                    prop_assert!(last.is_none_or(|last| last < s.0), "intervals touch");
                    last = Some(s.0 + l);
                }
            }
        }
    }
}
