//! The choice for replicated pools: the first so many distinct items, later ones moving up when an
//! earlier one is missing.

use super::{Bucket, rule::Search, work::Exhausted};

/// What to choose and how hard to try.
pub(super) struct Firstn {
    /// Distinct items wanted.
    pub(super) wanted: usize,
    /// Their type.
    pub(super) type_id: i32,
    /// Tries from the top.
    pub(super) tries: u32,
    /// Tries below each item for its leaf.
    pub(super) leaf_tries: u32,
    /// Tries in the same bucket after a collision.
    pub(super) local_tries: u32,
    /// Tries in the same bucket by permutation.
    pub(super) fallback_tries: u32,
    pub(super) vary_r: u32,
    pub(super) stable: bool,
    /// The replica number of the choice that this one is a part of.
    pub(super) parent_r: u32,
}

enum Attempt {
    Found(i32),
    /// Nothing may be tried further for this replica.
    GiveUp,
    /// No luck in this bucket.
    Retry {
        collided: bool,
    },
}

impl Search<'_> {
    /// Fills `out` from `outpos` on with at most `room` items, and `leaves` with a leaf of each; the new
    /// end of `out`. `out` has at least `outpos + room` places.
    pub(super) fn firstn(
        &mut self,
        top: &Bucket,
        choice: &Firstn,
        out: &mut [i32],
        mut outpos: usize,
        mut room: usize,
        mut leaves: Option<&mut [i32]>,
    ) -> Result<usize, Exhausted> {
        let mut replica = if choice.stable { 0 } else { outpos };
        while replica < choice.wanted && room > 0 {
            if let Some(item) =
                self.replica(top, choice, replica as u32, out, outpos, room, leaves.as_deref_mut())?
            {
                out[outpos] = item;
                outpos += 1;
                room -= 1;
            }
            replica += 1;
        }
        Ok(outpos)
    }

    /// One replica: retries from the top until an item is found.
    #[allow(clippy::too_many_arguments)]
    fn replica(
        &mut self,
        top: &Bucket,
        choice: &Firstn,
        replica: u32,
        out: &[i32],
        outpos: usize,
        room: usize,
        mut leaves: Option<&mut [i32]>,
    ) -> Result<Option<i32>, Exhausted> {
        let map = self.map;
        let mut failures: u32 = 0;
        loop {
            // A descent, during which local retries stay in the bucket they reached.
            let (mut bucket, mut local_failures) = (top, 0_u32);
            if self.work.charge(1).is_err() {
                return Err(Exhausted);
            }
            loop {
                let r = replica.wrapping_add(choice.parent_r).wrapping_add(failures);
                let size = bucket.items.len();
                let attempt = if size == 0 {
                    self.work.charge(1)?;
                    Attempt::Retry { collided: false }
                } else {
                    let by_permutation = choice.fallback_tries > 0
                        && local_failures as usize >= size / 2
                        && local_failures > choice.fallback_tries;
                    let item = if by_permutation {
                        bucket.choose_by_permutation(&mut self.work, self.x, r)?
                    } else {
                        self.choose(bucket, r, outpos)?
                    };
                    if item >= map.max_devices {
                        Attempt::GiveUp
                    } else {
                        let inner = map.bucket(item);
                        let type_id = inner.map_or(0, |inner| i32::from(inner.type_id));
                        if type_id != choice.type_id {
                            match inner {
                                Some(inner) => {
                                    bucket = inner;
                                    continue;
                                }
                                None => Attempt::GiveUp,
                            }
                        } else if item < 0 && inner.is_none() {
                            Attempt::GiveUp
                        } else if out[..outpos].contains(&item) {
                            Attempt::Retry { collided: true }
                        } else if !self.find_leaf(
                            item,
                            inner,
                            choice,
                            r,
                            outpos,
                            room,
                            leaves.as_deref_mut(),
                        )? || (type_id == 0 && self.is_out(item))
                        {
                            Attempt::Retry { collided: false }
                        } else {
                            Attempt::Found(item)
                        }
                    }
                };
                match attempt {
                    Attempt::Found(item) => return Ok(Some(item)),
                    Attempt::GiveUp => return Ok(None),
                    Attempt::Retry { collided } => {
                        failures = failures.saturating_add(1);
                        local_failures = local_failures.saturating_add(1);
                        let stay = (collided && local_failures <= choice.local_tries)
                            || (choice.fallback_tries > 0
                                && u64::from(local_failures)
                                    <= size as u64 + u64::from(choice.fallback_tries));
                        if stay {
                            continue;
                        }
                        if failures < choice.tries {
                            break;
                        }
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Finds the leaf below an item, if leaves are wanted. False when there is none.
    #[allow(clippy::too_many_arguments)]
    fn find_leaf(
        &mut self,
        item: i32,
        inner: Option<&Bucket>,
        choice: &Firstn,
        r: u32,
        outpos: usize,
        room: usize,
        leaves: Option<&mut [i32]>,
    ) -> Result<bool, Exhausted> {
        let Some(leaves) = leaves else { return Ok(true) };
        let Some(inner) = inner else {
            leaves[outpos] = item;
            return Ok(true);
        };
        let below = Firstn {
            wanted: if choice.stable { 1 } else { outpos + 1 },
            type_id: 0,
            tries: choice.leaf_tries,
            leaf_tries: 0,
            parent_r: match choice.vary_r {
                0 => 0,
                vary => r.checked_shr(vary - 1).unwrap_or(0),
            },
            ..*choice
        };
        Ok(self.firstn(inner, &below, leaves, outpos, room, None)? > outpos)
    }
}
