//! Capability texts of monitors and OSDs: parsed once, checked often.
//!
//! Grants are ORed; nothing takes a right away. A profile that is unknown parses and grants nothing, so
//! that texts written for other releases stay usable.

mod error;
mod mon;
mod mon_parse;
mod mon_profile;
mod network;
mod osd;
mod osd_parse;
mod osd_profile;
mod rights;
mod scan;

pub use error::CapsError;
pub use mon::MonCaps;
pub use osd::{ApplicationMetadata, ClassCall, MAX_CLASS_CALLS, OsdAccess, OsdCaps};
pub use rights::Rwx;
