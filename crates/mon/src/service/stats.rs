//! Space and usage as the OSDs report them. Not replicated: after a restart the next round of reports fills
//! it again.

use std::collections::BTreeMap;

use sepiola_messages::pg_state;
use sepiola_proto::{ObjectSums, OsdStats, PgStats, StoreStatfs};
use sepiola_wire::{OsdId, PgId, PoolId, UTime};

/// A pool whose pgs are counted: id and `pg_num`.
pub type PoolPgs = (PoolId, u32);

/// The newest report of every OSD and every pg.
#[derive(Debug, Clone, Default)]
pub struct ClusterStats {
    version: u64,
    osds: BTreeMap<OsdId, OsdReport>,
    pgs: BTreeMap<PgId, PgReport>,
}

#[derive(Debug, Clone)]
struct OsdReport {
    /// Which start of the OSD the sequence number belongs to.
    uuid: bytes::Bytes,
    seq: u64,
    statfs: StoreStatfs,
}

#[derive(Debug, Clone)]
struct PgReport {
    from: OsdId,
    /// Since when it has its state.
    since: UTime,
    stats: PgStats,
}

/// What is known of a pg.
#[derive(Debug, Clone, Copy)]
pub struct KnownPg<'a> {
    /// The OSD that reported it.
    pub from: OsdId,
    /// Since when it has its state.
    pub since: UTime,
    /// The newest report.
    pub stats: &'a PgStats,
}

/// Bytes of one or several stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Space {
    /// Capacity.
    pub total: u64,
    /// Free.
    pub available: u64,
    /// Object data, without overhead.
    pub data: u64,
    /// Omap.
    pub omap: u64,
    /// The stores' own metadata.
    pub metadata: u64,
}

impl Space {
    /// Everything that is not free.
    pub fn used(&self) -> u64 {
        self.total.saturating_sub(self.available)
    }

    /// This and other stores together.
    pub fn with(self, other: &Space) -> Self {
        Space {
            total: self.total.saturating_add(other.total),
            available: self.available.saturating_add(other.available),
            data: self.data.saturating_add(other.data),
            omap: self.omap.saturating_add(other.omap),
            metadata: self.metadata.saturating_add(other.metadata),
        }
    }

    fn of(store: &StoreStatfs) -> Self {
        Space {
            total: store.total,
            available: store.available,
            data: store.data_stored,
            omap: store.omap_allocated,
            metadata: store.internal_metadata,
        }
    }
}

/// Sums over the pgs of one pool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PoolUsage {
    /// Objects, bytes and operations.
    pub sums: ObjectSums,
    /// Entries in the pgs' logs.
    pub log_size: u64,
    /// Sum of the up sets' sizes.
    pub up: u64,
    /// Sum of the acting sets' sizes.
    pub acting: u64,
}

impl ClusterStats {
    /// Counts reports; what replies give as their version.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Takes a report; false if a newer one of the same start is known already.
    pub fn accept(&mut self, report: OsdStats, now: UTime) -> bool {
        let osd = OsdId(report.osd_id);
        if self.osds.get(&osd).is_some_and(|old| old.uuid == report.osd_uuid && old.seq > report.seq) {
            return false;
        }
        let known = |pg: &PgReport| (pg.stats.state, pg.since);
        let own = self.pgs.iter().filter(|(_, pg)| pg.from == osd);
        let before: BTreeMap<_, _> = own.map(|(id, pg)| (*id, known(pg))).collect();
        if report.complete {
            self.pgs.retain(|_, pg| pg.from != osd);
        }
        for stats in report.pgs {
            let id = PgId::new(PoolId(stats.pool), stats.ps);
            // While a pg moves, the old primary may still report it: the newer interval wins.
            let newer = |old: &PgReport| {
                let epochs = (old.stats.reported_epoch, stats.reported_epoch);
                old.from == osd || epochs.0 <= epochs.1
            };
            let old = self.pgs.get(&id);
            if old.is_none_or(newer) {
                let earlier = old.map(known).or_else(|| before.get(&id).copied());
                let since =
                    earlier.filter(|(state, _)| *state == stats.state).map_or(now, |(_, since)| since);
                self.pgs.insert(id, PgReport { from: osd, since, stats });
            }
        }
        let statfs = report.statfs.unwrap_or_default();
        self.osds.insert(osd, OsdReport { uuid: report.osd_uuid, seq: report.seq, statfs });
        self.version += 1;
        true
    }

