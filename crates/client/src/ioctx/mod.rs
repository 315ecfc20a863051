//! Objects of one pool.

mod class;
mod data;
mod list;
mod lock;
mod omap;
mod omap_list;
mod slices;
mod unsupported;
mod xattr;

use std::fmt;

use bytes::Bytes;
use sepiola_messages::PoolStat;
use sepiola_messages::osd_op::{OpSpec, RequestFlags, RequestHead};
use sepiola_wire::{Epoch, Errno, ObjectLocator, PgId, PoolId, SnapId, SpgId, UTime};

pub use data::Stat;
pub use list::{ListedObject, ObjectList};
pub use lock::{Lock, LockInfo, Locker};
pub use omap::OmapPage;
pub use omap_list::OmapList;

use crate::{
    Error, ObjectName, ReadOp, ReadResult, Result, WriteOp, WriteResult,
    objecter::{Objecter, Reply, Request, request_flags},
    rados::Rados,
};

/// A pool, with the namespace, locator key and snapshots that operations use. Cheap to clone; clones can be
/// set up differently.
#[derive(Clone)]
pub struct IoCtx {
    rados: Rados,
    pool: PoolId,
    pool_name: String,
    namespace: Bytes,
    locator_key: Bytes,
    read_snap: SnapId,
    snap_seq: SnapId,
    snaps: Vec<SnapId>,
}

impl IoCtx {
    pub(crate) fn new(rados: Rados, pool: PoolId, pool_name: String) -> Self {
        IoCtx {
            rados,
            pool,
            pool_name,
            namespace: Bytes::new(),
            locator_key: Bytes::new(),
            read_snap: SnapId::HEAD,
            snap_seq: SnapId(0),
            snaps: Vec::new(),
        }
    }

    /// The cluster handle that it came from.
    pub fn rados(&self) -> &Rados {
        &self.rados
    }

    /// The pool's number.
    pub fn pool_id(&self) -> PoolId {
        self.pool
    }

    /// The pool's name when it was opened.
    pub fn pool_name(&self) -> &str {
        &self.pool_name
    }

    /// The pool's name in the newest map, as it may have been renamed.
    ///
    /// # Errors
    /// [`Error::NoSuchPool`] if the pool was deleted.
    pub fn current_pool_name(&self) -> Result<String> {
        let map = self.rados.osdmap();
        map.pool_name(self.pool).map(str::to_owned).ok_or_else(|| Error::NoSuchPool(self.pool_name.clone()))
    }

    /// Usage of the pool, as its OSDs last reported it.
    ///
    /// # Errors
    /// [`Error::NoSuchPool`] if the pool was deleted.
    pub async fn pool_stat(&self) -> Result<PoolStat> {
        self.rados.pool_stat(&self.current_pool_name()?).await
    }

    /// The locator key; empty places objects by their names.
    pub fn locator_key(&self) -> &[u8] {
        &self.locator_key
    }

    /// The object's placement hash in this context.
    ///
    /// # Errors
    /// [`Error::NoSuchPool`] if the pool was deleted.
    pub fn object_hash(&self, object: impl Into<ObjectName>) -> Result<u32> {
        let map = self.rados.osdmap();
        let pool = map.pool(self.pool).ok_or_else(|| Error::NoSuchPool(self.pool_name.clone()))?;
        Ok(pool.object_hash(object.into().as_bytes(), &self.locator_key, &self.namespace))
    }

    /// The namespace; empty is the default one.
    pub fn namespace(&self) -> &[u8] {
        &self.namespace
    }

    /// Works in a namespace from now on; empty is the default one.
    pub fn set_namespace(&mut self, namespace: impl Into<ObjectName>) -> &mut Self {
        self.namespace = namespace.into().into_bytes();
        self
    }

    /// Places objects by `key` instead of their names from now on; empty places by name again. Reading needs
    /// the key that the object was written with.
    pub fn set_locator_key(&mut self, key: impl Into<ObjectName>) -> &mut Self {
        self.locator_key = key.into().into_bytes();
        self
    }

    /// Reads from a snapshot from now on; [`SnapId::HEAD`] reads the objects themselves.
    pub fn set_read_snapshot(&mut self, snap: SnapId) -> &mut Self {
        self.read_snap = snap;
        self
    }

