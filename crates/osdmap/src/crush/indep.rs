//! The choice for erasure-coded pools: each position is filled on its own and keeps its meaning, so a
//! missing item leaves a hole.

use std::ops::Range;

use super::{Bucket, BucketKind, ITEM_NONE, rule::Search, work::Exhausted};

/// A position not decided yet.
const UNDECIDED: i32 = 0x7fff_fffe;

/// What to choose and how hard to try.
pub(super) struct Indep {
    /// Positions of the whole choice; spaces the replica numbers of retries.
    pub(super) replicas: usize,
    /// The type of the items.
    pub(super) type_id: i32,
    /// Rounds over all positions.
    pub(super) tries: u32,
    /// Rounds below each item for its leaf.
    pub(super) leaf_tries: u32,
    /// The replica number of the choice that this one is a part of.
    pub(super) parent_r: u32,
}

impl Search<'_> {
    /// Decides the positions `range` of `out`, and those of `leaves`.
    pub(super) fn indep(
        &mut self,
        top: &Bucket,
        choice: &Indep,
        out: &mut [i32],
        range: Range<usize>,
        mut leaves: Option<&mut [i32]>,
    ) -> Result<(), Exhausted> {
        out[range.clone()].fill(UNDECIDED);
        if let Some(leaves) = &mut leaves {
            leaves[range.clone()].fill(UNDECIDED);
        }
        for round in 0..choice.tries {
            if !out[range.clone()].contains(&UNDECIDED) {
                break;
            }
            for position in range.clone() {
                self.work.charge(1)?;
                if out[position] == UNDECIDED {
                    self.position(top, choice, round, out, position, &range, leaves.as_deref_mut())?;
                }
            }
        }
        let close = |places: &mut [i32]| {
            places.iter_mut().filter(|place| **place == UNDECIDED).for_each(|place| *place = ITEM_NONE);
        };
        close(&mut out[range.clone()]);
        if let Some(leaves) = leaves {
            close(&mut leaves[range]);
        }
        Ok(())
    }

    /// One attempt at one position; it stays undecided when the attempt fails.
    #[allow(clippy::too_many_arguments)]
    fn position(
        &mut self,
        top: &Bucket,
        choice: &Indep,
        round: u32,
        out: &mut [i32],
        position: usize,
        range: &Range<usize>,
        mut leaves: Option<&mut [i32]>,
    ) -> Result<(), Exhausted> {
        let map = self.map;
        let mut bucket = top;
        loop {
            let size = bucket.items.len();
            if size == 0 {
                return Ok(());
            }
            // In a uniform bucket whose size the spacing divides, every round would meet the same items.
            let uniform = matches!(bucket.kind, BucketKind::Uniform { .. });
            let spacing = choice.replicas as u32 + u32::from(uniform && size.is_multiple_of(choice.replicas));
            let r = (position as u32).wrapping_add(choice.parent_r).wrapping_add(spacing.wrapping_mul(round));
            let item = self.choose(bucket, r, range.start)?;
            let inner = map.bucket(item);
            let type_id = inner.map_or(0, |inner| i32::from(inner.type_id));
            let impossible =
                item >= map.max_devices || (inner.is_none() && (type_id != choice.type_id || item < 0));
            if impossible {
                out[position] = ITEM_NONE;
                if let Some(leaves) = leaves {
                    leaves[position] = ITEM_NONE;
                }
                return Ok(());
            }
            if type_id != choice.type_id {
                if let Some(inner) = inner {
                    bucket = inner;
                }
                continue;
            }
            if out[range.clone()].contains(&item) {
                return Ok(());
            }
            if let Some(leaves) = &mut leaves {
                match inner {
                    Some(inner) => {
                        let below = Indep {
                            type_id: 0,
                            tries: choice.leaf_tries,
                            leaf_tries: 0,
                            parent_r: r,
                            ..*choice
                        };
                        self.indep(inner, &below, leaves, position..position + 1, None)?;
                        if leaves[position] == ITEM_NONE {
                            return Ok(());
                        }
                    }
                    None => leaves[position] = item,
                }
            }
            if type_id == 0 && self.is_out(item) {
                return Ok(());
            }
            out[position] = item;
            return Ok(());
        }
    }
}
