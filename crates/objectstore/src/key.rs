//! Object identities in the order that listings use.
//!
//! The order is by bit-reversed hash, namespace, effective key (the key, or the name if there is none),
//! name, snapshot. An [`ObjectKey`] is an encoding of those fields whose plain byte order is that order,
//! so that any ordered map or key-value store can hold objects without a comparator:
//!
//! `reversed hash (4, big-endian) | namespace | effective key | name | snapshot (8, big-endian)`
//!
//! where text is terminated by `00 00` and a zero byte inside it is written `00 ff`.

use std::fmt;

use bytes::Bytes;
use memchr::memchr;
use sepiola_wire::{HObject, PoolId, SnapId};
use thiserror::Error;

/// An object within a collection, as views of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectRef<'a> {
    /// The placement hash.
    pub hash: u32,
    /// The namespace, empty for the default one.
    pub nspace: &'a [u8],
    /// The placement key; empty, or equal to the name, when the name places the object.
    pub key: &'a [u8],
    /// The name.
    pub name: &'a [u8],
    /// The snapshot, [`SnapId::HEAD`] for the object itself.
    pub snap: SnapId,
}

impl<'a> ObjectRef<'a> {
    /// The views of a full object identity. The pool and `max` are not part of it.
    pub fn of(object: &'a HObject) -> Self {
        ObjectRef {
            hash: object.hash,
            nspace: &object.nspace,
            key: &object.key,
            name: &object.oid,
            snap: object.snap,
        }
    }

    fn effective_key(&self) -> &'a [u8] {
        if self.key.is_empty() { self.name } else { self.key }
    }
}

/// A reusable buffer that object keys are encoded into, so that looking an object up allocates nothing.
#[derive(Debug, Clone, Default)]
pub struct KeyBuf(Vec<u8>);

impl KeyBuf {
    /// Encodes an object's key, replacing the former content.
    pub fn set(&mut self, object: ObjectRef<'_>) -> KeyRef<'_> {
        self.0.clear();
        self.0.extend_from_slice(&object.hash.reverse_bits().to_be_bytes());
        put_text(&mut self.0, object.nspace);
        put_text(&mut self.0, object.effective_key());
        put_text(&mut self.0, object.name);
        self.0.extend_from_slice(&object.snap.0.to_be_bytes());
        KeyRef(&self.0)
    }

    /// Puts the first possible key behind `key`, for going on with a listing.
    pub fn set_after(&mut self, key: KeyRef<'_>) -> KeyRef<'_> {
        self.0.clear();
        self.0.extend_from_slice(key.0);
        self.0.push(0);
        KeyRef(&self.0)
    }

    /// The key encoded last.
    pub fn get(&self) -> KeyRef<'_> {
        KeyRef(&self.0)
    }
}

/// A borrowed object key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyRef<'a>(&'a [u8]);

impl<'a> KeyRef<'a> {
    /// The key before every other one.
    pub const START: KeyRef<'static> = KeyRef(&[]);

    /// The encoded bytes.
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// An owned copy.
    pub fn to_owned(self) -> ObjectKey {
        ObjectKey(self.0.into())
    }
}

impl fmt::Debug for KeyRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyRef({})", self.0.escape_ascii())
    }
}

/// An owned object key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey(pub(crate) Box<[u8]>);

/// Bytes that are no object key, as a damaged store would give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("not an object key")]
pub struct InvalidKey;

impl ObjectKey {
    /// A key of its own buffer; for a lookup prefer a [`KeyBuf`].
    pub fn new(object: ObjectRef<'_>) -> Self {
        let mut buf = KeyBuf::default();
        buf.set(object);
        ObjectKey(buf.0.into())
    }

    /// A view of the key.
    pub fn as_ref(&self) -> KeyRef<'_> {
        KeyRef(&self.0)
    }

    /// The identity that the key encodes, in the given pool.
    ///
    /// # Errors
    /// [`InvalidKey`] for bytes that no [`KeyBuf`] wrote.
    pub fn to_hobject(&self, pool: PoolId) -> Result<HObject, InvalidKey> {
        let (hash, mut rest) = self.0.split_first_chunk::<4>().ok_or(InvalidKey)?;
        let nspace = take_text(&mut rest)?;
        let effective = take_text(&mut rest)?;
        let oid = take_text(&mut rest)?;
        let snap = SnapId(u64::from_be_bytes(rest.try_into().map_err(|_| InvalidKey)?));
        let key = if effective == oid { Bytes::new() } else { effective };
        let hash = u32::from_be_bytes(*hash).reverse_bits();
        Ok(HObject { key, oid, snap, hash, max: false, nspace, pool })
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectKey({})", self.0.escape_ascii())
    }
}

impl std::borrow::Borrow<[u8]> for ObjectKey {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    while let Some(zero) = memchr(0, rest) {
        out.extend_from_slice(&rest[..=zero]);
        out.push(0xff);
        rest = &rest[zero + 1..];
    }
    out.extend_from_slice(rest);
    out.extend_from_slice(&[0, 0]);
}

fn take_text(rest: &mut &[u8]) -> Result<Bytes, InvalidKey> {
    let mut text = Vec::new();
    loop {
        let zero = memchr(0, rest).ok_or(InvalidKey)?;
        text.extend_from_slice(&rest[..zero]);
        let mark = *rest.get(zero + 1).ok_or(InvalidKey)?;
        *rest = &rest[zero + 2..];
        match mark {
            0 => return Ok(text.into()),
            0xff => text.push(0),
            _ => return Err(InvalidKey),
        }
    }
}
