//! list: from the newest item on, take an item with the probability of its share of all older ones.

use super::Bucket;
use crate::hash::hash4;

/// The chosen item of a non-empty bucket.
pub(super) fn choose(bucket: &Bucket, weights: &[u32], sums: &[u32], x: u32, r: u32) -> i32 {
    for ((item, weight), sum) in bucket.items.iter().zip(weights).zip(sums).rev() {
        let draw = (u64::from(hash4(x, *item as u32, r, bucket.id as u32) & 0xffff) * u64::from(*sum)) >> 16;
        if draw < u64::from(*weight) {
            return *item;
        }
    }
    bucket.items[0]
}
