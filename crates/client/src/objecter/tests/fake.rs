//! OSDs that do as they are told, over real sockets, and monitors that say what they are told.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use sepiola_cephx::{
    AllowedAuth, AuthEnv, AuthMethod, AuthRefused, ClientAuthenticator, ConMode, NoneAuthenticator,
    ServerAuthStep, ServerAuthenticator, ServiceAuthenticator, ServiceSecrets,
};
use sepiola_crypto::CryptoOptions;
use sepiola_messages::{
    BackoffOp, OsdBackoff, WireMessage, kind,
    osd_op::{
        OpCode, OpOutcome, OpSpec, OsdOpRequest, REPLY_COMPAT, REPLY_VERSION, ReplyHead, RequestFlags,
        RequestHead, encode_reply,
    },
};
use sepiola_messenger::{
    CloseReason, Dispatch, OutMessage, Outbox, Refused, ServeOptions, Shutdown, ShutdownTrigger, listen,
    serve,
};
use sepiola_msgr2::{FrameWriter, Message, MessageHeader, PeerInfo, ServerConfig};
use sepiola_osdmap::{Incremental, MapFlags, OsdBoot, OsdMap, Pool};
use sepiola_wire::{
    EntityAddr, EntityAddrVec, EntityName, EntityType, Epoch, Errno, Features, GlobalId, HObject,
    ObjectLocator, OsdId, PgId, PoolId, SnapId, SpgId, UTime, Uuid,
};
use tokio::sync::watch;

use crate::{
    Error,
    objecter::{MonitorLink, Objecter, ObjecterOptions, Reply, Request, request_flags},
};

pub(super) const POOL: PoolId = PoolId(1);
const PG: PgId = PgId::new(POOL, 0);

/// What an OSD does with an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Answers at once.
    Answer,
    /// Keeps it until [`FakeOsd::release`].
    Hold,
    /// Answers with this result.
    Fail(Errno),
    /// Closes the connection.
    HangUp,
    /// Tells the client to back off from this object and drops the operation.
    BackOff(u64),
}

/// What arrived.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub tid: u64,
    pub oid: Vec<u8>,
    pub attempt: i32,
    pub flags: RequestFlags,
    pub epoch: Epoch,
    pub spg: SpgId,
    pub hash: u32,
    pub data: Vec<u8>,
}

struct Held {
    outbox: Outbox,
    message: OutMessage,
}

pub(super) struct FakeOsd {
    pub id: OsdId,
    addr: EntityAddr,
    mode: Mutex<Mode>,
    pub denies: Mutex<bool>,
    pub seen: Mutex<Vec<Seen>>,
    held: Mutex<Vec<Held>>,
    /// BACKOFF messages from the client.
    pub backoff_acks: Mutex<Vec<OsdBackoff>>,
    outbox: Mutex<Option<Outbox>>,
    pub sessions: AtomicUsize,
    arrivals: watch::Sender<usize>,
    _stop: ShutdownTrigger,
}

impl FakeOsd {
    pub(super) fn start(id: i32) -> Arc<Self> {
        let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let addr = EntityAddr::msgr2(listener.local_addr().unwrap(), 1000 + id as u32);
        let (stop, shutdown) = Shutdown::new();
        let osd = Arc::new(FakeOsd {
            id: OsdId(id),
            addr,
            mode: Mutex::new(Mode::Answer),
            denies: Mutex::new(false),
            seen: Mutex::default(),
            held: Mutex::default(),
            backoff_acks: Mutex::default(),
            outbox: Mutex::default(),
            sessions: AtomicUsize::new(0),
            arrivals: watch::channel(0).0,
            _stop: stop,
        });
        tokio::spawn(serve(listener, osd.clone(), ServeOptions::default(), shutdown));
        osd
    }

    pub(super) fn set(&self, mode: Mode) {
        *self.mode.lock() = mode;
    }

    /// Answers what is held, in this order of the arrivals.
    pub(super) fn release(&self, newest_first: bool) {
        let mut held = std::mem::take(&mut *self.held.lock());
        if newest_first {
            held.reverse();
        }
        for Held { outbox, message } in held {
            // The client may have gone elsewhere.
            let _ = outbox.push(message);
        }
    }

    /// Answers the operation that arrived first of those held.
    pub(super) fn release_first(&self) {
        let Held { outbox, message } = self.held.lock().remove(0);
        outbox.push(message).unwrap();
    }

