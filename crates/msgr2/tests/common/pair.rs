//! A simulated cluster of one monitor and one OSD, and connections to them without a network.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rand::{SeedableRng, rngs::StdRng};
use sepiola_cephx::{
    AllowedAuth, AuthMethod, ConMode, EntityAuth, KeyServer, MonAuthPolicy, MonAuthenticator,
    RotatingSecrets, ServiceAuthenticator, ServiceSecrets, ServiceSet, TicketKeeper,
};
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_msgr2::{ClientConfig, Error, Established, Handshake, Progress, ReadBuffer, ServerConfig};
use sepiola_wire::{EntityAddr, EntityAddrVec, EntityName, EntityType, GlobalId, UTime};

pub const NOW: UTime = UTime::from_secs(1_800_000_000);

pub fn addr(text: &str) -> EntityAddr {
    text.parse().unwrap()
}

struct Keys {
    entities: BTreeMap<EntityName, EntityAuth>,
    rotating: BTreeMap<EntityType, Arc<RotatingSecrets>>,
    last_id: AtomicU64,
}

impl KeyServer for Keys {
    fn entity(&self, name: &EntityName) -> Option<EntityAuth> {
        self.entities.get(name).cloned()
    }
    fn rotating(&self, service: EntityType) -> Option<Arc<RotatingSecrets>> {
        self.rotating.get(&service).cloned()
    }
    fn assign_global_id(&self) -> Option<GlobalId> {
        Some(GlobalId(4100 + self.last_id.fetch_add(1, Ordering::Relaxed)))
    }
}

/// Everything that authentication needs to know, with fixed keys.
pub struct Cluster {
    keys: Arc<Keys>,
    policy: Arc<MonAuthPolicy>,
    allowed: Arc<AllowedAuth>,
    pub rng: StdRng,
}

pub const ADMIN: &str = "client.admin";

impl Cluster {
    pub fn new(key_type: KeyType, methods: &[AuthMethod], modes: &[ConMode]) -> Self {
        let mut rng = StdRng::seed_from_u64(1);
        let mut entities = BTreeMap::new();
        for name in [ADMIN, "osd.3"] {
            let caps = ["mon", "osd"].map(|service| (service.to_owned(), "allow *".to_owned()));
            let key = CryptoKey::generate(key_type, NOW, &mut rng);
            entities.insert(name.parse().unwrap(), EntityAuth::new(key, BTreeMap::from(caps)));
        }
        let mut rotating = BTreeMap::new();
        for service in sepiola_cephx::SERVICES {
            let secrets = RotatingSecrets::default();
            let secrets = secrets.rotate(NOW, Duration::from_secs(3600), key_type, &mut rng).unwrap();
            rotating.insert(service, Arc::new(secrets));
        }
        let allowed = AllowedAuth::uniform(methods, modes);
        let policy = MonAuthPolicy::new(allowed.clone(), key_type, &mut rng);
        let keys = Keys { entities, rotating, last_id: AtomicU64::new(0) };
        Cluster { keys: Arc::new(keys), policy: Arc::new(policy), allowed: Arc::new(allowed), rng }
    }

    pub fn key(&self, name: &str) -> CryptoKey {
        self.keys.entity(&name.parse().unwrap()).unwrap().key
    }

    pub fn keeper(&self, name: &str) -> TicketKeeper {
        TicketKeeper::new(name.parse().unwrap(), self.key(name), ServiceSet::CLIENT)
    }

    pub fn mon_config(&self) -> ServerConfig {
        let addrs = vec![addr("v2:127.0.0.1:3300/0"), addr("v1:127.0.0.1:6789/0")];
        ServerConfig::new(EntityType::Mon, EntityAddrVec(addrs), 0, "127.0.0.9:40000".parse().unwrap())
    }

    pub fn osd_config(&self) -> ServerConfig {
        let addrs = vec![addr("v2:127.0.0.1:6800/77")];
        ServerConfig::new(EntityType::Osd, EntityAddrVec(addrs), 3, "127.0.0.9:40001".parse().unwrap())
    }

    pub fn client_config(&self, server: &ServerConfig, modes: &[ConMode]) -> ClientConfig {
        let own = EntityAddrVec(vec![addr("0.0.0.0:0/1234")]);
        let mut config = ClientConfig::new(EntityType::Client, own, server.kind, server.addrs.0[0]);
        config.modes = modes.to_vec();
        config
    }

    pub fn mon(&self) -> Handshake {
        self.mon_with(self.mon_config())
    }

    pub fn mon_with(&self, config: ServerConfig) -> Handshake {
        Handshake::server(config, Box::new(MonAuthenticator::new(self.keys.clone(), self.policy.clone())))
    }

