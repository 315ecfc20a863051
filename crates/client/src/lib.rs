//! A RADOS client: async, for Ceph and for Sepiola.
//!
//! [`Rados`] is a connection to a cluster, [`IoCtx`] the objects of a pool.
//!
//! ```no_run
//! # async fn example() -> Result<(), sepiola_client::Error> {
//! use sepiola_client::{Exclusive, Rados, WriteOp};
//!
//! let rados = Rados::builder().conf_file("ceph.conf")?.name("client.admin").connect().await?;
//! let io = rados.open_ioctx("pool").await?;
//! io.write_full("obj", "some bytes").await?;
//! let data = io.read("obj", 0..4096).await?;
//! io.operate("other", WriteOp::new().create(Exclusive).set_xattr("k", "v")).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Everything runs on the tokio runtime that [`RadosBuilder::connect`] was called on. Every call has a
//! deadline, and every [`Error`] an errno. Dropping a call's future before its operation was sent cancels
//! it; after that the outcome is unknown, and the operation is not sent again. Otherwise operations are sent
//! again by themselves when connections break or objects move, and OSDs carry each of them out once.
//!
//! Names of objects, xattrs and omap keys are bytes.
#![forbid(unsafe_code)]

mod builder;
mod compound;
mod error;
mod ioctx;
mod monitors;
mod object_name;
mod objecter;
mod rados;

pub use builder::RadosBuilder;
pub use compound::{CmpOp, Create, Create::Exclusive, ReadOp, ReadResult, WriteOp, WriteResult};
pub use error::{Error, Result};
pub use ioctx::{IoCtx, ListedObject, ObjectList, OmapPage, Stat};
pub use object_name::ObjectName;
pub use rados::{ClusterStat, CommandOutput, PoolInfo, Rados};

// Types of this crate's interface that live below it.
pub use sepiola_cephx::ConMode;
pub use sepiola_crypto::{ContextPolicy, CryptoOptions, Engine};
pub use sepiola_messages::PoolStat;
pub use sepiola_monclient::MonError;
pub use sepiola_wire::{EntityName, Epoch, Errno, GlobalId, HObject, PoolId, SnapId, UTime, Uuid};
