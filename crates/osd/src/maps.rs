//! Maps as ops need them: who is primary of which pg, since when, and what to tell peers with older maps.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use bytes::Bytes;
use sepiola_cephx::caps::ApplicationMetadata;
use sepiola_messages::OsdMapMessage;
use sepiola_osdmap::{CANONICAL_FEATURES, MapFlags, OsdMap, Pool, PoolFlags};
use sepiola_wire::{Epoch, OsdId, PgId, PoolId};

use crate::pg::Pg;

/// Incrementals kept for peers with older maps.
const HISTORY: usize = 500;
/// A peer that is further behind gets a full map instead of incrementals.
const MAX_INCREMENTALS: usize = 100;

/// One epoch, prepared so that an op finds its pg by two lookups.
#[derive(Debug)]
pub(crate) struct MapView {
    // 0 before the first map, when `map` is a stand-in.
    epoch: Epoch,
    map: Arc<OsdMap>,
    pools: HashMap<PoolId, PoolView>,
}

/// A pool in one epoch.
#[derive(Debug)]
pub(crate) struct PoolView {
    /// Its name, for capabilities.
    pub name: String,
    /// Its applications, for capabilities.
    pub applications: ApplicationMetadata,
    /// Its flags.
    pub flags: PoolFlags,
    slots: Vec<Slot>,
}

/// A pg in one epoch.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    /// The start of the interval in which its OSDs are what they are.
    pub since: Epoch,
    /// Since when its primary is the one that it is. Requests from before are void: their senders send them
    /// again. Other changes of the interval make clients send nothing again.
    pub primary_since: Epoch,
    /// The pg, if this OSD is its primary.
    pub pg: Option<Arc<Pg>>,
    /// As many OSDs serve it as its pool asks for at least. Otherwise clients are told to hold back.
    pub active: bool,
}

impl MapView {
    /// The view before any map has arrived.
    pub fn empty() -> Self {
        let map = OsdMap::new(Default::default(), Default::default());
        MapView { epoch: Epoch(0), map: Arc::new(map), pools: HashMap::new() }
    }

    /// Prepares a map. `pg` gives the pgs of which `whoami` is primary.
    pub fn new(
        map: Arc<OsdMap>,
        whoami: OsdId,
        previous: Option<&MapView>,
        pg: &mut dyn FnMut(PgId) -> Arc<Pg>,
    ) -> Self {
        // Without a history the interval cannot be older than this OSD's life. Taking it for older than it
        // is would be safe (duplicates are recognised); younger would drop requests that nobody resends.
        let unknown = map.osd(whoami).map_or(Epoch(0), |osd| osd.info.up_from);
        let pools = map
            .pools()
            .map(|(id, pool)| {
                let slots = (0..pool.pg_num)
                    .map(|ps| {
                        let id = PgId::new(id, ps);
                        let (since, primary_since) =
                            previous.map_or((unknown, unknown), |previous| previous.since(&map, pool, id));
                        let placed = map.pg_to_up_acting(id);
                        let primary = placed.acting_primary == Some(whoami);
                        let active = placed.acting.len() >= usize::from(pool.min_size);
                        Slot { since, primary_since, pg: primary.then(|| pg(id)), active }
                    })
                    .collect();
                let view = PoolView {
                    name: map.pool_name(id).unwrap_or_default().to_owned(),
                    applications: pool.application_metadata.clone(),
                    flags: pool.flags,
                    slots,
                };
                (id, view)
            })
            .collect();
        MapView { epoch: map.epoch(), map, pools }
    }

    /// The start of a pg's interval in `next`, the map behind this one, and of its primary's reign. Epochs may
    /// have been skipped: then a change is taken for as old as it can be.
    fn since(&self, next: &OsdMap, pool: &Pool, id: PgId) -> (Epoch, Epoch) {
        let first = self.epoch().next();
        let (Some(before), Some(slot)) = (self.map.pool(id.pool), self.slot(id)) else {
            return (first, first);
        };
        let (was, is) = (self.map.pg_to_up_acting(id), next.pg_to_up_acting(id));
        // A pg that is split or merged is another one to its clients too.
        let pg_num = before.pg_num == pool.pg_num;
        let same = pg_num && before.size == pool.size && before.min_size == pool.min_size && was == is;
        let same_primary = pg_num && was.acting_primary == is.acting_primary;
        (if same { slot.since } else { first }, if same_primary { slot.primary_since } else { first })
    }

    /// The map.
    pub fn map(&self) -> &Arc<OsdMap> {
        &self.map
    }

    /// Its epoch; 0 before the first map.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// A pool.
    pub fn pool(&self, id: PoolId) -> Option<&PoolView> {
        self.pools.get(&id)
    }

    fn slot(&self, id: PgId) -> Option<&Slot> {
        self.pools.get(&id.pool)?.slot(id.ps)
    }

    /// The pgs of which this OSD is primary.
    pub fn primary_pgs(&self) -> impl Iterator<Item = &Arc<Pg>> {
        self.pools.values().flat_map(|pool| pool.slots.iter().filter_map(|slot| slot.pg.as_ref()))
    }

    /// True when the cluster refuses writes.
    pub fn is_full(&self) -> bool {
        self.map.flags().has(MapFlags::FULL)
    }
}

impl PoolView {
    /// A pg by its number.
    pub fn slot(&self, ps: u32) -> Option<&Slot> {
        self.slots.get(ps as usize)
    }
}

/// Encoded incrementals of the last epochs, for peers with older maps.
#[derive(Debug, Default)]
pub(crate) struct MapHistory {
    incrementals: BTreeMap<Epoch, Bytes>,
    // The encoding of the newest map, made when first needed.
    full: Option<(Epoch, Bytes)>,
}

impl MapHistory {
    /// Remembers the step that leads to an epoch.
    pub fn add(&mut self, epoch: Epoch, incremental: Bytes) {
        self.incrementals.insert(epoch, incremental);
        while self.incrementals.len() > HISTORY {
            self.incrementals.pop_first();
        }
    }

    /// The oldest epoch that a step leads to.
    pub fn oldest(&self) -> Option<Epoch> {
        self.incrementals.keys().next().copied()
    }

    /// What brings a peer from `from` to the view's map.
    pub fn message(&mut self, from: Epoch, view: &MapView) -> OsdMapMessage {
        let newest = view.epoch();
        let steps = from.next()..=newest;
        let mut message = OsdMapMessage {
            fsid: view.map.fsid(),
            oldest: self.oldest().unwrap_or(newest),
            newest,
            ..OsdMapMessage::default()
        };
        let incremental: BTreeMap<Epoch, Bytes> =
            self.incrementals.range(steps).map(|(epoch, bytes)| (*epoch, bytes.clone())).collect();
        let complete = incremental.len() as u64 == u64::from(newest.0 - from.0);
        if from.0 > 0 && complete && incremental.len() <= MAX_INCREMENTALS {
            message.incremental = incremental;
        } else {
            message.full.insert(newest, self.full(view));
        }
        message
    }

    fn full(&mut self, view: &MapView) -> Bytes {
        match &self.full {
            Some((epoch, bytes)) if *epoch == view.epoch() => bytes.clone(),
            _ => {
                let bytes = Bytes::from(view.map.encode(CANONICAL_FEATURES));
                self.full = Some((view.epoch(), bytes.clone()));
                bytes
            }
        }
    }
}