    /// The self-managed snapshots that writes keep alive: the newest one's number, and all of them, newest
    /// first.
    ///
    /// # Errors
    /// Unless `snaps` descends from at most `seq`.
    pub fn set_snap_context(&mut self, seq: SnapId, snaps: Vec<SnapId>) -> Result<&mut Self> {
        let descends = snaps.windows(2).all(|pair| pair[0] > pair[1]);
        if !descends || snaps.first().is_some_and(|newest| *newest > seq) {
            return Err(Error::InvalidArgument("snapshots must descend from the newest".into()));
        }
        (self.snap_seq, self.snaps) = (seq, snaps);
        Ok(self)
    }

    /// Carries out a compound write.
    ///
    /// # Errors
    /// Of the first operation that failed; then nothing was changed.
    pub async fn operate(&self, object: impl Into<ObjectName>, op: WriteOp) -> Result<WriteResult> {
        if op.is_empty() {
            return Err(Error::InvalidArgument("a compound write without operations".into()));
        }
        let mtime = op.mtime.unwrap_or_else(UTime::now);
        let object = object.into().into_bytes();
        let name = ObjectName::from(object.clone());
        let reply = self.write_specs("operate on", name, op.specs, mtime, op.flags).await?;
        Ok(WriteResult {
            version: reply.user_version,
            results: ReadResult { reply, what: "operate on", object },
        })
    }

    /// Carries out a compound read.
    ///
    /// # Errors
    /// Of the first operation that failed, unless it was allowed to.
    pub async fn operate_read(&self, object: impl Into<ObjectName>, op: ReadOp) -> Result<ReadResult> {
        if op.is_empty() {
            return Err(Error::InvalidArgument("a compound read without operations".into()));
        }
        let object = object.into().into_bytes();
        let mut request = self.request("read", object.clone(), op.specs, false)?;
        request.head.snap = self.read_snap;
        request.head.flags |= op.flags;
        Ok(ReadResult { reply: self.execute(request).await?, what: "read", object })
    }

    /// The snapshot that reads are of.
    pub(crate) fn read_snapshot(&self) -> SnapId {
        self.read_snap
    }

    /// What places objects beside their names.
    pub(crate) fn locator(&self) -> ObjectLocator {
        ObjectLocator {
            key: self.locator_key.clone(),
            nspace: self.namespace.clone(),
            ..ObjectLocator::new(self.pool)
        }
    }

    fn objecter(&self) -> &Objecter {
        self.rados.objecter()
    }

    /// A request for an object; pg and attempt are filled in later.
    fn request(
        &self,
        what: &'static str,
        object: Bytes,
        specs: Vec<OpSpec>,
        writes: bool,
    ) -> Result<Request> {
        if object.is_empty() {
            return Err(Error::InvalidArgument("an object without a name".into()));
        }
        let nowhere = SpgId::replicated(PgId::new(self.pool, 0));
        let mut head = RequestHead::new(nowhere, 0, Epoch(0), self.locator(), object);
        head.flags = request_flags(writes, specs.iter().map(|op| op.code));
        Ok(Request { head, specs, writes, what })
    }

    /// Carries out operations that change an object.
    async fn write_specs(
        &self,
        what: &'static str,
        object: ObjectName,
        specs: Vec<OpSpec>,
        mtime: UTime,
        flags: RequestFlags,
    ) -> Result<Reply> {
        let mut request = self.request(what, object.into_bytes(), specs, true)?;
        request.head.flags |= flags;
        request.head.mtime = mtime;
        request.head.snap_seq = self.snap_seq;
        request.head.snaps.clone_from(&self.snaps);
        self.execute(request).await
    }

    /// Carries out operations that only read.
    async fn read_specs(
        &self,
        what: &'static str,
        object: ObjectName,
        specs: Vec<OpSpec>,
    ) -> Result<ReadResult> {
        let object = object.into_bytes();
        let mut request = self.request(what, object.clone(), specs, false)?;
        request.head.snap = self.read_snap;
        Ok(ReadResult { reply: self.execute(request).await?, what, object })
    }

    async fn execute(&self, request: Request) -> Result<Reply> {
        let (what, object) = (request.what, request.head.oid.clone());
        let reply = self.objecter().execute(request).await?;
        match Errno::from_wire(reply.result) {
            Ok(_) => Ok(reply),
            Err(errno) => Err(Error::operation(errno, what, &object)),
        }
    }
}

impl fmt::Debug for IoCtx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IoCtx")
            .field("pool", &self.pool)
            .field("pool_name", &self.pool_name)
            .field("namespace", &self.namespace)
            .field("locator_key", &self.locator_key)
            .finish_non_exhaustive()
    }
}
