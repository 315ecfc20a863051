//! The side that accepts.

use std::net::SocketAddr;

use sepiola_cephx::{
    AuthEnv, AuthMethod, AuthRefused, AuthenticatedPeer, ConMode, ServerAuthDone, ServerAuthStep,
    ServerAuthenticator,
};
use sepiola_crypto::CryptoOptions;
use sepiola_wire::{Cookie, EntityAddr, EntityAddrVec, EntityType, Errno, Features, GlobalId};

use super::{
    MAX_ADDRS, Ready, Signatures, Wire, address::has_exactly, decode, mode::choose_mode, unexpected,
};
use crate::{
    Denial, Error, Incompatibility, Limits, LocalFault, Misbehaviour, PeerInfo, Session,
    frame::{
        Tag,
        control::{
            AuthBadMethod, AuthDone, AuthReplyMore, AuthRequest, AuthRequestMore, AuthSignature, ClientIdent,
            Hello, IDENT_LOSSY, IdentMissingFeatures, ServerIdent, SessionReconnect, SessionReset,
        },
    },
};

/// What an accepting side says and expects. Methods and modes are the authenticator's.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerConfig {
    /// This side's type.
    pub kind: EntityType,
    /// This side's addresses; clients must have dialled one of them, nonce included.
    pub addrs: EntityAddrVec,
    /// This side's rank or id.
    pub gid: i64,
    /// From [`crate::GlobalSeq`].
    pub global_seq: u64,
    /// The peer's address, as the socket has it.
    pub socket: SocketAddr,
    /// What this side understands.
    pub features_supported: Features,
    /// What it needs every peer to understand.
    pub features_required: Features,
    /// How secure frames are sealed.
    pub crypto: CryptoOptions,
    /// Limits on what is received.
    pub limits: Limits,
    /// Announces other messenger features than are spoken here, to replay recordings of newer servers.
    #[doc(hidden)]
    pub banner_features: Option<u64>,
}

impl ServerConfig {
    /// Accepts a connection from `socket`.
    pub fn new(kind: EntityType, addrs: EntityAddrVec, gid: i64, socket: SocketAddr) -> Self {
        ServerConfig {
            kind,
            addrs,
            gid,
            global_seq: 1,
            socket,
            features_supported: Features::SUPPORTED,
            features_required: Features::MSG_ADDR2,
            crypto: CryptoOptions::default(),
            limits: Limits::default(),
            banner_features: None,
        }
    }
}

pub(super) struct Server {
    config: ServerConfig,
    auth: Box<dyn ServerAuthenticator>,
    state: State,
    peer_kind: EntityType,
    sees_us_as: EntityAddr,
}

enum State {
    Hello,
    AuthRequest,
    /// The authenticator has asked for another round.
    AuthMore {
        method: AuthMethod,
        mode: ConMode,
    },
    Signature {
        signatures: Signatures,
        identity: Identity,
    },
    Ident(Identity),
    Done,
}

#[derive(Clone)]
struct Identity {
    peer: AuthenticatedPeer,
    global_id: GlobalId,
    method: AuthMethod,
    mode: ConMode,
}

impl Server {
    pub(super) fn new(config: ServerConfig, auth: Box<dyn ServerAuthenticator>) -> Self {
        Server {
            config,
            auth,
            state: State::Hello,
            // Until HELLO says otherwise.
            peer_kind: EntityType::Client,
            sees_us_as: EntityAddr::BLANK,
        }
    }

    pub(super) fn into_auth(self) -> Box<dyn ServerAuthenticator> {
        self.auth
    }

    pub(super) fn on_banner(&mut self, wire: &mut Wire) -> Result<(), Error> {
        wire.send(&Hello { kind: self.config.kind, seen: EntityAddr::msgr2(self.config.socket, 0) })
    }

