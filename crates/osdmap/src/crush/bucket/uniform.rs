//! uniform: item `r` of a pseudo-random permutation that depends on the input and the bucket. It is
//! built only as far as it is asked for and kept for the duration of one rule.

use super::Bucket;
use crate::{
    crush::work::{Budget, Exhausted},
    hash::hash3,
};

/// One bucket's permutation, as far as it was needed.
#[derive(Debug, Default)]
pub(in crate::crush) struct Permutation {
    x: u32,
    state: State,
    order: Vec<u32>,
}

#[derive(Debug, Default, PartialEq)]
enum State {
    #[default]
    Unused,
    /// Only the first place is known; most searches need no more.
    First,
    /// The first so many places are settled.
    Settled(usize),
}

impl Permutation {
    pub(super) fn choose(
        &mut self,
        budget: &mut Budget,
        bucket: &Bucket,
        x: u32,
        r: u32,
    ) -> Result<i32, Exhausted> {
        // A bucket's item count came as a `u32`.
        let size = bucket.items.len() as u32;
        let place = r % size;
        let hash = |step: u32| hash3(x, bucket.id as u32, step);
        budget.charge(1)?;
        if self.x != x || matches!(self.state, State::Unused | State::Settled(0)) {
            self.x = x;
            if place == 0 {
                let first = hash(0) % size;
                self.order.clear();
                self.order.push(first);
                self.state = State::First;
                return Ok(bucket.items[first as usize]);
            }
            self.restart(budget, size)?;
            self.state = State::Settled(0);
        } else if self.state == State::First {
            let first = self.order[0];
            self.restart(budget, size)?;
            self.order.swap(0, first as usize);
            self.state = State::Settled(1);
        }
        let State::Settled(mut settled) = self.state else { unreachable!("set by every branch above") };
        while settled <= place as usize {
            budget.charge(1)?;
            if settled + 1 < size as usize {
                let ahead = hash(settled as u32) % (size - settled as u32);
                self.order.swap(settled, settled + ahead as usize);
            }
            settled += 1;
        }
        self.state = State::Settled(settled);
        Ok(bucket.items[self.order[place as usize] as usize])
    }

    fn restart(&mut self, budget: &mut Budget, size: u32) -> Result<(), Exhausted> {
        budget.charge(size as usize)?;
        self.order.clear();
        self.order.extend(0..size);
        Ok(())
    }
}
