//! write, writefull, writesame.

use bytes::Bytes;
use sepiola_messages::osd_op::{Extent, OpRef};
use sepiola_objectstore::{Change, WriteData};
use sepiola_wire::Errno;

use super::{Execution, OpResult};

/// A file-system client's write tells of a truncation that the object has not seen: it happens first.
fn catch_up_truncation(x: &mut Execution<'_, '_>, extent: &Extent) {
    if extent.truncate_seq <= x.info.truncate_seq {
        return;
    }
    if x.exists() && x.size() > extent.truncate_size {
        x.change_data(Change::Truncate(extent.truncate_size), extent.truncate_size);
    }
    x.info.truncate_seq = extent.truncate_seq;
    x.info.truncate_size = extent.truncate_size;
}

pub(super) fn write<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    let extent = op.args.extent();
    if extent.length != op.input.len() as u64 {
        return Err(Errno::EINVAL.into());
    }
    x.limits.check_range(extent.offset, extent.length)?;
    let mut input = op.input;
    if extent.truncate_seq < x.info.truncate_seq && extent.truncate_seq != 0 {
        // It was sent before a truncation that has happened already: it must not grow the object again.
        let room = x.size().saturating_sub(extent.offset);
        input = &input[..input.len().min(usize::try_from(room).unwrap_or(usize::MAX))];
    }
    catch_up_truncation(x, &extent);
    let end = extent.offset + input.len() as u64;
    let size = x.size().max(end);
    let data = x.write_data(input);
    if input.is_empty() {
        // Writing nothing still creates the object and extends it up to the offset.
        x.change_data(if size > x.size() { Change::Truncate(size) } else { Change::Touch }, size);
    } else {
        x.change_data(Change::Write { offset: extent.offset, data }, size);
    }
    x.written += input.len() as u64;
    Ok(0)
}

pub(super) fn write_full<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    let length = op.args.extent().length;
    if length != op.input.len() as u64 {
        return Err(Errno::EINVAL.into());
    }
    x.limits.check_range(0, length)?;
    x.change_data(Change::WriteFull(x.write_data(op.input)), length);
    x.written += length;
    Ok(0)
}

/// Repeats the input over a range.
pub(super) fn write_same<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    let args = op.args.write_same();
    let pattern = op.input;
    if args.data_length != pattern.len() as u64
        || args.data_length == 0
        || !args.length.is_multiple_of(args.data_length)
    {
        return Err(Errno::EINVAL.into());
    }
    x.limits.check_range(args.offset, args.length)?;
    // Both lengths are within the size of an object, so the count fits.
    let data = Bytes::from(pattern.repeat((args.length / args.data_length) as usize));
    let size = x.size().max(args.offset + args.length);
    x.written += args.length;
    x.change_data(Change::Write { offset: args.offset, data: WriteData::Shared(data) }, size);
    Ok(0)
}
