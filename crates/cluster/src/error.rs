//! What can go wrong with a cluster, of processes or threads.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    time::Duration,
};

use thiserror::Error;

/// Why a cluster could not be started, found or stopped. Each message says what to do next, and so does the
/// `Debug` form, because that is what a test that unwraps shows.
#[derive(Error)]
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
    #[error("{daemon} has ended{}", log_hint(.log))]
    DaemonEnded {
        /// e.g. `osd.0`.
        daemon: String,
        /// Its log, if it has one of its own.
        log: Option<PathBuf>,
    },
    /// The folder holds no cluster.
    #[error("{0} holds no cluster: start one with `sepiola cluster up --dir {0}`")]
    NotFound(PathBuf),
    /// The folder's name cannot be written into a ceph.conf.
    #[error(
        "{0}: the folder's path {why}, which ceph.conf cannot carry; choose another --dir", why = unusable(.0)
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
    #[error("{daemon} ended before it was ready: {reason}{}", log_hint(.log))]
    DaemonFailed {
        /// e.g. `osd.0`.
        daemon: String,
        /// The last line of its log.
        reason: String,
        /// Its log, if it has one of its own.
        log: Option<PathBuf>,
    },
    /// The cluster has no daemon of this name.
    #[error("the cluster has no daemon `{0}`: names are mon.a, osd.0, osd.1 and so on")]
    NoSuchDaemon(String),
    /// A daemon did not become ready in time.
    #[error("{daemon} was not ready after {limit:?}{}", log_hint(.log))]
    NotReady {
        /// e.g. `mon.a`.
        daemon: String,
        /// The limit.
        limit: Duration,
        /// Its log, if it has one of its own.
        log: Option<PathBuf>,
    },
    /// Settings that contradict each other or that nothing here can do.
    #[error("{0}")]
    Unsupported(String),
    /// A keyring could not be written.
    #[error(transparent)]
    Keyring(#[from] sepiola_cephx::KeyringError),
    /// An option of ceph.conf cannot be used.
    #[error(transparent)]
    Config(#[from] sepiola_config::ConfigError),
    /// A daemon's monitors or key are missing or cannot be used.
    #[error(transparent)]
    Monitors(#[from] sepiola_monclient::MonError),
    /// A monitor's store could not be made.
    #[error(transparent)]
    Mkfs(#[from] sepiola_mon::MkfsError),
    /// A monitor in this process failed.
    #[error(transparent)]
    Mon(#[from] sepiola_mon::RunError),
    /// An OSD in this process failed.
    #[error(transparent)]
    Osd(#[from] sepiola_osd::RunError),
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

fn unusable(path: &Path) -> &'static str {
    if path.to_str().is_some() {
        "has a blank, a comment sign, a comma, a quote, a backslash or a $"
    } else {
        "is no UTF-8"
    }
}

fn log_hint(log: &Option<PathBuf>) -> String {
    log.as_ref().map(|log| format!(" (log: {})", log.display())).unwrap_or_default()
}

impl fmt::Debug for ClusterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
