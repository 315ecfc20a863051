//! An OSD without sockets, and a client that speaks to it in encoded messages.
#![allow(dead_code)]

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use bytes::Bytes;
use sepiola_cephx::PeerCaps;
use sepiola_messages::{
    kind,
    osd_op::{OpSpec, OsdOpReplyRef, REQUEST_COMPAT, REQUEST_VERSION, RequestHead, encode_request},
};
use sepiola_msgr2::{MessageHeader, Payload};
use sepiola_objectstore::{MemStore, ObjectStore};
use sepiola_osd::{Handled, Osd, OsdConfig, Outgoing, PeerIdentity, Push, Refusal, Scratch, Session};
use sepiola_osdmap::{Incremental, OsdMap, Pool, hash::object_hash};
use sepiola_wire::{
    EVersion, EntityAddr, EntityNum, EntityType, Epoch, Features, GlobalId, ObjectLocator, OsdId, PgId,
    PoolId, SpgId, Tid,
};

pub const POOL: PoolId = PoolId(1);

/// A message as it would leave.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    pub header: MessageHeader,
    pub front: Vec<u8>,
    pub data: Vec<u8>,
}

#[derive(Debug, Default)]
pub struct Outbox(pub Vec<Sent>);

impl Outgoing for Outbox {
    fn send(
        &mut self,
        header: &MessageHeader,
        front: impl FnOnce(&mut Vec<u8>),
        data: &[&[u8]],
    ) -> Result<(), Refusal> {
        let mut bytes = Vec::new();
        front(&mut bytes);
        self.0.push(Sent { header: *header, front: bytes, data: data.concat() });
        Ok(())
    }
}

/// What was pushed to a session from outside, and whether it was ended from there.
#[derive(Debug, Clone, Default)]
pub struct Pushed(pub Arc<Mutex<Vec<Sent>>>, Arc<AtomicBool>);

impl Pushed {
    pub fn is_closed(&self) -> bool {
        self.1.load(Ordering::Relaxed)
    }
}

impl Push for Pushed {
    fn push(&self, header: MessageHeader, front: Bytes, data: Bytes) {
        self.0.lock().unwrap().push(Sent { header, front: front.to_vec(), data: data.to_vec() });
    }

    fn close(&self) {
        self.1.store(true, Ordering::Relaxed);
    }
}

pub fn blob(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Epoch 8 of a cluster with one OSD and the pool `bench` of 32 pgs.
pub fn map() -> Arc<OsdMap> {
    Arc::new(OsdMap::decode(&blob("pacific_full_e8.bin")).unwrap())
}

pub fn empty_osd() -> Osd {
    osd_with(MemStore::new(), |_| {})
}

/// An OSD with a store and settings of its own, without a map.
pub fn osd_with(store: MemStore, change: impl FnOnce(&mut OsdConfig)) -> Osd {
    let store: Arc<dyn ObjectStore> = Arc::new(store);
    let mut config = OsdConfig::new(OsdId(0));
    change(&mut config);
    Osd::new(config, store)
}

pub fn osd() -> Osd {
    let osd = empty_osd();
    osd.apply_map(map()).unwrap();
    osd
}

/// The map behind `map`, with a change.
pub fn next_map(map: &OsdMap, change: impl FnOnce(&mut Incremental)) -> Arc<OsdMap> {
    let mut incremental = Incremental::new(map.fsid(), map.epoch().next(), map.modified());
    change(&mut incremental);
    Arc::new(map.apply(&incremental).unwrap())
}

/// The map behind `map`, with another pool.
pub fn with_pool(map: &OsdMap, change: impl FnOnce(&mut Pool)) -> Arc<OsdMap> {
    let mut pool = map.pool(POOL).unwrap().clone();
    change(&mut pool);
    next_map(map, |next| drop(next.new_pools.insert(POOL, pool)))
}

pub fn identity(caps: PeerCaps) -> PeerIdentity {
    PeerIdentity {
        source: EntityNum::client(GlobalId(4123)),
        caps,
        addr: EntityAddr::client("127.0.0.1".parse().unwrap(), 77),
        features: Features::SUPPORTED,
    }
}

/// One client's session.
pub struct Client {
    pub session: Arc<Session>,
    pub pushed: Pushed,
    scratch: Scratch,
    tid: u64,
}

/// A request to send, by default a first attempt from the newest map.
#[derive(Debug, Clone)]
pub struct Request {
    pub tid: Option<u64>,
    pub head: RequestHead,
    pub ops: Vec<OpSpec>,
}

impl Request {
    pub fn on(name: &str, ops: impl IntoIterator<Item = OpSpec>) -> Self {
        let hash = object_hash(name.as_bytes(), b"", b"");
        let locator = ObjectLocator::new(POOL);
        let spg = SpgId::replicated(PgId::new(POOL, hash % 32));
        let head = RequestHead::new(spg, hash, Epoch(8), locator, Bytes::copy_from_slice(name.as_bytes()));
        Request { tid: None, head, ops: ops.into_iter().collect() }
    }

    pub fn flags(mut self, flags: u32) -> Self {
        self.head.flags = sepiola_messages::osd_op::RequestFlags(flags);
        self
    }

    pub fn tid(mut self, tid: u64) -> Self {
        self.tid = Some(tid);
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut RequestHead)) -> Self {
        change(&mut self.head);
        self
    }

    pub fn encoded(&self) -> (Vec<u8>, Vec<u8>) {
        let mut front = Vec::new();
        encode_request(&mut front, &self.head, &self.ops, Features::SUPPORTED);
        let data = self.ops.iter().flat_map(|op| op.input.to_vec()).collect();
        (front, data)
    }
}

