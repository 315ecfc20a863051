//! What can go wrong, and whose fault it is.

use std::{borrow::Cow, time::Duration};

use bytes::Bytes;
use sepiola_monclient::MonError;
use sepiola_wire::Errno;
use thiserror::Error;

/// An error of any call. [`Error::errno`] gives the number that `librados` would return.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum Error {
    /// An OSD refused the operation, or it failed there.
    #[error("{operation} {object}: {errno}")]
    Operation {
        /// The OSD's answer.
        errno: Errno,
        /// What was asked for.
        operation: &'static str,
        /// The object's name, as text as far as it is text.
        object: String,
    },
    /// A monitor command failed.
    #[error("{}", command_failed(.errno, .status))]
    Command {
        /// The monitor's answer.
        errno: Errno,
        /// Its explanation.
        status: String,
        /// Its output, which some commands have even so.
        output: Bytes,
    },
    /// The monitors could not be reached, or did not do what was asked.
    #[error(transparent)]
    Monitor(MonError),
    /// There is no such pool.
    #[error("no pool named `{0}`")]
    NoSuchPool(String),
    /// No answer in time. An operation that changes something may have been carried out all the same.
    #[error("{what}: no answer within {after:?}")]
    TimedOut {
        /// What was asked for.
        what: &'static str,
        /// The deadline.
        after: Duration,
    },
    /// Whether a write was carried out cannot be known, and it must not be sent again.
    #[error("the outcome of the operation is unknown: {0}")]
    OutcomeUnknown(&'static str),
    /// The cluster does not accept the credentials, the method or the mode.
    #[error("access denied: {0}")]
    Denied(String),
    /// The peer speaks another dialect.
    #[error("incompatible peer: {0}")]
    PeerIncompatible(String),
    /// The peer broke the protocol.
    #[error("protocol error: {0}")]
    PeerMisbehaved(String),
    /// An OSD could not be reached.
    #[error("cannot connect: {0}")]
    Connect(String),
    /// A setting, a file or a keyring cannot be used.
    #[error("{0}")]
    Config(String),
    /// An argument that no cluster would accept.
    #[error("invalid argument: {0}")]
    InvalidArgument(Cow<'static, str>),
    /// The system this program runs on failed.
    #[error("{0}")]
    Local(String),
    /// The handle was shut down.
    #[error("the cluster handle was shut down")]
    ShutDown,
}

impl Error {
    /// The nearest errno, a positive number.
    pub fn errno(&self) -> Errno {
        match self {
            Error::Operation { errno, .. } | Error::Command { errno, .. } => *errno,
            Error::Monitor(error) => error.errno(),
            Error::NoSuchPool(_) => Errno::ENOENT,
            Error::TimedOut { .. } | Error::OutcomeUnknown(_) => Errno::ETIMEDOUT,
            Error::Denied(_) => Errno::EACCES,
            Error::PeerIncompatible(_) | Error::PeerMisbehaved(_) => Errno::EPROTO,
            Error::Connect(_) => Errno::ENOTCONN,
            Error::Config(_) | Error::InvalidArgument(_) => Errno::EINVAL,
            Error::Local(_) => Errno::EIO,
            Error::ShutDown => Errno::ESHUTDOWN,
        }
    }

    /// True for ENOENT: no such object, pool or key.
    pub fn is_not_found(&self) -> bool {
        self.errno() == Errno::ENOENT
    }

    pub(crate) fn operation(errno: Errno, operation: &'static str, object: &[u8]) -> Self {
        Error::Operation { errno, operation, object: String::from_utf8_lossy(object).into_owned() }
    }
}

/// The result of any call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

fn command_failed(errno: &Errno, status: &str) -> String {
    if status.is_empty() { errno.to_string() } else { format!("{status}: {errno}") }
}
