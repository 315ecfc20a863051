//! The messages of one operation as they travel: a request and its reply with the bytes that a client and
//! an OSD exchange, ready made.

use bytes::Bytes;
use sepiola_cluster::MsMode;
use sepiola_crypto::{ConnectionSecret, CryptoOptions, Role, frame_keys};
use sepiola_messages::{
    kind,
    osd_op::{
        OpOutcome, OpSpec, OsdOpRequest, REPLY_COMPAT, REPLY_VERSION, REQUEST_COMPAT, ReplyHead,
        RequestFlags, RequestHead, WriteBack, encode_reply, encode_request, request_version,
    },
};
use sepiola_msgr2::{
    Error, Limits, MessageHeader,
    frame::{FrameDecoder, FrameEncoder},
};
use sepiola_osdmap::object_hash;
use sepiola_wire::{EVersion, Epoch, Features, ObjectLocator, PgId, PoolId, Put, SpgId, Tid, UTime};

use crate::Op;

/// The pool of every request.
pub const POOL: PoolId = PoolId(1);
/// Its placement groups.
pub const PG_NUM: u32 = 32;
/// Named as the objects of `rados bench` are.
const OBJECT: &str = "benchmark_data_localhost_1234567_object100000";
/// The allocation hint that `rados bench` sends with each write.
const HINT_FLAGS: u32 = 0x35;

/// A message whose header lacks only its numbers.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Message {
    pub header: MessageHeader,
    pub front: Vec<u8>,
    pub data: Vec<u8>,
}

impl Message {
    /// What a client sends for an operation of `size` bytes, based on a map of this epoch.
    pub fn request(op: Op, size: usize, epoch: Epoch) -> Self {
        let data = Bytes::from(vec![0x5e; size]);
        let bytes = size as u64;
        let (ops, direction) = match op {
            Op::Write => {
                let hint = OpSpec::set_alloc_hint(bytes, bytes, HINT_FLAGS);
                (vec![hint, OpSpec::write(0, data)], RequestFlags::WRITE)
            }
            Op::Rand => (vec![OpSpec::read(0, bytes)], RequestFlags::READ),
        };
        let hash = object_hash(OBJECT.as_bytes(), b"", b"");
        let spg = SpgId::replicated(PgId::new(POOL, hash % PG_NUM));
        let oid = Bytes::from_static(OBJECT.as_bytes());
        let mut head = RequestHead::new(spg, hash, epoch, ObjectLocator::new(POOL), oid);
        head.flags = RequestFlags::ONDISK | RequestFlags::KNOWN_IF_REDIRECTED | direction;
        head.mtime = UTime::from_secs(1_700_000_000);
        let mut front = Vec::new();
        encode_request(&mut front, &head, &ops, Features::SUPPORTED);
        let header = MessageHeader::new(kind::OSD_OP, request_version(Features::SUPPORTED), REQUEST_COMPAT);
        Message { header, front, data: ops.iter().flat_map(|op| op.input.to_vec()).collect() }
    }

    /// What an OSD answers when all went well.
    pub fn reply(op: Op, size: usize, epoch: Epoch) -> Self {
        let message = Message::request(op, size, epoch);
        let request = OsdOpRequest::decode(message.header.version, &message.front, &message.data)
            .expect("the request was made here");
        let version = EVersion { epoch, version: 100_000 };
        let mut head = ReplyHead::new(&request, 0, epoch);
        (head.bad_replay_version, head.user_version) = (version, version.version);
        let (outcomes, data) = match op {
            Op::Write => {
                head.replay_version = version;
                (vec![], vec![])
            }
            Op::Rand => {
                let output_len = u32::try_from(size).expect("sizes stay below 4 GiB");
                let write_back = WriteBack::Length(output_len.into());
                (vec![OpOutcome { rval: 0, output_len, write_back }], vec![0x5e; size])
            }
        };
        let mut front = Vec::new();
        encode_reply(&mut front, &head, request.raw_ops(), &outcomes);
        Message { header: MessageHeader::new(kind::OSD_OPREPLY, REPLY_VERSION, REPLY_COMPAT), front, data }
    }

    /// Appends the message's frame. The front is copied where a program would encode it.
    ///
    /// # Errors
    /// As the encoder says.
    pub fn encode(&self, encoder: &mut FrameEncoder, out: &mut Vec<u8>, number: u64) -> Result<(), Error> {
        let mut header = self.header.with_tid(Tid(number));
        header.seq = number;
        let front = |out: &mut Vec<u8>| out.put(&self.front);
        encoder.message(out, &header.encode(), front, &[], &[&self.data], &Limits::default())
    }
}

/// Both directions of a connection at one of its ends. Secure ones have the same keys every time: good for
/// measuring, not for secrets.
pub fn codec(mode: MsMode, role: Role) -> (FrameEncoder, FrameDecoder) {
    codec_with(mode, role, CryptoOptions::default())
}

/// The same with an engine of the caller's choice.
pub fn codec_with(mode: MsMode, role: Role, crypto: CryptoOptions) -> (FrameEncoder, FrameDecoder) {
    let limits = Limits::default().established();
    match mode {
        MsMode::Crc => (FrameEncoder::crc(), FrameDecoder::crc(limits)),
        MsMode::Secure => {
            let secret = ConnectionSecret::from_bytes(&[0x5e; ConnectionSecret::LEN]);
            let (sealer, opener) =
                frame_keys(&secret, role, crypto).expect("every engine takes a secret of full length");
            (FrameEncoder::secure(sealer), FrameDecoder::secure(opener, limits))
        }
    }
}
