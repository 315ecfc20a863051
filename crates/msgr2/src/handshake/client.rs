//! The side that dials.

use sepiola_cephx::{AuthEnv, AuthMethod, ClientAuthenticator, ConMode};
use sepiola_crypto::CryptoOptions;
use sepiola_wire::{Cookie, EntityAddr, EntityAddrVec, EntityType, Errno, Features, GlobalId};

use super::{
    MAX_ADDRS, Ready, Signatures, Wire,
    address::{has_exactly, own_addrs},
    decode, unexpected,
};
use crate::{
    Error, Incompatibility, Limits, LocalFault, Misbehaviour, PeerInfo, Session,
    frame::{
        Tag,
        control::{
            AuthBadMethod, AuthDone, AuthReplyMore, AuthRequest, AuthRequestMore, AuthSignature, ClientIdent,
            Hello, IDENT_LOSSY, IdentMissingFeatures, ServerIdent,
        },
    },
};

/// What a dialling side says and expects.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientConfig {
    /// This side's type.
    pub kind: EntityType,
    /// This side's addresses. One without an IP, or with the unspecified one, gets the IP that the server
    /// sees.
    pub addrs: EntityAddrVec,
    /// This side's number: a daemon's rank or id. `None` gives the global_id that authentication yields,
    /// which is what clients do.
    pub gid: Option<i64>,
    /// Whom this side means to dial.
    pub target_kind: EntityType,
    /// The dialled address as the maps have it; the server must serve exactly this one, nonce included.
    pub target: EntityAddr,
    /// From [`crate::GlobalSeq`].
    pub global_seq: u64,
    /// The modes to offer, the preferred one first. What is not in here is not accepted either.
    pub modes: Vec<ConMode>,
    /// What this side understands.
    pub features_supported: Features,
    /// What it needs the server to understand.
    pub features_required: Features,
    /// How secure frames are sealed.
    pub crypto: CryptoOptions,
    /// Ask for a session that ends with the connection. The server's word counts.
    pub lossy: bool,
    /// Limits on what is received.
    pub limits: Limits,
}

impl ClientConfig {
    /// A lossy session with `target`, secure only, with the features that every client requires.
    pub fn new(kind: EntityType, addrs: EntityAddrVec, target_kind: EntityType, target: EntityAddr) -> Self {
        ClientConfig {
            kind,
            addrs,
            gid: None,
            target_kind,
            target,
            global_seq: 1,
            modes: vec![ConMode::Secure],
            features_supported: Features::SUPPORTED,
            features_required: Features::MSG_ADDR2,
            crypto: CryptoOptions::default(),
            lossy: true,
            limits: Limits::default(),
        }
    }
}

pub(super) struct Client {
    config: ClientConfig,
    auth: Box<dyn ClientAuthenticator>,
    state: State,
    sees_us_as: EntityAddr,
}

enum State {
    Hello,
    Auth,
    Signature { signatures: Signatures, global_id: GlobalId, mode: ConMode },
    Ident { global_id: GlobalId, mode: ConMode, cookie: Cookie },
}

impl Client {
    pub(super) fn new(config: ClientConfig, auth: Box<dyn ClientAuthenticator>) -> Self {
        Client { config, auth, state: State::Hello, sees_us_as: EntityAddr::BLANK }
    }

    pub(super) fn into_auth(self) -> Box<dyn ClientAuthenticator> {
        self.auth
    }

    pub(super) fn on_banner(&mut self, wire: &mut Wire) -> Result<(), Error> {
        // A socket has no nonce, so none is sent for the peer's.
        let seen = EntityAddr { nonce: 0, ..self.config.target };
        wire.send(&Hello { kind: self.config.kind, seen })
    }

    pub(super) fn on_frame(
        &mut self,
        wire: &mut Wire,
        tag: Tag,
        payload: &[u8],
        env: &mut AuthEnv<'_>,
    ) -> Result<Option<Ready>, Error> {
        match (&self.state, tag) {
            (State::Hello, Tag::Hello) => self.on_hello(wire, decode(payload)?, env)?,
            (State::Auth, Tag::AuthReplyMore) => {
                wire.count_round()?;
                let reply: AuthReplyMore<'_> = decode(payload)?;
                let payload = self.auth.reply_more(reply.payload, env)?;
                wire.send(&AuthRequestMore { payload: &payload })?;
            }
            (State::Auth, Tag::AuthBadMethod) => return Err(self.on_bad_method(decode(payload)?)),
            (State::Auth, Tag::AuthDone) => self.on_auth_done(wire, decode(payload)?, env)?,
            (State::Signature { signatures, global_id, mode }, Tag::AuthSignature) => {
                let AuthSignature(received) = decode(payload)?;
                signatures.verify(&received)?;
                let (global_id, mode) = (*global_id, *mode);
                self.send_ident(wire, global_id, mode, env)?;
            }
            (State::Ident { .. }, Tag::IdentMissingFeatures) => {
                let IdentMissingFeatures(missing) = decode(payload)?;
                return Err(Incompatibility::PeerRequires(missing).into());
            }
            (&State::Ident { global_id, mode, cookie }, Tag::ServerIdent) => {
                return self.on_server_ident(decode(payload)?, global_id, mode, cookie).map(Some);
            }
            (State::Hello, _) => return Err(unexpected(tag, "HELLO")),
            (State::Auth, _) => return Err(unexpected(tag, "an answer to AUTH_REQUEST")),
            (State::Signature { .. }, _) => return Err(unexpected(tag, "AUTH_SIGNATURE")),
            // The session frames answer a SESSION_RECONNECT, and WAIT a lossless client; we are neither.
            (State::Ident { .. }, _) => return Err(unexpected(tag, "SERVER_IDENT")),
        }
        Ok(None)
    }

