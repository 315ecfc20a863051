//! The accepting side.

mod accept;
mod connection;
mod options;

use std::net::SocketAddr;

use sepiola_cephx::ServerAuthenticator;
use sepiola_msgr2::{FrameWriter, Message, PeerInfo, ServerConfig};

pub use accept::{listen, serve};
pub use options::ServeOptions;

use crate::{CloseReason, Outbox, Refused};

/// What a daemon does with its connections. Methods run on the connection's task and must not block.
pub trait Dispatch: Send + Sync + 'static {
    /// What belongs to one connection. It has one owner, so it needs no lock.
    type Session: Send + 'static;

    /// How to greet a connection from `peer`.
    fn handshake(&self, peer: SocketAddr) -> (ServerConfig, Box<dyn ServerAuthenticator>);

    /// A peer has authenticated. `auth` is the state that authenticated it; monitors keep it for renewals
    /// on the open session. `outbox` is how others reach the connection.
    ///
    /// # Errors
    /// A [`Refused`] closes the connection.
    fn accepted(
        &self,
        peer: &PeerInfo,
        auth: Box<dyn ServerAuthenticator>,
        outbox: Outbox,
    ) -> Result<Self::Session, Refused>;

    /// A message arrived. Replies that are known at once go into `writer`; they leave in one write when all
    /// that has arrived was handled.
    ///
    /// # Errors
    /// A reason to close the connection; what is in `writer` is still offered to the socket.
    fn message(
        &self,
        session: &mut Self::Session,
        message: Message<'_>,
        writer: &mut FrameWriter,
    ) -> Result<(), CloseReason>;

    /// The connection is gone. Called exactly once for each session, also when a dispatcher panicked.
    fn closed(&self, session: Self::Session);
}
