//! Buckets and the choice of one of their items.

mod list;
mod straw;
mod straw2;
mod tree;
mod uniform;

use sepiola_wire::DecodeError;

pub(super) use uniform::Permutation;

use super::{ChooseArg, work::Exhausted, work::Work};

/// A node of the hierarchy: a host, a rack, a root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// The negative id, -1 - slot.
    pub id: i32,
    /// The number of its type in [`CrushMap::type_names`](super::CrushMap::type_names).
    pub type_id: u16,
    /// The weight, 16.16.
    pub weight: u32,
    /// What it holds: devices (0 and up) and buckets (negative).
    pub items: Vec<i32>,
    /// The algorithm with its weights.
    pub kind: BucketKind,
}

/// The algorithms' numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum BucketAlg {
    /// All items weigh the same.
    Uniform = 1,
    /// A list, newest item first; cheap to append to.
    List = 2,
    /// A weighted binary tree.
    Tree = 3,
    /// Straws whose precomputed lengths stand for weights.
    Straw = 4,
    /// Independent exponential draws; the default.
    Straw2 = 5,
}

/// An algorithm and the weights (16.16) it chooses by. Each vector has an entry per item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BucketKind {
    /// [`BucketAlg::Uniform`].
    Uniform {
        /// The weight of each item.
        item_weight: u32,
    },
    /// [`BucketAlg::List`].
    List {
        /// Weights.
        item_weights: Vec<u32>,
        /// Prefix sums of the weights, the item's own included.
        sum_weights: Vec<u32>,
    },
    /// [`BucketAlg::Tree`].
    Tree {
        /// Weights of the tree's nodes; item `i` is node `2i + 1`. The length is a power of two.
        node_weights: Vec<u32>,
    },
    /// [`BucketAlg::Straw`].
    Straw {
        /// Weights; only editors use them.
        item_weights: Vec<u32>,
        /// Straw lengths.
        straws: Vec<u32>,
    },
    /// [`BucketAlg::Straw2`].
    Straw2 {
        /// Weights.
        item_weights: Vec<u32>,
    },
}

impl BucketKind {
    /// The algorithm.
    pub fn alg(&self) -> BucketAlg {
        match self {
            BucketKind::Uniform { .. } => BucketAlg::Uniform,
            BucketKind::List { .. } => BucketAlg::List,
            BucketKind::Tree { .. } => BucketAlg::Tree,
            BucketKind::Straw { .. } => BucketAlg::Straw,
            BucketKind::Straw2 { .. } => BucketAlg::Straw2,
        }
    }
}

impl Bucket {
    /// The weight of the item at `index`, 16.16.
    pub fn item_weight(&self, index: usize) -> Option<u32> {
        if index >= self.items.len() {
            return None;
        }
        match &self.kind {
            BucketKind::Uniform { item_weight } => Some(*item_weight),
            BucketKind::List { item_weights, .. }
            | BucketKind::Straw { item_weights, .. }
            | BucketKind::Straw2 { item_weights } => item_weights.get(index).copied(),
            BucketKind::Tree { node_weights } => node_weights.get(2 * index + 1).copied(),
        }
    }

    pub(super) fn validate(&self) -> Result<(), DecodeError> {
        let size = self.items.len();
        let fits = match &self.kind {
            BucketKind::Uniform { .. } => true,
            BucketKind::List { item_weights, sum_weights } => {
                item_weights.len() == size && sum_weights.len() == size
            }
            BucketKind::Straw { item_weights, straws } => item_weights.len() == size && straws.len() == size,
            BucketKind::Straw2 { item_weights } => item_weights.len() == size,
            BucketKind::Tree { node_weights } => {
                size == 0 || (node_weights.len().is_power_of_two() && 2 * size <= node_weights.len())
            }
        };
        if fits {
            Ok(())
        } else {
            Err(DecodeError::Invalid("a CRUSH bucket's weights do not match its size"))
        }
    }

    /// Chooses an item of a non-empty bucket for input `x`, replica number `r` and a result position.
    /// A malformed tree may yield [`ITEM_NONE`](super::ITEM_NONE), which is no device.
    pub(super) fn choose(
        &self,
        work: &mut Work,
        x: u32,
        r: u32,
        arg: Option<&ChooseArg>,
        position: usize,
    ) -> Result<i32, Exhausted> {
        match &self.kind {
            BucketKind::Uniform { .. } => self.choose_by_permutation(work, x, r),
            BucketKind::List { item_weights, sum_weights } => {
                work.charge(self.items.len())?;
                Ok(list::choose(self, item_weights, sum_weights, x, r))
            }
            BucketKind::Tree { node_weights } => {
                work.charge(8)?;
                Ok(tree::choose(self, node_weights, x, r))
            }
            BucketKind::Straw { straws, .. } => {
                work.charge(self.items.len())?;
                Ok(straw::choose(&self.items, straws, x, r))
            }
            BucketKind::Straw2 { item_weights } => {
                work.charge(self.items.len())?;
                let weights = arg.and_then(|arg| arg.weights(position)).unwrap_or(item_weights);
                let ids = arg.map(|arg| &arg.ids).filter(|ids| !ids.is_empty()).unwrap_or(&self.items);
                Ok(straw2::choose(&self.items, ids, weights, x, r))
            }
        }
    }

    /// The permutation's choice: what uniform buckets do, and the last resort of old tunables.
    pub(super) fn choose_by_permutation(&self, work: &mut Work, x: u32, r: u32) -> Result<i32, Exhausted> {
        let (permutation, budget) = work.permutation(self.id);
        permutation.choose(budget, self, x, r)
    }
}
