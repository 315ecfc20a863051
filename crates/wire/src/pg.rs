//! Placement groups, versions and request ids.

use std::{fmt, str::FromStr};

use crate::{Decode, DecodeError, Encode, EntityNum, Epoch, Features, PoolId, Put, Reader, Tid};

/// A placement group: a pool and a position in it, printed `pool.hex`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PgId {
    /// The pool.
    pub pool: PoolId,
    /// The placement seed: the object hash, or the pg's number once it was folded by `pg_num`.
    pub ps: u32,
}

impl PgId {
    /// A pg from its parts.
    pub const fn new(pool: PoolId, ps: u32) -> Self {
        PgId { pool, ps }
    }
}

impl fmt::Display for PgId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:x}", self.pool, self.ps)
    }
}

impl FromStr for PgId {
    type Err = DecodeError;
    fn from_str(s: &str) -> Result<Self, DecodeError> {
        let bad = || DecodeError::Invalid("a pg is written POOL.HEX");
        let (pool, ps) = s.split_once('.').ok_or_else(bad)?;
        Ok(PgId {
            pool: PoolId(pool.parse().map_err(|_| bad())?),
            ps: u32::from_str_radix(ps, 16).map_err(|_| bad())?,
        })
    }
}

impl Encode for PgId {
    fn encode(&self, out: &mut Vec<u8>, _: Features) {
        out.put_u8(1);
        out.put_i64(self.pool.0);
        out.put_u32(self.ps);
        out.put_i32(-1);
    }
}

impl Decode for PgId {
    const MIN_SIZE: usize = 17;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        r.u8()?;
        let pg = PgId { pool: PoolId(r.i64()?), ps: r.u32()? };
        r.i32()?;
        Ok(pg)
    }
}

/// A pg and, in erasure-coded pools, the shard of it; -1 in replicated pools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpgId {
    /// The pg.
    pub pg: PgId,
    /// The shard, -1 for none.
    pub shard: i8,
}

impl SpgId {
    /// A pg of a replicated pool.
    pub const fn replicated(pg: PgId) -> Self {
        SpgId { pg, shard: -1 }
    }
}

impl Encode for SpgId {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_versioned(1, 1, |out| {
            self.pg.encode(out, features);
            out.put_i8(self.shard);
        });
    }
}

impl Decode for SpgId {
    const MIN_SIZE: usize = 24;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("spg", 1)?;
        Ok(SpgId { pg: PgId::decode(&mut s.body)?, shard: s.body.i8()? })
    }
}

/// A position in a pg's log: an epoch and a counter, printed `epoch'version`. The wire has the counter
/// first; the order is by epoch first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct EVersion {
    /// The map epoch in which the write was logged.
    pub epoch: Epoch,
    /// The pg's write counter.
    pub version: u64,
}

impl fmt::Display for EVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}'{}", self.epoch, self.version)
    }
}

impl Encode for EVersion {
    fn encode(&self, out: &mut Vec<u8>, _: Features) {
        out.put_u64(self.version);
        out.put_u32(self.epoch.0);
    }
}

impl Decode for EVersion {
    const MIN_SIZE: usize = 12;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(EVersion { version: r.u64()?, epoch: Epoch(r.u32()?) })
    }
}

/// A request's identity over resends: who sent it, its tid, and the client's incarnation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ReqId {
    /// The requester.
    pub name: EntityNum,
    /// Its number for the request.
    pub tid: Tid,
    /// The incarnation, 0 for clients.
    pub inc: i32,
}

impl Encode for ReqId {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_versioned(2, 2, |out| {
            self.name.encode(out, features);
            self.tid.encode(out, features);
            out.put_i32(self.inc);
        });
    }
}

impl Decode for ReqId {
    const MIN_SIZE: usize = 27;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("reqid", 2)?;
        Ok(ReqId {
            name: EntityNum::decode(&mut s.body)?,
            tid: Tid::decode(&mut s.body)?,
            inc: s.body.i32()?,
        })
    }
}