    /// An OSD has started anew: its reports count from the beginning again.
    pub fn restarted(&mut self, osd: OsdId) {
        if let Some(report) = self.osds.get_mut(&osd) {
            report.seq = 0;
        }
    }

    /// Forgets pgs that no longer exist and OSDs that are not up.
    pub fn retain(&mut self, pg_num: impl Fn(PoolId) -> Option<u32>, up: impl Fn(OsdId) -> bool) {
        self.pgs.retain(|id, _| pg_num(id.pool).is_some_and(|n| id.ps < n));
        self.osds.retain(|osd, _| up(*osd));
    }

    /// All stores together.
    pub fn space(&self) -> Space {
        self.osds.values().fold(Space::default(), |sum, osd| sum.with(&Space::of(&osd.statfs)))
    }

    /// One store.
    pub fn space_of(&self, osd: OsdId) -> Space {
        self.osds.get(&osd).map(|report| Space::of(&report.statfs)).unwrap_or_default()
    }

    /// A pg, if an OSD has reported it.
    pub fn pg(&self, id: PgId) -> Option<KnownPg<'_>> {
        let pg = self.pgs.get(&id)?;
        Some(KnownPg { from: pg.from, since: pg.since, stats: &pg.stats })
    }

    /// A store as its OSD reported it.
    pub fn statfs_of(&self, osd: OsdId) -> Option<&StoreStatfs> {
        self.osds.get(&osd).map(|report| &report.statfs)
    }

    /// The number of an OSD's newest report.
    pub fn seq_of(&self, osd: OsdId) -> u64 {
        self.osds.get(&osd).map_or(0, |report| report.seq)
    }

    /// How many pgs have this OSD in their acting set.
    pub fn pgs_on(&self, osd: OsdId) -> usize {
        self.pgs.values().filter(|pg| pg.stats.acting.contains(&osd.0)).count()
    }

    /// One pool.
    pub fn pool(&self, pool: PoolId) -> PoolUsage {
        let range = PgId::new(pool, 0)..=PgId::new(pool, u32::MAX);
        let mut usage = PoolUsage::default();
        for (_, pg) in self.pgs.range(range) {
            if let Some(sums) = &pg.stats.sums {
                add_sums(&mut usage.sums, sums);
            }
            usage.log_size += pg.stats.log_size;
            usage.up += pg.stats.up.len() as u64;
            usage.acting += pg.stats.acting.len() as u64;
        }
        usage
    }

    /// A pg's state: none of its bits without a report, `stale` while its primary is down.
    pub fn pg_state(&self, id: PgId, up: impl Fn(OsdId) -> bool) -> u64 {
        match self.pgs.get(&id) {
            None => 0,
            Some(pg) if up(pg.from) => pg.stats.state,
            Some(pg) => pg.stats.state | pg_state::STALE,
        }
    }

    /// Pgs by the text of their state, the most frequent first. A pg without a report is `unknown`, one
    /// whose primary is down is `stale`.
    pub fn pg_states(
        &self,
        pools: impl IntoIterator<Item = PoolPgs>,
        up: impl Fn(OsdId) -> bool,
    ) -> Vec<(String, u64)> {
        let mut counts = BTreeMap::<String, u64>::new();
        for (pool, pg_num) in pools {
            for ps in 0..pg_num {
                let state = self.pg_state(PgId::new(pool, ps), &up);
                *counts.entry(pg_state::to_text(state)).or_default() += 1;
            }
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        counts
    }
}

