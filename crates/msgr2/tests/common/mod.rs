//! Recorded exchanges with real daemons, and authenticators that repeat what was recorded.
#![allow(dead_code)] // each test file uses its own part

pub mod pair;
pub mod raw;

use std::{fs, path::Path};

use sepiola_cephx::{
    AuthEnv, AuthError, AuthMethod, AuthRefused, AuthenticatedPeer, ClientAuthDone, ClientAuthenticator,
    ConMode, PeerCaps, ServerAuthDone, ServerAuthStep, ServerAuthenticator,
};
use sepiola_crypto::{ConnectionSecret, CryptoKey, KeyType};
use sepiola_msgr2::{
    ClientConfig, ReadBuffer, ServerConfig,
    frame::control::AuthReplyMore,
    frame::control::{AuthDone, AuthRequest, AuthRequestMore, ClientIdent, Control, Hello, ServerIdent},
};
use sepiola_wire::{EntityName, EntityType, Errno, GlobalId, UTime};
use serde_json::Value;

pub fn data(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

pub fn unhex(value: &Value) -> Vec<u8> {
    hex::decode(value.as_str().unwrap()).unwrap()
}

/// One frame, or a banner, as it travelled.
pub struct Step {
    pub by_client: bool,
    pub what: String,
    pub wire: Vec<u8>,
    /// In the clear.
    pub segments: Vec<Vec<u8>>,
}

pub struct Recording {
    pub steps: Vec<Step>,
    pub session_key: CryptoKey,
    pub connection_secret: ConnectionSecret,
}

/// The rev1 transcripts of real 16.2.15 (key type 1, method none) and 20.2.4 (type 2) daemons.
pub const RECORDINGS: [&str; 10] = [
    "mon",
    "mon-crc",
    "mon_type2_secure",
    "mon_type2_crc",
    "mon_none",
    "osd",
    "osd-crc",
    "osd_type2_secure",
    "osd_type2_crc",
    "osd_none",
];

impl Recording {
    pub fn load(name: &str) -> Self {
        let entries = data(&format!("transcript_{name}.json"));
        let mut steps = Vec::new();
        let mut planned = Vec::new();
        let mut session_key = CryptoKey::none();
        let mut connection_secret = ConnectionSecret::empty();
        for entry in entries.as_array().unwrap() {
            let segments = || -> Vec<Vec<u8>> {
                entry["segments"].as_array().map(|s| s.iter().map(unhex).collect()).unwrap_or_default()
            };
            if entry["note"]
                .as_str()
                .is_some_and(|note| note.contains("AUTH_DONE") && entry["session_key"].is_string())
            {
                let secret = unhex(&entry["session_key"]);
                let kind = if secret.len() == 16 { KeyType::Aes } else { KeyType::Aes256k };
                session_key = CryptoKey::from_secret(kind, UTime::ZERO, &secret).unwrap();
                connection_secret = ConnectionSecret::from_bytes(&unhex(&entry["connection_secret"]));
            }
            match entry["dir"].as_str() {
                Some("p>") => planned = segments(),
                Some(dir) => {
                    let by_client = dir == ">";
                    let segments = if by_client { std::mem::take(&mut planned) } else { segments() };
                    let what = entry["what"].as_str().unwrap().to_owned();
                    steps.push(Step { by_client, what, wire: unhex(&entry["wire"]), segments });
                }
                None => {}
            }
        }
        Recording { steps, session_key, connection_secret }
    }

    pub fn payload(&self, by_client: bool, what: &str) -> &[u8] {
        self.try_payload(by_client, what).unwrap_or_else(|| panic!("no {what} was recorded"))
    }

    pub fn try_payload(&self, by_client: bool, what: &str) -> Option<&[u8]> {
        let step = self.steps.iter().find(|step| step.by_client == by_client && step.what == what)?;
        Some(&step.segments[0])
    }

    pub fn hello(&self, by_client: bool) -> Hello {
        Hello::decode(self.payload(by_client, "HELLO")).unwrap()
    }
    pub fn auth_request(&self) -> AuthRequest<'_> {
        AuthRequest::decode(self.payload(true, "AUTH_REQUEST")).unwrap()
    }
    pub fn auth_done(&self) -> AuthDone<'_> {
        AuthDone::decode(self.payload(false, "AUTH_DONE")).unwrap()
    }
    pub fn client_ident(&self) -> ClientIdent {
        ClientIdent::decode(self.payload(true, "CLIENT_IDENT")).unwrap()
    }
    pub fn server_ident(&self) -> ServerIdent {
        ServerIdent::decode(self.payload(false, "SERVER_IDENT")).unwrap()
    }
    pub fn method(&self) -> AuthMethod {
        AuthMethod::from_u32(self.auth_request().method).unwrap()
    }
    pub fn mode(&self) -> ConMode {
        ConMode::from_u32(self.auth_done().mode).unwrap()
    }

    /// The dialling side as it was when this was recorded.
    pub fn client_config(&self) -> ClientConfig {
        let ident = self.client_ident();
        let mut config =
            ClientConfig::new(self.hello(true).kind, ident.addrs, self.hello(false).kind, ident.target);
        config.gid = Some(ident.gid);
        config.global_seq = ident.global_seq;
        config.modes = self.auth_request().modes.iter().map(|&m| ConMode::from_u32(m).unwrap()).collect();
        config.features_supported = ident.supported;
        config.features_required = ident.required;
        config
    }

    /// The accepting side as it was when this was recorded.
    pub fn server_config(&self) -> ServerConfig {
        let ident = self.server_ident();
        let hello = self.hello(false);
        let mut config = ServerConfig::new(hello.kind, ident.addrs, ident.gid, hello.seen.socket.unwrap());
        config.global_seq = ident.global_seq;
        config.features_supported = ident.supported;
        config.features_required = ident.required;
        // 20.2.4 announces compression as well; the signatures cover that.
        let banner = &self.steps.iter().find(|step| !step.by_client).unwrap().wire;
        config.banner_features = Some(u64::from_le_bytes(banner[10..18].try_into().unwrap()));
        config
    }

    pub fn client_auth(&self) -> Box<dyn ClientAuthenticator> {
        Box::new(ScriptedClient {
            method: self.method(),
            request: self.auth_request().payload.to_vec(),
            reply_more: self
                .try_payload(false, "AUTH_REPLY_MORE")
                .map(|p| AuthReplyMore::decode(p).unwrap().payload.to_vec()),
            request_more: self
                .try_payload(true, "AUTH_REQUEST_MORE")
                .map(|p| AuthRequestMore::decode(p).unwrap().payload.to_vec()),
            global_id: self.auth_done().global_id,
            mode: self.mode(),
            done: self.auth_done().payload.to_vec(),
            session_key: self.session_key.clone(),
            connection_secret: self.connection_secret.clone(),
        })
    }

    pub fn server_auth(&self) -> Box<dyn ServerAuthenticator> {
        Box::new(ScriptedServer {
            methods: vec![self.method()],
            modes: vec![self.mode()],
            request: self.auth_request().payload.to_vec(),
            reply_more: self
                .try_payload(false, "AUTH_REPLY_MORE")
                .map(|p| AuthReplyMore::decode(p).unwrap().payload.to_vec()),
            request_more: self
                .try_payload(true, "AUTH_REQUEST_MORE")
                .map(|p| AuthRequestMore::decode(p).unwrap().payload.to_vec()),
            global_id: self.auth_done().global_id,
            done: self.auth_done().payload.to_vec(),
            session_key: self.session_key.clone(),
            connection_secret: self.connection_secret.clone(),
            name: EntityName::client("admin"),
        })
    }
}

