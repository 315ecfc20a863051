//! Class `lock`: advisory locks on objects, kept in an attribute for each.
//!
//! A lock is held by one client, or shared by several that agree on a tag. A holder is a client together
//! with a cookie of its choice. Locks with a duration end by themselves.

use std::time::Duration;

use bytes::Bytes;
use sepiola_messages::class_lock::{
    CLASS, EXCLUSIVE, EXCLUSIVE_EPHEMERAL, Hold, Holder, LockState, MAY_RENEW, MUST_RENEW, SHARED,
};
use sepiola_wire::{Decode, DecodeError, Encode, EntityNum, Errno, Features, Put, Reader, UTime};

use super::{Access, Method, MethodCall, ObjectClass};
use crate::op::{Failure, OpResult};

/// Attributes that hold locks begin so.
const PREFIX: &str = "lock.";

pub(super) struct Lock;

impl ObjectClass for Lock {
    fn name(&self) -> &'static str {
        CLASS
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

fn is_held_as(state: &LockState, kind: u8, tag: &[u8]) -> bool {
    !state.holders.is_empty() && state.kind == kind && state.tag == tag
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
fn load(call: &MethodCall<'_, '_, '_>, name: &str) -> Result<LockState, Failure> {
    let Some(stored) = call.xattr(&attribute(name)?)? else { return Ok(LockState::default()) };
    let mut state = LockState::decode(&mut Reader::new(&stored)).map_err(|_| Errno::EIO)?;
    let now = call.now();
    state.holders.retain(|_, hold| hold.until.is_zero() || hold.until > now);
    Ok(state)
}

fn store(call: &mut MethodCall<'_, '_, '_>, name: &str, state: &LockState) -> Result<(), Failure> {
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
    let mut state = if call.exists() { load(call, &name)? } else { LockState::default() };
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
    if is_held_as(&state, kind, &tag) && state.holders.contains_key(&holder) {
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
    if !is_held_as(&state, kind, &tag)
        || !state.holders.contains_key(&old)
        || state.holders.contains_key(&new)
    {
        return Err(Errno::EBUSY.into());
    }
    let hold = state.holders.remove(&old).ok_or(Errno::EBUSY)?;
    state.holders.insert(new, hold);
    store(call, &name, &state)?;
    Ok(0)
}
