//! append: a write at the end.

use sepiola_messages::osd_op::OpRef;
use sepiola_objectstore::Change;
use sepiola_wire::Errno;

use super::{Execution, OpResult};

pub(super) fn append<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    let length = op.args.extent().length;
    if length != op.input.len() as u64 {
        return Err(Errno::EINVAL.into());
    }
    let offset = x.size();
    x.limits.check_range(offset, length)?;
    if length == 0 {
        x.change(Change::Touch);
    } else {
        let data = x.write_data(op.input);
        x.change_data(Change::Write { offset, data }, offset + length);
    }
    x.written += length;
    Ok(0)
}
