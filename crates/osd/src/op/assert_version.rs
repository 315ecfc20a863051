//! assert-version: fails unless the object has the given user version.

use std::cmp::Ordering;

use sepiola_messages::osd_op::OpRef;
use sepiola_wire::Errno;

use super::{Execution, OpResult};

pub(super) fn assert_version<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    let wanted = op.args.assert_version().version;
    if wanted == 0 {
        return Err(Errno::EINVAL.into());
    }
    match wanted.cmp(&x.info.user_version) {
        Ordering::Less => Err(Errno::ERANGE.into()),
        Ordering::Greater => Err(Errno::EOVERFLOW.into()),
        Ordering::Equal => Ok(0),
    }
}
