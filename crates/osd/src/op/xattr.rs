//! Extended attributes.

use sepiola_messages::osd_op::OpRef;
use sepiola_objectstore::Change;
use sepiola_wire::{Errno, Put};

use super::{Execution, Failure, OpResult};

/// The attribute's name and the bytes behind it, as the op's lengths say.
pub(super) fn name_and_value<'a>(op: &OpRef<'a>) -> Result<(&'a [u8], &'a [u8]), Failure> {
    let parts = op.input.split_at_checked(op.args.xattr().name_len as usize);
    parts.ok_or_else(|| Errno::EINVAL.into())
}

pub(super) fn get<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    let (name, _) = name_and_value(op)?;
    x.require()?;
    let value = x.xattr(name)?.ok_or(Errno::ENODATA)?;
    x.reserve_output(value.len() as u64)?;
    x.out.length(value.len() as u64);
    x.out.encode(|out| out.put(&value));
    Ok(0)
}

pub(super) fn get_all(x: &mut Execution<'_, '_>) -> OpResult {
    x.require()?;
    let all = x.xattrs()?;
    x.reserve_output(all.iter().map(|(name, value)| (name.len() + value.len() + 8) as u64).sum())?;
    x.out.encode(|out| {
        out.put_len(all.len());
        for (name, value) in &all {
            out.put_blob(name);
            out.put_blob(value);
        }
    });
    Ok(0)
}

pub(super) fn set<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    let args = op.args.xattr();
    // Judged by what is announced, before it is looked for.
    if x.limits.max_xattr_value.is_some_and(|max| args.value_len > max) {
        return Err(Errno::EFBIG.into());
    }
    let (name, rest) = name_and_value(op)?;
    if name.len() > x.limits.max_xattr_name {
        return Err(Errno::ENAMETOOLONG.into());
    }
    let value = rest.get(..op.args.xattr().value_len as usize).ok_or(Errno::EINVAL)?;
    x.change(Change::SetXattr { name: name.into(), value: value.into() });
    x.written += value.len() as u64;
    Ok(0)
}

/// Removing an attribute that is not set succeeds.
pub(super) fn remove<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    let (name, _) = name_and_value(op)?;
    x.require()?;
    x.change(Change::RemoveXattr { name: name.into() });
    Ok(0)
}
