//! The 64-bit feature sets that peers exchange in CLIENT_IDENT and SERVER_IDENT.

use std::ops::{BitAnd, BitOr};

/// A set of feature bits. What both sides advertise decides which layouts are written.
///
/// A feature is a bit plus an incarnation: reused bits also need the bits of the releases in which they
/// were reused, so each constant is a mask and [`Features::has`] asks for all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Features(u64);

const INC2: u64 = 1 << 57;
const INC3: u64 = 1 << 57 | 1 << 28;

impl Features {
    /// No features.
    pub const NONE: Features = Features(0);
    /// What 16.2.15 advertises and what Sepiola advertises: the oldest supported layouts, which both
    /// releases speak with each other.
    pub const SUPPORTED: Features = Features(0x3f01_cfbd_fffd_ffff);

    /// OSDMap client section 8, pool v28 and later.
    pub const SERVER_NAUTILUS: Features = Features(1 << 2 | INC3);
    /// Replies carry the object name and multiplex; every lossy client requires it.
    pub const OSD_REPLY_MUX: Features = Features(1 << 12);
    /// `osd_xinfo` v4.
    pub const SERVER_OCTOPUS: Features = Features(1 << 16 | INC3);
    /// Pacific.
    pub const SERVER_PACIFIC: Features = Features(1 << 20 | INC3);
    /// Backoffs, MOSDOp v8, device classes.
    pub const SERVER_LUMINOUS: Features = Features(1 << 21 | INC2);
    /// Mimic.
    pub const SERVER_MIMIC: Features = Features(1 << 28 | INC2);
    /// OSDMap client section 10. Pacific sets the bit too, for a feature of another name, so it matters in
    /// a map's own encoding features only.
    pub const SERVER_REEF: Features = Features(1 << 31 | INC3);
    /// Crush rule masks are written as 1..100.
    pub const SERVER_QUINCY: Features = Features(1 << 33 | INC3);
    /// Two more CRUSH tunables.
    pub const CRUSH_MSR: Features = Features(1 << 38 | INC2);
    /// MOSDOp v9.
    pub const SERVER_SQUID: Features = Features(1 << 49 | INC2);
    /// `pg_pool` v32.
    pub const SERVER_TENTACLE: Features = Features(1 << 50 | INC2);
    /// MMonSubscribe v3; no acks, no renewals.
    pub const MON_STATEFUL_SUB: Features = Features(1 << 57);
    /// Modern addresses; every client requires it.
    pub const MSG_ADDR2: Features = Features(1 << 59);

    /// A set from its wire form.
    pub const fn from_bits(bits: u64) -> Self {
        Features(bits)
    }

    /// The wire form.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// True when every bit of `other` is set, incarnation bits included.
    pub const fn has(self, other: Features) -> bool {
        self.0 & other.0 == other.0
    }

    /// The bits of `self` that `other` lacks.
    pub const fn missing_from(self, other: Features) -> Features {
        Features(self.0 & !other.0)
    }

    /// True when no bit is set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl BitAnd for Features {
    type Output = Features;
    fn bitand(self, other: Features) -> Features {
        Features(self.0 & other.0)
    }
}

impl BitOr for Features {
    type Output = Features;
    fn bitor(self, other: Features) -> Features {
        Features(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reused_bit_needs_its_incarnation() {
        assert!(!Features::from_bits(1 << 2).has(Features::SERVER_NAUTILUS));
        assert!(Features::SUPPORTED.has(Features::SERVER_NAUTILUS));
        assert!(!Features::SUPPORTED.has(Features::SERVER_SQUID));
        assert!(Features::from_bits(0x3f07_ffff_fffd_ffff).has(Features::SERVER_TENTACLE));
    }
}
