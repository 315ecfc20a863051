//! create.

use sepiola_messages::osd_op::{OpFlags, OpRef};
use sepiola_objectstore::Change;
use sepiola_wire::Errno;

use super::{Execution, OpResult};

pub(super) fn create<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    if x.exists() && op.flags.contains(OpFlags::EXCL) {
        return Err(Errno::EEXIST.into());
    }
    // Of an object that is there as well: this is how its time is set.
    x.change(Change::Touch);
    Ok(0)
}
