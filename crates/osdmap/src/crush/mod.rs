//! CRUSH: the function that maps a placement input to an ordered list of OSDs.
//!
//! A [`CrushMap`] is a forest of buckets whose leaves are OSDs, and rules that say how to descend it.
//! Every peer computes the same mapping from the same map, so each step here is fixed by the wire
//! format, down to the order of hash operations.

mod bucket;
mod choose_args;
mod decode;
mod encode;
mod firstn;
mod hierarchy;
mod indep;
mod ln;
mod map;
mod rule;
mod tunables;
mod work;

pub use bucket::{Bucket, BucketAlg, BucketKind};
pub use choose_args::{ChooseArg, ChooseArgs};
pub use hierarchy::HierarchyError;
pub use ln::crush_ln;
pub use map::{CrushMap, ITEM_NONE};
pub use rule::{Rule, RuleKind, RuleStep};
pub use tunables::Tunables;
