//! stat.

use sepiola_wire::{Encode, Features, Put};

use super::{Execution, OpResult};

pub(super) fn stat(x: &mut Execution<'_, '_>) -> OpResult {
    x.require()?;
    let (size, mtime) = (x.size(), x.info.mtime);
    x.out.encode(|out| {
        out.put_u64(size);
        mtime.encode(out, Features::NONE);
    });
    Ok(0)
}
