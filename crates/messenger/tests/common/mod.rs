//! A server that sends every message back, behind a real handshake, and clients for it.
#![allow(dead_code)] // each test binary uses its part

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use sepiola_cephx::{
    AllowedAuth, AuthMethod, ClientAuthenticator, ConMode, EntityAuth, KeyServer, MonAuthPolicy,
    MonAuthenticator, RotatingSecrets, SERVICES, ServerAuthenticator, ServiceSet, TicketKeeper,
};
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_messenger::{
    CloseReason, Connection, DialOptions, Dispatch, OutMessage, Outbox, Permit, Receiver, Refused, Sender,
    ServeOptions, Shutdown, ShutdownTrigger, Workers, listen, serve,
};
use sepiola_msgr2::{ClientConfig, FrameWriter, Message, MessageHeader, PeerInfo, ServerConfig};
use sepiola_wire::{EntityAddr, EntityAddrVec, EntityName, EntityType, GlobalId, Tid, UTime};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{mpsc, watch},
    task::JoinHandle,
};

/// The message types of these tests.
pub const ECHO: u16 = 0x7001;
/// Answered through the outbox by whoever releases it.
pub const HELD: u16 = 0x7002;
/// Ends the session.
pub const QUIT: u16 = 0x7003;
/// Makes the dispatcher panic.
pub const PANIC: u16 = 0x7004;

struct Keys {
    admin: EntityAuth,
    rotating: BTreeMap<EntityType, Arc<RotatingSecrets>>,
    last_global_id: AtomicU64,
}

impl KeyServer for Keys {
    fn entity(&self, name: &EntityName) -> Option<EntityAuth> {
        (*name == EntityName::client("admin")).then(|| self.admin.clone())
    }
    fn rotating(&self, service: EntityType) -> Option<Arc<RotatingSecrets>> {
        self.rotating.get(&service).cloned()
    }
    fn assign_global_id(&self) -> Option<GlobalId> {
        Some(GlobalId(self.last_global_id.fetch_add(1, Ordering::Relaxed)))
    }
}

pub struct Echo {
    addr: EntityAddr,
    keys: Arc<Keys>,
    policy: Arc<MonAuthPolicy>,
    pub handled: AtomicUsize,
    pub opened: AtomicUsize,
    pub closed: AtomicUsize,
    /// Messages of type [`HELD`] that are not answered yet.
    pub held: Mutex<Vec<(Outbox, OutMessage, Permit)>>,
    pub outboxes: Mutex<Vec<Outbox>>,
}

pub struct EchoSession {
    outbox: Outbox,
}

impl Dispatch for Echo {
    type Session = EchoSession;

    fn handshake(&self, peer: SocketAddr) -> (ServerConfig, Box<dyn ServerAuthenticator>) {
        let config = ServerConfig::new(EntityType::Mon, EntityAddrVec(vec![self.addr]), 0, peer);
        (config, Box::new(MonAuthenticator::new(self.keys.clone(), self.policy.clone())))
    }

    fn accepted(
        &self,
        peer: &PeerInfo,
        _: Box<dyn ServerAuthenticator>,
        outbox: Outbox,
    ) -> Result<EchoSession, Refused> {
        assert_eq!(peer.authenticated.as_ref().unwrap().name, EntityName::client("admin"));
        self.opened.fetch_add(1, Ordering::SeqCst);
        self.outboxes.lock().push(outbox.clone());
        Ok(EchoSession { outbox })
    }

    fn message(
        &self,
        session: &mut EchoSession,
        message: Message<'_>,
        writer: &mut FrameWriter,
    ) -> Result<(), CloseReason> {
        let header = MessageHeader { tid: message.header.tid, ..MessageHeader::new(ECHO, 1, 1) };
        match message.header.kind {
            ECHO => {
                self.handled.fetch_add(1, Ordering::SeqCst);
                let front = message.front;
                Ok(writer.message(&header, |out| out.extend_from_slice(front), &[], &[&message.data])?)
            }
            HELD => {
                self.handled.fetch_add(1, Ordering::SeqCst);
                let permit = session.outbox.begin(message.data.len() as u64);
                let reply = OutMessage::new(header, message.front.to_vec());
                self.held.lock().push((session.outbox.clone(), reply, permit));
                Ok(())
            }
            PANIC => panic!("a dispatcher's bug"),
            _ => Err(CloseReason::dispatch("asked to quit")),
        }
    }

    fn closed(&self, _: EchoSession) {
        self.closed.fetch_add(1, Ordering::SeqCst);
    }
}

impl Echo {
    /// Answers what is held.
    pub fn release(&self) {
        for (outbox, reply, permit) in std::mem::take(&mut *self.held.lock()) {
            // A connection that has gone needs no answer.
            let _ = outbox.push(reply);
            drop(permit);
        }
    }
}

/// A running server; dropping it ends it.
pub struct Server {
    pub echo: Arc<Echo>,
    pub addr: SocketAddr,
    pub key: CryptoKey,
    pub task: JoinHandle<()>,
    pub stop: ShutdownTrigger,
}