    pub(super) fn on_frame(
        &mut self,
        wire: &mut Wire,
        tag: Tag,
        payload: &[u8],
        env: &mut AuthEnv<'_>,
    ) -> Result<Option<Ready>, Error> {
        match (&self.state, tag) {
            (State::Hello, Tag::Hello) => {
                let hello: Hello = decode(payload)?;
                self.peer_kind = hello.kind;
                self.sees_us_as = hello.seen;
                self.state = State::AuthRequest;
            }
            (State::AuthRequest, Tag::AuthRequest) => {
                wire.count_round()?;
                self.on_auth_request(wire, decode(payload)?, env)?;
            }
            (&State::AuthMore { method, mode }, Tag::AuthRequestMore) => {
                wire.count_round()?;
                let request: AuthRequestMore<'_> = decode(payload)?;
                match self.auth.request_more(request.payload, env) {
                    Ok(step) => self.on_step(wire, step, method, mode)?,
                    Err(refused) => return Err(self.refuse(wire, method, refused)?),
                }
            }
            (State::Signature { signatures, identity }, Tag::AuthSignature) => {
                let AuthSignature(received) = decode(payload)?;
                signatures.verify(&received)?;
                self.state = State::Ident(identity.clone());
            }
            (State::Ident(_), Tag::ClientIdent) => return self.on_client_ident(wire, decode(payload)?),
            (State::Ident(_), Tag::SessionReconnect) => {
                wire.count_round()?;
                // No session outlives its connection here, so there is none to resume: the client is told
                // to forget it and asks for a new one on the same connection.
                let _: SessionReconnect = decode(payload)?;
                wire.send(&SessionReset { full: true })?;
            }
            (State::Hello, _) => return Err(unexpected(tag, "HELLO")),
            (State::AuthRequest, _) => return Err(unexpected(tag, "AUTH_REQUEST")),
            (State::AuthMore { .. }, _) => return Err(unexpected(tag, "AUTH_REQUEST_MORE")),
            (State::Signature { .. }, _) => return Err(unexpected(tag, "AUTH_SIGNATURE")),
            (State::Ident(_) | State::Done, _) => return Err(unexpected(tag, "CLIENT_IDENT")),
        }
        Ok(None)
    }

    fn on_auth_request(
        &mut self,
        wire: &mut Wire,
        request: AuthRequest<'_>,
        env: &mut AuthEnv<'_>,
    ) -> Result<(), Error> {
        let method = AuthMethod::from_u32(request.method)
            .filter(|method| self.auth.methods(self.peer_kind).contains(method));
        let mode = method
            .and_then(|method| choose_mode(&request.modes, self.auth.modes(self.peer_kind, method), method));
        let (Some(method), Some(mode)) = (method, mode) else {
            // The client may try again with something else; how often is bounded.
            return self.send_bad_method(wire, request.method, Errno::EOPNOTSUPP);
        };
        match self.auth.request(self.peer_kind, method, mode, request.payload, env) {
            Ok(ServerAuthStep::Done(_)) if method != AuthMethod::None => {
                // A replayed request would do (CVE-2020-25660), so this is refused whatever the
                // authenticator says.
                Err(LocalFault::Authenticator("did not challenge the client").into())
            }
            Ok(step) => self.on_step(wire, step, method, mode),
            Err(refused) if refused.errno == Errno::EOPNOTSUPP => {
                self.send_bad_method(wire, request.method, refused.errno)
            }
            Err(refused) => Err(self.refuse(wire, method, refused)?),
        }
    }

    fn on_step(
        &mut self,
        wire: &mut Wire,
        step: ServerAuthStep,
        method: AuthMethod,
        mode: ConMode,
    ) -> Result<(), Error> {
        match step {
            ServerAuthStep::More(payload) => {
                wire.send(&AuthReplyMore { payload: &payload })?;
                self.state = State::AuthMore { method, mode };
                Ok(())
            }
            ServerAuthStep::Done(done) => self.on_done(wire, *done, method, mode),
        }
    }

