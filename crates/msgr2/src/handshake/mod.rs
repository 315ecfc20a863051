//! One TCP connection from its first byte until messages may flow.
//!
//! ```text
//! both    banner, HELLO
//! client  AUTH_REQUEST, then AUTH_REQUEST_MORE for each AUTH_REPLY_MORE
//! server  AUTH_DONE; both: AUTH_SIGNATURE under the new mode
//! client  CLIENT_IDENT
//! server  SERVER_IDENT
//! ```

mod address;
mod client;
mod method;
mod mode;
mod server;
mod signature;

use std::fmt;

use rand_core::CryptoRng;
use sepiola_cephx::{AuthEnv, ClientAuthenticator, ConMode, ServerAuthenticator};
use sepiola_crypto::{ConnectionSecret, CryptoKey, CryptoOptions, Role, frame_keys};
use sepiola_wire::UTime;

use crate::{
    Error, FrameReader, FrameWriter, Limits, LocalFault, Misbehaviour, PeerInfo, ReadBuffer, Session, banner,
    frame::{FrameDecoder, FrameEncoder, Tag, control::Control},
};

pub use client::ClientConfig;
pub use method::{MethodOptions, parse_methods};
pub use mode::{ModeOptions, parse_modes};
pub use server::ServerConfig;

use client::Client;
use server::Server;
use signature::{Signatures, Transcript};

/// Authentication takes two requests; nobody needs more than a few.
const MAX_ROUNDS: u32 = 8;
/// An entity has a handful of addresses.
const MAX_ADDRS: usize = 16;

/// The handshake of one TCP connection, of either side. Does no I/O: the caller moves bytes and keeps the
/// deadline.
///
/// A server's handshake compares the type that HELLO announces with the authenticated name and refuses a
/// mismatch, with one exception: any entity may announce itself as a client, as the command line tools do
/// when they run with a daemon's key. Such a peer is treated as a client.
pub struct Handshake {
    wire: Wire,
    role: RoleState,
    banner_read: bool,
    ready: Option<Ready>,
}

enum RoleState {
    Client(Client),
    Server(Server),
}

/// What [`Handshake::advance`] came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// Write the output, read more input, and advance again.
    NeedInput,
    /// Messages may flow. What is left in the input belongs to the [`FrameReader`].
    Ready,
}

/// An established connection.
pub struct Established {
    /// Takes messages out of the read buffer.
    pub reader: FrameReader,
    /// Owns the output buffer, in which the handshake's last frames may still wait to be written.
    pub writer: FrameWriter,
    /// The other side.
    pub peer: PeerInfo,
    /// What would survive the connection.
    pub session: Session,
    /// The authenticator that was given to the handshake.
    pub auth: Authenticator,
}

impl fmt::Debug for Handshake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handshake")
    }
}

impl fmt::Debug for Established {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Established").field("peer", &self.peer).finish_non_exhaustive()
    }
}

/// The authenticator of either side.
pub enum Authenticator {
    /// Of the side that dialled.
    Client(Box<dyn ClientAuthenticator>),
    /// Of the side that accepted.
    Server(Box<dyn ServerAuthenticator>),
}

impl Authenticator {
    /// The accepting side's authenticator.
    pub fn into_server(self) -> Option<Box<dyn ServerAuthenticator>> {
        match self {
            Authenticator::Server(auth) => Some(auth),
            Authenticator::Client(_) => None,
        }
    }
}

/// What a role hands over when it is done.
struct Ready {
    peer: PeerInfo,
    session: Session,
}

impl Handshake {
    /// The side that has dialled.
    pub fn client(config: ClientConfig, auth: Box<dyn ClientAuthenticator>) -> Self {
        let wire = Wire::new(Role::Client, config.limits, config.crypto);
        Self::new(wire, banner::SUPPORTED, RoleState::Client(Client::new(config, auth)))
    }

    /// The side that has accepted.
    pub fn server(config: ServerConfig, auth: Box<dyn ServerAuthenticator>) -> Self {
        let wire = Wire::new(Role::Server, config.limits, config.crypto);
        Self::new(
            wire,
            config.banner_features.unwrap_or(banner::SUPPORTED),
            RoleState::Server(Server::new(config, auth)),
        )
    }

    fn new(mut wire: Wire, banner_features: u64, role: RoleState) -> Self {
        wire.send_banner(banner_features);
        Handshake { wire, role, banner_read: false, ready: None }
    }

    /// Bytes to write now; drain what was written. There are some from the start, and after an error of
    /// [`Handshake::advance`] there may be a last frame that tells the peer about it.
    pub fn output(&mut self) -> &mut Vec<u8> {
        &mut self.wire.out
    }

