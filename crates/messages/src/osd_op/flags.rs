//! Flags of requests and of single operations.

use std::ops::{BitAnd, BitOr, BitOrAssign};

macro_rules! flags {
    ($(#[$doc:meta])* $ty:ident { $($name:ident = $value:literal, $fdoc:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
        pub struct $ty(pub u32);

        impl $ty {
            /// No flag.
            pub const NONE: $ty = $ty(0);
            $(#[doc = $fdoc] pub const $name: $ty = $ty($value);)*

            /// True if all flags of `other` are set.
            pub const fn contains(self, other: $ty) -> bool {
                self.0 & other.0 == other.0
            }

            /// The flags of both.
            pub const fn with(self, other: $ty) -> $ty {
                $ty(self.0 | other.0)
            }

            /// The flags that `other` does not have.
            pub const fn without(self, other: $ty) -> $ty {
                $ty(self.0 & !other.0)
            }
        }

        impl BitOr for $ty {
            type Output = $ty;
            fn bitor(self, other: $ty) -> $ty {
                self.with(other)
            }
        }
        impl BitOrAssign for $ty {
            fn bitor_assign(&mut self, other: $ty) {
                *self = self.with(other);
            }
        }
        impl BitAnd for $ty {
            type Output = $ty;
            fn bitand(self, other: $ty) -> $ty {
                $ty(self.0 & other.0)
            }
        }
    };
}

flags! {
    /// Flags of one operation.
    OpFlags {
        EXCL = 0x1, "Create: fail if the object exists.";
        FAILOK = 0x2, "Go on with the next operation if this one fails.";
        FADVISE_RANDOM = 0x4, "Expect random access.";
        FADVISE_SEQUENTIAL = 0x8, "Expect sequential access.";
        FADVISE_WILLNEED = 0x10, "Expect access soon.";
        FADVISE_DONTNEED = 0x20, "Expect no access soon.";
        FADVISE_NOCACHE = 0x40, "Do not cache.";
        FADVISE_FUA = 0x80, "Write through.";
    }
}

flags! {
    /// Flags of a request, and of its reply. Whether a request writes is told by its operations, not by
    /// [`RequestFlags::WRITE`].
    RequestFlags {
        ACK = 0x1, "Reply: executed.";
        ONNVRAM = 0x2, "Obsolete.";
        ONDISK = 0x4, "Commit wanted; in replies: committed.";
        RETRY = 0x8, "Sent before.";
        READ = 0x10, "Some operation reads.";
        WRITE = 0x20, "Some operation writes.";
        ORDERSNAP = 0x40, "Fail if the snap context is older than the object's.";
        BALANCE_READS = 0x100, "Any replica may serve the read.";
        PARALLELEXEC = 0x200, "Refused by every OSD.";
        PGOP = 0x400, "An operation on a pg.";
        EXEC = 0x800, "Calls a method.";
        EXEC_PUBLIC = 0x1000, "Obsolete.";
        LOCALIZE_READS = 0x2000, "A near replica may serve the read.";
        RWORDERED = 0x4000, "Reads are ordered after writes.";
        IGNORE_CACHE = 0x8000, "Ignore cache tiers.";
        SKIPRWLOCKS = 0x10000, "Between OSDs.";
        IGNORE_OVERLAY = 0x20000, "Ignore the pool's overlay.";
        FLUSH = 0x40000, "Cache tiers.";
        MAP_SNAP_CLONE = 0x80000, "The snap id is a clone's.";
        ENFORCE_SNAPC = 0x100000, "Use the given snap context even in pool snapshot mode.";
        REDIRECTED = 0x200000, "Follows a redirect.";
        KNOWN_IF_REDIRECTED = 0x400000, "The sender understands redirects.";
        FULL_TRY = 0x800000, "Try although the cluster is full; fail with ENOSPC.";
        FULL_FORCE = 0x1000000, "Go ahead although the cluster is full.";
        IGNORE_REDIRECT = 0x2000000, "Do not redirect.";
        RETURNVEC = 0x4000000, "Return the results of single operations of writes too.";
        SUPPORTS_POOL_EIO = 0x8000000, "The sender understands a pool's eio flag.";
    }
}

impl RequestFlags {
    const COMMIT_BITS: u32 = 0x7;

    /// Flags of a normal reply to a request with these flags: executed and committed.
    pub const fn reply(self) -> RequestFlags {
        RequestFlags((self.0 & !Self::COMMIT_BITS) | Self::ACK.0 | Self::ONDISK.0)
    }

    /// Flags of a reply that was given before anything was executed.
    pub const fn early_reply(self) -> RequestFlags {
        RequestFlags(self.0 & !Self::ONNVRAM.0)
    }
}
