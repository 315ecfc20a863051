//! What whole-system tests share: clusters of real Ceph ([`RealCeph`]: the distribution's release and the
//! newest one) and of Sepiola ([`SepiolaCluster`]), programs with a deadline, and the matrix of cells that
//! must all run.
//!
//! Every cluster has a loopback address of its own and a folder of its own; dropping it ends the processes
//! that it started. The folder stays, with its logs, when something failed.
#![forbid(unsafe_code)]

mod cell;
mod cluster;
mod failure;
mod loopback;
mod machine;
mod mini_cluster;
mod newest_ceph;
mod process;
mod program;
mod real_ceph;
mod sepiola;
mod side_by_side;
mod workdir;

pub use cell::{Cell, Group, run_matrix};
pub use cluster::{Cluster, KeyType, MsMode};
pub use failure::{Failure, Result};
pub use machine::Machine;
pub use mini_cluster::{Bystander, MiniCluster, Running, Tool, daemons_with, test_pool};
pub use process::{Daemon, Deadline, Invocation, Output, signal};
pub use program::{Programs, Release};
pub use real_ceph::{OSD_CAPACITY, RealCeph};
pub use sepiola::{SepiolaCluster, sepiola_binary};
pub use side_by_side::{Accepted, Part, SideBySide, bytes};
pub use workdir::{WorkDir, share};
