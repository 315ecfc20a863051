//! set-alloc-hint: how a client expects to use the object.

use sepiola_messages::osd_op::OpRef;
use sepiola_objectstore::{AllocHint, Change};

use super::{Execution, OpResult};

/// Creates a missing object; the hint is kept, not acted upon.
pub(super) fn set_alloc_hint<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    let hint = op.args.alloc_hint();
    x.info.hint = AllocHint {
        expected_object_size: hint.expected_object_size,
        expected_write_size: hint.expected_write_size,
        flags: hint.flags,
    };
    x.change(Change::Touch);
    Ok(0)
}
