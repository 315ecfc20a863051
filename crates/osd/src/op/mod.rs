//! The op interpreter: one file per family of operations.
//!
//! The ops of a message run in order on an [`Execution`]. Reads answer from the store as it was before
//! the message; writes only add changes to a transaction and keep track of what later ops of the message
//! may ask for (existence, size, version, attributes). Nothing is applied before all ops have succeeded, so
//! a message is atomic without any undoing.

mod append;
mod assert_version;
mod checksum;
mod cmpext;
mod cmpxattr;
pub(crate) mod copy_from;
mod create;
mod delete;
mod execution;
mod hint;
mod limits;
pub(crate) mod listing;
mod omap_read;
mod omap_write;
mod outputs;
mod read;
mod stat;
mod truncate;
mod write;
mod xattr;
mod zero;

use sepiola_messages::osd_op::{OpCode, OpRef};
use sepiola_wire::Errno;

use crate::class;

pub(crate) use execution::{Execution, store_failure};
pub use limits::Limits;
pub(crate) use outputs::Outputs;

/// A failed op's result: a negative number, mostly an errno; `cmpext` reports positions this way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failure(pub i32);

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Self {
        Failure(errno.to_wire())
    }
}

/// An op's value, mostly 0.
pub(crate) type OpResult = Result<i32, Failure>;

/// Runs one op.
pub(crate) fn run<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    match op.code {
        OpCode::READ | OpCode::SYNC_READ => read::read(x, op),
        OpCode::SPARSE_READ => read::sparse_read(x, op),
        OpCode::STAT => stat::stat(x),
        OpCode::CHECKSUM => checksum::checksum(x, op),
        OpCode::CMPEXT => cmpext::cmpext(x, op),
        OpCode::ASSERT_VERSION => assert_version::assert_version(x, op),
        OpCode::WRITE => write::write(x, op),
        OpCode::WRITE_FULL => write::write_full(x, op),
        OpCode::WRITE_SAME => write::write_same(x, op),
        OpCode::APPEND => append::append(x, op),
        OpCode::ZERO => zero::zero(x, op),
        OpCode::TRUNCATE => truncate::truncate(x, op),
        OpCode::COPY_FROM | OpCode::COPY_FROM2 => copy_from::copy_from(x),
        OpCode::CREATE => create::create(x, op),
        OpCode::DELETE => delete::delete(x),
        OpCode::SET_ALLOC_HINT => hint::set_alloc_hint(x, op),
        OpCode::GETXATTR => xattr::get(x, op),
        OpCode::GETXATTRS => xattr::get_all(x),
        OpCode::SETXATTR => xattr::set(x, op),
        OpCode::RMXATTR => xattr::remove(x, op),
        OpCode::CMPXATTR => cmpxattr::cmpxattr(x, op),
        OpCode::OMAP_GET_KEYS => omap_read::keys(x, op),
        OpCode::OMAP_GET_VALS => omap_read::values(x, op),
        OpCode::OMAP_GET_VALS_BY_KEYS => omap_read::values_by_keys(x, op),
        OpCode::OMAP_GET_HEADER => omap_read::header(x),
        OpCode::OMAP_CMP => omap_read::compare(x, op),
        OpCode::OMAP_SET_VALS => omap_write::set(x, op),
        OpCode::OMAP_SET_HEADER => omap_write::set_header(x, op),
        OpCode::OMAP_CLEAR => omap_write::clear(x),
        OpCode::OMAP_RM_KEYS => omap_write::remove_keys(x, op),
        OpCode::OMAP_RM_RANGE => omap_write::remove_range(x, op),
        OpCode::CALL => class::run(x, op),
        // Watches, snapshots, caching and whatever else exists: an answer, never silence.
        _ => Err(Errno::EOPNOTSUPP.into()),
    }
}
