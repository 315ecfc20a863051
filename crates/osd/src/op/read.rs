//! read, sync-read, sparse-read.

use sepiola_messages::osd_op::{Extent, OpRef};
use sepiola_wire::Put;

use super::{Execution, Failure, OpResult};

/// The readable part of a range: cut at the end of the object, length 0 meaning up to there.
fn clamp(x: &Execution<'_, '_>, extent: &Extent) -> (u64, u64) {
    let mut size = x.size();
    // A file-system client that truncated the file reads through an object that has not heard of it yet.
    if extent.truncate_seq > x.info.truncate_seq {
        size = size.min(extent.truncate_size);
    }
    let left = size.saturating_sub(extent.offset);
    let length = if extent.length == 0 { left } else { extent.length.min(left) };
    (extent.offset, length)
}

fn fetch(
    x: &mut Execution<'_, '_>,
    offset: u64,
    length: u64,
) -> Result<sepiola_objectstore::ReadData, Failure> {
    x.reserve_output(length)?;
    x.stored(|store, pg, object| store.read(pg, object, offset, length))
}

pub(super) fn read<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    x.require()?;
    let (offset, length) = clamp(x, &op.args.extent());
    let data = fetch(x, offset, length)?;
    x.out.length(data.len() as u64);
    x.out.data(data);
    Ok(0)
}

/// Answers with one extent that covers the range; holes are not told apart.
pub(super) fn sparse_read<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    x.require()?;
    let (offset, length) = clamp(x, &op.args.extent());
    let data = fetch(x, offset, length)?;
    x.out.encode(|out| {
        if data.is_empty() {
            out.put_len(0);
        } else {
            out.put_len(1);
            out.put_u64(offset);
            out.put_u64(data.len() as u64);
        }
        out.put_len(data.len());
    });
    x.out.data(data);
    Ok(0)
}
