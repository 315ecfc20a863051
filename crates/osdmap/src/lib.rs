//! The OSDMap: pools, OSDs and CRUSH, and from them where every object is.
//!
//! An [`OsdMap`] is one epoch and never changes, so it is shared behind an `Arc`. It comes from a full
//! encoded map ([`OsdMap::decode`]), from the map before and an [`Incremental`] ([`OsdMap::apply`]), or,
//! in a monitor, from [`OsdMap::new`] and [`OsdMap::publish`]. [`OsdMap::object_to_pg`] and
//! [`OsdMap::pg_to_up_acting`] answer where an object's operations go; CRUSH runs once per pg and map.
//!
//! Maps are read from any release since Nautilus and written byte for byte as 16.2 and 20.2 write them:
//! they carry checksums, and an incremental carries the checksum of its result.
//!
//! What a map may make its reader do is bounded: counts by the bytes that came, pgs and OSDs by
//! [`MAX_PG_NUM`] and [`MAX_OSDS`], CRUSH by the absence of cycles and by a budget for each mapping.
#![forbid(unsafe_code)]

mod blocklist;
pub mod crush;
mod error;
mod flags;
mod full;
pub mod hash;
mod incremental;
mod map;
mod osd;
mod placement;
mod pool;
mod release;
mod snap_intervals;

pub use blocklist::BlocklistKey;
pub use crush::CrushMap;
pub use error::{ApplyError, MapError};
pub use flags::{MapFlags, OsdState, PoolFlags};
pub use hash::{object_hash, str_hash};
pub use incremental::{Incremental, OsdBoot, Published};
pub use map::{CANONICAL_FEATURES, FullRatios, MAX_OSDS, OsdMap, StretchMode};
pub use osd::{Osd, OsdInfo, OsdXInfo, WEIGHT_IN};
pub use placement::{OSD_NONE, UpActing};
pub use pool::{
    MAX_PG_NUM, OBJECT_HASH_RJENKINS, Opaque, PeeringCrush, PgMerge, Pool, PoolKind, PoolOpt, PoolSnap,
};
pub use release::Release;
pub use snap_intervals::SnapIntervals;
