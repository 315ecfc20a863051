//! Operation codes.

use std::fmt;

/// What one operation of a request does: mode, type and number in one. Any number can be received; an OSD
/// answers those it does not know with EOPNOTSUPP.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpCode(pub u16);

const MODE_READ: u16 = 0x1000;
const MODE_WRITE: u16 = 0x2000;
const TYPE_MASK: u16 = 0x0f00;
const TYPE_PG: u16 = 0x0500;

macro_rules! codes {
    ($($name:ident = $value:literal, $text:literal, $doc:literal;)*) => {
        impl OpCode {
            $(#[doc = $doc] pub const $name: OpCode = OpCode($value);)*

            /// The usual name; `None` for codes without a constant here.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 { $($value => Some($text),)* _ => None }
            }
        }
    };
}

codes! {
    READ = 0x1201, "read", "Reads an extent.";
    STAT = 0x1202, "stat", "Size and mtime.";
    SPARSE_READ = 0x1205, "sparse-read", "Reads an extent and says which parts of it exist.";
    NOTIFY = 0x1206, "notify", "Notifies watchers.";
    NOTIFY_ACK = 0x1207, "notify-ack", "Answers a notification.";
    ASSERT_VERSION = 0x1208, "assert-version", "Fails unless the user version is the given one.";
    LIST_WATCHERS = 0x1209, "list-watchers", "Who watches.";
    LIST_SNAPS = 0x120a, "list-snaps", "The object's clones.";
    SYNC_READ = 0x120b, "sync-read", "Reads an extent after all writes.";
    OMAP_GET_KEYS = 0x1211, "omap-get-keys", "Omap keys.";
    OMAP_GET_VALS = 0x1212, "omap-get-vals", "Omap keys and values.";
    OMAP_GET_HEADER = 0x1213, "omap-get-header", "The omap header.";
    OMAP_GET_VALS_BY_KEYS = 0x1214, "omap-get-vals-by-keys", "Omap values of given keys.";
    OMAP_CMP = 0x1219, "omap-cmp", "Compares omap values.";
    COPY_GET = 0x121e, "copy-get", "An OSD reads an object to copy it.";
    CHECKSUM = 0x121f, "checksum", "Checksums of an extent.";
    CMPEXT = 0x1220, "cmpext", "Compares an extent.";
    WRITE = 0x2201, "write", "Writes an extent.";
    WRITE_FULL = 0x2202, "writefull", "Replaces the data.";
    TRUNCATE = 0x2203, "truncate", "Sets the size.";
    ZERO = 0x2204, "zero", "Zeroes an extent.";
    DELETE = 0x2205, "delete", "Deletes the object.";
    APPEND = 0x2206, "append", "Writes at the end.";
    CREATE = 0x220d, "create", "Creates the object.";
    ROLLBACK = 0x220e, "rollback", "Replaces the head by a clone.";
    WATCH = 0x220f, "watch", "Starts, keeps or ends a watch.";
    OMAP_SET_VALS = 0x2215, "omap-set-vals", "Sets omap values.";
    OMAP_SET_HEADER = 0x2216, "omap-set-header", "Sets the omap header.";
    OMAP_CLEAR = 0x2217, "omap-clear", "Removes the omap.";
    OMAP_RM_KEYS = 0x2218, "omap-rm-keys", "Removes omap keys.";
    COPY_FROM = 0x221a, "copy-from", "Copies another object.";
    SET_ALLOC_HINT = 0x2223, "set-alloc-hint", "Tells expected sizes.";
    WRITE_SAME = 0x2226, "writesame", "Writes a pattern.";
    OMAP_RM_RANGE = 0x222c, "omap-rm-range", "Removes a range of omap keys.";
    COPY_FROM2 = 0x222d, "copy-from2", "Copies another object, with a truncation.";
    GETXATTR = 0x1301, "getxattr", "One xattr.";
    GETXATTRS = 0x1302, "getxattrs", "All xattrs.";
    CMPXATTR = 0x1303, "cmpxattr", "Compares an xattr.";
    SETXATTR = 0x2301, "setxattr", "Sets an xattr.";
    RMXATTR = 0x2304, "rmxattr", "Removes an xattr.";
    CALL = 0x1401, "call", "Calls a method of an object class; the method says whether it writes.";
    PGLS = 0x1501, "pgls", "Lists a pg's objects, old form.";
    PGLS_FILTER = 0x1502, "pgls-filter", "Lists a pg's objects through a filter, old form.";
    PGNLS = 0x1505, "pgnls", "Lists a pg's objects.";
    PGNLS_FILTER = 0x1506, "pgnls-filter", "Lists a pg's objects through a filter.";
}

impl OpCode {
    /// True if the mode says that the operation reads.
    pub const fn is_read(self) -> bool {
        self.0 & MODE_READ != 0
    }

    /// True if the mode says that the operation writes. Calls depend on the method instead.
    pub const fn is_write(self) -> bool {
        self.0 & MODE_WRITE != 0
    }

    /// True for operations on a pg rather than an object.
    pub const fn is_pg(self) -> bool {
        self.0 & TYPE_MASK == TYPE_PG
    }
}

impl fmt::Display for OpCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "op-{:#06x}", self.0),
        }
    }
}

impl fmt::Debug for OpCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
