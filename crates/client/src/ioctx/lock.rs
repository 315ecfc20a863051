//! Advisory locks on objects, by the class `lock`.

use std::time::Duration;

use bytes::Bytes;
use sepiola_messages::{
    class_lock::{CLASS, EXCLUSIVE, LockState, MAY_RENEW, MUST_RENEW, SHARED},
    osd_op::OpSpec,
};
use sepiola_wire::{Decode, DecodeError, Encode, EntityAddr, EntityNum, Features, Put, Reader, UTime};

use super::IoCtx;
use crate::{Error, ObjectName, ReadOp, Result, WriteOp};

/// A lock to take, or one that is held. A holder is a client together with a cookie, so one client may hold
/// a shared lock several times.
#[derive(Debug, Clone)]
#[must_use = "a lock is taken by `IoCtx::lock`"]
pub struct Lock {
    name: String,
    shared: bool,
    cookie: Bytes,
    tag: Bytes,
    description: String,
    duration: Duration,
    flags: u8,
}

impl Lock {
    fn new(name: impl Into<String>, shared: bool) -> Self {
        Lock {
            name: name.into(),
            shared,
            cookie: Bytes::new(),
            tag: Bytes::new(),
            description: String::new(),
            duration: Duration::ZERO,
            flags: 0,
        }
    }

    /// A lock that one holder has. An object may have locks of several names.
    pub fn exclusive(name: impl Into<String>) -> Self {
        Self::new(name, false)
    }

    /// A lock that all holders share who give the same `tag`.
    pub fn shared(name: impl Into<String>, tag: impl AsRef<[u8]>) -> Self {
        Lock { tag: Bytes::copy_from_slice(tag.as_ref()), ..Self::new(name, true) }
    }

    /// Tells this holder from others of this client. Empty by default.
    pub fn cookie(mut self, cookie: impl AsRef<[u8]>) -> Self {
        self.cookie = Bytes::copy_from_slice(cookie.as_ref());
        self
    }

    /// A text for whoever lists the holders.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = text.into();
        self
    }

    /// The lock ends by itself after this time. By default it does not.
    pub fn duration(mut self, duration: Duration) -> Self {
        self.duration = duration;
        self
    }

    /// Taking it again prolongs it, instead of failing with EEXIST.
    pub fn may_renew(mut self) -> Self {
        self.flags = MAY_RENEW;
        self
    }

    /// Only prolongs a lock that is held; fails with ENOENT otherwise.
    pub fn must_renew(mut self) -> Self {
        self.flags = MUST_RENEW;
        self
    }

    fn kind(&self) -> u8 {
        if self.shared { SHARED } else { EXCLUSIVE }
    }

    fn lock_argument(&self) -> Vec<u8> {
        argument(|out| {
            self.name.encode(out, Features::SUPPORTED);
            out.put_u8(self.kind());
            out.put_blob(&self.cookie);
            out.put_blob(&self.tag);
            self.description.encode(out, Features::SUPPORTED);
            UTime::from_since_epoch(self.duration).encode(out, Features::SUPPORTED);
            out.put_u8(self.flags);
        })
    }

    fn assert_argument(&self) -> Vec<u8> {
        argument(|out| {
            self.name.encode(out, Features::SUPPORTED);
            out.put_u8(self.kind());
            out.put_blob(&self.cookie);
            out.put_blob(&self.tag);
        })
    }
}

/// One holder of a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locker {
    /// The client, whose number is its [`Rados::instance_id`](crate::Rados::instance_id).
    pub client: EntityNum,
    /// Its cookie.
    pub cookie: Bytes,
    /// Its address.
    pub addr: EntityAddr,
    /// Its text.
    pub description: Bytes,
    /// When the lock ends by itself, if it does.
    pub expires: Option<UTime>,
}

/// Who holds a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockInfo {
    /// Whether it is shared.
    pub shared: bool,
    /// What all holders of a shared lock give.
    pub tag: Bytes,
    /// The holders; none if the lock is free.
    pub lockers: Vec<Locker>,
}

