//! Flag words of the map, of pools and of OSDs, with the names that tools print.

use std::fmt;

macro_rules! flags {
    ($(#[$doc:meta])* $name:ident($inner:ident), $($flag:ident = $bit:literal, $text:literal;)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $name(pub $inner);

        #[allow(missing_docs)]
        impl $name {
            $(pub const $flag: $name = $name(1 << $bit);)*
        }

        impl $name {
            /// No flags.
            pub const NONE: $name = $name(0);

            /// True when every flag of `other` is set.
            pub const fn has(self, other: $name) -> bool {
                self.0 & other.0 == other.0
            }

            /// With the flags of `other` too.
            pub const fn with(self, other: $name) -> $name {
                $name(self.0 | other.0)
            }

            /// Without the flags of `other`.
            pub const fn without(self, other: $name) -> $name {
                $name(self.0 & !other.0)
            }

            /// The names of the set flags, lowest bit first; bits without a name are left out.
            pub fn names(self) -> impl Iterator<Item = &'static str> {
                [$((1 << $bit, $text)),*].into_iter().filter(move |(bit, _)| self.0 & bit != 0).map(|(_, name)| name)
            }

            /// The flag with this name.
            pub fn from_name(name: &str) -> Option<$name> {
                match name {
                    $($text => Some($name::$flag),)*
                    _ => None,
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                for (i, name) in self.names().enumerate() {
                    if i > 0 {
                        f.write_str(",")?;
                    }
                    f.write_str(name)?;
                }
                Ok(())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:#x} {})"), self.0, self)
            }
        }
    };
}

flags!(
    /// Flags of the whole cluster. Clients react to `full`, `pauserd` and `pausewr`.
    MapFlags(u32),
    NEARFULL = 0, "nearfull";
    FULL = 1, "full";
    PAUSERD = 2, "pauserd";
    PAUSEWR = 3, "pausewr";
    PAUSEREC = 4, "pauserec";
    NOUP = 5, "noup";
    NODOWN = 6, "nodown";
    NOOUT = 7, "noout";
    NOIN = 8, "noin";
    NOBACKFILL = 9, "nobackfill";
    NORECOVER = 10, "norecover";
    NOSCRUB = 11, "noscrub";
    NODEEP_SCRUB = 12, "nodeep-scrub";
    NOTIERAGENT = 13, "notieragent";
    NOREBALANCE = 14, "norebalance";
    SORTBITWISE = 15, "sortbitwise";
    RECOVERY_DELETES = 19, "recovery_deletes";
    PURGED_SNAPDIRS = 20, "purged_snapdirs";
    NOSNAPTRIM = 21, "nosnaptrim";
    PGLOG_HARDLIMIT = 22, "pglog_hardlimit";
    NOAUTOSCALE = 23, "noautoscale";
);

impl MapFlags {
    /// What a new cluster starts with.
    pub const NEW_CLUSTER: MapFlags = MapFlags(0x58_8000);
}

flags!(
    /// Flags of a pool. Every pool of today has `hashpspool`.
    PoolFlags(u64),
    HASHPSPOOL = 0, "hashpspool";
    FULL = 1, "full";
    EC_OVERWRITES = 2, "ec_overwrites";
    INCOMPLETE_CLONES = 3, "incomplete_clones";
    NODELETE = 4, "nodelete";
    NOPGCHANGE = 5, "nopgchange";
    NOSIZECHANGE = 6, "nosizechange";
    WRITE_FADVISE_DONTNEED = 7, "write_fadvise_dontneed";
    NOSCRUB = 8, "noscrub";
    NODEEP_SCRUB = 9, "nodeep-scrub";
    FULL_QUOTA = 10, "full_quota";
    NEARFULL = 11, "nearfull";
    BACKFILLFULL = 12, "backfillfull";
    SELFMANAGED_SNAPS = 13, "selfmanaged_snaps";
    POOL_SNAPS = 14, "pool_snaps";
    CREATING = 15, "creating";
    EIO = 16, "eio";
    BULK = 17, "bulk";
    CRIMSON = 18, "crimson";
    EC_OPTIMIZATIONS = 19, "ec_optimizations";
);

flags!(
    /// The state of an OSD. A healthy one has `exists` and `up`.
    OsdState(u32),
    EXISTS = 0, "exists";
    UP = 1, "up";
    AUTOOUT = 2, "autoout";
    NEW = 3, "new";
    FULL = 4, "full";
    NEARFULL = 5, "nearfull";
    BACKFILLFULL = 6, "backfillfull";
    DESTROYED = 7, "destroyed";
    NOUP = 8, "noup";
    NODOWN = 9, "nodown";
    NOIN = 10, "noin";
    NOOUT = 11, "noout";
    STOP = 12, "stop";
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_bits() {
        assert_eq!(
            MapFlags::NEW_CLUSTER.to_string(),
            "sortbitwise,recovery_deletes,purged_snapdirs,pglog_hardlimit"
        );
        assert_eq!(MapFlags::from_name("noout"), Some(MapFlags(128)));
        assert_eq!(OsdState(11).to_string(), "exists,up,new");
        assert!(PoolFlags(0x4001).has(PoolFlags::POOL_SNAPS));
    }
}