    fn on_done(
        &mut self,
        wire: &mut Wire,
        done: ServerAuthDone,
        method: AuthMethod,
        mode: ConMode,
    ) -> Result<(), Error> {
        let ServerAuthDone { global_id, payload, session_key, connection_secret, peer } = done;
        if self.peer_kind != peer.name.kind && self.peer_kind != EntityType::Client {
            let denial = Denial::OtherIdentity { name: peer.name, announced: self.peer_kind };
            self.send_bad_method(wire, method.as_u32(), denial.errno())?;
            return Err(denial.into());
        }
        if method != AuthMethod::None && session_key.is_none() {
            return Err(LocalFault::Authenticator("yields no session key").into());
        }
        // Before AUTH_DONE, so that a secret that cannot key the connection fails the authentication.
        let keys = wire.keys(mode, &connection_secret)?;
        wire.send(&AuthDone { global_id, mode: mode.as_u32(), payload: &payload })?;
        let signatures = wire.authenticated(keys, &session_key)?;
        let identity = Identity { peer, global_id, method, mode };
        self.state = State::Signature { signatures, identity };
        Ok(())
    }

    /// Tells the client that it is refused. It learns the errno and nothing else.
    fn refuse(&self, wire: &mut Wire, method: AuthMethod, refused: AuthRefused) -> Result<Error, Error> {
        self.send_bad_method(wire, method.as_u32(), refused.errno)?;
        Ok(Denial::OfClient(refused).into())
    }

    fn send_bad_method(&self, wire: &mut Wire, method: u32, errno: Errno) -> Result<(), Error> {
        let methods = self.auth.methods(self.peer_kind);
        // The modes that go with the method asked for, or else with the first that is allowed.
        let about = AuthMethod::from_u32(method).filter(|asked| methods.contains(asked));
        let modes = match about.or(methods.first().copied()) {
            Some(method) => self.auth.modes(self.peer_kind, method),
            None => &[],
        };
        wire.send(&AuthBadMethod {
            method,
            result: errno.to_wire(),
            methods: methods.iter().map(|method| method.as_u32()).collect(),
            modes: modes.iter().map(|mode| mode.as_u32()).collect(),
        })
    }

    fn on_client_ident(&mut self, wire: &mut Wire, ident: ClientIdent) -> Result<Option<Ready>, Error> {
        let first = ident.addrs.0.first();
        if first.is_none_or(EntityAddr::is_blank) || ident.addrs.0.len() > MAX_ADDRS {
            return Err(Misbehaviour::NoAddress.into());
        }
        if !has_exactly(&self.config.addrs, &ident.target) {
            return Err(Misbehaviour::WrongTarget(ident.target).into());
        }
        let missing = self.config.features_required.missing_from(ident.supported);
        if !missing.is_empty() {
            // The client could try again with more features; real ones give up.
            wire.count_round()?;
            wire.send(&IdentMissingFeatures(missing))?;
            return Ok(None);
        }
        let lacking = ident.required.missing_from(self.config.features_supported);
        if !lacking.is_empty() {
            return Err(Incompatibility::PeerRequires(lacking).into());
        }
        let State::Ident(identity) = std::mem::replace(&mut self.state, State::Done) else {
            return Err(unexpected(Tag::ClientIdent, "AUTH_SIGNATURE"));
        };
        // Every session ends with its connection, whatever the client asked for: the server's word counts.
        wire.send(&ServerIdent {
            addrs: self.config.addrs.clone(),
            gid: self.config.gid,
            global_seq: self.config.global_seq,
            supported: self.config.features_supported,
            required: self.config.features_required,
            flags: IDENT_LOSSY,
            cookie: Cookie(0),
        })?;
        Ok(Some(Ready {
            peer: PeerInfo {
                kind: self.peer_kind,
                gid: ident.gid,
                addrs: ident.addrs,
                features: self.config.features_supported & ident.supported,
                method: identity.method,
                mode: identity.mode,
                lossy: true,
                global_id: identity.global_id,
                authenticated: Some(identity.peer),
                socket: Some(self.config.socket),
                sees_us_as: self.sees_us_as,
            },
            session: Session::new(true, self.config.global_seq, ident.global_seq),
        }))
    }
}
