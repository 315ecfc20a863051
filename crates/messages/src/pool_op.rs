//! POOLOP: pools and snapshots created and deleted through the library rather than by command.

use bytes::Bytes;
use sepiola_wire::{Decode, DecodeError, Encode, Epoch, Features, PoolId, Put, Reader, SnapId, Uuid};

use crate::{PRIORITY_HIGH, PaxosHeader, WireMessage, kind};

/// What a pool operation does. Numbers outside the constants can be received; they are answered with an
/// error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PoolOpCode(pub u32);

impl PoolOpCode {
    /// Creates the pool `name`.
    pub const CREATE: PoolOpCode = PoolOpCode(0x01);
    /// Deletes the pool.
    pub const DELETE: PoolOpCode = PoolOpCode(0x02);
    /// Creates the pool snapshot `name`.
    pub const CREATE_SNAP: PoolOpCode = PoolOpCode(0x11);
    /// Deletes the pool snapshot `name`.
    pub const DELETE_SNAP: PoolOpCode = PoolOpCode(0x12);
    /// Allocates a self-managed snapshot id.
    pub const CREATE_UNMANAGED_SNAP: PoolOpCode = PoolOpCode(0x21);
    /// Gives the self-managed snapshot `snap` back.
    pub const DELETE_UNMANAGED_SNAP: PoolOpCode = PoolOpCode(0x22);
}

/// Client to monitor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PoolOp {
    /// The osdmap epoch that the client has.
    pub paxos: PaxosHeader,
    /// The cluster.
    pub fsid: Uuid,
    /// The pool; 0 when creating one.
    pub pool: u32,
    /// What to do.
    pub op: PoolOpCode,
    /// A self-managed snapshot to delete.
    pub snap: SnapId,
    /// Pool or snapshot name; `delete` when deleting a pool.
    pub name: String,
    /// CRUSH rule of a new pool, -1 for the default.
    pub crush_rule: i16,
}

impl PoolOp {
    /// The pool as an id.
    pub fn pool_id(&self) -> PoolId {
        PoolId(self.pool.into())
    }
}

impl WireMessage for PoolOp {
    const TYPE: u16 = kind::POOLOP;
    const VERSION: u16 = 4;
    const COMPAT: u16 = 2;

    fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        self.paxos.encode(out, features);
        self.fsid.encode(out, features);
        out.put_u32(self.pool);
        out.put_u32(self.op.0);
        out.put_u64(0); // owner, obsolete
        out.put_u64(self.snap.0);
        self.name.encode(out, features);
        out.put_u8(0); // CRUSH rule in 8 bits, obsolete
        out.put_i16(self.crush_rule);
    }

    fn decode(version: u16, front: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(front);
        let (paxos, fsid) = (PaxosHeader::decode(r)?, Uuid::decode(r)?);
        let (pool, op) = (r.u32()?, PoolOpCode(r.u32()?));
        r.u64()?;
        let snap = SnapId::decode(r)?;
        let name = if version >= 2 { String::decode(r)? } else { String::new() };
        let mut crush_rule = -1;
        if version >= 3 {
            crush_rule = i16::from(r.u8()?);
        }
        if version >= 4 {
            crush_rule = r.i16()?;
        }
        Ok(PoolOp { paxos, fsid, pool, op, snap, name, crush_rule })
    }
}

/// Monitor to client. The operation is done for the client once it has the osdmap of `epoch`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PoolOpReply {
    /// The osdmap epoch.
    pub paxos: PaxosHeader,
    /// The cluster.
    pub fsid: Uuid,
    /// 0, or a negative errno.
    pub result: i32,
    /// The map in which the effect is visible.
    pub epoch: Epoch,
    /// A new self-managed snapshot's id as a `u64`.
    pub data: Option<Bytes>,
}

impl PoolOpReply {
    /// The new self-managed snapshot's id.
    pub fn snap_id(&self) -> Option<SnapId> {
        SnapId::decode(&mut Reader::new(self.data.as_deref()?)).ok()
    }
}

impl WireMessage for PoolOpReply {
    const TYPE: u16 = kind::POOLOP_REPLY;
    const VERSION: u16 = 1;
    const COMPAT: u16 = 1;
    const PRIORITY: u16 = PRIORITY_HIGH;

    fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        self.paxos.encode(out, features);
        self.fsid.encode(out, features);
        out.put_i32(self.result);
        self.epoch.encode(out, features);
        self.data.encode(out, features);
    }

    fn decode(_: u16, front: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(front);
        Ok(PoolOpReply {
            paxos: PaxosHeader::decode(r)?,
            fsid: Uuid::decode(r)?,
            result: r.i32()?,
            epoch: Epoch::decode(r)?,
            data: Decode::decode(r)?,
        })
    }
}
