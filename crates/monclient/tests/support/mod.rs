//! A monitor that does what a test tells it to, in this process, over real sockets.

#![allow(dead_code)]

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use sepiola_cephx::{
    AllowedAuth, AuthEnv, AuthMethod, ConMode, EntityAuth, KeyServer, MonAuthPolicy, MonAuthenticator,
    RotatingSecrets, ServerAuthenticator, TicketLife,
};
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_messages::*;
use sepiola_messenger::{
    CloseReason, Dispatch, OutMessage, Outbox, Refused, ServeOptions, Shutdown, ShutdownTrigger, header_of,
    listen, serve,
};
use sepiola_monclient::{Credentials, MonClientOptions};
use sepiola_msgr2::{FrameWriter, Message, PeerInfo, ServerConfig};
use sepiola_osdmap::{CANONICAL_FEATURES, OsdMap, Published};
use sepiola_wire::{
    EntityAddr, EntityAddrVec, EntityName, EntityType, Epoch, Features, GlobalId, Tid, UTime, Uuid,
};

pub const FSID: Uuid = Uuid::from_u128(0x5e9_101a);

/// What a monitor has received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    Subscribe { session: u64, what: String, start: u64, onetime: bool },
    Command { session: u64, tid: u64, cmd: String },
    PoolOp { session: u64, tid: u64 },
    Auth { session: u64 },
}

/// A cluster of monitors that share everything but their sockets.
pub struct Cluster {
    pub monmap: Mutex<MonMap>,
    pub maps: Mutex<Vec<Published>>,
    pub received: Mutex<Vec<Received>>,
    /// Commands, queries and pool operations are not answered.
    pub mute: AtomicBool,
    /// Subscriptions are not answered.
    pub no_maps: AtomicBool,
    pub entities: Mutex<BTreeMap<EntityName, EntityAuth>>,
    rotating: Mutex<BTreeMap<EntityType, Arc<RotatingSecrets>>>,
    policy: Arc<MonAuthPolicy>,
    last_global_id: AtomicU64,
    last_session: AtomicU64,
    sessions: Mutex<BTreeMap<u64, (SocketAddr, Outbox)>>,
}

impl KeyServer for Cluster {
    fn entity(&self, name: &EntityName) -> Option<EntityAuth> {
        self.entities.lock().get(name).cloned()
    }
    fn rotating(&self, service: EntityType) -> Option<Arc<RotatingSecrets>> {
        self.rotating.lock().get(&service).cloned()
    }
    fn assign_global_id(&self) -> Option<GlobalId> {
        Some(GlobalId(4100 + self.last_global_id.fetch_add(1, Ordering::Relaxed)))
    }
}

impl Cluster {
    fn new(methods: &[AuthMethod], modes: &[ConMode], ticket_life: TicketLife) -> Arc<Self> {
        let rng = &mut rand::rng();
        let now = UTime::now();
        let services = [EntityType::Mon, EntityType::Osd, EntityType::Mgr, EntityType::Auth, EntityType::Mds];
        let rotating = services.map(|service| {
            let ttl = Duration::from_secs(3600);
            let secrets = RotatingSecrets::default().rotate(now, ttl, KeyType::Aes, rng).unwrap();
            (service, Arc::new(secrets))
        });
        let mut policy = MonAuthPolicy::new(AllowedAuth::uniform(methods, modes), KeyType::Aes, rng);
        policy.ticket_life = ticket_life;
        let first = OsdMap::new(FSID, now);
        let full = first.encode(CANONICAL_FEATURES);
        let cluster = Arc::new(Cluster {
            monmap: Mutex::new(MonMap::new(FSID, now)),
            maps: Mutex::new(vec![Published { map: first, full, incremental: Vec::new() }]),
            received: Mutex::default(),
            mute: AtomicBool::new(false),
            no_maps: AtomicBool::new(false),
            entities: Mutex::default(),
            rotating: Mutex::new(rotating.into()),
            policy: Arc::new(policy),
            last_global_id: AtomicU64::new(0),
            last_session: AtomicU64::new(0),
            sessions: Mutex::default(),
        });
        cluster.publish(3);
        cluster
    }

