//! What the monitors are told about pgs: sizes and counters of those that this OSD is primary of.

use std::collections::HashMap;

use bytes::Bytes;
use sepiola_messages::pg_state;
use sepiola_proto::{ObjectSums, OsdStats, PgStats, StoreStatfs};
use sepiola_wire::{Epoch, OsdId, PgId};

use crate::{Osd, maps::MapView, pg::Pg};

/// Makes reports: each holds the pgs that changed since the one before.
#[derive(Debug, Default)]
pub(crate) struct Reporter {
    sequence: u64,
    // What was last reported of each pg, without sequence numbers.
    reported: HashMap<PgId, PgStats>,
    reported_epoch: Epoch,
}

impl Reporter {
    /// The next report. `complete` asks for all pgs, as a new monitor session needs them.
    pub fn report(&mut self, osd: &Osd, osd_uuid: &[u8], complete: bool) -> OsdStats {
        self.sequence += 1;
        let view = osd.view();
        // A new map can take pgs away: only a complete report makes the monitors forget them.
        let complete = complete || view.epoch() != self.reported_epoch;
        if complete {
            self.reported.clear();
            self.reported_epoch = view.epoch();
        }
        let mut pgs = Vec::new();
        for pg in view.primary_pgs() {
            let stats = pg_stats(osd, &view, pg);
            if self.reported.get(&pg.id()) != Some(&stats) {
                self.reported.insert(pg.id(), stats.clone());
                pgs.push(PgStats { reported_seq: self.sequence, ..stats });
            }
        }
        OsdStats {
            osd_uuid: Bytes::copy_from_slice(osd_uuid),
            osd_id: osd.config.whoami.0,
            map_epoch: view.epoch().0,
            seq: self.sequence,
            statfs: Some(statfs(osd)),
            pgs,
            complete,
            commit_latency_ms: 0,
            apply_latency_ms: 0,
        }
    }
}

/// One pg: placement, position and totals.
pub(crate) fn pg_stats(osd: &Osd, view: &MapView, pg: &Pg) -> PgStats {
    let id = pg.id();
    let (last_update, log_size, io) = {
        let state = pg.lock();
        (state.last_update, state.dups.len(), state.io)
    };
    // A pg whose pool is being deleted has no collection any more.
    let stored = osd.store.stats(id).unwrap_or_default();
    let placed = view.map().pg_to_up_acting(id);
    let ids = |osds: &[OsdId]| osds.iter().map(|osd| osd.0).collect::<Vec<_>>();
    let size = view.map().pool(id.pool).map_or(1, |pool| usize::from(pool.size));
    let short = size.saturating_sub(placed.acting.len()) as u64;
    let active = view.pool(id.pool).and_then(|pool| pool.slot(id.ps)).is_none_or(|slot| slot.active);
    let state = match short {
        0 => pg_state::ACTIVE | pg_state::CLEAN,
        _ if active => pg_state::ACTIVE | pg_state::UNDERSIZED | pg_state::DEGRADED,
        _ => pg_state::UNDERSIZED | pg_state::DEGRADED | pg_state::PEERED,
    };
    PgStats {
        pool: id.pool.0,
        ps: id.ps,
        state,
        reported_epoch: view.epoch().0,
        reported_seq: 0,
        last_update_version: last_update.version,
        last_update_epoch: last_update.epoch.0,
        up: ids(&placed.up),
        acting: ids(&placed.acting),
        up_primary: placed.up_primary.map_or(-1, |osd| osd.0),
        acting_primary: placed.acting_primary.map_or(-1, |osd| osd.0),
        sums: Some(ObjectSums {
            bytes: stored.bytes,
            objects: stored.objects,
            object_copies: stored.objects * size as u64,
            objects_degraded: stored.objects * short,
            omap_bytes: stored.omap_bytes,
            omap_keys: stored.omap_keys,
            reads: io.reads,
            read_kb: io.read_bytes.div_ceil(1024),
            writes: io.writes,
            write_kb: io.write_bytes.div_ceil(1024),
            ..ObjectSums::default()
        }),
        log_size: log_size as u64,
        created_epoch: 0,
    }
}

/// Space: what objects take, of what the store may take.
fn statfs(osd: &Osd) -> StoreStatfs {
    let sums = osd.statistics();
    let space = osd.store.space();
    StoreStatfs {
        total: space.total,
        available: space.available(),
        allocated: space.used,
        data_stored: sums.bytes,
        omap_allocated: sums.omap_bytes,
        internal_metadata: space.used.saturating_sub(sums.bytes + sums.omap_bytes),
        ..StoreStatfs::default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sepiola_objectstore::{Change, MemStore, ObjectKey, ObjectRef, ObjectStore, Transaction, WriteData};
    use sepiola_osdmap::OsdMap;
    use sepiola_wire::{PoolId, SnapId};

    use super::*;
    use crate::OsdConfig;

    #[test]
    fn after_a_complete_report_only_pgs_that_changed_are_sent() {
        let store = Arc::new(MemStore::with_capacity(10_000));
        let osd = Osd::new(OsdConfig::new(OsdId(0)), store.clone());
        // Epoch 8 of a cluster with one OSD and a pool of 32 pgs.
        let map = OsdMap::decode(include_bytes!("../tests/data/pacific_full_e8.bin")).unwrap();
        osd.apply_map(Arc::new(map)).unwrap();
        let mut reporter = Reporter::default();
        let first = reporter.report(&osd, b"u", false);
        assert_eq!((first.pgs.len(), first.complete, first.seq), (32, true, 1));
        assert!(first.pgs.iter().all(|pg| pg.state == pg_state::ACTIVE | pg_state::CLEAN));
        let nothing = reporter.report(&osd, b"u", false);
        assert_eq!((nothing.pgs.len(), nothing.complete), (0, false));

        let pg = PgId::new(PoolId(1), 7);
        let object = ObjectRef { hash: 7, nspace: b"", key: b"", name: b"x", snap: SnapId::HEAD };
        let key = ObjectKey::new(object);
        let mut transaction = Transaction::new(pg);
        transaction.push(key.as_ref(), Change::WriteFull(WriteData::Borrowed(&[1; 100])));
        store.apply(&mut transaction).unwrap();
        let report = reporter.report(&osd, b"u", false);
        assert_eq!(report.pgs.iter().map(|pg| pg.ps).collect::<Vec<_>>(), [7]);
        let sums = report.pgs[0].sums.unwrap();
        assert_eq!((sums.objects, sums.bytes, sums.object_copies), (1, 100, 1));
        let space = report.statfs.unwrap();
        assert_eq!((space.total, space.data_stored), (10_000, 100));
        let used = space.data_stored + space.internal_metadata;
        assert_eq!((space.allocated, space.available), (used, space.total - used));

        assert_eq!(reporter.report(&osd, b"u", true).pgs.len(), 32, "a new monitor is told everything");
    }
}
