//! Rules and their evaluation.

use super::{
    CrushMap,
    choose_args::ChooseArgs,
    firstn::Firstn,
    indep::Indep,
    map::slot,
    work::{Exhausted, Work},
};
use crate::hash::hash2;

/// A sequence of steps that maps an input to items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What pools it is for.
    pub kind: RuleKind,
    /// An obsolete lower bound of pool sizes; kept because it is encoded.
    pub min_size: u8,
    /// An obsolete upper bound of pool sizes; kept because it is encoded.
    pub max_size: u8,
    /// The steps.
    pub steps: Vec<RuleStep>,
}

/// The number of a rule's kind: 1 replicated, 3 erasure, 4 and 5 the multi-step retry kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleKind(pub u8);

impl RuleKind {
    /// For replicated pools.
    pub const REPLICATED: RuleKind = RuleKind(1);
    /// For erasure-coded pools.
    pub const ERASURE: RuleKind = RuleKind(3);
}

/// One step: an operation and two arguments, whose meaning depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleStep {
    /// The operation, one of the constants here.
    pub op: u32,
    /// The item of a take, the number of a choose, the value of a set.
    pub arg1: i32,
    /// The type of a choose.
    pub arg2: i32,
}

#[allow(missing_docs)]
impl RuleStep {
    pub const NOOP: u32 = 0;
    pub const TAKE: u32 = 1;
    pub const CHOOSE_FIRSTN: u32 = 2;
    pub const CHOOSE_INDEP: u32 = 3;
    pub const EMIT: u32 = 4;
    pub const CHOOSELEAF_FIRSTN: u32 = 6;
    pub const CHOOSELEAF_INDEP: u32 = 7;
    pub const SET_CHOOSE_TRIES: u32 = 8;
    pub const SET_CHOOSELEAF_TRIES: u32 = 9;
    pub const SET_CHOOSE_LOCAL_TRIES: u32 = 10;
    pub const SET_CHOOSE_LOCAL_FALLBACK_TRIES: u32 = 11;
    pub const SET_CHOOSELEAF_VARY_R: u32 = 12;
    pub const SET_CHOOSELEAF_STABLE: u32 = 13;

    /// Starts from an item.
    pub const fn take(item: i32) -> Self {
        RuleStep { op: Self::TAKE, arg1: item, arg2: 0 }
    }

    /// Appends what was chosen to the result.
    pub const fn emit() -> Self {
        RuleStep { op: Self::EMIT, arg1: 0, arg2: 0 }
    }
}

/// What the steps of a rule may override.
#[derive(Clone, Copy)]
pub(super) struct Settings {
    pub(super) tries: u32,
    pub(super) leaf_tries: Option<u32>,
    pub(super) local_tries: u32,
    pub(super) fallback_tries: u32,
    pub(super) vary_r: u32,
    pub(super) stable: bool,
}

/// What stays the same during one evaluation.
pub(super) struct Search<'a> {
    pub(super) map: &'a CrushMap,
    pub(super) x: u32,
    pub(super) weights: &'a [u32],
    pub(super) args: Option<&'a ChooseArgs>,
    pub(super) work: Work,
}

impl Search<'_> {
    /// Chooses an item of a non-empty bucket.
    pub(super) fn choose(
        &mut self,
        bucket: &super::Bucket,
        r: u32,
        position: usize,
    ) -> Result<i32, Exhausted> {
        // Without a slot the bucket would not be in the map.
        let arg = self.args.and_then(|args| args.0.get(&(slot(bucket.id)? as u32)));
        bucket.choose(&mut self.work, self.x, r, arg, position)
    }

    /// True when a device is out, or partly out and its share of inputs excludes this one.
    pub(super) fn is_out(&self, device: i32) -> bool {
        let weight = usize::try_from(device).ok().and_then(|i| self.weights.get(i));
        match weight.copied() {
            None | Some(0) => true,
            Some(weight) if weight >= 0x10000 => false,
            Some(weight) => hash2(self.x, device as u32) & 0xffff >= weight,
        }
    }
}

impl CrushMap {
    /// Evaluates a rule: the items for input `x`, at most `result_max`, with [`ITEM_NONE`](super::ITEM_NONE) in the holes of
    /// an independent choice. `weights` (16.16) are the OSDs' in/out weights by OSD number.
    ///
    /// The result is empty for a rule that does not exist, or whose search exceeds a budget that no
    /// sensible map comes near.
    pub fn do_rule(
        &self,
        rule: u32,
        x: u32,
        result_max: usize,
        weights: &[u32],
        args: Option<&ChooseArgs>,
    ) -> Vec<i32> {
        let Some(rule) = self.rule(rule) else { return Vec::new() };
        let mut search = Search { map: self, x, weights, args, work: Work::new() };
        search.evaluate(rule, result_max).unwrap_or_default()
    }
}