    /// Without keys.
    pub fn open() -> Arc<Self> {
        Self::new(&[AuthMethod::None], &[ConMode::Crc], TicketLife::default())
    }

    /// With keys; gives the key of an entity that may do everything.
    pub fn closed(name: &EntityName) -> (Arc<Self>, CryptoKey) {
        Self::with_ticket_life(name, TicketLife::default())
    }

    /// With keys, and tickets of a given life.
    pub fn with_ticket_life(name: &EntityName, life: TicketLife) -> (Arc<Self>, CryptoKey) {
        let cluster = Self::new(&[AuthMethod::Cephx], &[ConMode::Secure], life);
        let key = CryptoKey::generate(KeyType::Aes, UTime::now(), &mut rand::rng());
        let caps = ["mon", "osd", "mgr"].map(|s| (s.to_owned(), "allow *".to_owned()));
        cluster.entities.lock().insert(name.clone(), EntityAuth::new(key.clone(), caps.into()));
        (cluster, key)
    }

    /// Makes maps up to `epoch` and pushes none.
    pub fn publish(&self, epoch: u32) {
        let mut maps = self.maps.lock();
        while maps.last().unwrap().map.epoch().0 < epoch {
            let map = &maps.last().unwrap().map;
            let next = map.publish(map.next_incremental(UTime::now())).unwrap();
            maps.push(next);
        }
    }

    pub fn epoch(&self) -> u32 {
        self.maps.lock().last().unwrap().map.epoch().0
    }

    /// A map message with incrementals and a full map.
    pub fn map_message(
        &self,
        incrementals: impl IntoIterator<Item = u32>,
        full: Option<u32>,
    ) -> OsdMapMessage {
        let maps = self.maps.lock();
        let find = |epoch: u32| maps.iter().find(|p| p.map.epoch().0 == epoch).unwrap();
        OsdMapMessage {
            fsid: FSID,
            incremental: incrementals
                .into_iter()
                .map(|e| (Epoch(e), find(e).incremental.clone().into()))
                .collect(),
            full: full.map(|e| (Epoch(e), find(e).full.clone().into())).into_iter().collect(),
            oldest: Epoch(1),
            newest: maps.last().unwrap().map.epoch(),
        }
    }

    /// Sends a message to every session.
    pub fn push<M: WireMessage>(&self, message: &M) {
        for (_, outbox) in self.sessions.lock().values() {
            let _ = outbox.push(out(message, Tid(0)));
        }
    }

    /// Breaks every session.
    pub fn break_sessions(&self) {
        for (_, outbox) in self.sessions.lock().values() {
            outbox.close();
        }
    }

    pub fn session_count(&self) -> usize {
        self.sessions.lock().len()
    }

    /// Which monitors have sessions.
    pub fn session_addrs(&self) -> Vec<SocketAddr> {
        self.sessions.lock().values().map(|(addr, _)| *addr).collect()
    }

    pub fn commands(&self) -> Vec<(u64, u64, String)> {
        let received = self.received.lock();
        received
            .iter()
            .filter_map(|r| match r {
                Received::Command { session, tid, cmd } => Some((*session, *tid, cmd.clone())),
                _ => None,
            })
            .collect()
    }

    /// The starts that were asked for `what`, by session.
    pub fn subscriptions(&self, wanted: &str) -> Vec<(u64, u64, bool)> {
        let received = self.received.lock();
        received
            .iter()
            .filter_map(|r| match r {
                Received::Subscribe { session, what, start, onetime } if what == wanted => {
                    Some((*session, *start, *onetime))
                }
                _ => None,
            })
            .collect()
    }
}

fn out<M: WireMessage>(message: &M, tid: Tid) -> OutMessage {
    OutMessage::typed(message, tid, Features::SUPPORTED)
}