    /// Waits until so many operations have arrived in all.
    pub(super) async fn arrived(&self, count: usize) -> Vec<Seen> {
        self.arrivals.subscribe().wait_for(|n| *n >= count).await.unwrap();
        self.seen.lock().clone()
    }

    pub(super) fn hang_up(&self) {
        if let Some(outbox) = &*self.outbox.lock() {
            outbox.close();
        }
    }

    fn backoff(&self, op: BackoffOp, id: u64, object: HObject) -> OutMessage {
        let backoff = OsdBackoff {
            spg: SpgId::replicated(PgId::new(POOL, 0)),
            map_epoch: Epoch(1),
            op,
            id,
            begin: object.clone(),
            end: object,
        };
        let mut front = Vec::new();
        backoff.encode_front(&mut front, Features::SUPPORTED);
        OutMessage::new(MessageHeader::new(kind::OSD_BACKOFF, OsdBackoff::VERSION, OsdBackoff::COMPAT), front)
    }

    pub(super) fn unblock(&self, id: u64, object: HObject) {
        let message = self.backoff(BackoffOp::Unblock, id, object);
        self.outbox.lock().as_ref().unwrap().push(message).unwrap();
    }

    fn reply(&self, message: &Message<'_>, request: &OsdOpRequest<'_>, result: i32) -> OutMessage {
        let mut head = ReplyHead::new(request, result, request.map_epoch);
        head.user_version = 77;
        // A read gets its object's name back.
        let reads = request.codes().any(|code| code == OpCode::READ) && result >= 0;
        let output = if reads { request.oid } else { &[] };
        let outcomes = [OpOutcome { output_len: output.len() as u32, ..OpOutcome::default() }];
        let mut front = Vec::new();
        encode_reply(&mut front, &head, request.raw_ops(), &outcomes);
        let header = MessageHeader::new(kind::OSD_OPREPLY, REPLY_VERSION, REPLY_COMPAT);
        OutMessage::new(header.with_tid(message.header.tid), front).with_data(output.to_vec())
    }
}

impl Dispatch for FakeOsd {
    type Session = Outbox;

    fn handshake(&self, peer: SocketAddr) -> (ServerConfig, Box<dyn ServerAuthenticator>) {
        let config =
            ServerConfig::new(EntityType::Osd, EntityAddrVec(vec![self.addr]), self.id.0.into(), peer);
        if *self.denies.lock() {
            return (config, Box::new(Denier));
        }
        let allowed = Arc::new(AllowedAuth::uniform(&[AuthMethod::None], &[ConMode::Crc]));
        let secrets = Arc::new(ServiceSecrets::new());
        (config, Box::new(ServiceAuthenticator::new(EntityType::Osd, secrets, allowed)))
    }

    fn accepted(
        &self,
        _: &PeerInfo,
        _: Box<dyn ServerAuthenticator>,
        outbox: Outbox,
    ) -> Result<Outbox, Refused> {
        self.sessions.fetch_add(1, Ordering::SeqCst);
        *self.outbox.lock() = Some(outbox.clone());
        Ok(outbox)
    }

    fn message(
        &self,
        outbox: &mut Outbox,
        message: Message<'_>,
        writer: &mut FrameWriter,
    ) -> Result<(), CloseReason> {
        let MessageHeader { kind, version, tid, .. } = message.header;
        if kind == kind::OSD_BACKOFF {
            let ack = OsdBackoff::decode(version, message.front, &message.data).unwrap();
            self.backoff_acks.lock().push(ack);
            return Ok(());
        }
        let request = OsdOpRequest::decode(version, message.front, &message.data).unwrap();
        self.seen.lock().push(Seen {
            tid: tid.0,
            oid: request.oid.to_vec(),
            attempt: request.retry_attempt,
            flags: request.flags,
            epoch: request.map_epoch,
            spg: request.spg,
            hash: request.hash,
            data: request.data().to_vec(),
        });
        self.arrivals.send_modify(|n| *n += 1);
        let reply = match *self.mode.lock() {
            Mode::Answer => self.reply(&message, &request, 0),
            Mode::Fail(errno) => self.reply(&message, &request, errno.to_wire()),
            Mode::Hold => {
                let message = self.reply(&message, &request, 0);
                self.held.lock().push(Held { outbox: outbox.clone(), message });
                return Ok(());
            }
            Mode::HangUp => return Err(CloseReason::dispatch("told to")),
            Mode::BackOff(id) => self.backoff(BackoffOp::Block, id, request.hobject()),
        };
        let front = &reply.front;
        Ok(writer.message(&reply.header, |out| out.extend_from_slice(front), &[], &[&reply.data])?)
    }

