//! straw: precomputed straw lengths scale each item's draw. Superseded by straw2.

use crate::hash::hash3;

/// The item with the longest straw; the first of equals.
pub(super) fn choose(items: &[i32], straws: &[u32], x: u32, r: u32) -> i32 {
    let (mut best, mut best_draw) = (items[0], 0);
    for (item, straw) in items.iter().zip(straws) {
        let draw = u64::from(hash3(x, *item as u32, r) & 0xffff) * u64::from(*straw);
        if draw > best_draw {
            (best, best_draw) = (*item, draw);
        }
    }
    best
}
