//! create.

use sepiola_messages::osd_op::{OpFlags, OpRef};
use sepiola_objectstore::Change;
use sepiola_wire::Errno;

use super::{Execution, OpResult};

pub(super) fn create<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    if x.exists() {
        let exclusive = op.flags.contains(OpFlags::EXCL);
        return if exclusive { Err(Errno::EEXIST.into()) } else { Ok(0) };
    }
    x.change(Change::Touch);
    Ok(0)
}
