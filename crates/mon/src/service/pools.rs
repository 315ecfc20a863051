//! Making and deleting pools, for commands and for POOLOP messages alike.

use sepiola_messages::LogLevel;
use sepiola_osdmap::{OsdMap, Pool, PoolFlags};
use sepiola_proto::MonChange;
use sepiola_wire::{Errno, PoolId, UTime};

use super::{cluster_log, osd_step::step};
use crate::{MonOptions, state::MonState};

/// Why a pool was not made or deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub errno: Errno,
    pub text: String,
}

fn refused<T>(errno: Errno, text: impl Into<String>) -> Result<T, Refused> {
    Err(Refused { errno, text: text.into() })
}

/// A CRUSH rule as requests name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleRef<'a> {
    Name(&'a str),
    Number(u8),
}

/// A pool that somebody wants; what is `None` has its default.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PoolRequest<'a> {
    pub name: &'a str,
    pub pg_num: Option<i64>,
    pub pgp_num: Option<i64>,
    pub size: Option<i64>,
    pub rule: Option<RuleRef<'a>>,
    pub expected_num_objects: Option<i64>,
}

/// Says whether a pool may have this name.
pub(crate) fn check_name(name: &str) -> Result<(), Refused> {
    if name.is_empty() || name.len() > 128 || name.chars().any(char::is_control) {
        return refused(Errno::EINVAL, "a pool name has 1 to 128 bytes and no control characters");
    }
    Ok(())
}

/// The changes that make a pool.
pub(crate) fn create(
    state: &MonState,
    options: &MonOptions,
    now: UTime,
    wanted: &PoolRequest<'_>,
) -> Result<Vec<MonChange>, Refused> {
    let map = state.osdmap();
    check_name(wanted.name)?;
    if map.pool_by_name(wanted.name).is_some() {
        return refused(Errno::EEXIST, format!("pool '{}' already exists", wanted.name));
    }
    check_size(wanted.size.filter(|size| *size != 0).unwrap_or(options.pool_default_size.into()))?;
    // 0 is how tools leave a number to the monitor.
    let given = |n: Option<i64>| n.filter(|n| *n != 0);
    let pg_num = given(wanted.pg_num)
        .unwrap_or_else(|| i64::try_from(options.config.u64("osd_pool_default_pg_num")).unwrap_or(i64::MAX));
    let pgp_num = given(wanted.pgp_num).unwrap_or(pg_num);
    let max = i64::from(options.pool_max_pg_num);
    if !(1..=max).contains(&pg_num) {
        return refused(
            Errno::ERANGE,
            format!("'pg_num' must be greater than 0 and less than or equal to {max}"),
        );
    }
    if !(1..=pg_num).contains(&pgp_num) {
        return refused(Errno::ERANGE, "'pgp_num' must be greater than 0 and lower or equal than 'pg_num'");
    }
    let rule = match wanted.rule {
        None => default_rule(map)?,
        Some(RuleRef::Number(number)) if map.crush().rule(number.into()).is_some() => number,
        Some(RuleRef::Number(number)) => {
            return refused(Errno::ENOENT, format!("crush rule {number} does not exist"));
        }
        Some(RuleRef::Name(name)) => match map.crush().rule_names.iter().find(|(_, n)| *n == name) {
            Some((number, _)) => u8::try_from(*number).unwrap_or(0),
            None => return refused(Errno::ENOENT, format!("specified rule {name} doesn't exist")),
        },
    };
    // Both fit: they are at most the option, which is 32 bits wide.
    let mut pool = Pool::replicated(1, pg_num as u32, rule, now);
    pool.pgp_num = pgp_num as u32;
    pool.pgp_num_target = pgp_num as u32;
    pool.expected_num_objects = wanted.expected_num_objects.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    let step = step(map, now, |inc| {
        inc.add_pool(map, wanted.name, pool);
    });
    let step = step.or_else(|e| refused(Errno::EINVAL, e.to_string()))?;
    Ok(vec![step, logged(state, options, now, &format!("pool '{}' created", wanted.name))])
}

fn logged(state: &MonState, options: &MonOptions, now: UTime, text: &str) -> MonChange {
    cluster_log::line(state, options, now, LogLevel::INFO, text)
}

/// Copies need replication, which does not exist yet.
pub(crate) fn check_size(size: i64) -> Result<(), Refused> {
    match size {
        1 => Ok(()),
        2..=10 => refused(
            Errno::EOPNOTSUPP,
            format!("size {size} needs replication, which is not supported yet; use size 1"),
        ),
        _ => refused(Errno::EINVAL, "pool size must be between 1 and 10"),
    }
}

fn default_rule(map: &OsdMap) -> Result<u8, Refused> {
    let first = (0..=u8::MAX).find(|number| map.crush().rule((*number).into()).is_some());
    first.map_or_else(|| refused(Errno::ENOENT, "there is no crush rule"), Ok)
}

/// The changes that delete a pool, if that is allowed here.
pub(crate) fn delete(
    state: &MonState,
    options: &MonOptions,
    now: UTime,
    id: PoolId,
) -> Result<Vec<MonChange>, Refused> {
    let map = state.osdmap();
    let Some(pool) = map.pool(id) else { return refused(Errno::ENOENT, format!("pool {id} does not exist")) };
    if !options.config.bool("mon_allow_pool_delete") {
        return refused(Errno::EPERM, "pool deletion is disabled; set mon_allow_pool_delete to true first");
    }
    if pool.flags.has(PoolFlags::NODELETE) {
        return refused(Errno::EPERM, "the pool's nodelete flag is set; unset it first");
    }
    if !pool.tiers.is_empty() || pool.tier_of.0 >= 0 {
        return refused(Errno::EBUSY, "the pool is part of a cache tier");
    }
    let step = step(map, now, |inc| inc.remove_pool(map, id));
    let step = step.or_else(|e| refused(Errno::EINVAL, e.to_string()))?;
    let name = map.pool_name(id).unwrap_or_default();
    Ok(vec![step, logged(state, options, now, &format!("pool '{name}' removed"))])
}