/// One monitor of a cluster.
pub struct Mon {
    pub addr: EntityAddr,
    end: Option<ShutdownTrigger>,
    task: tokio::task::JoinHandle<()>,
}

struct Server {
    cluster: Arc<Cluster>,
    addr: EntityAddr,
}

pub struct Session {
    number: u64,
    auth: Box<dyn ServerAuthenticator>,
    outbox: Outbox,
    global_id: GlobalId,
}

impl Mon {
    /// Starts one and adds it to the cluster's monitor map.
    pub fn start(cluster: &Arc<Cluster>, name: &str) -> Self {
        let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let addr = EntityAddr::msgr2(listener.local_addr().unwrap(), 0);
        cluster.monmap.lock().add(name, addr.into());
        let (end, shutdown) = Shutdown::new();
        let server = Arc::new(Server { cluster: cluster.clone(), addr });
        let task = tokio::spawn(serve(listener, server, ServeOptions::default(), shutdown));
        Mon { addr, end: Some(end), task }
    }

    pub fn socket(&self) -> SocketAddr {
        self.addr.socket.unwrap()
    }

    /// Stops listening and drops its sessions.
    pub async fn stop(mut self) {
        self.end.take();
        let _ = self.task.await;
    }
}

impl Dispatch for Server {
    type Session = Session;

    fn handshake(&self, peer: SocketAddr) -> (ServerConfig, Box<dyn ServerAuthenticator>) {
        let config = ServerConfig::new(EntityType::Mon, EntityAddrVec::from(self.addr), 0, peer);
        let keys: Arc<dyn KeyServer> = self.cluster.clone();
        (config, Box::new(MonAuthenticator::new(keys, self.cluster.policy.clone())))
    }

    fn accepted(
        &self,
        peer: &PeerInfo,
        auth: Box<dyn ServerAuthenticator>,
        outbox: Outbox,
    ) -> Result<Session, Refused> {
        let number = self.cluster.last_session.fetch_add(1, Ordering::Relaxed) + 1;
        self.cluster.sessions.lock().insert(number, (self.addr.socket.unwrap(), outbox.clone()));
        Ok(Session { number, auth, outbox, global_id: peer.global_id })
    }

