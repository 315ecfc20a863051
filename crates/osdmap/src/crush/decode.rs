//! Reading a CRUSH map.

use std::collections::BTreeMap;

use sepiola_wire::{Decode, DecodeError, Reader};

use super::{Bucket, BucketKind, ChooseArg, ChooseArgs, CrushMap, Rule, RuleKind, RuleStep, Tunables};

pub(super) const MAGIC: u32 = 0x0001_0000;

impl Decode for CrushMap {
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        if r.u32()? != MAGIC {
            return Err(DecodeError::Invalid("not a CRUSH map"));
        }
        let bucket_slots = count(r.i32()?, r)?;
        let rule_slots = count(r.i32()?, r)?;
        r.i32()?;
        let mut buckets = Vec::with_capacity(bucket_slots.min(1024));
        for slot in 0..bucket_slots {
            buckets.push(decode_bucket(r, slot)?);
        }
        let mut rules = Vec::with_capacity(rule_slots.min(1024));
        for number in 0..rule_slots {
            rules.push(decode_rule(r, number)?);
        }
        let mut map = CrushMap {
            buckets,
            rules,
            type_names: BTreeMap::decode(r)?,
            item_names: BTreeMap::decode(r)?,
            rule_names: BTreeMap::decode(r)?,
            ..CrushMap::empty(Tunables::LEGACY)
        };
        decode_tail(r, &mut map)?;
        map.count_devices();
        map.validate()?;
        Ok(map)
    }
}

/// A number of slots, each of which takes at least four bytes.
fn count(slots: i32, r: &Reader<'_>) -> Result<usize, DecodeError> {
    let count = usize::try_from(slots).map_err(|_| DecodeError::Invalid("negative number of CRUSH slots"))?;
    if count > r.remaining() / 4 {
        return Err(DecodeError::CountTooLarge { count, remaining: r.remaining() });
    }
    Ok(count)
}

fn decode_bucket(r: &mut Reader<'_>, slot: usize) -> Result<Option<Bucket>, DecodeError> {
    if r.u32()? == 0 {
        return Ok(None);
    }
    let id = r.i32()?;
    if super::map::slot(id) != Some(slot) {
        return Err(DecodeError::Invalid("a CRUSH bucket's id does not fit its slot"));
    }
    let type_id = r.u16()?;
    let alg = r.u8()?;
    if r.u8()? != 0 {
        return Err(DecodeError::Invalid("unknown CRUSH hash"));
    }
    let weight = r.u32()?;
    let items = Vec::<i32>::decode(r)?;
    let pairs = |r: &mut Reader<'_>| -> Result<(Vec<u32>, Vec<u32>), DecodeError> {
        items.iter().map(|_| Ok((r.u32()?, r.u32()?))).collect()
    };
    let kind = match alg {
        1 => BucketKind::Uniform { item_weight: r.u32()? },
        2 => {
            let (item_weights, sum_weights) = pairs(r)?;
            BucketKind::List { item_weights, sum_weights }
        }
        3 => {
            let nodes = r.u8()?;
            BucketKind::Tree { node_weights: (0..nodes).map(|_| r.u32()).collect::<Result<_, _>>()? }
        }
        4 => {
            let (item_weights, straws) = pairs(r)?;
            BucketKind::Straw { item_weights, straws }
        }
        5 => BucketKind::Straw2 { item_weights: items.iter().map(|_| r.u32()).collect::<Result<_, _>>()? },
        _ => return Err(DecodeError::Invalid("unknown CRUSH bucket algorithm")),
    };
    Ok(Some(Bucket { id, type_id, weight, items, kind }))
}

fn decode_rule(r: &mut Reader<'_>, number: usize) -> Result<Option<Rule>, DecodeError> {
    if r.u32()? == 0 {
        return Ok(None);
    }
    let len = r.u32()? as usize;
    if usize::from(r.u8()?) != number {
        return Err(DecodeError::Invalid("a CRUSH rule's ruleset is not its number"));
    }
    let (kind, min_size, max_size) = (RuleKind(r.u8()?), r.u8()?, r.u8()?);
    if len > r.remaining() / 12 {
        return Err(DecodeError::CountTooLarge { count: len, remaining: r.remaining() });
    }
    let step = |_| Ok(RuleStep { op: r.u32()?, arg1: r.i32()?, arg2: r.i32()? });
    let steps = (0..len).map(step).collect::<Result<_, DecodeError>>()?;
    Ok(Some(Rule { kind, min_size, max_size, steps }))
}

/// The groups that later releases appended; an older map ends before any of them.
fn decode_tail(r: &mut Reader<'_>, map: &mut CrushMap) -> Result<(), DecodeError> {
    let tunables = &mut map.tunables;
    if r.is_empty() {
        return Ok(());
    }
    tunables.choose_local_tries = r.u32()?;
    tunables.choose_local_fallback_tries = r.u32()?;
    tunables.choose_total_tries = r.u32()?;
    if r.is_empty() {
        return Ok(());
    }
    tunables.chooseleaf_descend_once = r.u32()?;
    if r.is_empty() {
        return Ok(());
    }
    tunables.chooseleaf_vary_r = r.u8()?;
    if r.is_empty() {
        return Ok(());
    }
    tunables.straw_calc_version = r.u8()?;
    if r.is_empty() {
        return Ok(());
    }
    tunables.allowed_bucket_algs = r.u32()?;
    if r.is_empty() {
        return Ok(());
    }
    tunables.chooseleaf_stable = r.u8()?;
    if r.is_empty() {
        return Ok(());
    }
    map.item_classes = BTreeMap::decode(r)?;
    map.class_names = BTreeMap::decode(r)?;
    map.class_buckets = BTreeMap::decode(r)?;
    if r.is_empty() {
        return Ok(());
    }
    map.choose_args = decode_choose_args(r)?;
    if r.is_empty() {
        return Ok(());
    }
    map.tunables.msr_descents = r.u32()?;
    map.tunables.msr_collision_tries = r.u32()?;
    Ok(())
}

fn decode_choose_args(r: &mut Reader<'_>) -> Result<BTreeMap<i64, ChooseArgs>, DecodeError> {
    let mut all = BTreeMap::new();
    for _ in 0..r.count(12)? {
        let index = r.i64()?;
        let mut args = BTreeMap::new();
        for _ in 0..r.count(12)? {
            let slot = r.u32()?;
            let arg = ChooseArg { weight_set: Vec::decode(r)?, ids: Vec::decode(r)? };
            args.insert(slot, arg);
        }
        all.insert(index, ChooseArgs(args));
    }
    Ok(all)
}
