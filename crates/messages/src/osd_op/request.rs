//! OSD_OP in both directions.

use bytes::Bytes;
use sepiola_wire::{
    Decode, DecodeError, Encode, Epoch, Features, HObject, ObjectLocator, PoolId, Put, Reader, ReqId, SnapId,
    SpgId, UTime,
};

use super::{OpCode, OpSpec, Ops, RAW_OP_SIZE, RawOp, RequestFlags, op};
use crate::kind;

/// The layout written for peers without Squid's feature bit.
pub const VERSION: u16 = 8;
/// The header's `compat_version`.
pub const COMPAT: u16 = 3;
/// The newest layout that can be read.
const NEWEST: u16 = 9;
/// More operations in one message are refused. Real clients stay far below.
pub const MAX_OPS: usize = 4096;

const TRACE_SIZE: usize = 24;
/// The second trace of version 9, switched off.
const NO_TRACE_V9: [u8; 7] = [1, 1, 1, 0, 0, 0, 0];

/// The header's `version` for a peer with these features.
pub const fn request_version(features: Features) -> u16 {
    if features.has(Features::SERVER_SQUID) { NEWEST } else { VERSION }
}

/// Everything of a request but its operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestHead {
    /// The pg, folded by the pool's `pg_num`.
    pub spg: SpgId,
    /// The object's whole placement hash; for pg operations the pg's number.
    pub hash: u32,
    /// The map that the client placed the object with.
    pub map_epoch: Epoch,
    /// Flags.
    pub flags: RequestFlags,
    /// Zero from clients: the connection and the tid identify a request.
    pub reqid: ReqId,
    /// Incarnation of the client, 0.
    pub client_inc: u32,
    /// Time that a write gives the object; zero leaves the object's.
    pub mtime: UTime,
    /// Pool, key and namespace.
    pub locator: ObjectLocator,
    /// The object's name; empty for pg operations.
    pub oid: Bytes,
    /// The snapshot to read; [`SnapId::HEAD`] for writes.
    pub snap: SnapId,
    /// Snap context of a write: its newest snapshot.
    pub snap_seq: SnapId,
    /// Snap context of a write: its snapshots, newest first.
    pub snaps: Vec<SnapId>,
    /// 0 at first, then counting resends.
    pub retry_attempt: i32,
    /// The sender's feature word.
    pub features: Features,
}

impl RequestHead {
    /// A first attempt at an operation on a head object.
    pub fn new(spg: SpgId, hash: u32, map_epoch: Epoch, locator: ObjectLocator, oid: Bytes) -> Self {
        RequestHead {
            spg,
            hash,
            map_epoch,
            flags: RequestFlags::NONE,
            reqid: ReqId::default(),
            client_inc: 0,
            mtime: UTime::ZERO,
            locator,
            oid,
            snap: SnapId::HEAD,
            snap_seq: SnapId(0),
            snaps: Vec::new(),
            retry_attempt: 0,
            features: Features::SUPPORTED,
        }
    }
}

/// Appends a request's front in the layout of [`request_version`]. Its data segment is the operations'
/// inputs in order.
///
/// # Panics
/// If there are more than [`MAX_OPS`] operations.
pub fn encode_request(out: &mut Vec<u8>, head: &RequestHead, ops: &[OpSpec], features: Features) {
    assert!(ops.len() <= MAX_OPS, "at most {MAX_OPS} operations fit a request");
    out.reserve(200 + head.oid.len() + ops.len() * RAW_OP_SIZE + head.snaps.len() * 8);
    head.spg.encode(out, features);
    out.put_u32(head.hash);
    head.map_epoch.encode(out, features);
    out.put_u32(head.flags.0);
    head.reqid.encode(out, features);
    out.put(&[0; TRACE_SIZE]);
    if request_version(features) >= 9 {
        out.put(&NO_TRACE_V9);
    }
    out.put_u32(head.client_inc);
    head.mtime.encode(out, features);
    head.locator.encode(out, features);
    out.put_blob(&head.oid);
    out.put_u16(ops.len() as u16);
    for op in ops {
        out.put_u16(op.code.0);
        out.put_u32(op.flags.0);
        out.put(&op.args.0);
        out.put_len(op.input.len());
    }
    head.snap.encode(out, features);
    head.snap_seq.encode(out, features);
    out.put_len(head.snaps.len());
    for snap in &head.snaps {
        snap.encode(out, features);
    }
    out.put_i32(head.retry_attempt);
    out.put_u64(head.features.bits());
}