impl Search<'_> {
    fn evaluate(&mut self, rule: &Rule, result_max: usize) -> Result<Vec<i32>, Exhausted> {
        let tunables = &self.map.tunables;
        let mut settings = Settings {
            tries: tunables.choose_total_tries.saturating_add(1),
            leaf_tries: None,
            local_tries: tunables.choose_local_tries,
            fallback_tries: tunables.choose_local_fallback_tries,
            vary_r: tunables.chooseleaf_vary_r.into(),
            stable: tunables.chooseleaf_stable != 0,
        };
        let (mut current, mut result) = (Vec::new(), Vec::new());
        for step in &rule.steps {
            self.work.charge(1)?;
            let positive = u32::try_from(step.arg1).ok().filter(|value| *value > 0);
            match step.op {
                RuleStep::TAKE => {
                    let device = (0..self.map.max_devices).contains(&step.arg1);
                    if device || self.map.bucket(step.arg1).is_some() {
                        current = vec![step.arg1];
                    }
                }
                RuleStep::SET_CHOOSE_TRIES => settings.tries = positive.unwrap_or(settings.tries),
                RuleStep::SET_CHOOSELEAF_TRIES => settings.leaf_tries = positive.or(settings.leaf_tries),
                RuleStep::SET_CHOOSE_LOCAL_TRIES if step.arg1 >= 0 => {
                    settings.local_tries = step.arg1 as u32;
                }
                RuleStep::SET_CHOOSE_LOCAL_FALLBACK_TRIES if step.arg1 >= 0 => {
                    settings.fallback_tries = step.arg1 as u32;
                }
                RuleStep::SET_CHOOSELEAF_VARY_R if step.arg1 >= 0 => settings.vary_r = step.arg1 as u32,
                RuleStep::SET_CHOOSELEAF_STABLE if step.arg1 >= 0 => settings.stable = step.arg1 != 0,
                RuleStep::CHOOSE_FIRSTN
                | RuleStep::CHOOSE_INDEP
                | RuleStep::CHOOSELEAF_FIRSTN
                | RuleStep::CHOOSELEAF_INDEP => {
                    current = self.choose_step(*step, &settings, &current, result_max)?;
                }
                RuleStep::EMIT => {
                    let room = result_max - result.len();
                    result.extend(current.drain(..).take(room));
                }
                _ => {}
            }
        }
        Ok(result)
    }

    fn choose_step(
        &mut self,
        step: RuleStep,
        settings: &Settings,
        from: &[i32],
        result_max: usize,
    ) -> Result<Vec<i32>, Exhausted> {
        let leaf = matches!(step.op, RuleStep::CHOOSELEAF_FIRSTN | RuleStep::CHOOSELEAF_INDEP);
        let firstn = matches!(step.op, RuleStep::CHOOSE_FIRSTN | RuleStep::CHOOSELEAF_FIRSTN);
        let mut chosen = vec![0; result_max];
        let mut leaves = vec![0; result_max];
        let mut size = 0;
        // Results are bounded by a pool's size, so this fits.
        let wanted = if step.arg1 > 0 { step.arg1 } else { step.arg1.saturating_add(result_max as i32) };
        let Some(wanted) = usize::try_from(wanted).ok().filter(|wanted| *wanted > 0) else {
            return Ok(Vec::new());
        };
        for item in from {
            let Some(bucket) = self.map.bucket(*item) else { continue };
            let leaves_here = leaf.then_some(&mut leaves[size..]);
            if firstn {
                let descend_once = self.map.tunables.chooseleaf_descend_once != 0;
                let leaf_tries = if descend_once { 1 } else { settings.tries };
                let choice = Firstn {
                    wanted,
                    type_id: step.arg2,
                    tries: settings.tries,
                    leaf_tries: settings.leaf_tries.unwrap_or(leaf_tries),
                    local_tries: settings.local_tries,
                    fallback_tries: settings.fallback_tries,
                    vary_r: settings.vary_r,
                    stable: settings.stable,
                    parent_r: 0,
                };
                let room = result_max - size;
                size += self.firstn(bucket, &choice, &mut chosen[size..], 0, room, leaves_here)?;
            } else {
                let n = wanted.min(result_max - size);
                let choice = Indep {
                    replicas: wanted,
                    type_id: step.arg2,
                    tries: settings.tries,
                    leaf_tries: settings.leaf_tries.unwrap_or(1),
                    parent_r: 0,
                };
                self.indep(bucket, &choice, &mut chosen[size..], 0..n, leaves_here)?;
                size += n;
            }
        }
        let mut found = if leaf { leaves } else { chosen };
        found.truncate(size);
        Ok(found)
    }
}
