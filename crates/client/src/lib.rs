//! A RADOS client: async, for Ceph and for Sepiola.
//!
//! [`Rados`] is a connection to a cluster, [`IoCtx`] the objects of a pool.
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let cluster = sepiola_cluster::ClusterOptions::temporary()?.in_process().pool_with_pgs("pool", 8).start().await?;
//! # let conf = cluster.conf();
//! use sepiola_client::{Exclusive, Rados, WriteOp};
//!
//! let rados = Rados::builder().conf_file(conf)?.id("admin").connect().await?; // conf: "/etc/ceph/ceph.conf"
//! let io = rados.open_ioctx("pool").await?;
//! io.write_full("obj", "some bytes").await?;
//! assert_eq!(io.read("obj", 0..4096).await?, "some bytes");
//! io.operate("other", WriteOp::new().create(Exclusive).set_xattr("k", "v")).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Everything runs on the tokio runtime that [`RadosBuilder::connect`] was called on. Names of objects, xattrs
//! and omap keys are bytes.
//!
//! # Settings
//!
//! [`RadosBuilder`] takes what librados takes: files, text, the environment, single options, or a whole
//! [`Config`]. Of two that say the same, later ones of this list count more: ceph.conf, the environment, options
//! and setters.
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let cluster = sepiola_cluster::ClusterOptions::temporary()?.in_process().pool_with_pgs("pool", 8).start().await?;
//! # let (mon_host, keyring) = {
//! #     let text = std::fs::read_to_string(cluster.conf())?;
//! #     let line = text.lines().find_map(|line| line.trim().strip_prefix("mon host = ")).unwrap();
//! #     (line.to_owned(), std::fs::read_to_string(cluster.layout().admin_keyring())?)
//! # };
//! use std::time::Duration;
//! use sepiola_client::{ConMode, Rados};
//!
//! let rados = Rados::builder()
//!     .conf_text("[global]\nrados_osd_op_timeout = 60\n")?
//!     .id("admin")
//!     .mon_host(mon_host)                      // "[v2:10.0.0.1:3300]"
//!     .keyring(&keyring)?                      // a keyring's content, never written anywhere
//!     .modes([ConMode::Secure])                // encrypted or not at all
//!     .option("objecter_inflight_ops", "256")
//!     .op_timeout(Duration::from_secs(5))
//!     .connect()
//!     .await?;
//! assert_eq!(rados.config_value("objecter_inflight_ops").as_deref(), Some("256"));
//! println!("{} as {}, instance {}", rados.fsid(), rados.name(), rados.instance_id());
//! # Ok(())
//! # }
//! ```
//!
//! # An object's data
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let cluster = sepiola_cluster::ClusterOptions::temporary()?.in_process().pool_with_pgs("pool", 8).start().await?;
//! # let io = cluster.connect().await?.open_ioctx("pool").await?;
//! use sepiola_client::{Checksum, Create};
//!
//! io.write_full("obj", "0123456789").await?;
//! io.write("obj", 4, "four").await?;
//! io.append("obj", "!").await?;
//! assert_eq!(io.read("obj", 2..).await?, "23four89!");
//! assert_eq!(io.stat("obj").await?.size, 11);
//! io.write_same("pattern", 0, 8, "ab").await?;
//! assert_eq!(io.compare_extent("pattern", 0, "abaX").await.unwrap_err().mismatch_at(), Some(3));
//! let sums = io.checksum("pattern", Checksum::Crc32c(u32::MAX), 0..8, 4).await?;
//! assert_eq!(sums[0], sums[1]);
//! io.copy_from("copy", &io, "pattern").await?;
//! io.truncate("copy", 2).await?;
//! io.create("copy", Create::Idempotent).await?;
//! io.remove("copy").await?;
//! assert!(io.read("copy", ..).await.unwrap_err().is_not_found());
//! # Ok(())
//! # }
//! ```
//!
//! # Xattrs and omap
//!
//! Xattrs are few and small; an omap may have any number of entries, which are kept in the order of their keys.
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let cluster = sepiola_cluster::ClusterOptions::temporary()?.in_process().pool_with_pgs("pool", 8).start().await?;
//! # let io = cluster.connect().await?.open_ioctx("pool").await?;
//! use futures_util::TryStreamExt;
//!
//! io.set_xattr("obj", "owner", "me").await?;
//! assert_eq!(io.get_xattr("obj", "owner").await?, "me");
//!
//! io.omap_set("obj", (0..2500).map(|i| (format!("key{i:04}"), "value"))).await?;
//! // As a stream: one page in memory at a time, and dropping it ends it.
//! let found: Vec<_> = io.omap_list("obj").prefix("key1").until("key1500").into_stream().try_collect().await?;
//! assert_eq!(found.len(), 500);
//! // Or page by page.
//! let page = io.omap_get_page("obj", "key0009", "", 100).await?;
//! assert_eq!((&page.entries[0].0[..], page.more), (&b"key0010"[..], true));
//! io.omap_rm_range("obj", "key0000", "key2000").await?;
//! assert_eq!(io.omap_get_keys("obj").await?.len(), 500);
//! # Ok(())
//! # }
//! ```
//!
//! # Several operations at once
//!
//! A [`WriteOp`] happens as a whole or not at all; what a [`ReadOp`] reads belongs together. The outputs of a
//! read are asked for by the number of the operation.
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let cluster = sepiola_cluster::ClusterOptions::temporary()?.in_process().pool_with_pgs("pool", 8).start().await?;
//! # let io = cluster.connect().await?.open_ioctx("pool").await?;
//! use sepiola_client::{CmpOp, Errno, Exclusive, ReadOp, WriteOp};
//!
//! let create = WriteOp::new().create(Exclusive).append("abc").set_xattr("generation", "1");
//! let created = io.operate("obj", create).await?;
//!
//! let read = ReadOp::new().stat().read(1..)?.get_xattr("none").allow_failure();
//! let result = io.operate_read("obj", read).await?;
//! assert_eq!((result.stat(0)?.size, result.bytes(1)?), (3, "bc".into()));
//! assert_eq!(result.bytes(2).unwrap_err().errno(), Errno::ENODATA);
//!
//! // Only if nobody was faster.
//! let next = WriteOp::new().assert_version(created.version).write_full("x").set_xattr("generation", "2");
//! io.operate("obj", next.clone()).await?;
//! assert_eq!(io.operate("obj", next).await.unwrap_err().errno(), Errno::ERANGE);
//! let guarded = WriteOp::new().compare_xattr_u64("generation", CmpOp::Gt, 1).remove();
//! assert_eq!(io.operate("obj", guarded).await.unwrap_err().errno(), Errno::ECANCELED);
//! # Ok(())
//! # }
//! ```
//!
//! # Many operations in flight
//!
//! A call is sent when its future is first polled, and takes effect in that order as far as it concerns one
//! object, also when connections break and operations are sent again. So a stream of calls with
//! `buffered(N)` keeps N in flight and their order. `buffer_unordered` gives up the order of the answers only.
//! [`RadosBuilder::in_flight_limits`] bounds what a whole handle has in flight; calls beyond it wait in order.
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let cluster = sepiola_cluster::ClusterOptions::temporary()?.in_process().pool_with_pgs("pool", 8).start().await?;
//! # let io = cluster.connect().await?.open_ioctx("pool").await?;
//! use futures_util::{StreamExt, TryStreamExt, stream};
//!
//! let appends = stream::iter(0..100).map(|i| io.append("log", format!("{i}\n")));
//! appends.buffered(16).try_collect::<Vec<_>>().await?;
//! let log = io.read("log", ..).await?;
//! assert!(log.starts_with(b"0\n1\n2\n") && log.ends_with(b"98\n99\n"));
//! # Ok(())
//! # }
//! ```
//!
//! # Listing
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let cluster = sepiola_cluster::ClusterOptions::temporary()?.in_process().pool_with_pgs("pool", 8).start().await?;
//! # let io = cluster.connect().await?.open_ioctx("pool").await?;
//! use futures_util::TryStreamExt;
//!
//! for i in 0..100 {
//!     io.write_full(format!("obj{i}"), "x").await?;
//! }
//! let names: Vec<_> = io.list().into_stream().map_ok(|object| object.name).try_collect().await?;
//! assert_eq!(names.len(), 100);
//!
//! // In several tasks, each with its part of the pool.
//! let tasks = io.list_slices(4)?.into_iter().map(|slice| {
//!     tokio::spawn(async move { slice.into_stream().try_collect::<Vec<_>>().await })
//! });
//! let mut count = 0;
//! for task in tasks.collect::<Vec<_>>() {
//!     count += task.await??.len();
//! }
//! assert_eq!(count, 100);
//!
//! // Stop, and go on from there later.
//! let mut list = io.list();
//! let first = list.next_page().await?;
//! let rest: Vec<_> = io.list_from(list.cursor().clone()).into_stream().try_collect().await?;
//! assert_eq!(first.len() + rest.len(), 100);
//!
//! // Another namespace of the pool.
//! let mut other = io.clone();
//! other.set_namespace("other");
//! assert!(other.list().next().await?.is_none());
//! # Ok(())
//! # }
//! ```
//!
//! # Pools and commands
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let cluster = sepiola_cluster::ClusterOptions::temporary()?.in_process().pool_with_pgs("pool", 8).start().await?;
//! # let rados = cluster.connect().await?;
//! use sepiola_client::OsdId;
//!
//! rados.create_pool("photos").await?;
//! rados.enable_application("photos", "gallery", false).await?;
//! rados.rename_pool("photos", "pictures").await?;
//! let names: Vec<_> = rados.list_pools().await?.into_iter().map(|pool| pool.name).collect();
//! assert_eq!(names, ["pool", "pictures"]);
//! assert!(rados.cluster_stat().await?.kb_avail > 0);
//! let pools = rados.mon_command(r#"{"prefix": "osd pool ls"}"#, "").await?;
//! assert_eq!(pools.output, "pool\npictures\n");
//! let version = rados.osd_command(OsdId(0), r#"{"prefix": "version"}"#, "").await?;
//! assert!(String::from_utf8_lossy(&version.output).contains("version"));
//! rados.delete_pool("pictures").await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Locks and object classes
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let cluster = sepiola_cluster::ClusterOptions::temporary()?.in_process().pool_with_pgs("pool", 8).start().await?;
//! # let io = cluster.connect().await?.open_ioctx("pool").await?;
//! use std::time::Duration;
//! use sepiola_client::{Errno, Lock, WriteOp};
//!
//! let lock = Lock::exclusive("turn").cookie("worker 1").duration(Duration::from_secs(60));
//! io.lock("obj", &lock).await?;
//! // Only while the lock is still ours.
//! io.operate("obj", WriteOp::new().assert_locked(&lock).write_full("mine")).await?;
//! let other = Lock::exclusive("turn").cookie("worker 2");
//! assert_eq!(io.lock("obj", &other).await.unwrap_err().errno(), Errno::EBUSY);
//! let holders = io.lock_info("obj", "turn").await?.lockers;
//! assert_eq!(holders[0].cookie, "worker 1");
//! io.unlock("obj", "turn", "worker 1").await?;
//!
//! let greeting = io.exec("obj", "hello", "say_hello", "World").await?;
//! assert_eq!(greeting, "Hello, World!");
//! # Ok(())
//! # }
//! ```
//!
//! # Deadlines, errors, dropped calls
//!
//! Every call has a deadline, and every [`Error`] an errno and a message that names what was waited for.
//!
//! | option | default | what it limits |
//! |---|---|---|
//! | `client_mount_timeout` | 10 s | [`RadosBuilder::connect`] |
//! | `rados_mon_op_timeout` | 10 s | requests to monitors |
//! | `rados_osd_op_timeout` | 30 s | operations on objects, and commands to OSDs |
//! | `ms_connection_ready_timeout` | 10 s | one attempt to connect to an OSD, of which there may be several |
//!
//! Each can be set in ceph.conf, in `CEPH_ARGS`, by [`RadosBuilder::option`] and by a setter; 0 waits for ever, as in
//! Ceph. [`RadosBuilder::connect`] fails sooner when waiting is of no use: at once if a monitor refuses the key or the
//! mode, and after 2 s if every monitor refuses TCP connections, which is longer than one takes to restart.
//!
//! Dropping a call's future before its operation was sent cancels it; after that its outcome is unknown, and it is
//! not sent again. The same goes for a call that reached its deadline. Otherwise operations are sent again by
//! themselves when connections break or objects move, and OSDs carry each of them out once.
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let options = sepiola_cluster::ClusterOptions::temporary()?.in_process();
//! # let mut cluster = options.pool_with_pgs("pool", 1).start().await?;
//! # let builder = sepiola_client::Rados::builder().conf_file(cluster.conf())?;
//! use std::time::Duration;
//! use sepiola_client::Errno;
//!
//! let rados = builder.op_timeout(Duration::from_millis(300)).connect().await?;
//! let io = rados.open_ioctx("pool").await?;
//! let error = io.read("none", ..).await.unwrap_err();
//! assert_eq!(error.errno(), Errno::ENOENT);
//! assert_eq!(error.to_string(), "read none: (2) No such file or directory");
//!
//! cluster.kill("osd.0");
//! let error = io.read("none", ..).await.unwrap_err();
//! assert_eq!(error.errno(), Errno::ETIMEDOUT);
//! assert!(error.to_string().contains("osd.0"), "{error}");
//! # Ok(())
//! # }
//! ```
//!
//! # What is not there
//!
//! Watch/notify and snapshots: the calls exist and return [`Error::Unsupported`].
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
pub use compound::{
    Advice, AllocHint, Checksum, CmpOp, Create, Create::Exclusive, ReadOp, ReadResult, WriteOp, WriteResult,
};
pub use error::{Error, Result};
pub use ioctx::{IoCtx, ListedObject, Lock, LockInfo, Locker, ObjectList, OmapList, OmapPage, Stat};
pub use object_name::ObjectName;
pub use rados::{ClusterStat, CommandOutput, PoolInfo, Rados};

// Types of this crate's interface that live below it.
pub use sepiola_cephx::ConMode;
pub use sepiola_config::{Config, Layer};
pub use sepiola_crypto::{ContextPolicy, CryptoOptions, Engine};
pub use sepiola_messages::PoolStat;
pub use sepiola_monclient::MonError;
pub use sepiola_osdmap::Release;
pub use sepiola_wire::{
    EntityAddr, EntityName, EntityNum, Epoch, Errno, GlobalId, HObject, OsdId, PgId, PoolId, SnapId, UTime,
    Uuid,
};
