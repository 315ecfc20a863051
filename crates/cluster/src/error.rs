//! What can go wrong with a cluster of processes.

use std::{io, path::PathBuf, time::Duration};

use thiserror::Error;

/// Why a cluster could not be started, found or stopped. Each message says what to do next.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// A file or folder of the cluster could not be used.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The folder's cluster is running already.
    #[error(
        "{0} already holds a cluster that is running: run `sepiola cluster down --dir {0}` first, or choose another --dir"
    )]
    Running(PathBuf),
    /// The folder holds somebody else's ceph.conf.
    #[error("{0} holds a ceph.conf that sepiola did not make: choose another --dir")]
    Foreign(PathBuf),
    /// A daemon of the cluster has ended by itself.
    #[error("{daemon} has ended (log: {log})")]
    DaemonEnded {
        /// e.g. `osd.0`.
        daemon: String,
        /// Its log.
        log: PathBuf,
    },
    /// The folder holds no cluster.
    #[error("{0} holds no cluster: start one with `sepiola cluster up --dir {0}`")]
    NotFound(PathBuf),
    /// The folder's name cannot be written into a ceph.conf.
    #[error(
        "{0}: the folder's path has a blank, a comment sign or a quote, which ceph.conf cannot carry; choose another --dir"
    )]
    PathNotUsable(PathBuf),
    /// The program that runs daemons was not found.
    #[error("the sepiola program was not found beside this one; build it, or name it in SEPIOLA_BIN")]
    NoProgram,
    /// A daemon could not be run.
    #[error("cannot run {program}: {source}")]
    Spawn {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A daemon ended before it was ready.
    #[error("{daemon} ended before it was ready: {reason} (log: {log})")]
    DaemonFailed {
        /// e.g. `osd.0`.
        daemon: String,
        /// The last line of its log.
        reason: String,
        /// Its log.
        log: PathBuf,
    },
    /// The cluster has no daemon of this name.
    #[error("the cluster has no daemon `{0}`: names are mon.a, osd.0, osd.1 and so on")]
    NoSuchDaemon(String),
    /// A daemon did not become ready in time.
    #[error("{daemon} was not ready after {limit:?} (log: {log})")]
    NotReady {
        /// e.g. `mon.a`.
        daemon: String,
        /// The limit.
        limit: Duration,
        /// Its log.
        log: PathBuf,
    },
    /// Settings that contradict each other or that nothing here can do.
    #[error("{0}")]
    Unsupported(String),
    /// A keyring could not be written.
    #[error(transparent)]
    Keyring(#[from] sepiola_cephx::KeyringError),
    /// The cluster is up but a client cannot use it.
    #[error(transparent)]
    Client(#[from] sepiola_client::Error),
}

impl ClusterError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> ClusterError {
        let path = path.into();
        move |source| ClusterError::File { path, source }
    }
}
