//! Operations as a client builds them.

use bytes::Bytes;
use sepiola_wire::{Cookie, Encode, Features, HObject, ObjectLocator, Put, SnapId};

use super::{
    AllocHint, AssertVersion, Checksum, ClsArgs, CopyFrom, Extent, NotifyArgs, OpArgs, OpCode, OpFlags, Pgls,
    SnapArgs, WatchArgs, WriteSame, XattrArgs,
};

/// One operation with its input. Cloning shares the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpSpec {
    /// What to do.
    pub code: OpCode,
    /// How.
    pub flags: OpFlags,
    /// The argument union.
    pub args: OpArgs,
    /// The operation's part of the data segment.
    pub input: Bytes,
}

/// How stored and given values are compared: true if *given OP stored* for xattrs, *stored OP given* for
/// omap values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum CmpOp {
    /// Equal.
    Eq = 1,
    /// Not equal.
    Ne = 2,
    /// Greater.
    Gt = 3,
    /// Greater or equal.
    Gte = 4,
    /// Less.
    Lt = 5,
    /// Less or equal.
    Lte = 6,
}

impl CmpOp {
    /// The comparison with this number.
    pub const fn from_u8(v: u8) -> Option<CmpOp> {
        Some(match v {
            1 => CmpOp::Eq,
            2 => CmpOp::Ne,
            3 => CmpOp::Gt,
            4 => CmpOp::Gte,
            5 => CmpOp::Lt,
            6 => CmpOp::Lte,
            _ => return None,
        })
    }
}

/// What a watch operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum WatchOp {
    /// Ends the watch.
    Unwatch = 0,
    /// Starts it, old form.
    LegacyWatch = 1,
    /// Starts it.
    Watch = 3,
    /// Attaches it to a new connection.
    Reconnect = 5,
    /// Keeps it alive.
    Ping = 7,
}

impl WatchOp {
    /// The watch operation with this number.
    pub const fn from_u8(v: u8) -> Option<WatchOp> {
        Some(match v {
            0 => WatchOp::Unwatch,
            1 => WatchOp::LegacyWatch,
            3 => WatchOp::Watch,
            5 => WatchOp::Reconnect,
            7 => WatchOp::Ping,
            _ => return None,
        })
    }
}

const XATTR_MODE_STRING: u8 = 1;
const XATTR_MODE_U64: u8 = 2;

fn extent(offset: u64, length: u64) -> OpArgs {
    Extent { offset, length, ..Extent::default() }.into()
}

fn len32(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).expect("a local value of at least 4 GiB")
}

/// An input written by `f`.
fn written(f: impl FnOnce(&mut Vec<u8>)) -> Bytes {
    let mut out = Vec::new();
    f(&mut out);
    out.into()
}

fn name_and_value(name: &[u8], value: &[u8]) -> Bytes {
    [name, value].concat().into()
}

impl OpSpec {
    /// An operation from its parts.
    pub fn new(code: OpCode, args: impl Into<OpArgs>, input: impl Into<Bytes>) -> Self {
        OpSpec { code, flags: OpFlags::NONE, args: args.into(), input: input.into() }
    }

    fn bare(code: OpCode) -> Self {
        Self::new(code, OpArgs::NONE, Bytes::new())
    }

    /// For operations whose extent repeats the input's length.
    fn sized(code: OpCode, input: Bytes) -> Self {
        OpSpec::new(code, extent(0, input.len() as u64), input)
    }

    /// The operation with more flags.
    pub fn with_flags(mut self, flags: OpFlags) -> Self {
        self.flags |= flags;
        self
    }

    /// Reads; length 0 is to the end.
    pub fn read(offset: u64, length: u64) -> Self {
        Self::new(OpCode::READ, extent(offset, length), Bytes::new())
    }

    /// Reads, telling holes.
    pub fn sparse_read(offset: u64, length: u64) -> Self {
        Self::new(OpCode::SPARSE_READ, extent(offset, length), Bytes::new())
    }

    /// Size and mtime.
    pub fn stat() -> Self {
        Self::bare(OpCode::STAT)
    }

    /// Writes at an offset.
    pub fn write(offset: u64, data: impl Into<Bytes>) -> Self {
        let data = data.into();
        Self::new(OpCode::WRITE, extent(offset, data.len() as u64), data)
    }

    /// Replaces the data.
    pub fn write_full(data: impl Into<Bytes>) -> Self {
        Self::sized(OpCode::WRITE_FULL, data.into())
    }

    /// Writes at the end.
    pub fn append(data: impl Into<Bytes>) -> Self {
        Self::sized(OpCode::APPEND, data.into())
    }

    /// Writes a pattern over `length` bytes.
    pub fn write_same(offset: u64, length: u64, pattern: impl Into<Bytes>) -> Self {
        let pattern = pattern.into();
        let args = WriteSame { offset, length, data_length: pattern.len() as u64 };
        Self::new(OpCode::WRITE_SAME, args, pattern)
    }

