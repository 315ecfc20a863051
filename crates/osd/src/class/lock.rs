//! Class `lock`: advisory locks on objects, kept in an attribute for each.
//!
//! A lock is held by one client, or shared by several that agree on a tag. A holder is a client together
//! with a cookie of its choice. Locks with a duration end by themselves.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use sepiola_wire::{Decode, DecodeError, Encode, EntityAddr, EntityNum, Errno, Features, Put, Reader, UTime};

use super::{Access, Method, MethodCall, ObjectClass};
use crate::op::{Failure, OpResult};

/// Attributes that hold locks begin so.
const PREFIX: &str = "lock.";
/// Flag: locking again prolongs the lock.
const MAY_RENEW: u8 = 1;
/// Flag: only prolong a lock that is held already.
const MUST_RENEW: u8 = 2;

const EXCLUSIVE: u8 = 1;
const SHARED: u8 = 2;
/// Exclusive, and the object goes with the lock.
const EXCLUSIVE_EPHEMERAL: u8 = 3;

pub(super) struct Lock;

impl ObjectClass for Lock {
    fn name(&self) -> &'static str {
        "lock"
    }

    fn methods(&self) -> &'static [Method] {
        &[
            Method { name: "lock", access: Access::READ_WRITE, run: lock },
            Method { name: "unlock", access: Access::READ_WRITE, run: unlock },
            Method { name: "break_lock", access: Access::READ_WRITE, run: break_lock },
            Method { name: "get_info", access: Access::READ, run: get_info },
            Method { name: "list_locks", access: Access::READ, run: list_locks },
            Method { name: "assert_locked", access: Access::READ, run: assert_locked },
            Method { name: "set_cookie", access: Access::READ_WRITE, run: set_cookie },
        ]
    }
}

/// Who holds a lock.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Holder {
    name: EntityNum,
    cookie: Bytes,
}

impl Encode for Holder {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_versioned(1, 1, |out| {
            self.name.encode(out, features);
            self.cookie.encode(out, features);
        });
    }
}

impl Decode for Holder {
    const MIN_SIZE: usize = 19;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("locker_id", 1)?;
        Ok(Holder { name: Decode::decode(&mut s.body)?, cookie: Decode::decode(&mut s.body)? })
    }
}

/// How a holder came to hold the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hold {
    /// Zero for ever.
    until: UTime,
    addr: EntityAddr,
    description: Bytes,
}

impl Encode for Hold {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_versioned(1, 1, |out| {
            self.until.encode(out, features);
            self.addr.encode(out, features);
            self.description.encode(out, features);
        });
    }
}

impl Decode for Hold {
    const MIN_SIZE: usize = 19;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("locker_info", 1)?;
        let r = &mut s.body;
        Ok(Hold { until: Decode::decode(r)?, addr: Decode::decode(r)?, description: Decode::decode(r)? })
    }
}

/// A lock as its attribute holds it and as `get_info` returns it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct State {
    holders: BTreeMap<Holder, Hold>,
    kind: u8,
    tag: Bytes,
}

impl Encode for State {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_versioned(1, 1, |out| {
            self.holders.encode(out, features);
            out.put_u8(self.kind);
            self.tag.encode(out, features);
        });
    }
}

impl Decode for State {
    const MIN_SIZE: usize = 15;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("lock_info", 1)?;
        let r = &mut s.body;
        Ok(State { holders: Decode::decode(r)?, kind: r.u8()?, tag: Decode::decode(r)? })
    }
}

impl State {
    fn is_held_as(&self, kind: u8, tag: &[u8]) -> bool {
        !self.holders.is_empty() && self.kind == kind && self.tag == tag
    }
}

/// Reads a method's argument, which is one versioned struct.
fn argument<'a, T>(
    call: &MethodCall<'_, 'a, '_>,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, DecodeError>,
) -> Result<T, Failure> {
    let argument = Reader::new(call.input).versioned("lock argument", 1).and_then(|mut s| read(&mut s.body));
    argument.map_err(|_| Errno::EINVAL.into())
}

fn attribute(name: &str) -> Result<String, Failure> {
    if name.is_empty() { Err(Errno::EINVAL.into()) } else { Ok(format!("{PREFIX}{name}")) }
}

/// The lock without those whose time is over, ENOENT if there is no object.
fn load(call: &MethodCall<'_, '_, '_>, name: &str) -> Result<State, Failure> {
    let Some(stored) = call.xattr(&attribute(name)?)? else { return Ok(State::default()) };
    let mut state = State::decode(&mut Reader::new(&stored)).map_err(|_| Errno::EIO)?;
    let now = call.now();
    state.holders.retain(|_, hold| hold.until.is_zero() || hold.until > now);
    Ok(state)
}

fn store(call: &mut MethodCall<'_, '_, '_>, name: &str, state: &State) -> Result<(), Failure> {
    let mut encoded = Vec::new();
    state.encode(&mut encoded, Features::SUPPORTED);
    call.set_xattr(&attribute(name)?, encoded)
}