/// Says what was recorded and insists on hearing what was recorded.
pub struct ScriptedClient {
    pub method: AuthMethod,
    pub request: Vec<u8>,
    pub reply_more: Option<Vec<u8>>,
    pub request_more: Option<Vec<u8>>,
    pub global_id: GlobalId,
    pub mode: ConMode,
    pub done: Vec<u8>,
    pub session_key: CryptoKey,
    pub connection_secret: ConnectionSecret,
}

impl ClientAuthenticator for ScriptedClient {
    fn method(&self) -> AuthMethod {
        self.method
    }
    fn request(&mut self, _: &mut AuthEnv<'_>) -> Result<Vec<u8>, AuthError> {
        Ok(self.request.clone())
    }
    fn reply_more(&mut self, payload: &[u8], _: &mut AuthEnv<'_>) -> Result<Vec<u8>, AuthError> {
        if Some(payload) != self.reply_more.as_deref() {
            return Err(AuthError::Unexpected("another challenge than was recorded"));
        }
        Ok(self.request_more.clone().unwrap())
    }
    fn done(
        &mut self,
        global_id: GlobalId,
        mode: ConMode,
        payload: &[u8],
        _: &mut AuthEnv<'_>,
    ) -> Result<ClientAuthDone, AuthError> {
        if (global_id, mode, payload) != (self.global_id, self.mode, &self.done[..]) {
            return Err(AuthError::Unexpected("another result than was recorded"));
        }
        Ok(ClientAuthDone {
            session_key: self.session_key.clone(),
            connection_secret: self.connection_secret.clone(),
        })
    }
    fn bad_method(&mut self, result: Errno) -> AuthError {
        AuthError::Refused(result)
    }
}

