//! A mini-cluster of processes: one monitor and any number of OSDs on loopback, with cephx and encryption
//! on, no root and no fixed ports.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let cluster = sepiola_cluster::ClusterOptions::temporary()?.pool("test").start().await?;
//! let io = cluster.connect().await?.open_ioctx("test").await?;
//! io.write_full("greeting", "hello").await?;
//! assert_eq!(io.read("greeting", 0..5).await?, "hello");
//! # Ok(()) // dropping `cluster` stops the daemons and removes their folder
//! # }
//! ```
#![forbid(unsafe_code)]

mod daemon;
mod error;
mod layout;
mod options;
mod program;
mod provision;
mod running;
mod start;

pub use error::ClusterError;
pub use layout::Layout;
pub use options::{Auth, ClusterOptions, MsMode, Store};
pub use running::{DaemonStatus, RunningCluster};
pub use start::Cluster;
