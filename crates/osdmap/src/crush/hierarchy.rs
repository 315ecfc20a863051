//! Building a hierarchy: the default root, hosts, devices, and the rule for replicated pools.

use thiserror::Error;

use super::{Bucket, BucketKind, CrushMap, Rule, RuleKind, RuleStep, Tunables, map::slot};

/// The bucket types that every new cluster starts with, by number.
const TYPES: [&str; 12] =
    ["osd", "host", "chassis", "rack", "row", "pdu", "pod", "room", "datacenter", "zone", "region", "root"];
const HOST: u16 = 1;
const ROOT: u16 = 11;
const DEFAULT_ROOT: &str = "default";
/// New slots come by doubling from this, as every other editor of these maps does it.
const FIRST_SLOTS: usize = 8;

/// Why a hierarchy could not be changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HierarchyError {
    /// Only straw2 buckets are edited.
    #[error("bucket {0} is not a straw2 bucket")]
    NotStraw2(i32),
    /// The named root is missing.
    #[error("there is no bucket named `{0}`")]
    NoSuchBucket(String),
    /// The name belongs to something that is not a host.
    #[error("`{0}` is not a host")]
    NotAHost(String),
    /// Weights of 16.16 would overflow.
    #[error("the weights add up to more than a bucket can hold")]
    WeightOverflow,
    /// No more rules or buckets fit.
    #[error("the map is full")]
    Full,
}

impl CrushMap {
    /// The map of a new cluster: jewel tunables, the twelve usual types, an empty straw2 root named
    /// `default`, and no rule.
    pub fn new_cluster() -> Self {
        let mut map = CrushMap::empty(Tunables::JEWEL);
        map.type_names = TYPES.iter().zip(0..).map(|(name, number)| (number, (*name).to_owned())).collect();
        // An empty map has room.
        map.add_bucket(ROOT, DEFAULT_ROOT).expect("the first bucket fits");
        map
    }

    /// Adds a rule for replicated pools that spreads over items of a type (0 = OSDs, 1 = hosts) below the
    /// root `default`; its number.
    pub fn add_replicated_rule(&mut self, name: &str, failure_domain: u16) -> Result<u8, HierarchyError> {
        let root = self
            .item_by_name(DEFAULT_ROOT)
            .ok_or_else(|| HierarchyError::NoSuchBucket(DEFAULT_ROOT.to_owned()))?;
        let op = if failure_domain == 0 { RuleStep::CHOOSE_FIRSTN } else { RuleStep::CHOOSELEAF_FIRSTN };
        let rule = Rule {
            kind: RuleKind::REPLICATED,
            min_size: 1,
            max_size: 10,
            steps: vec![
                RuleStep::take(root),
                RuleStep { op, arg1: 0, arg2: failure_domain.into() },
                RuleStep::emit(),
            ],
        };
        let number = self.rules.iter().position(Option::is_none).unwrap_or(self.rules.len());
        let ruleset = u8::try_from(number).map_err(|_| HierarchyError::Full)?;
        if number == self.rules.len() {
            self.rules.push(None);
        }
        self.rules[number] = Some(rule);
        self.rule_names.insert(ruleset.into(), name.to_owned());
        Ok(ruleset)
    }

    /// Puts a device into a host below the root `default`, both created as needed, or changes its weight
    /// (16.16) if it is there already.
    pub fn set_device(&mut self, osd: i32, weight: u32, host: &str) -> Result<(), HierarchyError> {
        let root = match self.item_by_name(DEFAULT_ROOT) {
            Some(root) => root,
            None => self.add_bucket(ROOT, DEFAULT_ROOT)?,
        };
        let host_id = match self.item_by_name(host) {
            Some(id) if self.bucket(id).is_some_and(|b| b.type_id == HOST) => id,
            Some(_) => return Err(HierarchyError::NotAHost(host.to_owned())),
            None => self.add_bucket(HOST, host)?,
        };
        let host_weight = self.set_item(host_id, osd, weight)?;
        self.set_item(root, host_id, host_weight)?;
        self.item_names.insert(osd, format!("osd.{osd}"));
        self.count_devices();
        Ok(())
    }

    /// Removes a device from every bucket, taking its weight out of the buckets above.
    pub fn remove_device(&mut self, osd: i32) -> Result<(), HierarchyError> {
        let holders: Vec<i32> =
            self.buckets.iter().flatten().filter(|b| b.items.contains(&osd)).map(|b| b.id).collect();
        for holder in holders {
            let bucket = self.straw2_mut(holder)?;
            let (items, weights, total) = bucket;
            if let Some(at) = items.iter().position(|item| *item == osd) {
                items.remove(at);
                weights.remove(at);
                *total = sum(weights)?;
            }
            let mut child = holder;
            while let Some(parent) = self.parent(child) {
                let weight = self.bucket(child).map_or(0, |b| b.weight);
                self.set_item(parent, child, weight)?;
                child = parent;
            }
        }
        self.item_names.remove(&osd);
        self.count_devices();
        self.item_classes.remove(&osd);
        Ok(())
    }

    fn parent(&self, item: i32) -> Option<i32> {
        self.buckets.iter().flatten().find(|b| b.items.contains(&item)).map(|b| b.id)
    }

    fn add_bucket(&mut self, type_id: u16, name: &str) -> Result<i32, HierarchyError> {
        let free = match self.buckets.iter().position(Option::is_none) {
            Some(free) => free,
            None => {
                let len = self.buckets.len();
                self.buckets.resize((len * 2).max(FIRST_SLOTS), None);
                len
            }
        };
        let id = -1 - i32::try_from(free).map_err(|_| HierarchyError::Full)?;
        self.buckets[free] = Some(Bucket {
            id,
            type_id,
            weight: 0,
            items: Vec::new(),
            kind: BucketKind::Straw2 { item_weights: Vec::new() },
        });
        self.item_names.insert(id, name.to_owned());
        Ok(id)
    }

    /// Adds an item to a bucket or changes its weight; the bucket's new weight.
    fn set_item(&mut self, bucket: i32, item: i32, weight: u32) -> Result<u32, HierarchyError> {
        let (items, weights, total) = self.straw2_mut(bucket)?;
        match items.iter().position(|i| *i == item) {
            Some(at) => weights[at] = weight,
            None => {
                items.push(item);
                weights.push(weight);
            }
        }
        *total = sum(weights)?;
        Ok(*total)
    }

    fn straw2_mut(&mut self, id: i32) -> Result<(&mut Vec<i32>, &mut Vec<u32>, &mut u32), HierarchyError> {
        let bucket = slot(id).and_then(|slot| self.buckets.get_mut(slot)?.as_mut());
        match bucket {
            Some(Bucket { items, weight, kind: BucketKind::Straw2 { item_weights }, .. }) => {
                Ok((items, item_weights, weight))
            }
            _ => Err(HierarchyError::NotStraw2(id)),
        }
    }
}

fn sum(weights: &[u32]) -> Result<u32, HierarchyError> {
    weights
        .iter()
        .try_fold(0_u32, |sum, weight| sum.checked_add(*weight))
        .ok_or(HierarchyError::WeightOverflow)
}