/// The other side of [`ScriptedClient`].
#[derive(Clone)]
pub struct ScriptedServer {
    pub methods: Vec<AuthMethod>,
    pub modes: Vec<ConMode>,
    pub request: Vec<u8>,
    pub reply_more: Option<Vec<u8>>,
    pub request_more: Option<Vec<u8>>,
    pub global_id: GlobalId,
    pub done: Vec<u8>,
    pub session_key: CryptoKey,
    pub connection_secret: ConnectionSecret,
    pub name: EntityName,
}

impl ScriptedServer {
    fn finish(&self) -> ServerAuthStep {
        ServerAuthStep::Done(Box::new(ServerAuthDone {
            global_id: self.global_id,
            payload: self.done.clone(),
            session_key: self.session_key.clone(),
            connection_secret: self.connection_secret.clone(),
            peer: AuthenticatedPeer {
                name: self.name.clone(),
                global_id: self.global_id,
                caps: PeerCaps::allow_all(),
            },
        }))
    }
}

const REFUSED: AuthRefused =
    AuthRefused { errno: Errno::EACCES, reason: "another request than was recorded" };

impl ServerAuthenticator for ScriptedServer {
    fn methods(&self, _: EntityType) -> &[AuthMethod] {
        &self.methods
    }
    fn modes(&self, _: EntityType, _: AuthMethod) -> &[ConMode] {
        &self.modes
    }
    fn request(
        &mut self,
        _: EntityType,
        _: AuthMethod,
        _: ConMode,
        payload: &[u8],
        _: &mut AuthEnv<'_>,
    ) -> Result<ServerAuthStep, AuthRefused> {
        if payload != self.request {
            return Err(REFUSED);
        }
        Ok(match &self.reply_more {
            Some(challenge) => ServerAuthStep::More(challenge.clone()),
            None => self.finish(),
        })
    }
    fn request_more(&mut self, payload: &[u8], _: &mut AuthEnv<'_>) -> Result<ServerAuthStep, AuthRefused> {
        if Some(payload) != self.request_more.as_deref() { Err(REFUSED) } else { Ok(self.finish()) }
    }
}

/// Feeds all of `bytes`, which must fit.
pub fn feed(buffer: &mut ReadBuffer, bytes: &[u8]) {
    assert_eq!(buffer.extend(bytes), bytes.len());
}
