//! A mini-cluster: one monitor and any number of OSDs on loopback, with cephx and encryption on, no root and
//! no fixed ports.
//!
//! A test that writes an object:
//!
//! ```
//! use sepiola_cluster::ClusterOptions;
//!
//! #[tokio::main] // or #[tokio::test]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let cluster = ClusterOptions::temporary()?.in_process().pool("test").start().await?;
//!     let io = cluster.connect().await?.open_ioctx("test").await?;
//!     io.write_full("greeting", "hello").await?;
//!     assert_eq!(io.read("greeting", 0..5).await?, "hello");
//!     Ok(()) // dropping `cluster` ends the daemons and removes their folder
//! }
//! ```
//!
//! # Threads or processes
//!
//! [`ClusterOptions::in_process`] runs the daemons as threads of the test, and needs nothing but this crate.
//! Without it they are processes of the `sepiola` program: `SEPIOLA_BIN`, the one beside the test, or
//! [`ClusterOptions::program`]. Then they can be killed for real ([`Cluster::kill`]), be measured, and outlive
//! the test ([`Cluster::start_detached`]). Both listen on loopback: anything that speaks RADOS can be pointed
//! at [`Cluster::conf`].
//!
//! An OSD that dies, and the client that waits for it:
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let options = sepiola_cluster::ClusterOptions::temporary()?.in_process();
//! let mut cluster = options.osds(1).pool_with_pgs("test", 8).start().await?;
//! let io = cluster.connect().await?.open_ioctx("test").await?;
//! cluster.kill("osd.0");
//! let write = tokio::spawn(async move { io.write_full("obj", "patience").await });
//! cluster.restart_daemon("osd.0").await?;
//! write.await??;
//! # Ok(())
//! # }
//! ```
//!
//! # What is left behind
//!
//! Nothing: daemons, ports and the folder of a temporary cluster go when the [`Cluster`] is dropped, be it by
//! a panic, by an aborted task, or after the runtime has gone. Of a process that is killed or aborts, daemons
//! that are processes notice that their parent is gone and the monitor removes the folder; the folder of
//! daemons that were threads is removed by the next temporary cluster ([`remove_abandoned`]).
#![forbid(unsafe_code)]

mod capacity;
mod daemon;
pub mod daemon_options;
mod error;
mod layout;
mod options;
mod program;
mod provision;
mod running;
mod start;
mod temporary;
mod thread;

pub use error::ClusterError;
pub use layout::Layout;
pub use options::{Auth, ClusterOptions, MsMode, Store};
pub use running::{DaemonStatus, RunningCluster};
pub use start::Cluster;
pub use temporary::remove_abandoned;
