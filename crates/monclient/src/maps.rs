//! The current OSD map, and how messages lead from one to the next.

use std::sync::Arc;

use bytes::Bytes;
use sepiola_messages::OsdMapMessage;
use sepiola_osdmap::{Incremental, OsdMap};
use sepiola_wire::{Epoch, Uuid};

/// How a map came about.
#[derive(Debug, Clone, Copy)]
pub enum MapSource<'a> {
    /// From the map before and this encoded step.
    Incremental(&'a Bytes),
    /// From this encoded map.
    Full(&'a Bytes),
}

/// Is told of every map in order of epochs. An OSD keeps the encoded forms to send them on. Must not block.
pub trait MapObserver: Send + Sync {
    /// `map` is the current map now. After a full map, epochs may be missing before it.
    fn map(&self, map: &Arc<OsdMap>, source: MapSource<'_>);
}

/// What else is needed after a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Nothing.
    Nothing,
    /// The maps from this epoch on.
    From(Epoch),
    /// A full map: the steps do not connect, or one did not check out.
    Full,
}

/// The newest map.
pub(crate) struct Maps {
    current: Option<Arc<OsdMap>>,
}

impl Maps {
    pub(crate) fn new(current: Option<Arc<OsdMap>>) -> Self {
        Maps { current }
    }

    pub(crate) fn epoch(&self) -> Epoch {
        self.current.as_ref().map_or(Epoch(0), |map| map.epoch())
    }

    /// Applies what a message holds beyond the current map. `publish` gets every map in order.
    ///
    /// Maps of another cluster are ignored; `fsid` is the cluster's, nil while it is not known.
    pub(crate) fn apply(
        &mut self,
        message: &OsdMapMessage,
        fsid: Uuid,
        mut publish: impl FnMut(&Arc<OsdMap>, MapSource<'_>),
    ) -> Need {
        if !fsid.is_nil() && message.fsid != fsid {
            tracing::warn!(theirs = %message.fsid, ours = %fsid, "OSD map of another cluster ignored");
            return Need::Nothing;
        }
        let Some(last) = message.last() else { return Need::Nothing };
        while self.epoch() < last {
            let (map, source) = match self.step(message) {
                Ok(step) => step,
                Err(need) => return need,
            };
            publish(&map, source);
            self.current = Some(map);
        }
        Need::Nothing
    }

    /// The next map that the message can give.
    fn step<'m>(&self, message: &'m OsdMapMessage) -> Result<(Arc<OsdMap>, MapSource<'m>), Need> {
        let Some(current) = &self.current else {
            // Steps below the newest full map would only be overtaken by it.
            let (epoch, blob) = message.full.last_key_value().ok_or(Need::Full)?;
            return full(*epoch, blob);
        };
        let next = current.epoch().next();
        if let Some(blob) = message.incremental.get(&next) {
            match Incremental::decode(blob) {
                Ok(incremental) => match current.apply_checked(&incremental) {
                    Ok(map) => return Ok((Arc::new(map), MapSource::Incremental(blob))),
                    Err(error) => tracing::warn!(%next, %error, "OSD map step does not apply"),
                },
                Err(error) => tracing::warn!(%next, %error, "OSD map step does not decode"),
            }
            // A full map in the same message helps as well as one that is asked for.
            let blob = message.full.get(&next).ok_or(Need::Full)?;
            return full(next, blob);
        }
        match message.full.range(next..).next() {
            Some((epoch, blob)) => full(*epoch, blob),
            None if message.oldest > next => Err(Need::Full),
            None => Err(Need::From(next)),
        }
    }
}

fn full(epoch: Epoch, blob: &Bytes) -> Result<(Arc<OsdMap>, MapSource<'_>), Need> {
    match OsdMap::decode(blob) {
        Ok(map) if map.epoch() == epoch => Ok((Arc::new(map), MapSource::Full(blob))),
        Ok(map) => {
            tracing::warn!(%epoch, found = %map.epoch(), "OSD map has another epoch than announced");
            Err(Need::Full)
        }
        Err(error) => {
            tracing::warn!(%epoch, %error, "OSD map does not decode");
            Err(Need::Full)
        }
    }
}

#[cfg(test)]
mod tests {
    use sepiola_osdmap::CANONICAL_FEATURES;
    use sepiola_wire::UTime;

    use super::*;

    /// Epochs 1 to `last` of a cluster in which nothing happens: full map 1, then each step and full map.
    struct History {
        first: Bytes,
        steps: Vec<(Bytes, Bytes)>,
    }

    const FSID: Uuid = Uuid::from_u128(7);

    fn history(last: u32) -> History {
        let mut map = OsdMap::new(FSID, UTime::from_secs(1));
        let first = map.encode(CANONICAL_FEATURES).into();
        let mut steps = Vec::new();
        for epoch in 2..=last {
            let published = map.publish(map.next_incremental(UTime::from_secs(epoch))).unwrap();
            map = published.map;
            steps.push((published.incremental.into(), published.full.into()));
        }
        History { first, steps }
    }

    impl History {
        fn step(&self, epoch: u32) -> (Epoch, Bytes) {
            (Epoch(epoch), self.steps[epoch as usize - 2].0.clone())
        }
        fn full(&self, epoch: u32) -> (Epoch, Bytes) {
            let blob = if epoch == 1 { &self.first } else { &self.steps[epoch as usize - 2].1 };
            (Epoch(epoch), blob.clone())
        }
    }

    fn message(full: Vec<(Epoch, Bytes)>, incremental: Vec<(Epoch, Bytes)>) -> OsdMapMessage {
        OsdMapMessage {
            fsid: FSID,
            full: full.into_iter().collect(),
            incremental: incremental.into_iter().collect(),
            oldest: Epoch(1),
            newest: Epoch(9),
        }
    }

    fn apply(maps: &mut Maps, m: &OsdMapMessage) -> (Need, Vec<u32>) {
        let mut seen = Vec::new();
        let need = maps.apply(m, FSID, |map, _| seen.push(map.epoch().0));
        (need, seen)
    }

    #[test]
    fn steps_lead_from_the_first_full_map_to_the_newest() {
        let h = history(6);
        let mut maps = Maps::new(None);
        let start = message(vec![h.full(2)], vec![h.step(3), h.step(4)]);
        assert_eq!(apply(&mut maps, &start), (Need::Nothing, vec![2, 3, 4]));
        // An overlap is skipped.
        let more = message(vec![], vec![h.step(3), h.step(4), h.step(5), h.step(6)]);
        assert_eq!(apply(&mut maps, &more), (Need::Nothing, vec![5, 6]));
        assert_eq!(apply(&mut maps, &start), (Need::Nothing, vec![]));
    }

    #[test]
    fn without_any_map_steps_are_of_no_use() {
        let h = history(3);
        let mut maps = Maps::new(None);
        assert_eq!(apply(&mut maps, &message(vec![], vec![h.step(3)])), (Need::Full, vec![]));
    }

    #[test]
    fn a_gap_asks_for_what_is_missing_or_for_a_full_map() {
        let h = history(6);
        let mut maps = Maps::new(None);
        apply(&mut maps, &message(vec![h.full(2)], vec![]));
        let mut late = message(vec![], vec![h.step(5)]);
        assert_eq!(apply(&mut maps, &late), (Need::From(Epoch(3)), vec![]));
        late.oldest = Epoch(4);
        assert_eq!(apply(&mut maps, &late), (Need::Full, vec![]));
        let jump = message(vec![h.full(5)], vec![h.step(6)]);
        assert_eq!(apply(&mut maps, &jump), (Need::Nothing, vec![5, 6]));
    }

    #[test]
    fn a_step_that_does_not_check_out_is_not_applied() {
        let h = history(4);
        let mut maps = Maps::new(None);
        apply(&mut maps, &message(vec![h.full(2)], vec![]));
        let (epoch, step) = h.step(3);
        let mut broken = step.to_vec();
        let middle = broken.len() / 2;
        broken[middle] ^= 1;
        let m = message(vec![], vec![(epoch, broken.clone().into()), h.step(4)]);
        assert_eq!(apply(&mut maps, &m), (Need::Full, vec![]));
        let m = message(vec![h.full(3)], vec![(epoch, broken.into()), h.step(4)]);
        assert_eq!(apply(&mut maps, &m), (Need::Nothing, vec![3, 4]));
    }

    #[test]
    fn maps_of_another_cluster_are_ignored() {
        let h = history(2);
        let mut maps = Maps::new(None);
        let m = OsdMapMessage { fsid: Uuid::from_u128(8), ..message(vec![h.full(2)], vec![]) };
        assert_eq!(apply(&mut maps, &m), (Need::Nothing, vec![]));
    }
}
