//! Newtypes for the numbers that must not be mixed up.

use std::fmt;

use crate::{Decode, DecodeError, Encode, Features, Put, Reader};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ident), $put:ident, $size:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
        impl From<$inner> for $name {
            fn from(v: $inner) -> Self {
                $name(v)
            }
        }
        impl Encode for $name {
            #[inline]
            fn encode(&self, out: &mut Vec<u8>, _: Features) {
                out.$put(self.0);
            }
        }
        impl Decode for $name {
            const MIN_SIZE: usize = $size;
            #[inline]
            fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
                r.$inner().map($name)
            }
        }
    };
}

id!(
    /// The version of a map; grows by one with every published change.
    Epoch(u32), put_u32, 4
);
id!(
    /// A client instance's number, assigned by the monitors and kept over reconnects.
    GlobalId(u64), put_u64, 8
);
id!(
    /// A transaction number: one request and its reply.
    Tid(u64), put_u64, 8
);
id!(
    /// A pool's number; never reused.
    PoolId(i64), put_i64, 8
);
id!(
    /// An OSD's number. Negative numbers in CRUSH are buckets, not OSDs.
    OsdId(i32), put_i32, 4
);
id!(
    /// A snapshot's number, with three reserved values.
    SnapId(u64), put_u64, 8
);
id!(
    /// A number a client chose to recognise a session or a watch by.
    Cookie(u64), put_u64, 8
);

impl Epoch {
    /// The next map version.
    pub const fn next(self) -> Epoch {
        Epoch(self.0 + 1)
    }
}

impl SnapId {
    /// The head of an object, not a snapshot.
    pub const HEAD: SnapId = SnapId(u64::MAX - 1);
    /// The object's list of snapshots.
    pub const DIR: SnapId = SnapId(u64::MAX);
}
