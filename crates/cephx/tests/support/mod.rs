//! A monitor's key table, an OSD's secrets, and pairs of authenticators that talk to each other.
#![allow(dead_code)]

pub mod attack;
pub mod rng;
pub mod vectors;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use sepiola_cephx::{
    AllowedAuth, AuthEnv, AuthError, AuthMethod, AuthRefused, ClientAuthDone, ClientAuthenticator, ConMode,
    EntityAuth, KeyServer, MonAuthPolicy, MonAuthenticator, RotatingSecrets, SERVICES, ServerAuthDone,
    ServerAuthStep, ServerAuthenticator, ServiceAuthenticator, ServiceKeys, ServiceSecrets, ServiceSet,
    TicketKeeper,
};
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_wire::{EntityName, EntityType, GlobalId, UTime};

use rng::ScriptRng;

pub const START: UTime = UTime::from_secs(1_800_000_000);

pub fn later(seconds: u64) -> UTime {
    START.saturating_add(Duration::from_secs(seconds))
}

/// The keys of a cluster.
pub struct Keys {
    entities: Mutex<BTreeMap<EntityName, EntityAuth>>,
    rotating: Mutex<BTreeMap<EntityType, Arc<RotatingSecrets>>>,
    last_id: AtomicU64,
    pub pending_used: Mutex<Vec<EntityName>>,
}

impl KeyServer for Keys {
    fn entity(&self, name: &EntityName) -> Option<EntityAuth> {
        self.entities.lock().unwrap().get(name).cloned()
    }
    fn rotating(&self, service: EntityType) -> Option<Arc<RotatingSecrets>> {
        self.rotating.lock().unwrap().get(&service).cloned()
    }
    fn assign_global_id(&self) -> Option<GlobalId> {
        Some(GlobalId(self.last_id.fetch_add(1, Ordering::Relaxed) + 1))
    }
    fn pending_key_used(&self, name: &EntityName) {
        self.pending_used.lock().unwrap().push(name.clone());
    }
}

/// A cluster: one monitor and one OSD, in virtual time.
pub struct Cluster {
    pub keys: Arc<Keys>,
    pub policy: Arc<MonAuthPolicy>,
    pub osd: Arc<ServiceSecrets>,
    pub allowed: AllowedAuth,
    pub rng: ScriptRng,
    service_kind: KeyType,
}

pub const BOTH: &[ConMode] = &[ConMode::Secure, ConMode::Crc];

impl Cluster {
    pub fn new(service_kind: KeyType) -> Self {
        Self::with(service_kind, AllowedAuth::uniform(&[AuthMethod::Cephx], BOTH))
    }

    pub fn with(service_kind: KeyType, allowed: AllowedAuth) -> Self {
        let mut rng = ScriptRng::new();
        let policy = Arc::new(MonAuthPolicy::new(allowed.clone(), KeyType::Aes256k, &mut rng));
        let keys = Arc::new(Keys {
            entities: Mutex::default(),
            rotating: Mutex::default(),
            last_id: AtomicU64::new(4100),
            pending_used: Mutex::default(),
        });
        let mut cluster =
            Cluster { keys, policy, osd: Arc::new(ServiceSecrets::new()), allowed, rng, service_kind };
        cluster.rotate(START);
        cluster.osd.install((*cluster.keys.rotating(EntityType::Osd).unwrap()).clone());
        cluster
    }

    pub fn both_types() -> [Self; 2] {
        [Self::new(KeyType::Aes), Self::new(KeyType::Aes256k)]
    }

    /// What the leading monitor does in its tick.
    pub fn rotate(&mut self, now: UTime) {
        let mut all = self.keys.rotating.lock().unwrap();
        for service in SERVICES {
            let old = all.get(&service).cloned().unwrap_or_default();
            let ttl = self.policy.ticket_life.of(service);
            if let Some(new) = old.rotate(now, ttl, self.service_kind, &mut self.rng) {
                all.insert(service, Arc::new(new));
            }
        }
    }

    pub fn secrets(&self, service: EntityType) -> RotatingSecrets {
        (*self.keys.rotating(service).unwrap()).clone()
    }

    /// Puts an entity into the table and returns its key.
    pub fn add(&mut self, name: &str, kind: KeyType, caps: &[(&str, &str)]) -> CryptoKey {
        let key = CryptoKey::generate(kind, START, &mut self.rng);
        let caps = caps.iter().map(|(s, t)| ((*s).to_owned(), (*t).to_owned())).collect();
        self.set(name, EntityAuth::new(key.clone(), caps));
        key
    }

    pub fn set(&mut self, name: &str, entity: EntityAuth) {
        self.keys.entities.lock().unwrap().insert(name.parse().unwrap(), entity);
    }

    pub fn remove(&mut self, name: &str) {
        self.keys.entities.lock().unwrap().remove(&name.parse().unwrap());
    }

    /// An administrator's tickets, none of them there yet.
    pub fn admin(&mut self, kind: KeyType) -> TicketKeeper {
        let key =
            self.add("client.admin", kind, &[("mon", "allow *"), ("osd", "allow *"), ("mgr", "allow *")]);
        self.keeper("client.admin", key)
    }

    pub fn keeper(&self, name: &str, key: CryptoKey) -> TicketKeeper {
        TicketKeeper::new(name.parse().unwrap(), key, ServiceSet::CLIENT)
    }