    /// Takes as many frames from the input as there are. An error ends the connection, once the remaining
    /// output is written.
    pub fn advance(
        &mut self,
        input: &mut ReadBuffer,
        now: UTime,
        rng: &mut dyn CryptoRng,
    ) -> Result<Progress, Error> {
        let mut env = AuthEnv::new(now, rng);
        while self.ready.is_none() {
            if !self.banner_read {
                let Some(len) = banner::parse(input.unread())? else { return Ok(Progress::NeedInput) };
                self.wire.log_received(&input.unread()[..len])?;
                input.consume(len);
                self.banner_read = true;
                match &mut self.role {
                    RoleState::Client(client) => client.on_banner(&mut self.wire)?,
                    RoleState::Server(server) => server.on_banner(&mut self.wire)?,
                }
                continue;
            }
            let Some(frame) = self.wire.decoder.poll(input)? else { return Ok(Progress::NeedInput) };
            self.wire.log_received(frame.raw(input))?;
            let payload = frame.control(input)?;
            self.ready = match &mut self.role {
                RoleState::Client(client) => {
                    client.on_frame(&mut self.wire, frame.tag(), payload, &mut env)?
                }
                RoleState::Server(server) => {
                    server.on_frame(&mut self.wire, frame.tag(), payload, &mut env)?
                }
            };
        }
        Ok(Progress::Ready)
    }

    /// The established connection.
    ///
    /// # Panics
    /// Unless [`Handshake::advance`] has returned [`Progress::Ready`].
    pub fn into_established(self) -> Established {
        let Ready { peer, session } = self.ready.expect("the handshake is not done");
        let Wire { decoder, encoder, out, limits, .. } = self.wire;
        Established {
            reader: FrameReader::new(decoder, &limits, session.in_seq),
            writer: FrameWriter::new(encoder, &limits, out, session.out_seq),
            peer,
            session,
            auth: match self.role {
                RoleState::Client(client) => Authenticator::Client(client.into_auth()),
                RoleState::Server(server) => Authenticator::Server(server.into_auth()),
            },
        }
    }
}

/// The frames of a connection that is not established yet, and their log.
struct Wire {
    role: Role,
    decoder: FrameDecoder,
    encoder: FrameEncoder,
    out: Vec<u8>,
    /// Until AUTH_DONE.
    transcript: Option<Transcript>,
    rounds: u32,
    limits: Limits,
    crypto: CryptoOptions,
}

impl Wire {
    fn new(role: Role, limits: Limits, crypto: CryptoOptions) -> Self {
        Wire {
            role,
            decoder: FrameDecoder::crc(limits.handshake()),
            encoder: FrameEncoder::crc(),
            out: Vec::new(),
            transcript: Some(Transcript::default()),
            rounds: 0,
            limits,
            crypto,
        }
    }

    fn send_banner(&mut self, supported: u64) {
        banner::encode(&mut self.out, supported);
        self.log_sent(0);
    }

    fn send<'a>(&mut self, frame: &impl Control<'a>) -> Result<(), Error> {
        let at = self.out.len();
        self.encoder.control(&mut self.out, frame)?;
        self.log_sent(at);
        Ok(())
    }

    fn log_sent(&mut self, from: usize) {
        if let Some(transcript) = &mut self.transcript {
            transcript.sent(&self.out[from..]);
        }
    }

    fn log_received(&mut self, raw: &[u8]) -> Result<(), Misbehaviour> {
        match &mut self.transcript {
            Some(transcript) => transcript.received(raw, self.limits.handshake_total),
            None => Ok(()),
        }
    }

    /// Counts a request that a peer may repeat.
    fn count_round(&mut self) -> Result<(), Misbehaviour> {
        self.rounds += 1;
        if self.rounds > MAX_ROUNDS { Err(Misbehaviour::HandshakeTooLong) } else { Ok(()) }
    }

    /// The connection's keys, made before AUTH_DONE is sent or believed.
    fn keys(&self, mode: ConMode, secret: &ConnectionSecret) -> Result<Keys, LocalFault> {
        Ok(match mode {
            ConMode::Secure => {
                let (sealer, opener) = frame_keys(secret, self.role, self.crypto)?;
                Keys {
                    encoder: FrameEncoder::secure(sealer),
                    decoder: FrameDecoder::secure(opener, self.limits.handshake()),
                }
            }
            _ => Keys { encoder: FrameEncoder::crc(), decoder: FrameDecoder::crc(self.limits.handshake()) },
        })
    }

    /// Ends the log, switches to the new mode, and sends this side's signature as its first frame.
    fn authenticated(&mut self, keys: Keys, session_key: &CryptoKey) -> Result<Signatures, Error> {
        let transcript = self.transcript.take().unwrap_or_default();
        let signatures = transcript.signatures(session_key);
        self.encoder = keys.encoder;
        self.decoder = keys.decoder;
        self.send(&crate::frame::control::AuthSignature(signatures.ours))?;
        Ok(signatures)
    }
}

struct Keys {
    encoder: FrameEncoder,
    decoder: FrameDecoder,
}

/// Reads a payload, or says which frame is broken.
fn decode<'a, F: Control<'a>>(payload: &'a [u8]) -> Result<F, Misbehaviour> {
    F::decode(payload).map_err(|source| Misbehaviour::Decode { tag: F::TAG, source })
}

fn unexpected(tag: Tag, expected: &'static str) -> Error {
    Misbehaviour::Unexpected { tag, expected }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection may move between threads in every phase.
    #[test]
    fn connections_are_send() {
        fn check<T: Send>() {}
        check::<Handshake>();
        check::<Established>();
        check::<ReadBuffer>();
    }
}
