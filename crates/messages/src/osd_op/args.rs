//! The 28-byte argument union of an operation.

use sepiola_wire::SnapId;

/// The argument bytes, read and written through the typed member that the operation code implies. Members
/// start at offset 0 and are packed; the rest is zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpArgs(pub [u8; OpArgs::SIZE]);

impl OpArgs {
    /// Size on the wire.
    pub const SIZE: usize = 28;
    /// No arguments.
    pub const NONE: OpArgs = OpArgs([0; OpArgs::SIZE]);

    fn get<const N: usize>(&self, at: &mut usize) -> [u8; N] {
        let mut field = [0; N];
        field.copy_from_slice(&self.0[*at..*at + N]);
        *at += N;
        field
    }

    fn set<const N: usize>(&mut self, at: &mut usize, field: [u8; N]) {
        self.0[*at..*at + N].copy_from_slice(&field);
        *at += N;
    }
}

macro_rules! members {
    ($($(#[$doc:meta])* $name:ident, $accessor:ident { $($field:ident: $ty:ident, $fdoc:literal;)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
            pub struct $name { $(#[doc = $fdoc] pub $field: $ty,)* }

            impl From<$name> for OpArgs {
                fn from(v: $name) -> OpArgs {
                    let (mut args, mut at) = (OpArgs::NONE, 0);
                    $(args.set(&mut at, v.$field.to_le_bytes());)*
                    let _ = at;
                    args
                }
            }
        )*

        impl OpArgs {
            $(
                #[doc = concat!("The arguments read as [`", stringify!($name), "`].")]
                pub fn $accessor(&self) -> $name {
                    let mut at = 0;
                    $(let $field = $ty::from_le_bytes(self.get(&mut at));)*
                    let _ = at;
                    $name { $($field),* }
                }
            )*
        }
    };
}

members! {
    /// A range of bytes. Truncate fields are CephFS's; zero otherwise.
    Extent, extent {
        offset: u64, "First byte.";
        length: u64, "Bytes; 0 means to the end when reading.";
        truncate_size: u64, "Size of the truncation that this access knows of.";
        truncate_seq: u32, "Its number.";
    }
    /// An xattr whose name and value are the operation's input.
    XattrArgs, xattr {
        name_len: u32, "Length of the name.";
        value_len: u32, "Length of the value.";
        cmp_op: u8, "Comparison, see [`CmpOp`](super::CmpOp).";
        cmp_mode: u8, "1 strings, 2 unsigned integers.";
    }
    /// A method call; class, method and argument are the operation's input.
    ClsArgs, cls {
        class_len: u8, "Length of the class name.";
        method_len: u8, "Length of the method name.";
        argc: u8, "0.";
        input_len: u32, "Length of the argument.";
    }
    /// A listing step.
    Pgls, pgls {
        max_entries: u64, "At most so many objects.";
        start_epoch: u32, "Map epoch of the listing's first reply, 0 before.";
    }
    /// A snapshot.
    SnapArgs, snap {
        snap: u64, "The snapshot's id.";
    }
    /// A watch.
    WatchArgs, watch {
        cookie: u64, "The watcher's number for it.";
        version: u64, "0.";
        op: u8, "See [`WatchOp`](super::WatchOp).";
        generation: u32, "Counts reconnects.";
        timeout: u32, "Seconds without a sign of life after which the watch ends; 0 for the OSD's default.";
    }
    /// A notification.
    NotifyArgs, notify {
        cookie: u64, "The notifier's number for it.";
    }
    /// A version check.
    AssertVersion, assert_version {
        unused: u64, "0.";
        version: u64, "The user version wanted.";
    }
    /// Expected sizes.
    AllocHint, alloc_hint {
        expected_object_size: u64, "Bytes.";
        expected_write_size: u64, "Bytes.";
        flags: u32, "Access pattern.";
    }
    /// The source of a copy; its name and locator are the operation's input.
    CopyFrom, copy_from {
        src_snap: u64, "The source's snapshot.";
        src_version: u64, "The source's user version, 0 for any.";
        flags: u8, "0x20: the input ends with a truncation.";
        src_fadvise_flags: u32, "How the source is read.";
    }
    /// A checksum over an extent.
    Checksum, checksum {
        offset: u64, "First byte.";
        length: u64, "Bytes; 0 with offset 0 is the whole object.";
        chunk_size: u32, "Bytes a checksum; 0 for one over all.";
        kind: u8, "One of [`checksum_kind`].";
    }
    /// A repeated pattern; the pattern is the operation's input.
    WriteSame, write_same {
        offset: u64, "First byte.";
        length: u64, "Bytes to fill.";
        data_length: u64, "Length of the pattern.";
    }
}

impl SnapArgs {
    /// The snapshot.
    pub fn id(self) -> SnapId {
        SnapId(self.snap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_members_sit_at_their_offsets() {
        let args = OpArgs::from(ClsArgs { class_len: 5, method_len: 9, argc: 0, input_len: 0x0102_0304 });
        assert_eq!(args.0[..8], [5, 9, 0, 4, 3, 2, 1, 0]);
        let watch = WatchArgs { cookie: 1, version: 2, op: 3, generation: 4, timeout: 5 };
        let args = OpArgs::from(watch);
        assert_eq!((args.0[16], args.0[17], args.0[21]), (3, 4, 5));
        assert_eq!(args.watch(), watch);
    }
}

/// The algorithms of [`Checksum`].
pub mod checksum_kind {
    /// xxHash, 32 bits.
    pub const XXHASH32: u8 = 0;
    /// xxHash, 64 bits.
    pub const XXHASH64: u8 = 1;
    /// CRC-32C.
    pub const CRC32C: u8 = 2;
}
