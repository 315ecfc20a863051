//! Connections: the messenger's view of the OSD.

use std::{borrow::Cow, net::SocketAddr, sync::Arc};

use bytes::Bytes;
use sepiola_cephx::{AllowedAuth, ServerAuthenticator, ServiceAuthenticator, ServiceKeys};
use sepiola_crypto::CryptoOptions;
use sepiola_messages::kind;
use sepiola_messenger::{CloseReason, Dispatch, OutMessage, Outbox, Refused, Throttle};
use sepiola_msgr2::{FrameWriter, GlobalSeq, Message, MessageHeader, PeerInfo, ServerConfig};
use sepiola_wire::{EntityAddr, EntityAddrVec, EntityType};

use crate::{HandleError, Handled, Osd, PeerIdentity, Push, Scratch, Session, traffic::Traffic};

/// How an OSD greets and authenticates its peers.
pub struct NetworkConfig {
    /// The addresses that the OSD is reached at, with its nonce.
    pub addrs: EntityAddrVec,
    /// Rotating secrets, to open tickets with.
    pub keys: Arc<dyn ServiceKeys>,
    /// Methods and modes.
    pub allowed: Arc<AllowedAuth>,
    /// How secure frames are sealed.
    pub crypto: CryptoOptions,
    /// Counts requests that wait, over all connections. The messenger has to have a clone, so that it stops
    /// reading when it is full.
    pub throttle: Throttle,
}

/// Serves an [`Osd`] to the messenger.
pub struct Network {
    osd: Arc<Osd>,
    config: NetworkConfig,
    sequence: GlobalSeq,
}

/// What belongs to one connection.
#[derive(Debug)]
pub struct ConnectionState {
    session: Arc<Session>,
    scratch: Scratch,
}

impl Network {
    /// Serves `osd`.
    pub fn new(osd: Arc<Osd>, config: NetworkConfig) -> Self {
        Network { osd, config, sequence: GlobalSeq::new() }
    }
}

impl Dispatch for Network {
    type Session = ConnectionState;

    fn handshake(&self, peer: SocketAddr) -> (ServerConfig, Box<dyn ServerAuthenticator>) {
        Traffic::count(&self.osd.traffic.handshakes);
        let whoami = i64::from(self.osd.config.whoami.0);
        let mut config = ServerConfig::new(EntityType::Osd, self.config.addrs.clone(), whoami, peer);
        config.global_seq = self.sequence.next();
        config.crypto = self.config.crypto;
        let keys = self.config.keys.clone();
        let auth = ServiceAuthenticator::new(EntityType::Osd, keys, self.config.allowed.clone());
        (config, Box::new(auth))
    }

    fn accepted(
        &self,
        peer: &PeerInfo,
        _: Box<dyn ServerAuthenticator>,
        outbox: Outbox,
    ) -> Result<ConnectionState, Refused> {
        let Some(authenticated) = &peer.authenticated else {
            return Err(Refused::new("the peer did not authenticate"));
        };
        let identity = PeerIdentity {
            source: peer.source(),
            caps: authenticated.caps.clone(),
            addr: client_addr(peer),
            features: peer.features,
        };
        Traffic::count(&self.osd.traffic.opened);
        let session = Arc::new(Session::new(
            identity,
            Box::new(ToOutbox { outbox, all: self.config.throttle.clone() }),
        ));
        Ok(ConnectionState { session, scratch: Scratch::default() })
    }

    fn message(
        &self,
        connection: &mut ConnectionState,
        message: Message<'_>,
        writer: &mut FrameWriter,
    ) -> Result<(), CloseReason> {
        let Message { header, front, data, .. } = message;
        let ConnectionState { session, scratch } = connection;
        match self.osd.handle(session, &header, front, data, scratch, writer) {
            Ok(Handled::Done) => Ok(()),
            Ok(Handled::Unknown) => {
                tracing::debug!(kind = header.kind, name = kind::name(header.kind), "message dropped");
                Ok(())
            }
            Err(HandleError::Refused(refusal)) => Err(CloseReason::Protocol(refusal.0)),
            Err(error) => Err(CloseReason::dispatch(Cow::Owned(error.to_string()))),
        }
    }

    fn closed(&self, connection: ConnectionState) {
        Traffic::count(&self.osd.traffic.closed);
        // Requests that wait for a map have nobody to be answered to.
        connection.session.abandon();
    }
}

/// The address that blocklists name: the IP that the peer was seen at, and the nonce that it announced.
fn client_addr(peer: &PeerInfo) -> EntityAddr {
    let nonce = peer.addrs.0.first().map_or(0, |addr| addr.nonce);
    match peer.socket {
        Some(socket) => EntityAddr::client(socket.ip().to_canonical(), nonce),
        None => EntityAddr::BLANK,
    }
}

struct ToOutbox {
    outbox: Outbox,
    all: Throttle,
}

impl Push for ToOutbox {
    fn push(&self, header: MessageHeader, front: Bytes, data: Bytes) {
        if let Err(error) = self.outbox.push(OutMessage::new(header, front).with_data(data)) {
            tracing::debug!(%error, kind = header.kind, "message not sent");
        }
    }

    fn close(&self) {
        self.outbox.close();
    }

    fn begin(&self, bytes: u64) -> Box<dyn Send> {
        Box::new((self.outbox.begin(bytes), self.all.take(bytes)))
    }
}
