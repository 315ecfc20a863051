//! Object classes: methods that clients call by name and that run next to the object, inside the
//! transaction of the request that calls them.
//!
//! A class is an [`ObjectClass`] in the table [`CLASSES`]. Its methods say whether they read and write; a
//! method that does what it did not declare gets EIO, because clients' rights, duplicate detection and the
//! treatment of missing objects all go by the declaration. Methods see the object as ops do: data and omap
//! as they were before the request, existence, size and attributes as they are at this point of it.

mod call;
mod hello;
mod lock;
mod numops;
mod rbd;
mod refcount;

use sepiola_messages::osd_op::{OpCode, OpRef, OsdOpRequest, input};
use sepiola_wire::Errno;

pub(crate) use call::{Caller, MethodCall};

use crate::op::{Execution, OpResult};

/// A named set of methods.
pub(crate) trait ObjectClass: Sync {
    /// The name that clients call it by.
    fn name(&self) -> &'static str;
    /// Its methods, in no particular order.
    fn methods(&self) -> &'static [Method];
}

/// One method of a class.
#[derive(Debug)]
pub(crate) struct Method {
    /// The name that clients call it by.
    pub name: &'static str,
    /// What it does with the object.
    pub access: Access,
    /// Runs it. Its value is the op's.
    pub run: fn(&mut MethodCall<'_, '_, '_>) -> OpResult,
}

/// What a method may do with its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Access {
    pub read: bool,
    pub write: bool,
}

impl Access {
    /// Reads only.
    pub const READ: Access = Access { read: true, write: false };
    /// Writes without looking.
    pub const WRITE: Access = Access { read: false, write: true };
    /// Reads and writes.
    pub const READ_WRITE: Access = Access { read: true, write: true };
}

static CLASSES: &[&dyn ObjectClass] =
    &[&hello::Hello, &lock::Lock, &numops::NumOps, &rbd::Rbd, &refcount::RefCount];

/// A method found in the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    pub class: &'static str,
    pub method: &'static Method,
}

/// The method that a call names.
///
/// # Errors
/// EPERM for a class that is not there, EOPNOTSUPP for a method that the class does not have, EINVAL for
/// an input that names neither.
pub(crate) fn find(op: &OpRef<'_>) -> Result<Found, Errno> {
    let call = input::call(op).map_err(|_| Errno::EINVAL)?;
    let class = CLASSES.iter().find(|class| class.name().as_bytes() == call.class).ok_or(Errno::EPERM)?;
    let method = class.methods().iter().find(|method| method.name.as_bytes() == call.method);
    Ok(Found { class: class.name(), method: method.ok_or(Errno::EOPNOTSUPP)? })
}

/// The methods that a request calls, in order.
///
/// # Errors
/// As [`find`], for the first call that names nothing.
pub(crate) fn calls(request: &OsdOpRequest<'_>) -> Result<Vec<Found>, Errno> {
    // Most requests call nothing: they cost one look at each code and no allocation.
    if !request.codes().any(|code| code == OpCode::CALL) {
        return Ok(Vec::new());
    }
    request.ops().filter(|op| op.code == OpCode::CALL).map(|op| find(&op)).collect()
}

/// Runs a call.
pub(crate) fn run<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    let found = find(op)?;
    let input = input::call(op).map_err(|_| Errno::EINVAL)?.input;
    let before = x.out.total();
    let result = (found.method.run)(&mut MethodCall::new(x, found.method.access, input));
    let returned = x.out.total() - before;
    x.out.length(returned as u64);
    x.reserve_output(0)?;
    result
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique() {
        let classes: BTreeSet<_> = CLASSES.iter().map(|class| class.name()).collect();
        assert_eq!(classes.len(), CLASSES.len());
        for class in CLASSES {
            let methods: BTreeSet<_> = class.methods().iter().map(|method| method.name).collect();
            assert_eq!(methods.len(), class.methods().len(), "{}", class.name());
        }
    }
}
