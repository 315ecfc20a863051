//! zero: makes a range read as zeros.

use sepiola_messages::osd_op::OpRef;
use sepiola_objectstore::Change;

use super::{Execution, OpResult};

/// A range that reaches the end cuts the object instead, as peers expect.
pub(super) fn zero<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    let extent = op.args.extent();
    if extent.length == 0 {
        return Ok(0);
    }
    x.limits.check_range(extent.offset, extent.length)?;
    if !x.exists() || extent.offset >= x.size() {
        return Ok(0);
    }
    if extent.offset + extent.length >= x.size() {
        x.change_data(Change::Truncate(extent.offset), extent.offset);
    } else {
        x.change(Change::Zero { offset: extent.offset, length: extent.length });
    }
    Ok(0)
}
