//! Object identities and their order within a pg.

use std::cmp::Ordering;

use bytes::Bytes;

use crate::{Decode, DecodeError, Encode, Features, PoolId, Put, Reader, SnapId};

/// Where an object lives: pool, and the key and namespace that enter its placement hash.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectLocator {
    /// The pool.
    pub pool: PoolId,
    /// Placement key; empty means the object's name.
    pub key: Bytes,
    /// Namespace; empty is the default one.
    pub nspace: Bytes,
    /// An explicit placement hash instead of a key, used by listing; -1 for none.
    pub hash: i64,
}

impl ObjectLocator {
    /// An object placed by its name.
    pub fn new(pool: PoolId) -> Self {
        ObjectLocator { pool, key: Bytes::new(), nspace: Bytes::new(), hash: -1 }
    }
}

impl Encode for ObjectLocator {
    fn encode(&self, out: &mut Vec<u8>, _: Features) {
        // A locator by hash means nothing to decoders older than version 6.
        out.put_versioned(6, if self.hash == -1 { 3 } else { 6 }, |out| {
            out.put_i64(self.pool.0);
            out.put_i32(-1);
            out.put_blob(&self.key);
            out.put_blob(&self.nspace);
            out.put_i64(self.hash);
        });
    }
}

impl Decode for ObjectLocator {
    const MIN_SIZE: usize = 34;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("object_locator", 6)?;
        let pool = PoolId(s.body.i64()?);
        s.body.i32()?;
        let key = Bytes::decode(&mut s.body)?;
        let nspace = if s.version >= 5 { Bytes::decode(&mut s.body)? } else { Bytes::new() };
        let hash = if s.version >= 6 { s.body.i64()? } else { -1 };
        if hash != -1 && !key.is_empty() {
            return Err(DecodeError::Invalid("a locator has either a key or a hash"));
        }
        Ok(ObjectLocator { pool, key, nspace, hash })
    }
}

/// An object with its hash: the identity that placement, listing and backoff ranges use.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HObject {
    /// Placement key; empty means the name.
    pub key: Bytes,
    /// The name.
    pub oid: Bytes,
    /// The snapshot, [`SnapId::HEAD`] for the object itself.
    pub snap: SnapId,
    /// The placement hash.
    pub hash: u32,
    /// True only for the value behind all objects.
    pub max: bool,
    /// The namespace.
    pub nspace: Bytes,
    /// The pool.
    pub pool: PoolId,
}

impl HObject {
    /// The value before all objects: a listing's first cursor.
    pub fn min() -> Self {
        HObject {
            key: Bytes::new(),
            oid: Bytes::new(),
            snap: SnapId(0),
            hash: 0,
            max: false,
            nspace: Bytes::new(),
            pool: PoolId(i64::MIN),
        }
    }

    /// The value behind all objects: a listing's last cursor.
    pub fn max() -> Self {
        HObject { max: true, ..Self::min() }
    }

    /// The key if there is one, else the name: what the hash is made of.
    pub fn effective_key(&self) -> &[u8] {
        if self.key.is_empty() { &self.oid } else { &self.key }
    }

    /// The hash in listing order.
    pub fn reversed_hash(&self) -> u64 {
        if self.max { 1 << 32 } else { u64::from(self.hash.reverse_bits()) }
    }
}

impl Ord for HObject {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = || {
            if self.key.is_empty() && other.key.is_empty() {
                Ordering::Equal
            } else {
                self.effective_key().cmp(other.effective_key())
            }
        };
        self.max
            .cmp(&other.max)
            .then(self.pool.cmp(&other.pool))
            .then(self.reversed_hash().cmp(&other.reversed_hash()))
            .then_with(|| self.nspace.cmp(&other.nspace))
            .then_with(key)
            .then_with(|| self.oid.cmp(&other.oid))
            .then(self.snap.cmp(&other.snap))
            // Not part of the order that peers use; keeps Ord and Eq in agreement.
            .then_with(|| self.key.cmp(&other.key))
    }
}

impl PartialOrd for HObject {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Encode for HObject {
    fn encode(&self, out: &mut Vec<u8>, _: Features) {
        out.put_versioned(4, 3, |out| {
            out.put_blob(&self.key);
            out.put_blob(&self.oid);
            out.put_u64(self.snap.0);
            out.put_u32(self.hash);
            out.put_bool(self.max);
            out.put_blob(&self.nspace);
            out.put_i64(self.pool.0);
        });
    }
}

impl Decode for HObject {
    const MIN_SIZE: usize = 39;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("hobject", 4)?;
        let r = &mut s.body;
        Ok(HObject {
            key: Bytes::decode(r)?,
            oid: Bytes::decode(r)?,
            snap: SnapId::decode(r)?,
            hash: r.u32()?,
            max: r.bool()?,
            nspace: Bytes::decode(r)?,
            pool: PoolId::decode(r)?,
        })
    }
}
