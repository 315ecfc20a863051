//! delete: removes data, attributes and omap.

use super::{Execution, OpResult};

pub(super) fn delete(x: &mut Execution<'_, '_>) -> OpResult {
    x.require()?;
    x.remove();
    Ok(0)
}
