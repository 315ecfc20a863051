//! Steps to the next OSD map, as log entries.

use sepiola_osdmap::{ApplyError, Incremental, OsdMap};
use sepiola_proto::MonChange;
use sepiola_wire::UTime;

use crate::state::change;

/// The change that publishes the next OSD map, as `edit` leaves it.
///
/// # Errors
/// What makes the edit impossible, such as an OSD beyond the map's last.
pub(crate) fn step(
    map: &OsdMap,
    now: UTime,
    edit: impl FnOnce(&mut Incremental),
) -> Result<MonChange, ApplyError> {
    steps(map, now, [edit]).map(|mut changes| changes.remove(0))
}

/// Several steps that follow each other, for what must not happen within one epoch.
pub(crate) fn steps<E: FnOnce(&mut Incremental)>(
    map: &OsdMap,
    now: UTime,
    edits: impl IntoIterator<Item = E>,
) -> Result<Vec<MonChange>, ApplyError> {
    let mut changes = Vec::new();
    let mut last: Option<OsdMap> = None;
    for edit in edits {
        let base = last.as_ref().unwrap_or(map);
        let mut incremental = base.next_incremental(now);
        edit(&mut incremental);
        let published = base.publish(incremental)?;
        changes.push(change::osdmap_incremental(published.incremental.into()));
        last = Some(published.map);
    }
    Ok(changes)
}