    fn message(
        &self,
        session: &mut Session,
        message: Message<'_>,
        writer: &mut FrameWriter,
    ) -> Result<(), CloseReason> {
        let cluster = &self.cluster;
        let (tid, version) = (message.header.tid, message.header.version);
        let mut reply = Reply { writer, tid };
        macro_rules! decode {
            ($ty:ty) => {
                <$ty>::decode(version, message.front, &message.data).unwrap()
            };
        }
        let mute = cluster.mute.load(Ordering::Relaxed);
        match message.header.kind {
            kind::MON_SUBSCRIBE => {
                let request = decode!(MonSubscribe);
                for (what, sub) in request.what {
                    cluster.received.lock().push(Received::Subscribe {
                        session: session.number,
                        what: what.clone(),
                        start: sub.start,
                        onetime: sub.flags.is_onetime(),
                    });
                    if !cluster.no_maps.load(Ordering::Relaxed) {
                        self.answer_subscription(&what, sub, &mut reply);
                    }
                }
            }
            kind::MON_COMMAND => {
                let command = decode!(MonCommand);
                assert_eq!(command.fsid, FSID);
                let cmd = command.cmd.concat();
                cluster.received.lock().push(Received::Command {
                    session: session.number,
                    tid: tid.0,
                    cmd: cmd.clone(),
                });
                if !mute {
                    let known = cmd.contains("status");
                    reply.send(&MonCommandAck {
                        result: if known { 0 } else { -22 },
                        status: if known { "fine" } else { "command not known" }.to_owned(),
                        output: [cmd.as_bytes(), &command.input].concat().into(),
                        ..MonCommandAck::default()
                    });
                }
            }
            kind::MON_GET_VERSION if !mute => {
                let request = decode!(MonGetVersion);
                assert_eq!(tid, Tid(0));
                let version = u64::from(cluster.epoch());
                reply.send(&MonGetVersionReply { handle: request.handle, version, oldest: 1 });
            }
            kind::POOLOP => {
                let request = decode!(PoolOp);
                cluster.received.lock().push(Received::PoolOp { session: session.number, tid: tid.0 });
                let mut result = -17;
                if request.name != "exists" {
                    result = 0;
                    cluster.publish(cluster.epoch() + 1);
                }
                if !mute {
                    let epoch = Epoch(cluster.epoch());
                    reply.send(&PoolOpReply { fsid: FSID, result, epoch, ..PoolOpReply::default() });
                }
            }
            kind::STATFS if !mute => {
                reply.send(&StatfsReply { fsid: FSID, kb: 1024, ..StatfsReply::default() });
            }
            kind::GET_POOL_STATS if !mute => {
                let request = decode!(GetPoolStats);
                let pools = request.pools.into_iter().map(|name| (name, PoolStat::default())).collect();
                reply.send(&GetPoolStatsReply { fsid: FSID, pools, ..GetPoolStatsReply::default() });
            }
            kind::AUTH => {
                let request = decode!(Auth);
                cluster.received.lock().push(Received::Auth { session: session.number });
                let answer =
                    session.auth.mauth(&request.payload, &mut AuthEnv::new(UTime::now(), &mut rand::rng()));
                let (result, payload) = match answer {
                    Ok(payload) => (0, payload.into()),
                    Err(refused) => (refused.errno.to_wire(), Default::default()),
                };
                reply.send(&AuthReply {
                    protocol: 2,
                    result,
                    global_id: session.global_id,
                    payload,
                    message: String::new(),
                });
            }
            kind::SEPIOLA_OSD_BOOT => {
                let boot = decode!(proto::OsdBoot);
                reply.send(&proto::OsdStatsAck { seq: boot.map_epoch.into() });
            }
            _ => {}
        }
        Ok(())
    }

    fn closed(&self, session: Session) {
        self.cluster.sessions.lock().remove(&session.number);
    }
}

struct Reply<'a> {
    writer: &'a mut FrameWriter,
    tid: Tid,
}

impl Reply<'_> {
    fn send<M: WireMessage>(&mut self, message: &M) {
        let front = |out: &mut Vec<u8>| message.encode_front(out, Features::SUPPORTED);
        self.writer.message(&header_of::<M>(self.tid), front, &[], &[message.data()]).unwrap();
    }
}

impl Server {
    fn answer_subscription(&self, what: &str, sub: Subscription, reply: &mut Reply<'_>) {
        match what {
            "config" => {
                let options = [("debug_ms".to_owned(), "1".to_owned())].into();
                reply.send(&Config { options });
            }
            "monmap" => {
                let map = self.cluster.monmap.lock().clone();
                if sub.start <= map.epoch.0.into() {
                    reply.send(&MonMapMessage::new(&map, Features::SUPPORTED));
                }
            }
            "osdmap" => {
                let newest = self.cluster.epoch();
                let start = u32::try_from(sub.start).unwrap();
                if start == 0 {
                    reply.send(&self.cluster.map_message([], Some(newest)));
                } else if start <= newest {
                    reply.send(&self.cluster.map_message(start..=newest, None));
                }
            }
            _ => {}
        }
    }
}

/// Options for a test: short waits between attempts, long limits.
pub fn options(name: EntityName, credentials: Credentials, monitors: Vec<EntityAddr>) -> MonClientOptions {
    let mut options = MonClientOptions::new(name, credentials, monitors);
    options.connect_timeout = Duration::from_secs(30);
    options.hunt_interval = Duration::from_secs(2);
    options
}

/// A limit that no working test reaches.
pub const LIMIT: Duration = Duration::from_secs(30);

/// Waits until something holds.
pub async fn until(mut holds: impl FnMut() -> bool) {
    let wait = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LIMIT, wait).await.expect("it never held");
}
