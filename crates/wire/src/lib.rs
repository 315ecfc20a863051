//! The encoding rules, identities and constants that every message of the RADOS wire is built from.
//!
//! Everything is little-endian and unaligned. Decoding goes through [`Reader`], which never reads past
//! its bounds and checks each count against the bytes that remain before anything is allocated.
//! Encoding appends to a `Vec<u8>` through [`Put`]; every [`Encode`] takes the negotiated [`Features`].
#![forbid(unsafe_code)]

mod addr;
mod codec;
mod crc;
mod entity;
mod errno;
mod features;
mod hobject;
mod ids;
mod pg;
mod reader;
mod time;
mod writer;

pub use addr::{AddrType, EntityAddr, EntityAddrVec, ParseAddrError};
pub use codec::{Decode, Encode, decode_all, encode_to_vec};
pub use crc::{crc32c, crc32c_append, crc32c_zeros};
pub use entity::{EntityName, EntityNum, EntityType, ParseEntityError};
pub use errno::Errno;
pub use features::Features;
pub use hobject::{HObject, ObjectLocator};
pub use ids::{Cookie, Epoch, GlobalId, OsdId, PoolId, SnapId, Tid};
pub use pg::{EVersion, PgId, ReqId, SpgId};
pub use reader::{DecodeError, Reader, Versioned};
pub use time::UTime;
pub use uuid::Uuid;
pub use writer::Put;