/// A reply, taken apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub result: i32,
    pub rvals: Vec<i32>,
    pub outputs: Vec<Vec<u8>>,
    pub flags: u32,
    pub user_version: u64,
    pub replay: EVersion,
    pub bad_replay: EVersion,
}

impl Reply {
    pub fn of(sent: &Sent) -> Self {
        assert_eq!(sent.header.kind, kind::OSD_OPREPLY);
        let reply = OsdOpReplyRef::decode(sent.header.version, &sent.front, &sent.data).unwrap();
        Reply {
            result: reply.result,
            rvals: reply.ops().map(|op| op.rval).collect(),
            outputs: reply.ops().map(|op| op.output.to_vec()).collect(),
            flags: reply.flags.0,
            user_version: reply.user_version,
            replay: reply.replay_version,
            bad_replay: reply.bad_replay_version,
        }
    }
}

impl Client {
    pub fn new(peer: PeerIdentity) -> Self {
        let pushed = Pushed::default();
        let session = Arc::new(Session::new(peer, Box::new(pushed.clone())));
        Client { session, pushed, scratch: Scratch::default(), tid: 0 }
    }

    /// The address that [`identity`] gives its clients.
    pub fn session_addr(&self) -> String {
        identity(PeerCaps::allow_all()).addr.to_string()
    }

    pub fn admin() -> Self {
        Self::new(identity(PeerCaps::allow_all()))
    }

    pub fn with_caps(text: &str) -> Self {
        Self::new(identity(PeerCaps::parse(EntityType::Osd, text).unwrap()))
    }

    /// Sends encoded bytes and returns what the OSD put into the connection.
    pub fn send_raw(
        &mut self,
        osd: &Osd,
        header: MessageHeader,
        front: &[u8],
        data: Payload<'_>,
    ) -> Vec<Sent> {
        let mut out = Outbox::default();
        let handled = osd.handle(&self.session, &header, front, data, &mut self.scratch, &mut out).unwrap();
        assert_eq!(handled, Handled::Done);
        out.0
    }

    pub fn send(&mut self, osd: &Osd, request: &Request) -> Vec<Sent> {
        self.tid += 1;
        let (front, data) = request.encoded();
        let tid = Tid(request.tid.unwrap_or(self.tid));
        let header =
            MessageHeader { tid, ..MessageHeader::new(kind::OSD_OP, REQUEST_VERSION, REQUEST_COMPAT) };
        let sent = self.send_raw(osd, header, &front, Payload::Borrowed(&data));
        for message in &sent {
            if message.header.kind == kind::OSD_OPREPLY {
                assert_eq!(message.header.tid, tid);
            }
        }
        sent
    }

    /// What others have sent to the session since this was asked last.
    pub fn take_pushed(&self) -> Vec<Sent> {
        std::mem::take(&mut self.pushed.0.lock().unwrap())
    }

    /// Sends a request that is answered at once and by nothing else.
    pub fn call(&mut self, osd: &Osd, request: &Request) -> Reply {
        let sent = self.send(osd, request);
        assert_eq!(sent.len(), 1, "one answer to {request:?}");
        Reply::of(&sent[0])
    }

    /// The same for ops on an object.
    pub fn run(&mut self, osd: &Osd, name: &str, ops: impl IntoIterator<Item = OpSpec>) -> Reply {
        self.call(osd, &Request::on(name, ops))
    }
}