/// Adds sums to others.
pub fn add_sums(to: &mut ObjectSums, from: &ObjectSums) {
    // Reports come from OSDs, but a wrong one must not end the monitor in an overflow.
    macro_rules! add {
        ($($field:ident),*) => {$( to.$field = to.$field.saturating_add(from.$field); )*};
    }
    add!(
        bytes,
        objects,
        object_clones,
        object_copies,
        objects_degraded,
        objects_misplaced,
        objects_unfound,
        omap_bytes,
        omap_keys,
        reads,
        read_kb,
        writes,
        write_kb,
        objects_omap
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(osd: i32, seq: u64, pgs: &[(u32, u64)]) -> OsdStats {
        OsdStats {
            osd_uuid: vec![osd as u8; 16].into(),
            osd_id: osd,
            seq,
            statfs: Some(StoreStatfs { total: 100, available: 60, ..Default::default() }),
            pgs: pgs
                .iter()
                .map(|(ps, objects)| PgStats {
                    pool: 1,
                    ps: *ps,
                    state: pg_state::ACTIVE | pg_state::CLEAN,
                    acting: vec![osd],
                    up: vec![osd],
                    sums: Some(ObjectSums { objects: *objects, ..Default::default() }),
                    ..Default::default()
                })
                .collect(),
            complete: true,
            ..Default::default()
        }
    }

    #[test]
    fn sums_are_over_the_newest_reports() {
        let mut stats = ClusterStats::default();
        assert!(stats.accept(report(0, 2, &[(0, 5), (1, 7)]), UTime::ZERO));
        assert!(stats.accept(report(1, 1, &[(2, 1)]), UTime::ZERO));
        assert_eq!(stats.pool(PoolId(1)).sums.objects, 13);
        assert!(!stats.accept(report(0, 1, &[(0, 500)]), UTime::ZERO), "an older report of the same start");
        assert!(stats.accept(report(0, 3, &[(0, 6)]), UTime::ZERO));
        assert_eq!(stats.pool(PoolId(1)).sums.objects, 7, "a complete report forgets the others");
        stats.restarted(OsdId(0));
        assert!(stats.accept(report(0, 1, &[(0, 6)]), UTime::ZERO), "the first report of a new start");
        assert_eq!((stats.space().total, stats.space().used()), (200, 80));
        assert_eq!((stats.pool(PoolId(1)).acting, stats.pgs_on(OsdId(1))), (2, 1));
        assert_eq!(stats.pool(PoolId(2)), PoolUsage::default());
    }

    #[test]
    fn a_pg_has_its_state_since_it_was_first_reported_in_it() {
        let (mut stats, pg) = (ClusterStats::default(), PgId::new(PoolId(1), 0));
        for second in 1..4 {
            stats.accept(report(0, second.into(), &[(0, 0)]), UTime::from_secs(second));
        }
        assert_eq!(stats.pg(pg).unwrap().since, UTime::from_secs(1));
        let mut other = report(0, 4, &[(0, 0)]);
        other.pgs[0].state = pg_state::PEERING;
        stats.accept(other, UTime::from_secs(4));
        assert_eq!(stats.pg(pg).unwrap().since, UTime::from_secs(4));
    }

    #[test]
    fn unreported_pgs_are_unknown_and_those_of_dead_primaries_stale() {
        let mut stats = ClusterStats::default();
        stats.accept(report(0, 1, &[(0, 0), (1, 0)]), UTime::ZERO);
        stats.accept(report(1, 1, &[(2, 0)]), UTime::ZERO);
        let states = stats.pg_states([(PoolId(1), 4)], |osd| osd == OsdId(0));
        assert_eq!(
            states,
            [("active+clean".into(), 2), ("active+clean+stale".into(), 1), ("unknown".into(), 1)]
        );
    }

    #[test]
    fn pools_and_osds_that_are_gone_are_forgotten() {
        let mut stats = ClusterStats::default();
        stats.accept(report(0, 1, &[(0, 5), (3, 7)]), UTime::ZERO);
        stats.retain(|_| Some(2), |_| true);
        assert_eq!(stats.pool(PoolId(1)).sums.objects, 5);
        stats.retain(|_| None, |_| false);
        assert_eq!((stats.pool(PoolId(1)).sums.objects, stats.space().total), (0, 0));
    }
}
