//! Class `refcount`: an object that goes when nobody holds a reference to it any more.
//!
//! References are tags in an attribute. An object without the attribute has one reference without a name,
//! the implicit one, which stands for whatever tag is put back first. A tag that was put back is remembered,
//! so that putting it back twice does not take somebody else's.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use sepiola_wire::{Decode, DecodeError, Encode, Errno, Features, Put, Reader};

use super::{Access, Method, MethodCall, ObjectClass};
use crate::op::{Failure, OpResult};

const ATTRIBUTE: &str = "refcount";

pub(super) struct RefCount;

impl ObjectClass for RefCount {
    fn name(&self) -> &'static str {
        "refcount"
    }

    fn methods(&self) -> &'static [Method] {
        &[
            Method { name: "get", access: Access::READ_WRITE, run: get },
            Method { name: "put", access: Access::READ_WRITE, run: put },
            Method { name: "set", access: Access::READ_WRITE, run: set },
            Method { name: "read", access: Access::READ, run: read },
        ]
    }
}

#[derive(Debug, Default)]
struct References {
    held: BTreeMap<Bytes, bool>,
    put_back: BTreeSet<Bytes>,
}

impl Encode for References {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_versioned(2, 1, |out| {
            self.held.encode(out, features);
            self.put_back.encode(out, features);
        });
    }
}

impl Decode for References {
    const MIN_SIZE: usize = 10;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("obj_refcount", 2)?;
        let (version, r) = (s.version, &mut s.body);
        let held = Decode::decode(r)?;
        Ok(References { held, put_back: if version >= 2 { Decode::decode(r)? } else { BTreeSet::new() } })
    }
}

fn argument<T>(
    call: &MethodCall<'_, '_, '_>,
    read: impl FnOnce(&mut Reader<'_>) -> Result<T, DecodeError>,
) -> Result<T, Failure> {
    let argument =
        Reader::new(call.input).versioned("refcount argument", 1).and_then(|mut s| read(&mut s.body));
    argument.map_err(|_| Errno::EINVAL.into())
}

fn tag_and_implicit(call: &MethodCall<'_, '_, '_>) -> Result<(Bytes, bool), Failure> {
    argument(call, |r| Ok((Bytes::decode(r)?, r.bool()?)))
}

fn load(call: &MethodCall<'_, '_, '_>, implicit: bool) -> Result<References, Failure> {
    match call.xattr(ATTRIBUTE)? {
        Some(stored) => References::decode(&mut Reader::new(&stored)).map_err(|_| Errno::EIO.into()),
        None if implicit => Ok(References { held: [(Bytes::new(), true)].into(), ..References::default() }),
        None => Ok(References::default()),
    }
}

fn store(call: &mut MethodCall<'_, '_, '_>, references: &References) -> OpResult {
    let mut encoded = Vec::new();
    references.encode(&mut encoded, Features::SUPPORTED);
    call.set_xattr(ATTRIBUTE, encoded)?;
    Ok(0)
}

fn get(call: &mut MethodCall<'_, '_, '_>) -> OpResult {
    let (tag, implicit) = tag_and_implicit(call)?;
    let mut references = load(call, implicit)?;
    references.held.insert(tag, true);
    store(call, &references)
}

/// Removes the object with its last reference.
fn put(call: &mut MethodCall<'_, '_, '_>) -> OpResult {
    let (tag, implicit) = tag_and_implicit(call)?;
    let mut references = load(call, implicit)?;
    if references.put_back.contains(&tag) {
        return Ok(0);
    }
    if references.held.remove(&tag).is_none() {
        let stands_for_it = implicit && references.held.remove(&Bytes::new()).is_some();
        if !stands_for_it {
            return Ok(0);
        }
    }
    references.put_back.insert(tag);
    if references.held.is_empty() {
        call.remove()?;
        return Ok(0);
    }
    store(call, &references)
}

/// Replaces all references.
fn set(call: &mut MethodCall<'_, '_, '_>) -> OpResult {
    let tags: Vec<Bytes> = argument(call, Decode::decode)?;
    if tags.is_empty() {
        call.remove()?;
        return Ok(0);
    }
    let held = tags.into_iter().map(|tag| (tag, true)).collect();
    store(call, &References { held, ..References::default() })
}

fn read(call: &mut MethodCall<'_, '_, '_>) -> OpResult {
    let implicit = argument(call, |r| r.bool())?;
    let tags: Vec<Bytes> = load(call, implicit)?.held.into_keys().collect();
    let mut reply = Vec::new();
    reply.put_versioned(1, 1, |out| tags.encode(out, Features::SUPPORTED));
    call.put(&reply);
    Ok(0)
}
