//! Verbs of the stock tool that this one does not have, and why.

use sepiola_wire::Errno;

use crate::failure::Failure;

const SNAPSHOTS: &str = "snapshots are not supported";
const WATCH: &str = "watch and notify are not supported";
const TIERS: &str = "cache tiers and manifest objects are not supported";
const SCRUB: &str = "scrub results are not supported";
const LOAD_GEN: &str = "use `bench`";
const EXTENTS: &str = "extents of objects are not supported: `stat` tells the size";

/// Why each is missing.
const MISSING: [(&str, &str); 24] = [
    ("lssnap", SNAPSHOTS),
    ("mksnap", SNAPSHOTS),
    ("rmsnap", SNAPSHOTS),
    ("rollback", SNAPSHOTS),
    ("listsnaps", SNAPSHOTS),
    ("watch", WATCH),
    ("notify", WATCH),
    ("listwatchers", WATCH),
    ("set-redirect", TIERS),
    ("set-chunk", TIERS),
    ("tier-promote", TIERS),
    ("unset-manifest", TIERS),
    ("tier-flush", TIERS),
    ("tier-evict", TIERS),
    ("cache-flush", TIERS),
    ("cache-try-flush", TIERS),
    ("cache-evict", TIERS),
    ("cache-flush-evict-all", TIERS),
    ("cache-try-flush-evict-all", TIERS),
    ("list-inconsistent-pg", SCRUB),
    ("list-inconsistent-obj", SCRUB),
    ("list-inconsistent-snapset", SCRUB),
    ("load-gen", LOAD_GEN),
    ("mapext", EXTENTS),
];

/// The failure for words that are no command: of a verb that is known and missing, or of none.
pub fn unknown(verb: &str, known: bool) -> Failure {
    let missing = MISSING.iter().find(|(name, _)| *name == verb);
    match missing {
        Some((_, why)) => Failure::errno(Errno::EOPNOTSUPP, format!("{verb}: {why}")),
        None if known => {
            Failure::errno(Errno::EINVAL, format!("{verb}: wrong arguments; see `sepiola rados --help`"))
        }
        None => Failure::errno(Errno::EINVAL, format!("{verb}: no such verb; see `sepiola rados --help`")),
    }
}
