//! Several operations on one object in one message: all of them, or none.

mod checksum;
mod hints;
mod read_op;
mod result;
mod write_op;

pub use checksum::Checksum;
pub use hints::{Advice, AllocHint};
pub use read_op::ReadOp;
pub use result::{ReadResult, WriteResult};
pub use write_op::{Create, WriteOp};

/// How a stored and a given value are compared.
pub use sepiola_messages::osd_op::CmpOp;

use std::ops::{Bound, RangeBounds};

use sepiola_messages::osd_op::OpSpec;

use crate::{Error, Result};

/// Entries in ascending order of their keys, as the wire wants them. Of equal keys the last counts.
pub(crate) fn sorted_entries<K, V>(entries: impl IntoIterator<Item = (K, V)>) -> Vec<(K, V)>
where
    K: AsRef<[u8]>,
{
    let mut entries: Vec<(K, V)> = entries.into_iter().collect();
    entries.sort_by(|a, b| a.0.as_ref().cmp(b.0.as_ref()));
    // `dedup_by` keeps the first of a run: turned round, that is the one given last.
    entries.reverse();
    entries.dedup_by(|a, b| a.0.as_ref() == b.0.as_ref());
    entries.reverse();
    entries
}

/// A comparison of omap entries.
fn omap_cmp<K, V>(entries: impl IntoIterator<Item = (K, CmpOp, V)>) -> OpSpec
where
    K: AsRef<[u8]>,
    V: AsRef<[u8]>,
{
    let entries = sorted_entries(entries.into_iter().map(|(key, op, value)| (key, (op, value))));
    OpSpec::omap_cmp(entries.into_iter().map(|(key, (op, value))| (key, op, value)))
}

/// Keys in ascending order, each once.
pub(crate) fn sorted_keys<K: AsRef<[u8]>>(keys: impl IntoIterator<Item = K>) -> Vec<K> {
    let mut keys: Vec<K> = keys.into_iter().collect();
    keys.sort_by(|a, b| a.as_ref().cmp(b.as_ref()));
    keys.dedup_by(|a, b| a.as_ref() == b.as_ref());
    keys
}

/// Offset and length of a range; length 0 is what the wire has for "to the end".
pub(crate) fn extent(range: impl RangeBounds<u64>) -> Result<Extent> {
    let overflow = || Error::InvalidArgument("the range ends beyond 2^64".into());
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&start) => start.checked_add(1).ok_or_else(overflow)?,
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&end) => end.checked_add(1).ok_or_else(overflow)?,
        Bound::Excluded(&end) => end,
        Bound::Unbounded => return Ok(Extent { offset: start, length: 0, is_empty: false }),
    };
    Ok(Extent { offset: start, length: end.saturating_sub(start), is_empty: end <= start })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub offset: u64,
    pub length: u64,
    /// Nothing is asked for, which the wire cannot say.
    pub is_empty: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_become_extents() {
        let of = |offset, length, is_empty| Extent { offset, length, is_empty };
        assert_eq!(extent(0..4096).unwrap(), of(0, 4096, false));
        assert_eq!(extent(5..=5).unwrap(), of(5, 1, false));
        assert_eq!(extent(7..).unwrap(), of(7, 0, false));
        assert!(extent(9..9).unwrap().is_empty);
        assert!(extent(0..=u64::MAX).is_err());
    }

    #[test]
    fn keys_are_sorted_as_bytes_and_the_last_of_equal_ones_counts() {
        let sorted = sorted_entries([("b", 1), ("a", 2), ("B", 3), ("b", 4)]);
        assert_eq!(sorted, [("B", 3), ("a", 2), ("b", 4)]);
        assert_eq!(sorted_keys(["b", "a", "b"]), ["a", "b"]);
    }
}