    /// Zeroes a range.
    pub fn zero(offset: u64, length: u64) -> Self {
        Self::new(OpCode::ZERO, extent(offset, length), Bytes::new())
    }

    /// Sets the size.
    pub fn truncate(size: u64) -> Self {
        Self::new(OpCode::TRUNCATE, extent(size, 0), Bytes::new())
    }

    /// Creates the object; `exclusive` fails if it exists.
    pub fn create(exclusive: bool) -> Self {
        Self::bare(OpCode::CREATE).with_flags(if exclusive { OpFlags::EXCL } else { OpFlags::NONE })
    }

    /// Deletes the object.
    pub fn delete() -> Self {
        Self::bare(OpCode::DELETE)
    }

    /// Replaces the head by what it was at a snapshot.
    pub fn rollback(snap: SnapId) -> Self {
        Self::new(OpCode::ROLLBACK, SnapArgs { snap: snap.0 }, Bytes::new())
    }

    /// Tells expected sizes. A failure does not matter.
    pub fn set_alloc_hint(expected_object_size: u64, expected_write_size: u64, flags: u32) -> Self {
        let args = AllocHint { expected_object_size, expected_write_size, flags };
        Self::new(OpCode::SET_ALLOC_HINT, args, Bytes::new()).with_flags(OpFlags::FAILOK)
    }

    /// Compares bytes at an offset.
    pub fn cmpext(offset: u64, data: impl Into<Bytes>) -> Self {
        let data = data.into();
        Self::new(OpCode::CMPEXT, extent(offset, data.len() as u64), data)
    }

    /// Fails unless the user version is `version`.
    pub fn assert_version(version: u64) -> Self {
        Self::new(OpCode::ASSERT_VERSION, AssertVersion { unused: 0, version }, Bytes::new())
    }

    /// Checksums; `init` is the little-endian initial value in the width of the kind.
    pub fn checksum(args: Checksum, init: impl Into<Bytes>) -> Self {
        Self::new(OpCode::CHECKSUM, args, init)
    }

    /// One xattr.
    pub fn getxattr(name: &[u8]) -> Self {
        let args = XattrArgs { name_len: len32(name), ..XattrArgs::default() };
        Self::new(OpCode::GETXATTR, args, Bytes::copy_from_slice(name))
    }

    /// All xattrs.
    pub fn getxattrs() -> Self {
        Self::bare(OpCode::GETXATTRS)
    }

    /// Sets an xattr.
    pub fn setxattr(name: &[u8], value: &[u8]) -> Self {
        let args = XattrArgs { name_len: len32(name), value_len: len32(value), ..XattrArgs::default() };
        Self::new(OpCode::SETXATTR, args, name_and_value(name, value))
    }

    /// Removes an xattr.
    pub fn rmxattr(name: &[u8]) -> Self {
        let args = XattrArgs { name_len: len32(name), ..XattrArgs::default() };
        Self::new(OpCode::RMXATTR, args, Bytes::copy_from_slice(name))
    }

    /// Compares an xattr with a string.
    pub fn cmpxattr(name: &[u8], op: CmpOp, value: &[u8]) -> Self {
        let args = XattrArgs {
            name_len: len32(name),
            value_len: len32(value),
            cmp_op: op as u8,
            cmp_mode: XATTR_MODE_STRING,
        };
        Self::new(OpCode::CMPXATTR, args, name_and_value(name, value))
    }

    /// Compares an xattr, which holds a decimal number, with a number.
    pub fn cmpxattr_u64(name: &[u8], op: CmpOp, value: u64) -> Self {
        let args =
            XattrArgs { name_len: len32(name), value_len: 8, cmp_op: op as u8, cmp_mode: XATTR_MODE_U64 };
        Self::new(OpCode::CMPXATTR, args, name_and_value(name, &value.to_le_bytes()))
    }

    /// Calls a method of an object class.
    ///
    /// # Panics
    /// If a name is longer than 255 bytes.
    pub fn call(class: &str, method: &str, input: &[u8]) -> Self {
        let short = |s: &str| u8::try_from(s.len()).expect("names of classes and methods are short");
        let args =
            ClsArgs { class_len: short(class), method_len: short(method), argc: 0, input_len: len32(input) };
        Self::new(OpCode::CALL, args, [class.as_bytes(), method.as_bytes(), input].concat())
    }

    /// At most `max` omap keys after `start_after`.
    pub fn omap_get_keys(start_after: &[u8], max: u64) -> Self {
        let input = written(|out| {
            out.put_blob(start_after);
            out.put_u64(max);
        });
        Self::sized(OpCode::OMAP_GET_KEYS, input)
    }

    /// At most `max` omap entries after `start_after` whose keys start with `prefix`.
    pub fn omap_get_vals(start_after: &[u8], max: u64, prefix: &[u8]) -> Self {
        let input = written(|out| {
            out.put_blob(start_after);
            out.put_u64(max);
            out.put_blob(prefix);
        });
        Self::sized(OpCode::OMAP_GET_VALS, input)
    }

