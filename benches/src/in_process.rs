//! Client and OSD in one process, with memory in place of the sockets: what the code itself costs.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use sepiola_cephx::PeerCaps;
use sepiola_cluster::MsMode;
use sepiola_crypto::{CryptoOptions, Role};
use sepiola_msgr2::{
    Limits, MessageHeader, Payload, ReadBuffer,
    frame::{FrameDecoder, FrameEncoder},
};
use sepiola_objectstore::MemStore;
use sepiola_osd::{Osd, OsdConfig, Outgoing, PeerIdentity, Push, Refusal, Scratch, Session};
use sepiola_osdmap::{OsdBoot, OsdMap, Pool, WEIGHT_IN};
use sepiola_wire::{EntityAddr, EntityNum, Epoch, Features, GlobalId, OsdId, UTime, Uuid};

use crate::frames::{Message, PG_NUM, POOL, codec_with};

/// One direction of a connection, with memory in place of the socket.
#[derive(Debug)]
pub struct Pipe {
    encoder: FrameEncoder,
    decoder: FrameDecoder,
    wire: Vec<u8>,
    input: ReadBuffer,
    sent: u64,
}

impl Pipe {
    /// A connection's direction with fixed keys.
    pub fn new(mode: MsMode, crypto: CryptoOptions, from: Role, to: Role) -> Self {
        let (encoder, decoder) = (codec_with(mode, from, crypto).0, codec_with(mode, to, crypto).1);
        Pipe { encoder, decoder, wire: Vec::new(), input: ReadBuffer::new(), sent: 0 }
    }

    /// Seals a message.
    pub fn send(&mut self, message: &Message) {
        self.sent += 1;
        message.encode(&mut self.encoder, &mut self.wire, self.sent).expect("a message of ordinary size");
    }

    /// Forgets what was sent.
    pub fn clear(&mut self) {
        self.wire.clear();
    }

    /// Moves what was sent to the other end and opens it there.
    pub fn receive<R>(&mut self, take: impl FnOnce(MessageHeader, &[u8], Payload<'_>) -> R) -> R {
        assert_eq!(self.input.extend(&self.wire), self.wire.len(), "one message fits");
        self.wire.clear();
        let frame = self.decoder.poll(&mut self.input).expect("sealed here").expect("all of it is there");
        let header = MessageHeader::decode(frame.first(&self.input)).expect("encoded here");
        let (front, _, data) = frame.body(&self.input);
        take(header, front, data)
    }
}

impl Outgoing for Pipe {
    fn send(
        &mut self,
        header: &MessageHeader,
        front: impl FnOnce(&mut Vec<u8>),
        data: &[&[u8]],
    ) -> Result<(), Refusal> {
        self.sent += 1;
        let mut header = *header;
        header.seq = self.sent;
        let limits = Limits::default();
        Ok(self.encoder.message(&mut self.wire, &header.encode(), front, &[], data, &limits)?)
    }
}

#[derive(Debug)]
struct Nobody;

impl Push for Nobody {
    fn push(&self, _: MessageHeader, _: Bytes, _: Bytes) {}
}

/// A map with one OSD and the pool that requests name.
fn map() -> OsdMap {
    let empty = OsdMap::new(Uuid::from_u128(1), UTime::from_secs(1));
    let mut inc = empty.next_incremental(UTime::from_secs(2));
    let mut crush = empty.crush().clone();
    crush.set_device(0, WEIGHT_IN, "host").expect("an empty map has room");
    let boot = OsdBoot {
        id: OsdId(0),
        uuid: Uuid::from_u128(2),
        client_addrs: EntityAddr::msgr2(([127, 0, 0, 1], 6800).into(), 1).into(),
        cluster_addrs: EntityAddr::msgr2(([127, 0, 0, 1], 6801).into(), 1).into(),
        features: Features::SUPPORTED.bits(),
        last_clean: (Epoch(0), Epoch(0)),
    };
    inc.boot_osd(&empty, &boot);
    inc.set_crush(&crush);
    assert_eq!(inc.add_pool(&empty, "bench", Pool::replicated(1, PG_NUM, 0, inc.modified)), POOL);
    empty.publish(inc).expect("a change of the map above").map
}

/// Both ends, each doing all that it does but for the sockets and the client's bookkeeping.
pub struct BothEnds {
    osd: Osd,
    session: Arc<Session>,
    scratch: Scratch,
    there: Pipe,
    back: Pipe,
}

impl BothEnds {
    /// An OSD without objects and a session of a client that may do everything.
    pub fn new(mode: MsMode, crypto: CryptoOptions) -> Self {
        let osd = Osd::new(OsdConfig::new(OsdId(0)), Arc::new(MemStore::with_capacity(1 << 40)));
        osd.apply_map(Arc::new(map())).expect("an empty store");
        let peer = PeerIdentity {
            source: EntityNum::client(GlobalId(4100)),
            caps: PeerCaps::allow_all(),
            addr: EntityAddr::client([127, 0, 0, 1].into(), 1),
            features: Features::SUPPORTED,
        };
        BothEnds {
            osd,
            session: Arc::new(Session::new(peer, Box::new(Nobody))),
            scratch: Scratch::default(),
            there: Pipe::new(mode, crypto, Role::Client, Role::Server),
            back: Pipe::new(mode, crypto, Role::Server, Role::Client),
        }
    }

    /// One request and its reply. Returns the bytes that came back: an error is answered with less.
    pub fn exchange(&mut self, request: &Message) -> usize {
        let BothEnds { osd, session, scratch, there, back } = self;
        there.send(request);
        there.receive(|header, front, data| {
            let handled = osd.handle(session, &header, front, data, scratch, back);
            handled.expect("a well-formed request");
        });
        back.receive(|_, front, data| front.len() + data.len())
    }
}

impl fmt::Debug for BothEnds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BothEnds").field("osd", &self.osd).finish_non_exhaustive()
    }
}
