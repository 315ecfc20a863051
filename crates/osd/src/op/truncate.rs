//! truncate: sets the size, growing with zeros.

use sepiola_messages::osd_op::OpRef;
use sepiola_objectstore::Change;
use sepiola_wire::Errno;

use super::{Execution, OpResult};

pub(super) fn truncate<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    let extent = op.args.extent();
    if extent.offset > x.limits.max_object {
        return Err(Errno::EFBIG.into());
    }
    if !x.exists() {
        return Ok(0);
    }
    if extent.truncate_seq != 0 {
        if extent.truncate_seq < x.info.truncate_seq {
            // A truncation that a newer one has overtaken.
            return Ok(0);
        }
        x.info.truncate_seq = extent.truncate_seq;
        x.info.truncate_size = extent.truncate_size;
    }
    x.change_data(Change::Truncate(extent.offset), extent.offset);
    Ok(0)
}
