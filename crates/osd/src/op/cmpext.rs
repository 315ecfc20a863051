//! cmpext: compares bytes of the object with the op's input.

use sepiola_messages::osd_op::OpRef;
use sepiola_wire::Errno;

use super::{Execution, Failure, OpResult};

/// The result of a mismatch at index `i` is `-(MISMATCH + i)`, which keeps clear of every errno.
const MISMATCH: i32 = 4095;

/// What lies behind the end, and a missing object, compare as zeros.
pub(super) fn cmpext<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    let extent = op.args.extent();
    if extent.length != op.input.len() as u64 {
        return Err(Errno::EINVAL.into());
    }
    x.limits.check_range(extent.offset, extent.length)?;
    let stored = x.stored(|store, pg, object| store.read(pg, object, extent.offset, extent.length))?;
    let stored = stored.pieces().iter().flat_map(|piece| piece.iter().copied()).chain(std::iter::repeat(0));
    match op.input.iter().copied().zip(stored).position(|(wanted, stored)| wanted != stored) {
        None => Ok(0),
        // The input is within the size of an object, so the index fits.
        Some(index) => Err(Failure(-(MISMATCH + index as i32))),
    }
}
