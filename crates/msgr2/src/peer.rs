//! What a finished handshake knows about the other side.

use std::net::SocketAddr;

use sepiola_cephx::{AuthMethod, AuthenticatedPeer, ConMode};
use sepiola_wire::{EntityAddr, EntityAddrVec, EntityNum, EntityType, Features, GlobalId};

/// The other side of an established connection.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PeerInfo {
    /// Its type. A server has compared it with the credentials, see [`crate::Handshake`].
    pub kind: EntityType,
    /// The number that it gave: a daemon's rank or id, a client's global_id, -1 if it had none yet. Not
    /// authenticated; identify peers by [`PeerInfo::source`].
    pub gid: i64,
    /// The addresses that it gave. Not authenticated.
    pub addrs: EntityAddrVec,
    /// What both sides understand; decides every message's layout.
    pub features: Features,
    /// How the client authenticated.
    pub method: AuthMethod,
    /// What protects the frames.
    pub mode: ConMode,
    /// The session ends with this connection.
    pub lossy: bool,
    /// The client's global_id, of whichever side the client is.
    pub global_id: GlobalId,
    /// Whom the client's credentials belong to and what they allow; on the server's side only.
    pub authenticated: Option<AuthenticatedPeer>,
    /// The socket's address of a client; on the server's side only.
    pub socket: Option<SocketAddr>,
    /// How the peer sees this side; its IP is good for finding out one's own.
    pub sees_us_as: EntityAddr,
}

impl PeerInfo {
    /// The peer as the source of its messages: `client.GLOBAL_ID` or `osd.ID`.
    ///
    /// On the server's side this comes from the credentials, never from what the peer claims in its
    /// identity frame: request ids, watches and locks hang on it.
    pub fn source(&self) -> EntityNum {
        let num = match &self.authenticated {
            Some(peer) if self.kind == EntityType::Client => peer.global_id.0 as i64,
            Some(peer) => peer.name.id.parse().unwrap_or(self.gid),
            None => self.gid,
        };
        EntityNum { kind: self.kind as u8, num }
    }
}
