//! The CRUSH map's data.

use std::collections::BTreeMap;

use sepiola_wire::DecodeError;

use super::{Bucket, ChooseArgs, Rule, Tunables};

/// The hole in an erasure-coded mapping where no item was found.
pub const ITEM_NONE: i32 = 0x7fff_ffff;

/// Buckets, rules, names, tunables, device classes and weight overrides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrushMap {
    /// Buckets by slot; the bucket in slot `n` has the id `-1 - n`.
    pub buckets: Vec<Option<Bucket>>,
    /// Rules by number.
    pub rules: Vec<Option<Rule>>,
    /// Items from 0 below this are devices: one more than the highest one that is in a bucket or has a
    /// name. What an encoded map says about it is not believed: monitors write what they computed so.
    pub max_devices: i32,
    /// Names of the bucket types; type 0 is the device.
    pub type_names: BTreeMap<i32, String>,
    /// Names of devices and buckets.
    pub item_names: BTreeMap<i32, String>,
    /// Names of the rules.
    pub rule_names: BTreeMap<i32, String>,
    /// The search's numbers.
    pub tunables: Tunables,
    /// The device class of a device.
    pub item_classes: BTreeMap<i32, i32>,
    /// Names of the device classes.
    pub class_names: BTreeMap<i32, String>,
    /// For a bucket and a class, the bucket that holds only the devices of that class. To the mapper
    /// they are buckets like any other.
    pub class_buckets: BTreeMap<i32, BTreeMap<i32, i32>>,
    /// Overrides by pool id; -1 is the default for pools without any.
    pub choose_args: BTreeMap<i64, ChooseArgs>,
}

impl CrushMap {
    /// A map without items and rules.
    pub fn empty(tunables: Tunables) -> Self {
        CrushMap {
            buckets: Vec::new(),
            rules: Vec::new(),
            max_devices: 0,
            type_names: BTreeMap::new(),
            item_names: BTreeMap::new(),
            rule_names: BTreeMap::new(),
            tunables,
            item_classes: BTreeMap::new(),
            class_names: BTreeMap::new(),
            class_buckets: BTreeMap::new(),
            choose_args: BTreeMap::new(),
        }
    }

    /// The bucket with this (negative) id.
    #[inline]
    pub fn bucket(&self, id: i32) -> Option<&Bucket> {
        self.buckets.get(slot(id)?)?.as_ref()
    }

    /// The rule with this number.
    pub fn rule(&self, number: u32) -> Option<&Rule> {
        self.rules.get(number as usize)?.as_ref()
    }

    /// The device or bucket with this name.
    pub fn item_by_name(&self, name: &str) -> Option<i32> {
        self.item_names.iter().find(|(_, n)| *n == name).map(|(id, _)| *id)
    }

    /// Whether a bucket is a shadow: a copy of another one with only the devices of one class, which is no
    /// place of its own.
    pub fn is_shadow(&self, id: i32) -> bool {
        self.class_buckets.values().any(|by_class| by_class.values().any(|shadow| *shadow == id))
    }

    /// The buckets around an item, the nearest first, without shadows. An item in several buckets is followed
    /// into the one in the lowest slot. Ends at cycles, too, which only maps that were not decoded can have.
    pub fn ancestors(&self, item: i32) -> impl Iterator<Item = &Bucket> {
        let holder = move |item: i32| {
            let mut buckets = self.buckets.iter().flatten();
            buckets.find(|bucket| bucket.items.contains(&item) && !self.is_shadow(bucket.id))
        };
        // No path without a cycle is longer than there are buckets.
        std::iter::successors(holder(item), move |bucket| holder(bucket.id)).take(self.buckets.len())
    }

    /// The overrides that a pool's mappings use.
    pub fn choose_args_for(&self, pool: i64) -> Option<&ChooseArgs> {
        const DEFAULT: i64 = -1;
        self.choose_args.get(&pool).or_else(|| self.choose_args.get(&DEFAULT))
    }

    /// Computes [`CrushMap::max_devices`].
    pub(super) fn count_devices(&mut self) {
        let held = self.buckets.iter().flatten().flat_map(|bucket| &bucket.items);
        let highest = held.chain(self.item_names.keys()).max();
        self.max_devices = highest.map_or(0, |highest| highest.saturating_add(1).max(0));
    }

    /// Checks what the mapper relies on to terminate and to stay inside its arrays.
    pub(super) fn validate(&self) -> Result<(), DecodeError> {
        for bucket in self.buckets.iter().flatten() {
            bucket.validate()?;
        }
        for args in self.choose_args.values() {
            for (slot, arg) in &args.0 {
                // Overrides of a bucket that is gone are dead weight, not an error.
                let Some(Some(bucket)) = self.buckets.get(*slot as usize) else { continue };
                let size = bucket.items.len();
                if arg.weight_set.iter().any(|weights| weights.len() != size)
                    || (!arg.ids.is_empty() && arg.ids.len() != size)
                {
                    return Err(DecodeError::Invalid("choose_args do not match their bucket's size"));
                }
            }
        }
        self.refuse_cycles()
    }

    /// A descent never counts its steps between buckets, so a bucket inside itself would hang it.
    fn refuse_cycles(&self) -> Result<(), DecodeError> {
        #[derive(Clone, Copy, PartialEq)]
        enum Seen {
            No,
            Open,
            Done,
        }
        let mut seen = vec![Seen::No; self.buckets.len()];
        let mut path: Vec<(usize, usize)> = Vec::new();
        for root in 0..self.buckets.len() {
            if seen[root] == Seen::No {
                seen[root] = Seen::Open;
                path.push((root, 0));
            }
            while let Some((at, next)) = path.last_mut() {
                let items = self.buckets[*at].as_ref().map_or(&[][..], |b| &b.items);
                let Some(item) = items.get(*next) else {
                    seen[*at] = Seen::Done;
                    path.pop();
                    continue;
                };
                *next += 1;
                let Some(child) = slot(*item).filter(|child| *child < seen.len()) else { continue };
                match seen[child] {
                    Seen::Open => return Err(DecodeError::Invalid("a CRUSH bucket contains itself")),
                    Seen::Done => {}
                    Seen::No => {
                        seen[child] = Seen::Open;
                        path.push((child, 0));
                    }
                }
            }
        }
        Ok(())
    }
}

/// The slot of a bucket id; `None` for a device.
#[inline]
pub(super) fn slot(id: i32) -> Option<usize> {
    usize::try_from(-1 - i64::from(id)).ok()
}
