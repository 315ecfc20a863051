//! What time alone brings about: dead OSDs, new rotating secrets, expired blocklist entries.

use std::{
    collections::BTreeSet,
    sync::{Arc, Weak},
    time::Instant,
};

use sepiola_osdmap::MapFlags;
use sepiola_wire::OsdId;
use tracing::{info, warn};

use super::{auth, osd_step};
use crate::{
    core::{Draft, Outcome, Work},
    daemon::Monitor,
};

/// Frees what is remembered of pools and OSDs that are no longer in the map.
pub(crate) fn forget_what_is_gone(monitor: &Monitor) {
    let state = monitor.state.load();
    let map = state.osdmap();
    monitor.stats.lock().retain(|pool| map.pool(pool).map(|p| p.pg_num), |osd| map.is_up(osd));
}

/// The changes that are due.
pub(crate) fn work(monitor: Arc<Monitor>) -> Work {
    Box::new(move |draft| {
        let mut changes = auth::rotations(draft.state, &monitor.options, draft.now, draft.rng);
        changes.extend(osd_changes(&monitor, draft));
        Outcome::silent(changes)
    })
}

/// Only the OSDs: somebody has just reported one.
pub(crate) fn liveness_work(monitor: Weak<Monitor>) -> Work {
    Box::new(move |draft| {
        let changes = monitor.upgrade().and_then(|monitor| osd_changes(&monitor, draft));
        Outcome::silent(changes.into_iter().collect())
    })
}

/// Marks OSDs down that are dead and takes expired entries off the blocklist, in one step.
fn osd_changes(monitor: &Monitor, draft: &Draft<'_>) -> Option<sepiola_proto::MonChange> {
    let map = draft.state.osdmap();
    let up: BTreeSet<OsdId> = map.osds().filter(|(_, osd)| osd.is_up()).map(|(id, _)| id).collect();
    let mut dead = monitor.liveness.lock().dead(&up, Instant::now(), &monitor.options.liveness);
    if map.flags().has(MapFlags::NODOWN) {
        dead.clear();
    }
    let expired = |(addr, until)| (until <= draft.now).then_some(addr);
    let addrs: Vec<_> = map.blocklist().filter_map(expired).map(|a| (*a).into()).collect();
    let ranges: Vec<_> = map.range_blocklist().filter_map(expired).map(|a| (*a).into()).collect();
    if dead.is_empty() && addrs.is_empty() && ranges.is_empty() {
        return None;
    }
    for osd in &dead {
        info!(%osd, "marking down: no sign of life");
    }
    let step = osd_step::step(map, draft.now, |inc| {
        for osd in &dead {
            inc.mark_down(map, *osd);
        }
        inc.old_blocklist = addrs;
        inc.old_range_blocklist = ranges;
    });
    step.inspect_err(|e| warn!(error = %e, "the OSD map could not be changed")).ok()
}