impl IoCtx {
    /// Takes a lock. Creates the object.
    ///
    /// # Errors
    /// EBUSY if another holder has it, EEXIST if this one has.
    pub async fn lock(&self, object: impl Into<ObjectName>, lock: &Lock) -> Result<()> {
        let spec = OpSpec::call(CLASS, "lock", &lock.lock_argument());
        self.write_one("lock", object.into(), spec).await
    }

    /// Gives a lock back that was taken with this cookie.
    ///
    /// # Errors
    /// ENOENT if this holder does not have it.
    pub async fn unlock(
        &self,
        object: impl Into<ObjectName>,
        name: &str,
        cookie: impl AsRef<[u8]>,
    ) -> Result<()> {
        let input = argument(|out| {
            name.encode(out, Features::SUPPORTED);
            out.put_blob(cookie.as_ref());
        });
        self.write_one("unlock", object.into(), OpSpec::call(CLASS, "unlock", &input)).await
    }

    /// Takes a lock away from a holder, who does not hear of it. To make sure that it does not write any more,
    /// block its address first ([`Rados::blocklist_add`](crate::Rados::blocklist_add)).
    ///
    /// # Errors
    /// ENOENT if it does not hold the lock.
    pub async fn break_lock(&self, object: impl Into<ObjectName>, name: &str, holder: &Locker) -> Result<()> {
        let input = argument(|out| {
            name.encode(out, Features::SUPPORTED);
            holder.client.encode(out, Features::SUPPORTED);
            out.put_blob(&holder.cookie);
        });
        self.write_one("break a lock of", object.into(), OpSpec::call(CLASS, "break_lock", &input)).await
    }

    /// Who holds a lock.
    ///
    /// # Errors
    /// ENOENT without the object.
    pub async fn lock_info(&self, object: impl Into<ObjectName>, name: &str) -> Result<LockInfo> {
        let input = argument(|out| name.encode(out, Features::SUPPORTED));
        let info = self.operate_read(object, ReadOp::new().call(CLASS, "get_info", input)).await?.bytes(0)?;
        LockState::decode(&mut Reader::new(&info)).map(Into::into).map_err(malformed)
    }

    /// The names of the locks that an object has or had.
    ///
    /// # Errors
    /// ENOENT without the object.
    pub async fn list_locks(&self, object: impl Into<ObjectName>) -> Result<Vec<Bytes>> {
        let names = self.operate_read(object, ReadOp::new().call(CLASS, "list_locks", "")).await?.bytes(0)?;
        let mut reader = Reader::new(&names);
        reader.versioned("lock names", 1).and_then(|mut s| Vec::decode(&mut s.body)).map_err(malformed)
    }
}

impl WriteOp {
    /// Fails with EBUSY unless this client holds the lock just so.
    pub fn assert_locked(self, lock: &Lock) -> Self {
        self.call(CLASS, "assert_locked", lock.assert_argument())
    }
}

impl ReadOp {
    /// Fails with EBUSY unless this client holds the lock just so.
    pub fn assert_locked(self, lock: &Lock) -> Self {
        self.call(CLASS, "assert_locked", lock.assert_argument())
    }
}

fn argument(body: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_versioned(1, 1, body);
    out
}

fn malformed(error: DecodeError) -> Error {
    Error::PeerMisbehaved(format!("malformed answer of class lock: {error}"))
}

impl From<LockState> for LockInfo {
    fn from(state: LockState) -> Self {
        let lockers = state.holders.into_iter().map(|(holder, hold)| Locker {
            client: holder.name,
            cookie: holder.cookie,
            addr: hold.addr,
            description: hold.description,
            expires: (!hold.until.is_zero()).then_some(hold.until),
        });
        LockInfo { lockers: lockers.collect(), shared: state.kind == SHARED, tag: state.tag }
    }
}
