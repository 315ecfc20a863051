//! What time alone brings about: dead OSDs, new rotating secrets, expired blocklist entries.

use std::{
    collections::BTreeSet,
    sync::{Arc, Weak},
    time::Instant,
};

use sepiola_messages::LogLevel;
use sepiola_osdmap::{MapFlags, OsdMap, OsdState};
use sepiola_proto::MonChange;
use sepiola_wire::OsdId;
use tracing::{info, warn};

use super::{auth, cluster_log, osd_step};
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
        Outcome::silent(monitor.upgrade().map(|monitor| osd_changes(&monitor, draft)).unwrap_or_default())
    })
}

/// Marks OSDs down that are dead and takes expired entries off the blocklist, in one step.
fn osd_changes(monitor: &Monitor, draft: &Draft<'_>) -> Vec<MonChange> {
    let map = draft.state.osdmap();
    let up: BTreeSet<OsdId> = map.osds().filter(|(_, osd)| osd.is_up()).map(|(id, _)| id).collect();
    let mut dead = monitor.liveness.lock().dead(&up, Instant::now(), &monitor.options.liveness_now());
    dead.retain(|osd| !is_kept_up(map, *osd));
    let expired = |(addr, until)| (until <= draft.now).then_some(addr);
    let addrs: Vec<_> = map.blocklist().filter_map(expired).map(|a| (*a).into()).collect();
    let ranges: Vec<_> = map.range_blocklist().filter_map(expired).map(|a| (*a).into()).collect();
    if dead.is_empty() && addrs.is_empty() && ranges.is_empty() {
        return Vec::new();
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
    let Ok(step) = step.inspect_err(|e| warn!(error = %e, "the OSD map could not be changed")) else {
        return Vec::new();
    };
    let line = |osd: &OsdId| {
        let text = format!("osd.{osd} failed (no sign of life)");
        cluster_log::line(draft.state, &monitor.options, draft.now, LogLevel::INFO, &text)
    };
    [step].into_iter().chain(dead.iter().map(line)).collect()
}

/// Whether a flag forbids to mark an OSD down.
pub(crate) fn is_kept_up(map: &OsdMap, id: OsdId) -> bool {
    let own = map.osd(id).map(|osd| osd.state).unwrap_or_default();
    map.flags().has(MapFlags::NODOWN) || own.has(OsdState::NODOWN)
}
