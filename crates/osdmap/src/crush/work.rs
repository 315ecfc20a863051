//! What one evaluation of a rule may use up and remembers.

use std::collections::HashMap;

use super::bucket::Permutation;

/// The search cost more than any sensible map needs: a hostile or broken map must not hang its reader.
#[derive(Debug)]
pub(super) struct Exhausted;

/// Item draws that one evaluation of a rule may take. A root of 1000 hosts that needs every try for each
/// of ten replicas stays well below it; the whole budget takes a fraction of a second.
const BUDGET: usize = 1 << 22;

/// Item draws that are left.
#[derive(Debug)]
pub(super) struct Budget(usize);

impl Budget {
    #[inline]
    pub(super) fn charge(&mut self, cost: usize) -> Result<(), Exhausted> {
        self.0 = self.0.checked_sub(cost).ok_or(Exhausted)?;
        Ok(())
    }
}

/// The scratch space of one evaluation.
#[derive(Debug)]
pub(super) struct Work {
    budget: Budget,
    permutations: HashMap<i32, Permutation>,
}

impl Work {
    pub(super) fn new() -> Self {
        Work { budget: Budget(BUDGET), permutations: HashMap::new() }
    }

    #[inline]
    pub(super) fn charge(&mut self, cost: usize) -> Result<(), Exhausted> {
        self.budget.charge(cost)
    }

    pub(super) fn permutation(&mut self, bucket: i32) -> (&mut Permutation, &mut Budget) {
        (self.permutations.entry(bucket).or_default(), &mut self.budget)
    }
}
