//! cmpxattr: fails unless an attribute compares as wanted.

use std::cmp::Ordering;

use sepiola_messages::osd_op::OpRef;
use sepiola_wire::{Errno, Reader};

use super::{Execution, Failure, OpResult, xattr::name_and_value};

const STRING: u8 = 1;
const U64: u8 = 2;

/// A missing attribute compares as an empty one. Success is 1.
pub(super) fn cmpxattr<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    let (name, operand) = name_and_value(op)?;
    x.require()?;
    let args = op.args.xattr();
    let stored = x.xattr(name)?.unwrap_or_default();
    let ordering = match args.cmp_mode {
        STRING => {
            let operand = operand.get(..args.value_len as usize).ok_or(Errno::EINVAL)?;
            operand.cmp(&stored)
        }
        U64 => {
            let operand = Reader::new(operand).u64().map_err(|_| Errno::EINVAL)?;
            operand.cmp(&decimal(&stored)?)
        }
        _ => return Err(Errno::EINVAL.into()),
    };
    if holds(args.cmp_op, ordering)? { Ok(1) } else { Err(Errno::ECANCELED.into()) }
}

/// Whether `operand OP stored` holds for the ordering of the two: the operand stands on the left.
fn holds(op: u8, ordering: Ordering) -> Result<bool, Failure> {
    Ok(match op {
        1 => ordering.is_eq(),
        2 => ordering.is_ne(),
        3 => ordering.is_gt(),
        4 => ordering.is_ge(),
        5 => ordering.is_lt(),
        6 => ordering.is_le(),
        _ => return Err(Errno::EINVAL.into()),
    })
}

/// A number as attributes hold it: decimal text, empty meaning 0.
fn decimal(text: &[u8]) -> Result<u64, Failure> {
    if text.is_empty() {
        return Ok(0);
    }
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or_else(|| Errno::EINVAL.into())
}