    pub fn mon(&self) -> MonAuthenticator {
        MonAuthenticator::new(self.keys.clone(), self.policy.clone())
    }

    pub fn osd(&self) -> ServiceAuthenticator {
        let keys: Arc<dyn ServiceKeys> = self.osd.clone();
        ServiceAuthenticator::new(EntityType::Osd, keys, Arc::new(self.allowed.clone()))
    }

    /// Opens a session with the monitor and returns its authenticator, which answers MAuth.
    pub fn open_mon(
        &mut self,
        keeper: &TicketKeeper,
        now: UTime,
    ) -> Result<(Both, MonAuthenticator), Failure> {
        let mut server = self.mon();
        let mut exchange = Exchange::new(keeper.name().kind, ConMode::Secure, now);
        let both = exchange.run(&mut *keeper.mon_authenticator(), &mut server, &mut self.rng)?;
        Ok((both, server))
    }

    /// Opens a session with the OSD.
    pub fn open_osd(&mut self, keeper: &TicketKeeper, now: UTime) -> Result<Both, Failure> {
        let mut client =
            keeper.service_authenticator(EntityType::Osd, now).map_err(|e| Failure::Client(e.into()))?;
        let mut exchange = Exchange::new(keeper.name().kind, ConMode::Secure, now);
        exchange.run(&mut *client, &mut self.osd(), &mut self.rng)
    }

    /// Sends what is due over an open session, until nothing is.
    pub fn renew(&mut self, keeper: &TicketKeeper, server: &mut MonAuthenticator, now: UTime) -> usize {
        let mut sent = 0;
        while let Some(payload) = keeper.renewal(&mut AuthEnv::new(now, &mut self.rng)) {
            let answer = server.mauth(&payload, &mut AuthEnv::new(now, &mut self.rng)).unwrap();
            keeper.handle_auth_reply(0, keeper.global_id(), &answer, now).unwrap();
            sent += 1;
            assert!(sent < 5, "renewal without end");
        }
        sent
    }
}

/// Both ends of an authenticated connection.
pub struct Both {
    pub client: ClientAuthDone,
    pub server: ServerAuthDone,
}

#[derive(Debug)]
pub enum Failure {
    /// The server refused; how the client took it.
    Refused(AuthRefused, AuthError),
    Client(AuthError),
}

impl Failure {
    /// The errno that the client was told.
    pub fn errno(&self) -> i32 {
        match self {
            Failure::Refused(refused, _) => refused.errno.to_wire(),
            Failure::Client(error) => panic!("not refused by the server: {error}"),
        }
    }
}

/// The frames that may be altered on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    Request,
    ReplyMore,
    RequestMore,
    Done,
}

type Tamper<'a> = Box<dyn FnMut(Frame, &mut Vec<u8>) + 'a>;

/// One handshake between two authenticators.
pub struct Exchange<'a> {
    pub announced: EntityType,
    pub mode: ConMode,
    pub now: UTime,
    pub tamper: Tamper<'a>,
    /// What the client sent, as an eavesdropper has it.
    pub recorded: Vec<Vec<u8>>,
}

impl<'a> Exchange<'a> {
    pub fn new(announced: EntityType, mode: ConMode, now: UTime) -> Self {
        Exchange { announced, mode, now, tamper: Box::new(|_, _| {}), recorded: Vec::new() }
    }

    pub fn tampering(mut self, tamper: impl FnMut(Frame, &mut Vec<u8>) + 'a) -> Self {
        self.tamper = Box::new(tamper);
        self
    }

    pub fn run(
        &mut self,
        client: &mut dyn ClientAuthenticator,
        server: &mut dyn ServerAuthenticator,
        rng: &mut ScriptRng,
    ) -> Result<Both, Failure> {
        let mode = self.mode;
        let mut send = client.request(&mut AuthEnv::new(self.now, rng)).map_err(Failure::Client)?;
        let mut frame = Frame::Request;
        for _ in 0..5 {
            (self.tamper)(frame, &mut send);
            self.recorded.push(send.clone());
            let env = &mut AuthEnv::new(self.now, rng);
            let step = match frame {
                Frame::Request => server.request(self.announced, client.method(), mode, &send, env),
                _ => server.request_more(&send, env),
            };
            match step {
                Err(refused) => return Err(Failure::Refused(refused, client.bad_method(refused.errno))),
                Ok(ServerAuthStep::More(mut payload)) => {
                    (self.tamper)(Frame::ReplyMore, &mut payload);
                    let env = &mut AuthEnv::new(self.now, rng);
                    send = client.reply_more(&payload, env).map_err(Failure::Client)?;
                    frame = Frame::RequestMore;
                }
                Ok(ServerAuthStep::Done(server)) => {
                    let mut payload = server.payload.clone();
                    (self.tamper)(Frame::Done, &mut payload);
                    let env = &mut AuthEnv::new(self.now, rng);
                    let client =
                        client.done(server.global_id, mode, &payload, env).map_err(Failure::Client)?;
                    return Ok(Both { client, server: *server });
                }
            }
        }
        panic!("a handshake without end");
    }
}

/// Both ends derived the same keys.
pub fn assert_same_keys(both: &Both, mode: ConMode) {
    assert!(both.client.session_key == both.server.session_key);
    assert!(both.client.connection_secret == both.server.connection_secret);
    let expected = if mode == ConMode::Secure { 64 } else { 0 };
    assert_eq!(both.client.connection_secret.len(), expected);
}
