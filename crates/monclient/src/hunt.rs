//! Which monitors to try next, and for how long.

use std::{collections::BTreeSet, time::Duration};

use rand::{RngExt, seq::SliceRandom};
use sepiola_messages::MonMap;
use sepiola_wire::EntityAddr;
use tokio::time::Instant;

const BACKOFF: f64 = 1.5;
const MAX_BACKOFF: f64 = 10.0;

/// The order of the hunt: those of the lowest priority value first, in a random order that respects
/// weights; nobody twice before everybody was tried.
#[derive(Debug)]
pub(crate) struct Hunter {
    tried: BTreeSet<String>,
    multiplier: f64,
    refused_timeout: Option<Duration>,
    refusals: Option<Refusals>,
}

/// Rounds without a break in which every monitor refused.
#[derive(Debug, Clone, Copy)]
struct Refusals {
    since: Instant,
    monitors: usize,
}

impl Hunter {
    /// `refused_timeout`: see [`MonClientOptions`](crate::MonClientOptions).
    pub(crate) fn new(refused_timeout: Option<Duration>) -> Self {
        Hunter { tried: BTreeSet::new(), multiplier: 1.0, refused_timeout, refusals: None }
    }

    /// Notes a round that began at `began`, in which all of `monitors` refused or not. Returns for how long
    /// all have, when that is long enough to believe that nothing listens at any of `known` addresses.
    pub(crate) fn refused(
        &mut self,
        all: bool,
        monitors: usize,
        known: usize,
        began: Instant,
        now: Instant,
    ) -> Option<Duration> {
        if !all || monitors == 0 {
            self.refusals = None;
            return None;
        }
        let refusals = self.refusals.get_or_insert(Refusals { since: began, monitors: 0 });
        refusals.monitors += monitors;
        let lasted = now.duration_since(refusals.since);
        let enough = refusals.monitors >= known && lasted >= self.refused_timeout?;
        enough.then_some(lasted)
    }

    /// Up to `count` monitors to try now, by their messenger v2 addresses.
    pub(crate) fn pick(&mut self, map: &MonMap, count: usize, rng: &mut impl RngExt) -> Vec<EntityAddr> {
        let mut picked = self.untried(map, count, rng);
        if picked.is_empty() {
            self.tried.clear();
            picked = self.untried(map, count, rng);
        }
        picked
    }

    fn untried(&mut self, map: &MonMap, count: usize, rng: &mut impl RngExt) -> Vec<EntityAddr> {
        let candidates: Vec<_> = map
            .by_rank()
            .filter(|m| !self.tried.contains(&m.name))
            .filter_map(|m| Some((m, *m.addrs.msgr2()?)))
            .collect();
        let Some(lowest) = candidates.iter().map(|(m, _)| m.priority).min() else { return Vec::new() };
        let mut left: Vec<_> = candidates.into_iter().filter(|(m, _)| m.priority == lowest).collect();
        left.shuffle(rng);
        let mut picked = Vec::new();
        while picked.len() < count && !left.is_empty() {
            let total: u32 = left.iter().map(|(m, _)| u32::from(m.weight)).sum();
            let index = if total == 0 {
                left.len() - 1
            } else {
                let mut at = rng.random_range(0..total);
                left.iter()
                    .position(|(m, _)| {
                        let weight = u32::from(m.weight);
                        let found = at < weight;
                        at = at.saturating_sub(weight);
                        found
                    })
                    .unwrap_or(0)
            };
            let (mon, addr) = left.swap_remove(index);
            self.tried.insert(mon.name.clone());
            picked.push(addr);
        }
        picked
    }

    /// Time for this round; the next one gets more.
    pub(crate) fn round_time(&mut self, interval: Duration) -> Duration {
        let time = interval.mul_f64(self.multiplier);
        self.multiplier = (self.multiplier * BACKOFF).min(MAX_BACKOFF);
        time
    }

    /// A session came about: the next hunt starts over.
    pub(crate) fn succeeded(&mut self) {
        *self = Hunter::new(self.refused_timeout);
    }
}

#[cfg(test)]
mod tests {
    use sepiola_wire::EntityAddrVec;

    use super::*;

    fn map(mons: &[(&str, u16, u16)]) -> MonMap {
        let mut map = MonMap::from_addrs([]);
        for (i, (name, priority, weight)) in mons.iter().enumerate() {
            let addr: EntityAddr = format!("v2:10.0.0.{i}:3300/0").parse().unwrap();
            map.add(*name, EntityAddrVec::from(addr));
            let info = map.mons.get_mut(*name).unwrap();
            (info.priority, info.weight) = (*priority, *weight);
        }
        map
    }

    #[test]
    fn nobody_is_tried_twice_before_everybody_was_tried() {
        let map = map(&[("a", 0, 0), ("b", 0, 0), ("c", 0, 0), ("d", 0, 0)]);
        let mut hunter = Hunter::new(None);
        let mut first = hunter.pick(&map, 3, &mut rand::rng());
        assert_eq!(first.len(), 3);
        first.extend(hunter.pick(&map, 3, &mut rand::rng()));
        first.sort();
        first.dedup();
        assert_eq!(first.len(), 4);
        assert_eq!(hunter.pick(&map, 3, &mut rand::rng()).len(), 3);
    }

    #[test]
    fn low_priority_values_come_first_and_weight_zero_last() {
        let map = map(&[("far", 5, 1), ("near", 1, 1), ("spare", 1, 0)]);
        for _ in 0..20 {
            let mut hunter = Hunter::new(None);
            let order: Vec<_> =
                (0..3).flat_map(|_| hunter.pick(&map, 1, &mut rand::rng())).map(|a| a.to_string()).collect();
            assert_eq!(order, ["v2:10.0.0.1:3300/0", "v2:10.0.0.2:3300/0", "v2:10.0.0.0:3300/0"]);
        }
    }

    #[test]
    fn refusals_are_believed_when_all_monitors_have_refused_for_long_enough() {
        let began = Instant::now();
        let at = |seconds| began + Duration::from_secs(seconds);
        let mut hunter = Hunter::new(Some(Duration::from_secs(2)));
        assert_eq!(hunter.refused(true, 3, 5, began, at(0)), None, "two were not asked");
        assert_eq!(hunter.refused(true, 2, 5, at(1), at(1)), None, "one may be about to start");
        assert_eq!(hunter.refused(true, 3, 5, at(3), at(3)), Some(Duration::from_secs(3)));
        assert_eq!(hunter.refused(false, 2, 5, at(4), at(5)), None, "one did something else");
        assert_eq!(hunter.refused(true, 5, 5, at(6), at(7)), None, "and the time begins anew");
        let mut daemon = Hunter::new(None);
        assert_eq!(daemon.refused(true, 1, 1, began, at(1000)), None);
    }

    #[test]
    fn rounds_get_longer_up_to_a_limit() {
        let mut hunter = Hunter::new(None);
        let second = Duration::from_secs(1);
        assert_eq!(hunter.round_time(second), second);
        assert_eq!(hunter.round_time(second), Duration::from_millis(1500));
        for _ in 0..20 {
            hunter.round_time(second);
        }
        assert_eq!(hunter.round_time(second), Duration::from_secs(10));
        hunter.succeeded();
        assert_eq!(hunter.round_time(second), second);
    }
}