/// An owned request: what a client keeps for resends, and what an OSD keeps of a request that has to wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OsdOp {
    /// Where to and how.
    pub head: RequestHead,
    /// What to do, in order.
    pub ops: Vec<OpSpec>,
}

impl OsdOp {
    /// The header's `type`.
    pub const TYPE: u16 = kind::OSD_OP;

    /// Appends the front.
    pub fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        encode_request(out, &self.head, &self.ops, features);
    }

    /// The parts of the data segment.
    pub fn data_parts(&self) -> impl Iterator<Item = &[u8]> {
        self.ops.iter().map(|op| &*op.input).filter(|part| !part.is_empty())
    }
}

/// A locator as a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocatorRef<'a> {
    /// The pool.
    pub pool: PoolId,
    /// Placement key; empty means the object's name.
    pub key: &'a [u8],
    /// Namespace.
    pub nspace: &'a [u8],
    /// Placement hash instead of a key, -1 for none.
    pub hash: i64,
}

impl<'a> LocatorRef<'a> {
    fn decode(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("object_locator", 6)?;
        let (v, r) = (s.version, &mut s.body);
        let pool = PoolId(r.i64()?);
        r.i32()?;
        let key = r.blob()?;
        let nspace = if v >= 5 { r.blob()? } else { &[] };
        let hash = if v >= 6 { r.i64()? } else { -1 };
        if hash != -1 && !key.is_empty() {
            return Err(DecodeError::Invalid("a locator has either a key or a hash"));
        }
        Ok(LocatorRef { pool, key, nspace, hash })
    }

    /// An owned copy.
    pub fn to_owned(self) -> ObjectLocator {
        ObjectLocator {
            pool: self.pool,
            key: Bytes::copy_from_slice(self.key),
            nspace: Bytes::copy_from_slice(self.nspace),
            hash: self.hash,
        }
    }
}

/// The snapshots of a snap context as a view, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snaps<'a>(&'a [[u8; 8]]);

impl<'a> Snaps<'a> {
    fn decode(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let n = r.count(8)?;
        Ok(Snaps(r.bytes(n * 8)?.as_chunks().0))
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True for none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = SnapId> + Clone + 'a {
        self.0.iter().map(|s| SnapId(u64::from_le_bytes(*s)))
    }
}

/// A received request as a view of the message: nothing is copied and nothing allocated.
#[derive(Debug, Clone)]
pub struct OsdOpRequest<'a> {
    /// The pg, folded by the pool's `pg_num` as the client knows it.
    pub spg: SpgId,
    /// The object's placement hash.
    pub hash: u32,
    /// The client's map.
    pub map_epoch: Epoch,
    /// Flags.
    pub flags: RequestFlags,
    /// Zero from clients.
    pub reqid: ReqId,
    /// 0.
    pub client_inc: u32,
    /// Time for the object; zero leaves it.
    pub mtime: UTime,
    /// Pool, key and namespace.
    pub locator: LocatorRef<'a>,
    /// The object's name; empty for pg operations.
    pub oid: &'a [u8],
    /// The snapshot.
    pub snap: SnapId,
    /// Snap context: newest snapshot.
    pub snap_seq: SnapId,
    /// Snap context: snapshots.
    pub snaps: Snaps<'a>,
    /// Counts resends; the reply repeats it.
    pub retry_attempt: i32,
    /// The client's features.
    pub features: Features,
    raw: &'a [RawOp],
    data: &'a [u8],
}