    pub fn osd(&self) -> Handshake {
        let secrets = ServiceSecrets::new();
        secrets.install(RotatingSecrets::clone(&self.keys.rotating(EntityType::Osd).unwrap()));
        let auth = ServiceAuthenticator::new(EntityType::Osd, Arc::new(secrets), self.allowed.clone());
        Handshake::server(self.osd_config(), Box::new(auth))
    }

    pub fn client(&self, keeper: &TicketKeeper, modes: &[ConMode]) -> Handshake {
        Handshake::client(self.client_config(&self.mon_config(), modes), keeper.mon_authenticator())
    }

    pub fn osd_client(&self, keeper: &TicketKeeper, modes: &[ConMode]) -> Handshake {
        let auth = keeper.service_authenticator(EntityType::Osd, NOW).unwrap();
        Handshake::client(self.client_config(&self.osd_config(), modes), auth)
    }
}

/// What became of one side.
pub enum Side {
    Opening(Box<Handshake>),
    Open(Box<Established>),
    Failed(Error),
}

impl Side {
    pub fn established(self) -> Established {
        match self {
            Side::Open(open) => *open,
            Side::Opening(_) => panic!("waits for more"),
            Side::Failed(error) => panic!("failed: {error}"),
        }
    }

    pub fn error(self) -> Error {
        match self {
            Side::Failed(error) => error,
            Side::Opening(_) => panic!("waits for more"),
            Side::Open(_) => panic!("is open"),
        }
    }

    pub fn is_open(&self) -> bool {
        matches!(self, Side::Open(_))
    }

    fn take_output(&mut self) -> Vec<u8> {
        match self {
            Side::Opening(handshake) => std::mem::take(handshake.output()),
            Side::Open(open) => {
                let out = open.writer.pending().to_vec();
                open.writer.consume(out.len());
                out
            }
            Side::Failed(_) => Vec::new(),
        }
    }

    /// Reads one piece; returns what the side still says when that was its end.
    fn input(&mut self, buffer: &mut ReadBuffer, bytes: &[u8], rng: &mut StdRng) -> Vec<u8> {
        let Side::Opening(handshake) = self else {
            // Read ahead, for the established reader.
            buffer.extend(bytes);
            return Vec::new();
        };
        assert_eq!(buffer.extend(bytes), bytes.len());
        match handshake.advance(buffer, NOW, rng) {
            Ok(Progress::Ready) => {
                let Side::Opening(handshake) = std::mem::replace(self, Side::Failed(failed())) else {
                    unreachable!()
                };
                *self = Side::Open(Box::new(handshake.into_established()));
                Vec::new()
            }
            Ok(_) => Vec::new(),
            Err(error) => {
                let last = std::mem::take(handshake.output());
                *self = Side::Failed(error);
                last
            }
        }
    }
}

fn failed() -> Error {
    sepiola_msgr2::LocalFault::Failed.into()
}

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    ToServer,
    ToClient,
}

/// Both ends and what they have read.
pub struct Pair {
    pub client: Side,
    pub server: Side,
    pub client_input: ReadBuffer,
    pub server_input: ReadBuffer,
}

/// Lets both sides talk until nobody says anything more. `line` sees everything that one side has said
/// since its last turn, may change it, and says in which pieces it arrives.
pub fn connect(client: Handshake, server: Handshake, line: impl FnMut(Way, Vec<u8>) -> Vec<Vec<u8>>) -> Pair {
    connect_with(StdRng::seed_from_u64(7), client, server, line)
}

/// [`connect`] with its own randomness.
pub fn connect_with(
    mut rng: StdRng,
    client: Handshake,
    server: Handshake,
    mut line: impl FnMut(Way, Vec<u8>) -> Vec<Vec<u8>>,
) -> Pair {
    let mut pair = Pair {
        client: Side::Opening(Box::new(client)),
        server: Side::Opening(Box::new(server)),
        client_input: ReadBuffer::new(),
        server_input: ReadBuffer::new(),
    };
    let (mut last_of_client, mut last_of_server) = (Vec::new(), Vec::new());
    loop {
        let mut to_server = pair.client.take_output();
        to_server.append(&mut last_of_client);
        let mut to_client = pair.server.take_output();
        to_client.append(&mut last_of_server);
        if to_server.is_empty() && to_client.is_empty() {
            return pair;
        }
        if !to_server.is_empty() {
            for piece in line(Way::ToServer, to_server) {
                last_of_server.extend(pair.server.input(&mut pair.server_input, &piece, &mut rng));
            }
        }
        if !to_client.is_empty() {
            for piece in line(Way::ToClient, to_client) {
                last_of_client.extend(pair.client.input(&mut pair.client_input, &piece, &mut rng));
            }
        }
    }
}

/// A line that changes nothing.
pub fn plain(_: Way, bytes: Vec<u8>) -> Vec<Vec<u8>> {
    vec![bytes]
}
