//! Alternative weights and ids that override a bucket's own during selection.

use std::collections::BTreeMap;

/// One bucket's overrides.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChooseArg {
    /// Weights per result position, 16.16; positions beyond the last use the last. Empty: the bucket's.
    pub weight_set: Vec<Vec<u32>>,
    /// Ids that enter the hash in place of the items. Empty: the bucket's.
    pub ids: Vec<i32>,
}

impl ChooseArg {
    /// The weights for a result position, if overridden.
    #[inline]
    pub(crate) fn weights(&self, position: usize) -> Option<&[u32]> {
        let last = self.weight_set.len().checked_sub(1)?;
        self.weight_set.get(position.min(last)).map(Vec::as_slice)
    }
}

/// Overrides by bucket slot (bucket id = -1 - slot).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChooseArgs(pub BTreeMap<u32, ChooseArg>);
