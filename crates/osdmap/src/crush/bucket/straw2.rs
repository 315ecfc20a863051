//! straw2: each item draws independently of the others' weights, so a weight change moves only what
//! it must.

use crate::{crush::crush_ln, hash::hash3};

/// The logarithm's value for the largest hash, so that draws are negative or zero.
const LN_ONE: i64 = 1 << 48;

/// The item with the largest draw; the first of equals. The slices have equal, non-zero lengths.
pub(super) fn choose(items: &[i32], ids: &[i32], weights: &[u32], x: u32, r: u32) -> i32 {
    let (mut best, mut best_draw) = (items[0], i64::MIN);
    for ((item, id), weight) in items.iter().zip(ids).zip(weights) {
        if *weight == 0 {
            continue;
        }
        let hash = hash3(x, *id as u32, r) as u16;
        // The logarithm of a uniform draw is exponentially distributed; dividing it by the weight
        // scales the rate. Both fit 49 bits.
        let draw = (crush_ln(hash) as i64 - LN_ONE) / i64::from(*weight);
        if draw > best_draw {
            (best, best_draw) = (*item, draw);
        }
    }
    best
}
