//! What can go wrong, and whose fault it is.

use std::{borrow::Cow, fmt, time::Duration};

use bytes::Bytes;
use sepiola_monclient::MonError;
use sepiola_wire::Errno;
use thiserror::Error;

/// An error of any call. [`Error::errno`] gives the number that `librados` would return. The `Debug` form is
/// the message with the errno's name, because that is what a test that unwraps shows.
#[derive(Clone, Error)]
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
    #[error("{operation} {object}: {waited_for} within {after:?}")]
    TimedOut {
        /// What was asked for.
        operation: &'static str,
        /// The object's name, as text as far as it is text.
        object: String,
        /// What did not come, such as `no answer from osd.0 (pg 1.3)`, and why as far as it is known.
        waited_for: String,
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
    /// librados has it, and this client does not.
    #[error("{0}: not supported by this client")]
    Unsupported(&'static str),
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
            Error::Unsupported(_) => Errno::EOPNOTSUPP,
            Error::Config(_) | Error::InvalidArgument(_) => Errno::EINVAL,
            Error::Local(_) => Errno::EIO,
            Error::ShutDown => Errno::ESHUTDOWN,
        }
    }

    /// True for ENOENT: no such object, pool or key.
    pub fn is_not_found(&self) -> bool {
        self.errno() == Errno::ENOENT
    }

    /// Where the first difference is, counted from the beginning of what was compared, if a comparison of
    /// bytes failed ([`ReadOp::compare_extent`](crate::ReadOp::compare_extent) and its like).
    pub fn mismatch_at(&self) -> Option<u64> {
        match self {
            Error::Operation { errno, .. } => u64::try_from(errno.code() - MISMATCH).ok(),
            _ => None,
        }
    }

    pub(crate) fn operation(errno: Errno, operation: &'static str, object: &[u8]) -> Self {
        Error::Operation { errno, operation, object: String::from_utf8_lossy(object).into_owned() }
    }
}

/// Results from here on tell an index, and keep clear of every errno.
const MISMATCH: i32 = 4095;

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mismatch_at() {
            Some(index) => write!(f, "{self} [bytes differ at {index}]"),
            None => write!(f, "{self} [{:?}]", self.errno()),
        }
    }
}

/// The result of any call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

fn command_failed(errno: &Errno, status: &str) -> String {
    if status.is_empty() { errno.to_string() } else { format!("{status}: {errno}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_unwrap_shows_says_what_failed_and_with_which_errno() {
        let error = Error::operation(Errno::ENOENT, "read", b"obj");
        assert_eq!(format!("{error:?}"), "read obj: (2) No such file or directory [ENOENT]");
        assert_eq!(error.mismatch_at(), None);
        let error = Error::operation(Errno::new(-4100), "compare", b"obj");
        assert_eq!(error.mismatch_at(), Some(5));
        assert!(format!("{error:?}").ends_with("[bytes differ at 5]"), "{error:?}");
    }
}