    /// The omap header.
    pub fn omap_get_header() -> Self {
        Self::bare(OpCode::OMAP_GET_HEADER)
    }

    /// Values of given omap keys, which come in ascending order.
    pub fn omap_get_vals_by_keys<K: AsRef<[u8]>>(keys: impl ExactSizeIterator<Item = K>) -> Self {
        Self::sized(OpCode::OMAP_GET_VALS_BY_KEYS, key_set(keys))
    }

    /// Sets omap values, whose keys come in ascending order.
    pub fn omap_set<K: AsRef<[u8]>, V: AsRef<[u8]>>(entries: impl ExactSizeIterator<Item = (K, V)>) -> Self {
        let input = written(|out| {
            out.put_len(entries.len());
            for (key, value) in entries {
                out.put_blob(key.as_ref());
                out.put_blob(value.as_ref());
            }
        });
        Self::sized(OpCode::OMAP_SET_VALS, input)
    }

    /// Sets the omap header.
    pub fn omap_set_header(header: impl Into<Bytes>) -> Self {
        Self::sized(OpCode::OMAP_SET_HEADER, header.into())
    }

    /// Removes the omap.
    pub fn omap_clear() -> Self {
        Self::bare(OpCode::OMAP_CLEAR)
    }

    /// Removes omap keys, which come in ascending order.
    pub fn omap_rm_keys<K: AsRef<[u8]>>(keys: impl ExactSizeIterator<Item = K>) -> Self {
        Self::sized(OpCode::OMAP_RM_KEYS, key_set(keys))
    }

    /// Removes omap keys from `first` to just before `last`.
    pub fn omap_rm_range(first: &[u8], last: &[u8]) -> Self {
        let input = written(|out| {
            out.put_blob(first);
            out.put_blob(last);
        });
        Self::sized(OpCode::OMAP_RM_RANGE, input)
    }

    /// Compares omap values; keys come in ascending order.
    pub fn omap_cmp<K: AsRef<[u8]>, V: AsRef<[u8]>>(
        entries: impl ExactSizeIterator<Item = (K, CmpOp, V)>,
    ) -> Self {
        let input = written(|out| {
            out.put_len(entries.len());
            for (key, op, value) in entries {
                out.put_blob(key.as_ref());
                out.put_blob(value.as_ref());
                out.put_i32(op as i32);
            }
        });
        // Unlike its neighbours this operation has no extent.
        Self::new(OpCode::OMAP_CMP, OpArgs::NONE, input)
    }

    /// Starts, keeps or ends a watch.
    pub fn watch(cookie: Cookie, op: WatchOp, generation: u32, timeout: u32) -> Self {
        let args = WatchArgs { cookie: cookie.0, version: 0, op: op as u8, generation, timeout };
        Self::new(OpCode::WATCH, args, Bytes::new())
    }

    /// Notifies watchers, which have `timeout` seconds to answer.
    pub fn notify(cookie: Cookie, timeout: u32, payload: &[u8]) -> Self {
        let input = written(|out| {
            out.put_u32(1);
            out.put_u32(timeout);
            out.put_blob(payload);
        });
        Self::new(OpCode::NOTIFY, NotifyArgs { cookie: cookie.0 }, input)
    }

    /// Answers a notification.
    pub fn notify_ack(notify_id: u64, cookie: Cookie, reply: &[u8]) -> Self {
        let input = written(|out| {
            out.put_u64(notify_id);
            out.put_u64(cookie.0);
            out.put_blob(reply);
        });
        Self::new(OpCode::NOTIFY_ACK, OpArgs::NONE, input)
    }

    /// Who watches.
    pub fn list_watchers() -> Self {
        Self::bare(OpCode::LIST_WATCHERS)
    }

    /// The object's clones; the request's snapshot must be [`SnapId::DIR`].
    pub fn list_snaps() -> Self {
        Self::bare(OpCode::LIST_SNAPS)
    }

    /// Lists at most `max_entries` objects of a pg from a cursor on.
    pub fn pgnls(cursor: &HObject, max_entries: u64, start_epoch: u32) -> Self {
        let input = written(|out| cursor.encode(out, Features::SUPPORTED));
        Self::new(OpCode::PGNLS, Pgls { max_entries, start_epoch }, input)
    }

    /// Copies another object.
    pub fn copy_from(oid: &[u8], locator: &ObjectLocator, args: CopyFrom) -> Self {
        let input = written(|out| {
            out.put_blob(oid);
            locator.encode(out, Features::SUPPORTED);
        });
        Self::new(OpCode::COPY_FROM, args, input)
    }
}

fn key_set<K: AsRef<[u8]>>(keys: impl ExactSizeIterator<Item = K>) -> Bytes {
    written(|out| {
        out.put_len(keys.len());
        for key in keys {
            out.put_blob(key.as_ref());
        }
    })
}
