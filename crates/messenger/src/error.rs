//! Why a connection could not be made, and why one ended.

use std::{borrow::Cow, io, net::SocketAddr, time::Duration};

use sepiola_wire::Errno;
use thiserror::Error;

/// Why no connection came about.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The system could not reach the address.
    #[error("cannot connect to {addr}: {source}")]
    Connect {
        /// What was dialled.
        addr: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// The connection broke during the handshake.
    #[error("{addr} closed the connection during the handshake")]
    Closed {
        /// What was dialled.
        addr: SocketAddr,
    },
    /// The system failed in the middle of the handshake.
    #[error("connection to {addr} failed: {source}")]
    Io {
        /// What was dialled.
        addr: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// No session within the deadline.
    #[error("no session with {addr} within {after:?}: {stage}")]
    TimedOut {
        /// What was dialled.
        addr: SocketAddr,
        /// The deadline.
        after: Duration,
        /// What was being waited for.
        stage: &'static str,
    },
    /// The handshake failed; says whose fault it is.
    #[error("{addr}: {source}")]
    Protocol {
        /// What was dialled.
        addr: SocketAddr,
        /// The reason.
        source: sepiola_msgr2::Error,
    },
}

impl Error {
    /// The nearest errno.
    pub fn errno(&self) -> Errno {
        match self {
            Error::Connect { source, .. } | Error::Io { source, .. } => {
                source.raw_os_error().map_or(Errno::EIO, Errno::new)
            }
            Error::Closed { .. } => Errno::ECONNRESET,
            Error::TimedOut { .. } => Errno::ETIMEDOUT,
            Error::Protocol { source, .. } => match source {
                sepiola_msgr2::Error::Denied(denial) => denial.errno(),
                _ => Errno::EPROTO,
            },
        }
    }

    /// True when the peer refused the credentials, a method or a mode, so that trying again as is cannot help.
    pub fn is_denied(&self) -> bool {
        matches!(self, Error::Protocol { source: sepiola_msgr2::Error::Denied(_), .. })
    }
}

/// Why a session ended. For logs and for the side that has to decide what to do next; never sent to peers.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CloseReason {
    /// The peer closed the connection or is gone.
    #[error("the peer closed the connection")]
    PeerClosed,
    /// The system failed.
    #[error("socket error: {0}")]
    Io(io::Error),
    /// A frame that must not be.
    #[error(transparent)]
    Protocol(#[from] sepiola_msgr2::Error),
    /// The dispatcher ended the session.
    #[error("{0}")]
    Dispatch(Cow<'static, str>),
    /// No traffic for this long.
    #[error("idle for {0:?}")]
    Idle(Duration),
    /// Keepalives were not answered for this long.
    #[error("no keepalive answer within {0:?}")]
    Unresponsive(Duration),
    /// The peer takes what is sent to it too slowly, and more is queued for it than the limit allows.
    #[error("the peer is too slow: {0} bytes are queued for it")]
    TooSlow(usize),
    /// This side closed it.
    #[error("closed by this side")]
    Local,
    /// The server is shutting down.
    #[error("shutting down")]
    Shutdown,
}

impl CloseReason {
    /// A dispatcher's reason.
    pub fn dispatch(reason: impl Into<Cow<'static, str>>) -> Self {
        CloseReason::Dispatch(reason.into())
    }
}

impl From<io::Error> for CloseReason {
    fn from(e: io::Error) -> Self {
        if crate::socket::is_peer_gone(&e) { CloseReason::PeerClosed } else { CloseReason::Io(e) }
    }
}

/// Why a dispatcher does not take an authenticated connection; logged, not sent.
#[derive(Debug, Clone, Error)]
#[error("{0}")]
pub struct Refused(pub Cow<'static, str>);

impl Refused {
    /// A refusal with its reason.
    pub fn new(reason: impl Into<Cow<'static, str>>) -> Self {
        Refused(reason.into())
    }
}
