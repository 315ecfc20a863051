//! Release numbers in maps.

use std::fmt;

/// A release by its number; the wire has it as one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Release(pub u8);

#[allow(missing_docs)]
impl Release {
    pub const JEWEL: Release = Release(10);
    pub const LUMINOUS: Release = Release(12);
    pub const MIMIC: Release = Release(13);
    pub const NAUTILUS: Release = Release(14);
    pub const OCTOPUS: Release = Release(15);
    pub const PACIFIC: Release = Release(16);
    pub const QUINCY: Release = Release(17);
    pub const REEF: Release = Release(18);
    pub const SQUID: Release = Release(19);
    pub const TENTACLE: Release = Release(20);
}

impl Release {
    /// The lower-case name, or `unknown`.
    pub const fn name(self) -> &'static str {
        match self.0 {
            10 => "jewel",
            12 => "luminous",
            13 => "mimic",
            14 => "nautilus",
            15 => "octopus",
            16 => "pacific",
            17 => "quincy",
            18 => "reef",
            19 => "squid",
            20 => "tentacle",
            _ => "unknown",
        }
    }

    /// The release with this name.
    pub fn from_name(name: &str) -> Option<Release> {
        (10..=20).map(Release).find(|release| release.name() == name && name != "unknown")
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