    fn on_hello(&mut self, wire: &mut Wire, hello: Hello, env: &mut AuthEnv<'_>) -> Result<(), Error> {
        let expected = self.config.target_kind;
        if hello.kind != expected {
            return Err(Incompatibility::WrongKind { expected, found: hello.kind }.into());
        }
        self.sees_us_as = hello.seen;
        if self.config.modes.is_empty() {
            return Err(LocalFault::NoModes.into());
        }
        let method = self.auth.method();
        if method == AuthMethod::None && !self.config.modes.contains(&ConMode::Crc) {
            return Err(LocalFault::NoModeForMethod(method).into());
        }
        let payload = self.auth.request(env)?;
        let modes = self.config.modes.iter().map(|mode| mode.as_u32()).collect();
        wire.send(&AuthRequest { method: method.as_u32(), modes, payload: &payload })?;
        self.state = State::Auth;
        Ok(())
    }

    /// Explains a refusal. There is no second attempt on this connection: which method to try next is a
    /// decision that no unauthenticated list should make.
    fn on_bad_method(&mut self, refusal: AuthBadMethod) -> Error {
        let AuthBadMethod { result, methods, modes, .. } = refusal;
        let method = self.auth.method();
        // Only a negative result is an error; anything else is nonsense here.
        let Err(errno) = Errno::from_wire(result) else {
            return unexpected(Tag::AuthBadMethod, "a negative result in AUTH_BAD_METHOD");
        };
        if errno == Errno::EOPNOTSUPP {
            if !methods.contains(&method.as_u32()) {
                return Incompatibility::Methods { offered: method, allowed: methods }.into();
            }
            if !self.config.modes.iter().any(|mode| modes.contains(&mode.as_u32())) {
                return Incompatibility::Modes { offered: self.config.modes.clone(), allowed: modes }.into();
            }
        }
        self.auth.bad_method(errno).into()
    }

    fn on_auth_done(
        &mut self,
        wire: &mut Wire,
        frame: AuthDone<'_>,
        env: &mut AuthEnv<'_>,
    ) -> Result<(), Error> {
        let mode = ConMode::from_u32(frame.mode)
            .filter(|mode| self.config.modes.contains(mode))
            .filter(|&mode| self.auth.method() != AuthMethod::None || mode == ConMode::Crc)
            .ok_or(Misbehaviour::ModeNotOffered(frame.mode))?;
        let done = self.auth.done(frame.global_id, mode, frame.payload, env)?;
        if self.auth.method() != AuthMethod::None && done.session_key.is_none() {
            return Err(LocalFault::Authenticator("yields no session key").into());
        }
        let keys = wire.keys(mode, &done.connection_secret)?;
        let signatures = wire.authenticated(keys, &done.session_key)?;
        self.state = State::Signature { signatures, global_id: frame.global_id, mode };
        Ok(())
    }

    fn send_ident(
        &mut self,
        wire: &mut Wire,
        global_id: GlobalId,
        mode: ConMode,
        env: &mut AuthEnv<'_>,
    ) -> Result<(), Error> {
        let (flags, cookie) = match self.config.lossy {
            true => (IDENT_LOSSY, Cookie(0)),
            false => (0, Cookie(env.rng.next_u64().max(1))),
        };
        wire.send(&ClientIdent {
            addrs: own_addrs(&self.config.addrs, &self.sees_us_as)?,
            target: self.config.target,
            gid: self.config.gid.unwrap_or(global_id.0 as i64),
            global_seq: self.config.global_seq,
            supported: self.config.features_supported,
            required: self.config.features_required,
            flags,
            cookie,
        })?;
        self.state = State::Ident { global_id, mode, cookie };
        Ok(())
    }

    fn on_server_ident(
        &mut self,
        ident: ServerIdent,
        global_id: GlobalId,
        mode: ConMode,
        cookie: Cookie,
    ) -> Result<Ready, Error> {
        let dialled = self.config.target;
        if ident.addrs.0.len() > MAX_ADDRS {
            return Err(Misbehaviour::NoAddress.into());
        }
        if !has_exactly(&ident.addrs, &dialled) {
            return Err(Incompatibility::OtherProcess { dialled, found: ident.addrs }.into());
        }
        let lacking = self.config.features_required.missing_from(ident.supported);
        if !lacking.is_empty() {
            return Err(Incompatibility::PeerLacks(lacking).into());
        }
        let lacking = ident.required.missing_from(self.config.features_supported);
        if !lacking.is_empty() {
            return Err(Incompatibility::PeerRequires(lacking).into());
        }
        let lossy = ident.flags & IDENT_LOSSY != 0;
        let mut session = Session::new(lossy, self.config.global_seq, ident.global_seq);
        if !lossy {
            (session.client_cookie, session.server_cookie) = (cookie, ident.cookie);
        }
        Ok(Ready {
            peer: PeerInfo {
                kind: self.config.target_kind,
                gid: ident.gid,
                addrs: ident.addrs,
                features: self.config.features_supported & ident.supported,
                method: self.auth.method(),
                mode,
                lossy,
                global_id,
                authenticated: None,
                socket: dialled.socket,
                sees_us_as: self.sees_us_as,
            },
            session,
        })
    }
}
