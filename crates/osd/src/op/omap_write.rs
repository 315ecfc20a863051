//! Changing omap entries. Inputs are checked as a whole before the first change.

use sepiola_messages::osd_op::{OpRef, input};
use sepiola_objectstore::Change;

use super::{Execution, OpResult, omap_read::invalid};

pub(super) fn set<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    let entries = input::omap_entries(op).map_err(invalid)?;
    // Creates the object even if there is nothing to set.
    x.change(Change::Touch);
    for (key, value) in entries {
        x.change(Change::OmapSet { key: key.into(), value: value.into() });
        x.written += value.len() as u64;
    }
    Ok(0)
}

pub(super) fn set_header<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    x.change(Change::OmapSetHeader(op.input.into()));
    Ok(0)
}

/// Also removes the header.
pub(super) fn clear(x: &mut Execution<'_, '_>) -> OpResult {
    x.require()?;
    x.change(Change::OmapClear);
    Ok(0)
}

pub(super) fn remove_keys<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    x.require()?;
    let keys = input::omap_keys(op).map_err(invalid)?;
    x.change(Change::Touch);
    for key in keys {
        x.change(Change::OmapRemove { key: key.into() });
    }
    Ok(0)
}

/// The last key is not part of the range.
pub(super) fn remove_range<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    x.require()?;
    let (first, last) = input::omap_rm_range(op).map_err(invalid)?;
    x.change(Change::OmapRemoveRange { first: first.into(), last: last.into() });
    Ok(0)
}
