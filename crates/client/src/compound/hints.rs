//! What a caller may tell an OSD beside what it asks for: none of it changes a result.

use std::ops::BitOr;

use sepiola_messages::osd_op::OpFlags;

/// What to expect of the bytes that an operation touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Access in no order.
    Random,
    /// Access from front to back.
    Sequential,
    /// They are wanted again soon.
    WillNeed,
    /// Nobody will want them soon.
    DontNeed,
    /// They need not be cached.
    NoCache,
    /// They are to be written through.
    Fua,
}

impl Advice {
    pub(crate) fn flags(self) -> OpFlags {
        match self {
            Advice::Random => OpFlags::FADVISE_RANDOM,
            Advice::Sequential => OpFlags::FADVISE_SEQUENTIAL,
            Advice::WillNeed => OpFlags::FADVISE_WILLNEED,
            Advice::DontNeed => OpFlags::FADVISE_DONTNEED,
            Advice::NoCache => OpFlags::FADVISE_NOCACHE,
            Advice::Fua => OpFlags::FADVISE_FUA,
        }
    }
}

/// How an object will be used; combine with `|`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AllocHint(pub u32);

impl AllocHint {
    /// Nothing is known.
    pub const NONE: AllocHint = AllocHint(0);
    /// Written from front to back.
    pub const SEQUENTIAL_WRITE: AllocHint = AllocHint(1);
    /// Written in no order.
    pub const RANDOM_WRITE: AllocHint = AllocHint(2);
    /// Read from front to back.
    pub const SEQUENTIAL_READ: AllocHint = AllocHint(4);
    /// Read in no order.
    pub const RANDOM_READ: AllocHint = AllocHint(8);
    /// Only appended to.
    pub const APPEND_ONLY: AllocHint = AllocHint(16);
    /// Never changed once it is written.
    pub const IMMUTABLE: AllocHint = AllocHint(32);
    /// Deleted soon.
    pub const SHORTLIVED: AllocHint = AllocHint(64);
    /// Kept for long.
    pub const LONGLIVED: AllocHint = AllocHint(128);
    /// Worth compressing.
    pub const COMPRESSIBLE: AllocHint = AllocHint(256);
    /// Not worth compressing.
    pub const INCOMPRESSIBLE: AllocHint = AllocHint(512);
}

impl BitOr for AllocHint {
    type Output = AllocHint;
    fn bitor(self, other: AllocHint) -> AllocHint {
        AllocHint(self.0 | other.0)
    }
}
