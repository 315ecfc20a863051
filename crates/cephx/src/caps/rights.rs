//! Read, write, execute.

use std::{
    fmt,
    ops::{BitOr, BitOrAssign},
};

/// A set of the rights r, w and x.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Rwx(u8);

impl Rwx {
    /// No right.
    pub const NONE: Rwx = Rwx(0);
    /// Reading.
    pub const R: Rwx = Rwx(4);
    /// Writing.
    pub const W: Rwx = Rwx(2);
    /// Executing: class methods at an OSD, changing keys at a monitor.
    pub const X: Rwx = Rwx(1);
    /// r and w.
    pub const RW: Rwx = Rwx(6);
    /// r and x.
    pub const RX: Rwx = Rwx(5);
    /// All three.
    pub const RWX: Rwx = Rwx(7);

    /// True if every right of `other` is in this set.
    pub const fn contains(self, other: Rwx) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Rwx {
    type Output = Rwx;
    fn bitor(self, other: Rwx) -> Rwx {
        Rwx(self.0 | other.0)
    }
}

impl BitOrAssign for Rwx {
    fn bitor_assign(&mut self, other: Rwx) {
        self.0 |= other.0;
    }
}

impl fmt::Debug for Rwx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (right, letter) in [(Rwx::R, 'r'), (Rwx::W, 'w'), (Rwx::X, 'x')] {
            write!(f, "{}", if self.contains(right) { letter } else { '-' })?;
        }
        Ok(())
    }
}