    fn closed(&self, _: Outbox) {}
}

/// Believes nobody, as an OSD does that cannot open a ticket.
struct Denier;

impl ServerAuthenticator for Denier {
    fn methods(&self, _: EntityType) -> &[AuthMethod] {
        &[AuthMethod::None]
    }
    fn modes(&self, _: EntityType, _: AuthMethod) -> &[ConMode] {
        &[ConMode::Crc]
    }
    fn request(
        &mut self,
        _: EntityType,
        _: AuthMethod,
        _: ConMode,
        _: &[u8],
        _: &mut AuthEnv<'_>,
    ) -> Result<ServerAuthStep, AuthRefused> {
        Err(AuthRefused { errno: Errno::EACCES, reason: "no valid ticket" })
    }
    fn request_more(&mut self, _: &[u8], _: &mut AuthEnv<'_>) -> Result<ServerAuthStep, AuthRefused> {
        Err(AuthRefused { errno: Errno::EACCES, reason: "no valid ticket" })
    }
}

pub(super) struct FakeMonitors {
    map: Mutex<Arc<OsdMap>>,
    epochs: watch::Sender<Epoch>,
    pub identity: AtomicU64,
    pub tickets_refused: AtomicUsize,
    /// The map that [`MonitorLink::catch_up`] finds.
    pub newest: Mutex<Option<Arc<OsdMap>>>,
    pub catch_ups: AtomicUsize,
}

impl MonitorLink for FakeMonitors {
    fn osdmap(&self) -> Arc<OsdMap> {
        self.map.lock().clone()
    }
    fn epochs(&self) -> watch::Receiver<Epoch> {
        self.epochs.subscribe()
    }
    fn want_map_after(&self, _: Epoch) {}
    fn catch_up(&self) -> BoxFuture<'_, Result<Epoch, Error>> {
        Box::pin(async {
            self.catch_ups.fetch_add(1, Ordering::SeqCst);
            if let Some(map) = self.newest.lock().take() {
                self.publish_map(map);
            }
            Ok(self.osdmap().epoch())
        })
    }
    fn received_maps(&self, _: u16, _: &[u8]) {}
    fn identity(&self) -> GlobalId {
        GlobalId(self.identity.load(Ordering::SeqCst))
    }
    fn own_addrs(&self) -> EntityAddrVec {
        EntityAddr::client([127, 0, 0, 1].into(), 5).into()
    }
    fn osd_authenticator(&self) -> BoxFuture<'_, Result<Box<dyn ClientAuthenticator>, Error>> {
        let auth = NoneAuthenticator::to_service(EntityName::client("admin"), self.identity());
        Box::pin(async { Ok(Box::new(auth) as Box<dyn ClientAuthenticator>) })
    }
    fn ticket_refused(&self) {
        self.tickets_refused.fetch_add(1, Ordering::SeqCst);
    }
}

impl FakeMonitors {
    fn publish_map(&self, map: Arc<OsdMap>) {
        let epoch = map.epoch();
        *self.map.lock() = map;
        self.epochs.send_replace(epoch);
    }
}

/// Two OSDs, one pool with one pg, on osd.0 at first.
pub(super) struct Cluster {
    pub osds: [Arc<FakeOsd>; 2],
    pub monitors: Arc<FakeMonitors>,
    pub objecter: Objecter,
}

pub(super) fn options() -> ObjecterOptions {
    ObjecterOptions {
        op_timeout: None.into(),
        connect_timeout: Duration::from_secs(10),
        modes: vec![ConMode::Crc],
        crypto: CryptoOptions::default(),
        max_ops_in_flight: 1024,
        max_bytes_in_flight: 100 << 20,
        spin: Duration::ZERO,
    }
}

fn boot(osd: &FakeOsd) -> OsdBoot {
    OsdBoot {
        id: osd.id,
        uuid: Uuid::from_u128(osd.id.0 as u128 + 1),
        client_addrs: osd.addr.into(),
        cluster_addrs: osd.addr.into(),
        features: Features::SUPPORTED.bits(),
        last_clean: (Epoch(0), Epoch(0)),
    }
}

impl Cluster {
    pub(super) fn start() -> Self {
        Self::with(options())
    }

