//! ObjectStore: transactions on objects; knows no network.
//!
//! A store keeps *collections* (one per placement group) of objects. An object has data, extended
//! attributes, an omap with a header, and an [`ObjectInfo`] that the OSD keeps with it. Changes are
//! [`Transaction`]s on one collection, applied completely or not at all; reads answer at once
//! ([`Fetch::Ready`]) or later ([`Fetch::Pending`]). [`MemStore`] always answers at once.
#![forbid(unsafe_code)]

mod info;
mod key;
mod mem;
mod store;
mod transaction;

pub use info::{AllocHint, CollectionStats, ObjectInfo, ObjectStat, RemovalLimit, Space};
pub use key::{InvalidKey, KeyBuf, KeyRef, ObjectKey, ObjectRef};
pub use mem::MemStore;
pub use store::{Completion, Fetch, ObjectStore, OmapPage, OmapQuery, ReadData, StoreError, Submitted};
pub use transaction::{Change, Transaction, WriteData};
