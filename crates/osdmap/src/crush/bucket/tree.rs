//! tree: a walk from the root of a weighted binary tree. Item `i` is the leaf `2i + 1`, and a node's
//! height is the number of its trailing zero bits.

use super::Bucket;
use crate::{crush::ITEM_NONE, hash::hash4};

/// The chosen item of a non-empty bucket whose node count is a power of two.
pub(super) fn choose(bucket: &Bucket, nodes: &[u32], x: u32, r: u32) -> i32 {
    let mut node = nodes.len() / 2;
    while node != 0 && node.is_multiple_of(2) {
        let draw = (u64::from(hash4(x, node as u32, r, bucket.id as u32)) * u64::from(nodes[node])) >> 32;
        let half = 1 << (node.trailing_zeros() - 1);
        let left = node - half;
        node = if draw < u64::from(nodes[left]) { left } else { node + half };
    }
    bucket.items.get(node >> 1).copied().unwrap_or(ITEM_NONE)
}