    pub(super) fn with(options: ObjecterOptions) -> Self {
        let osds = [FakeOsd::start(0), FakeOsd::start(1)];
        let base = OsdMap::new(Uuid::from_u128(9), UTime::from_secs(1));
        let mut crush = base.crush().clone();
        let mut change = base.next_incremental(UTime::from_secs(2));
        for osd in &osds {
            crush.set_device(osd.id.0, 0x10000, "host").unwrap();
            change.boot_osd(&base, &boot(osd));
        }
        change.set_crush(&crush);
        let pool = change.add_pool(&base, "pool", Pool::replicated(1, 1, 0, UTime::from_secs(2)));
        assert_eq!(pool, POOL);
        change.new_pg_temp = BTreeMap::from([(PG, vec![OsdId(0)])]);
        let map = Arc::new(base.apply(&change).unwrap());
        let monitors = Arc::new(FakeMonitors {
            epochs: watch::channel(map.epoch()).0,
            map: Mutex::new(map),
            identity: AtomicU64::new(4200),
            tickets_refused: AtomicUsize::new(0),
            newest: Mutex::new(None),
            catch_ups: AtomicUsize::new(0),
        });
        let objecter = Objecter::start(monitors.clone(), options);
        Cluster { osds, monitors, objecter }
    }

    /// The map that follows the newest with some change.
    pub(super) fn next_map(&self, edit: impl FnOnce(&OsdMap, &mut Incremental)) -> Arc<OsdMap> {
        let base = self.monitors.osdmap();
        let mut change = base.next_incremental(UTime::from_secs(3));
        edit(&base, &mut change);
        Arc::new(base.apply(&change).unwrap())
    }

    pub(super) fn publish(&self, edit: impl FnOnce(&OsdMap, &mut Incremental)) -> Epoch {
        let map = self.next_map(edit);
        let epoch = map.epoch();
        self.monitors.publish_map(map);
        epoch
    }

    /// Moves the pg.
    pub(super) fn move_to(&self, osd: i32) -> Epoch {
        self.publish(|_, change| {
            change.new_pg_temp.insert(PG, vec![OsdId(osd)]);
        })
    }

    pub(super) fn set_flags(&self, flags: MapFlags) {
        self.publish(|base, change| {
            let pauses = MapFlags::PAUSERD.with(MapFlags::PAUSEWR).with(MapFlags::FULL);
            change.new_flags = Some(base.flags().without(pauses).with(flags));
        });
    }

    /// Restarts an OSD at another address.
    pub(super) fn restart(&mut self, index: usize) {
        let osd = FakeOsd::start(index as i32);
        self.osds[index] = osd.clone();
        self.publish(|base, change| change.boot_osd(base, &boot(&osd)));
    }

    pub(super) fn spawn(&self, request: Request) -> tokio::task::JoinHandle<Result<Reply, Error>> {
        let objecter = self.objecter.clone();
        tokio::spawn(async move { objecter.execute(request).await })
    }

    /// Waits until the engine works with the newest map.
    pub(super) async fn settle(&self) {
        while self.objecter.map().epoch() != self.monitors.osdmap().epoch() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.objecter.shut_down();
    }
}

fn request(pool: PoolId, oid: &str, spec: OpSpec, writes: bool) -> Request {
    let locator = ObjectLocator::new(pool);
    let nowhere = SpgId::replicated(PgId::new(pool, 0));
    let mut head = RequestHead::new(nowhere, 0, Epoch(0), locator, oid.to_owned().into());
    head.flags = request_flags(writes, [spec.code]);
    Request { head, specs: vec![spec], writes, what: if writes { "write" } else { "read" } }
}

pub(super) fn write(oid: &str) -> Request {
    request(POOL, oid, OpSpec::write_full(oid.as_bytes().to_vec()), true)
}

pub(super) fn read(oid: &str) -> Request {
    request(POOL, oid, OpSpec::read(0, 100), false)
}

pub(super) fn delete(oid: &str) -> Request {
    request(POOL, oid, OpSpec::delete(), true)
}

pub(super) fn read_in(pool: PoolId, oid: &str) -> Request {
    request(pool, oid, OpSpec::read(0, 100), false)
}

/// The identity of an object in the fake pool, for backoff ranges.
pub(super) fn hobject(seen: &Seen) -> HObject {
    HObject {
        key: bytes::Bytes::new(),
        oid: seen.oid.clone().into(),
        snap: SnapId::HEAD,
        hash: seen.hash,
        max: false,
        nspace: bytes::Bytes::new(),
        pool: POOL,
    }
}