fn check_kind(kind: u8) -> Result<(), Failure> {
    match kind {
        EXCLUSIVE | SHARED | EXCLUSIVE_EPHEMERAL => Ok(()),
        _ => Err(Errno::EINVAL.into()),
    }
}

fn lock(call: &mut MethodCall<'_, '_, '_>) -> OpResult {
    let (name, kind, cookie, tag, description, duration, flags) = argument(call, |r| {
        Ok((
            String::decode(r)?,
            r.u8()?,
            Bytes::decode(r)?,
            Bytes::decode(r)?,
            Bytes::decode(r)?,
            UTime::decode(r)?,
            r.u8()?,
        ))
    })?;
    check_kind(kind)?;
    let (may_renew, must_renew) = (flags & MAY_RENEW != 0, flags & MUST_RENEW != 0);
    if may_renew && must_renew {
        return Err(Errno::EINVAL.into());
    }
    attribute(&name)?;
    let mut state = if call.exists() { load(call, &name)? } else { State::default() };
    if !state.holders.is_empty() && state.tag != tag {
        return Err(Errno::EBUSY.into());
    }
    let holder = Holder { name: call.caller(), cookie };
    match state.holders.remove(&holder) {
        Some(_) if !may_renew && !must_renew => return Err(Errno::EEXIST.into()),
        None if must_renew => return Err(Errno::ENOENT.into()),
        _ => {}
    }
    if !state.holders.is_empty() && (kind != SHARED || state.kind != kind) {
        return Err(Errno::EBUSY.into());
    }
    let until = match duration.since_epoch() {
        Duration::ZERO => UTime::ZERO,
        duration => call.now().saturating_add(duration),
    };
    state.holders.insert(holder, Hold { until, addr: call.caller_addr(), description });
    (state.kind, state.tag) = (kind, tag);
    store(call, &name, &state)?;
    Ok(0)
}

fn release(call: &mut MethodCall<'_, '_, '_>, name: &str, holder: &Holder) -> OpResult {
    let mut state = load(call, name)?;
    state.holders.remove(holder).ok_or(Errno::ENOENT)?;
    if state.holders.is_empty() && state.kind == EXCLUSIVE_EPHEMERAL {
        call.remove()?;
    } else {
        store(call, name, &state)?;
    }
    Ok(0)
}

fn unlock(call: &mut MethodCall<'_, '_, '_>) -> OpResult {
    let (name, cookie) = argument(call, |r| Ok((String::decode(r)?, Bytes::decode(r)?)))?;
    release(call, &name, &Holder { name: call.caller(), cookie })
}

/// Unlocks for somebody else.
fn break_lock(call: &mut MethodCall<'_, '_, '_>) -> OpResult {
    let (name, holder) = argument(call, |r| {
        Ok((String::decode(r)?, Holder { name: EntityNum::decode(r)?, cookie: Bytes::decode(r)? }))
    })?;
    release(call, &name, &holder)
}

fn get_info(call: &mut MethodCall<'_, '_, '_>) -> OpResult {
    let name = argument(call, String::decode)?;
    let state = load(call, &name)?;
    call.put_encoded(&state);
    Ok(0)
}

fn list_locks(call: &mut MethodCall<'_, '_, '_>) -> OpResult {
    let mut reply = Vec::new();
    let names: Vec<Bytes> = call
        .xattrs()?
        .into_keys()
        .filter_map(|n| n.strip_prefix(PREFIX.as_bytes()).map(|n| n.to_vec().into()))
        .collect();
    reply.put_versioned(1, 1, |out| names.encode(out, Features::SUPPORTED));
    call.put(&reply);
    Ok(0)
}

/// EBUSY unless the caller holds the lock just so.
fn assert_locked(call: &mut MethodCall<'_, '_, '_>) -> OpResult {
    let (name, kind, cookie, tag) =
        argument(call, |r| Ok((String::decode(r)?, r.u8()?, Bytes::decode(r)?, Bytes::decode(r)?)))?;
    check_kind(kind)?;
    let state = load(call, &name)?;
    let holder = Holder { name: call.caller(), cookie };
    if state.is_held_as(kind, &tag) && state.holders.contains_key(&holder) {
        Ok(0)
    } else {
        Err(Errno::EBUSY.into())
    }
}

/// Holds the lock under another cookie.
fn set_cookie(call: &mut MethodCall<'_, '_, '_>) -> OpResult {
    let (name, kind, cookie, tag, new_cookie) = argument(call, |r| {
        Ok((String::decode(r)?, r.u8()?, Bytes::decode(r)?, Bytes::decode(r)?, Bytes::decode(r)?))
    })?;
    check_kind(kind)?;
    let mut state = load(call, &name)?;
    let caller = call.caller();
    let (old, new) = (Holder { name: caller, cookie }, Holder { name: caller, cookie: new_cookie });
    if !state.is_held_as(kind, &tag) || !state.holders.contains_key(&old) || state.holders.contains_key(&new)
    {
        return Err(Errno::EBUSY.into());
    }
    let hold = state.holders.remove(&old).ok_or(Errno::EBUSY)?;
    state.holders.insert(new, hold);
    store(call, &name, &state)?;
    Ok(0)
}