pub fn start(methods: &[AuthMethod], modes: &[ConMode], options: ServeOptions) -> Server {
    let mut rng = rand::rng();
    let now = UTime::now();
    let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let addr = listener.local_addr().unwrap();
    let key = CryptoKey::generate(KeyType::Aes, now, &mut rng);
    let rotating = SERVICES
        .into_iter()
        .filter_map(|service| {
            let secrets =
                RotatingSecrets::default().rotate(now, Duration::from_secs(3600), KeyType::Aes, &mut rng)?;
            Some((service, Arc::new(secrets)))
        })
        .collect();
    let caps = [("mon", "allow *"), ("osd", "allow *")].map(|(k, v)| (k.to_owned(), v.to_owned()));
    let keys = Keys {
        admin: EntityAuth::new(key.clone(), caps.into()),
        rotating,
        last_global_id: AtomicU64::new(4100),
    };
    let policy = MonAuthPolicy::new(AllowedAuth::uniform(methods, modes), KeyType::Aes, &mut rng);
    let echo = Arc::new(Echo {
        addr: EntityAddr::msgr2(addr, 7),
        keys: Arc::new(keys),
        policy: Arc::new(policy),
        handled: AtomicUsize::new(0),
        opened: AtomicUsize::new(0),
        closed: AtomicUsize::new(0),
        held: Mutex::default(),
        outboxes: Mutex::default(),
    });
    let (stop, shutdown) = Shutdown::new();
    let task = tokio::spawn(serve(listener, echo.clone(), options, shutdown));
    Server { echo, addr, key, task, stop }
}

/// The usual server: cephx, secure.
pub fn start_secure(options: ServeOptions) -> Server {
    start(&[AuthMethod::Cephx], &[ConMode::Secure], options)
}

pub fn workers(count: usize) -> Workers {
    Workers::start("worker", NonZeroUsize::new(count).unwrap()).unwrap()
}

impl Server {
    pub fn config(&self, modes: &[ConMode]) -> ClientConfig {
        let own = EntityAddr::client([127, 0, 0, 1].into(), 99);
        let mut config = ClientConfig::new(
            EntityType::Client,
            EntityAddrVec(vec![own]),
            EntityType::Mon,
            EntityAddr::msgr2(self.addr, 7),
        );
        config.modes = modes.to_vec();
        config
    }

    pub fn auth(&self, method: AuthMethod) -> Box<dyn ClientAuthenticator> {
        let name = EntityName::client("admin");
        match method {
            AuthMethod::None => TicketKeeper::without_keys(name),
            _ => TicketKeeper::new(name, self.key.clone(), ServiceSet::CLIENT),
        }
        .mon_authenticator()
    }

    pub async fn dial(&self) -> (Sender, Receiver) {
        self.dial_with(AuthMethod::Cephx, ConMode::Secure, DialOptions::default()).await
    }

    pub async fn dial_with(
        &self,
        method: AuthMethod,
        mode: ConMode,
        options: DialOptions,
    ) -> (Sender, Receiver) {
        Connection::dial(self.addr, self.config(&[mode]), self.auth(method), options).await.unwrap()
    }
}

/// A reply as a test sees it.
#[derive(Debug, PartialEq, Eq)]
pub struct Got {
    pub tid: u64,
    pub front: Vec<u8>,
    pub data: Vec<u8>,
}

/// Runs the receiver; what it receives comes out of the channel.
pub fn run(receiver: Receiver) -> (mpsc::UnboundedReceiver<Got>, JoinHandle<CloseReason>) {
    let (got, replies) = mpsc::unbounded_channel();
    let task = tokio::spawn(receiver.run(move |message: Message<'_>, _: &Sender| {
        let tid = message.header.tid.0;
        // The test may have heard enough.
        let _ = got.send(Got { tid, front: message.front.to_vec(), data: message.data.to_vec() });
        Ok(())
    }));
    (replies, task)
}

pub fn send(sender: &Sender, kind: u16, tid: u64, front: &[u8], data: &[u8]) {
    let header = MessageHeader { tid: Tid(tid), ..MessageHeader::new(kind, 1, 1) };
    sender.send(&header, |out| out.extend_from_slice(front), &[data]).unwrap();
}

/// Waits until a counter that something else moves has come to `value`.
pub async fn until(counter: &AtomicUsize, value: usize) {
    while counter.load(Ordering::SeqCst) < value {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Waits until a counter stands still, and returns it.
pub async fn settled(counter: &AtomicUsize) -> usize {
    loop {
        let before = counter.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(150)).await;
        if counter.load(Ordering::SeqCst) == before && before > 0 {
            return before;
        }
    }
}

/// What a relay does with the bytes of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Passes them on.
    All,
    /// Leaves them in the socket.
    Wait,
    /// Loses them.
    Nothing,
    /// Changes a bit in each read.
    Flipped,
}

/// Something between a client and the server that can misbehave. Takes one connection.
pub struct Relay {
    pub addr: SocketAddr,
    pub from_client: watch::Sender<Pass>,
    pub from_server: watch::Sender<Pass>,
}

pub async fn relay(target: SocketAddr) -> Relay {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let (from_client, client_pass) = watch::channel(Pass::All);
    let (from_server, server_pass) = watch::channel(Pass::All);
    tokio::spawn(async move {
        let (client, _) = listener.accept().await.unwrap();
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = TcpStream::connect(target).await.unwrap().into_split();
        tokio::spawn(pass(from_client, to_server, client_pass));
        pass(from_server, to_client, server_pass).await;
    });
    Relay { addr, from_client, from_server }
}

async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut how: watch::Receiver<Pass>) {
    let mut buffer = [0; 65536];
    loop {
        if how.wait_for(|how| *how != Pass::Wait).await.is_err() {
            return;
        }
        let Ok(n @ 1..) = from.read(&mut buffer).await else { return };
        match *how.borrow() {
            Pass::Nothing => continue,
            Pass::Flipped => buffer[n / 2] ^= 1,
            // It came too late for these bytes.
            Pass::All | Pass::Wait => {}
        }
        if to.write_all(&buffer[..n]).await.is_err() {
            return;
        }
    }
}