impl<'a> OsdOpRequest<'a> {
    /// Reads versions 8 and 9.
    ///
    /// # Errors
    /// For malformed bytes, for older versions, for more than [`MAX_OPS`] operations, and if the operations'
    /// inputs do not add up to the data segment.
    pub fn decode(version: u16, front: &'a [u8], data: &'a [u8]) -> Result<Self, DecodeError> {
        if version < VERSION {
            return Err(DecodeError::Invalid("OSD request of a release before Luminous"));
        }
        let r = &mut Reader::new(front);
        let spg = SpgId::decode(r)?;
        let hash = r.u32()?;
        let map_epoch = Epoch::decode(r)?;
        let flags = RequestFlags(r.u32()?);
        let reqid = ReqId::decode(r)?;
        r.bytes(TRACE_SIZE)?;
        if version >= 9 {
            r.versioned("otel trace", 1)?;
        }
        let client_inc = r.u32()?;
        let mtime = UTime::decode(r)?;
        let locator = LocatorRef::decode(r)?;
        let oid = r.blob()?;
        let count = usize::from(r.u16()?);
        if count > MAX_OPS {
            return Err(DecodeError::Invalid("too many operations in one request"));
        }
        let raw = op::raw_ops(r, count)?;
        if op::payload_total(raw) != data.len() as u64 {
            return Err(DecodeError::Invalid("operation inputs do not add up to the data"));
        }
        Ok(OsdOpRequest {
            spg,
            hash,
            map_epoch,
            flags,
            reqid,
            client_inc,
            mtime,
            locator,
            oid,
            snap: SnapId::decode(r)?,
            snap_seq: SnapId::decode(r)?,
            snaps: Snaps::decode(r)?,
            retry_attempt: r.i32()?,
            features: Features::from_bits(r.u64()?),
            raw,
            data,
        })
    }

    /// The operations in order.
    pub fn ops(&self) -> Ops<'a> {
        Ops::new(self.raw, self.data)
    }

    /// The operations' bytes, which a reply repeats.
    pub fn raw_ops(&self) -> &'a [RawOp] {
        self.raw
    }

    /// The codes of the operations.
    pub fn codes(&self) -> impl ExactSizeIterator<Item = OpCode> + 'a {
        self.raw.iter().map(op::code)
    }

    /// The data segment.
    pub fn data(&self) -> &'a [u8] {
        self.data
    }

    /// True if the mode of some operation writes. Calls are not counted: their methods decide.
    pub fn has_write_op(&self) -> bool {
        self.codes().any(OpCode::is_write)
    }

    /// The object's identity, copied.
    pub fn hobject(&self) -> HObject {
        HObject {
            key: Bytes::copy_from_slice(self.locator.key),
            oid: Bytes::copy_from_slice(self.oid),
            snap: self.snap,
            hash: self.hash,
            max: false,
            nspace: Bytes::copy_from_slice(self.locator.nspace),
            pool: self.spg.pg.pool,
        }
    }

    /// An owned copy, for a request that has to wait. `data` is the data segment if the caller has it as
    /// [`Bytes`], which saves copying it.
    pub fn to_owned(&self, data: Option<Bytes>) -> OsdOp {
        let data = data.unwrap_or_else(|| Bytes::copy_from_slice(self.data));
        OsdOp {
            head: RequestHead {
                spg: self.spg,
                hash: self.hash,
                map_epoch: self.map_epoch,
                flags: self.flags,
                reqid: self.reqid,
                client_inc: self.client_inc,
                mtime: self.mtime,
                locator: self.locator.to_owned(),
                oid: Bytes::copy_from_slice(self.oid),
                snap: self.snap,
                snap_seq: self.snap_seq,
                snaps: self.snaps.iter().collect(),
                retry_attempt: self.retry_attempt,
                features: self.features,
            },
            ops: self
                .ops()
                .map(|op| OpSpec {
                    code: op.code,
                    flags: op.flags,
                    args: op.args,
                    input: data.slice(op.input_range),
                })
                .collect(),
        }
    }
}
