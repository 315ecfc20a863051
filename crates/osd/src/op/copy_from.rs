//! copy-from: replaces an object by a copy of another one of this OSD.
//!
//! The source is read before the target's pg is locked, because two copies in opposite directions would
//! wait for each other otherwise. It is read in several steps and taken when its version is the same
//! before and after.

use std::collections::VecDeque;

use bytes::Bytes;
use sepiola_cephx::caps::OsdAccess;
use sepiola_messages::osd_op::{OpCode, OpRef, OsdOpRequest, input};
use sepiola_objectstore::{Change, KeyBuf, KeyRef, ObjectInfo, ObjectRef, OmapQuery, StoreError};
use sepiola_osdmap::hash::object_hash;
use sepiola_wire::{Errno, PgId, PoolId, SnapId};

use super::{Execution, Failure, OpResult, execution::store_failure};
use crate::{core::Osd, maps::MapView, session::Session};

/// How often a source that is being written to is read again.
const TRIES: usize = 16;

/// An object's contents, ready to be written elsewhere.
#[derive(Debug)]
pub(crate) struct ObjectCopy {
    info: ObjectInfo,
    data: Bytes,
    xattrs: Vec<(Bytes, Bytes)>,
    omap_header: Bytes,
    omap: Vec<(Bytes, Bytes)>,
}

/// The sources of a request's copies in order; a failure is the op's.
pub(crate) type Sources = VecDeque<Result<ObjectCopy, Failure>>;

/// Reads what a request wants to copy.
pub(crate) fn sources(osd: &Osd, session: &Session, view: &MapView, request: &OsdOpRequest<'_>) -> Sources {
    let copies = |code: OpCode| code == OpCode::COPY_FROM || code == OpCode::COPY_FROM2;
    if !request.codes().any(copies) {
        return Sources::new();
    }
    // One small message may name many large objects: what it makes the OSD hold is limited like a reply.
    let mut room = osd.config.limits.max_reply as u64;
    let ops = request.ops().filter(|op| copies(op.code));
    let sources = ops.map(|op| {
        if room == 0 {
            return Err(Errno::EMSGSIZE.into());
        }
        let copy = source(osd, session, view, request, &op)?;
        room = room.saturating_sub(copy.size());
        if room == 0 { Err(Errno::EMSGSIZE.into()) } else { Ok(copy) }
    });
    sources.collect()
}

impl ObjectCopy {
    /// Bytes held.
    fn size(&self) -> u64 {
        let pairs = self.xattrs.iter().chain(&self.omap);
        let pairs: usize = pairs.map(|(name, value)| name.len() + value.len()).sum();
        (self.data.len() + self.omap_header.len() + pairs) as u64
    }
}

fn source(
    osd: &Osd,
    session: &Session,
    view: &MapView,
    request: &OsdOpRequest<'_>,
    op: &OpRef<'_>,
) -> Result<ObjectCopy, Failure> {
    let source = input::copy_from(op).map_err(|_| Errno::EINVAL)?;
    let args = op.args.copy_from();
    let (locator, here) = (&source.locator, request.spg.pg.pool);
    let pool_id = if locator.pool.0 < 0 { here } else { locator.pool };
    let is_target = source.oid == request.oid
        && pool_id == here
        && locator.key == request.locator.key
        && locator.nspace == request.locator.nspace;
    if is_target {
        return Err(Errno::EINVAL.into());
    }
    // Clones can be neither named nor truncated: there are none.
    if args.src_snap != SnapId::HEAD.0 || source.truncate.is_some() {
        return Err(Errno::EOPNOTSUPP.into());
    }
    check_right(session, view, pool_id, &locator.nspace, &source.oid)?;
    let hash = object_hash(&source.oid, &locator.key, &locator.nspace);
    let pool = view.map().pool(pool_id).ok_or(Errno::ENOENT)?;
    let id = PgId::new(pool_id, pool.fold(hash));
    let slot = view.pool(pool_id).and_then(|pool| pool.slot(id.ps)).ok_or(Errno::ENOENT)?;
    if slot.pg.is_none() {
        // Another OSD has the source, and OSDs do not read from each other yet.
        return Err(Errno::EOPNOTSUPP.into());
    }
    let mut key = KeyBuf::default();
    let object = key.set(ObjectRef {
        hash,
        nspace: &locator.nspace,
        key: &locator.key,
        name: &source.oid,
        snap: SnapId::HEAD,
    });
    let copy = read(osd, id, object)?;
    match args.src_version.cmp(&copy.info.user_version) {
        _ if args.src_version == 0 => Ok(copy),
        std::cmp::Ordering::Equal => Ok(copy),
        std::cmp::Ordering::Less => Err(Errno::ERANGE.into()),
        std::cmp::Ordering::Greater => Err(Errno::EOVERFLOW.into()),
    }
}

/// Real OSDs fetch the source with their own rights; here the client must be allowed to read it.
fn check_right(
    session: &Session,
    view: &MapView,
    pool: PoolId,
    nspace: &[u8],
    object: &[u8],
) -> Result<(), Failure> {
    let pool = view.pool(pool).ok_or(Errno::ENOENT)?;
    let access = OsdAccess {
        pool_name: &pool.name,
        application_metadata: &pool.applications,
        nspace,
        object,
        read: true,
        write: false,
        classes: &[],
        addr: session.peer.addr.socket.map(|socket| socket.ip()),
    };
    let allowed = session.peer.caps.is_allow_all() || session.peer.caps.allows_osd(&access);
    if allowed { Ok(()) } else { Err(Errno::EPERM.into()) }
}

fn read(osd: &Osd, pg: PgId, object: KeyRef<'_>) -> Result<ObjectCopy, Failure> {
    let failed = |error: StoreError| store_failure(&error);
    let stat = || osd.store.stat(pg, object).wait().map_err(failed);
    let mut before = stat()?;
    for _ in 0..TRIES {
        let Some(found) = before else { return Err(Errno::ENOENT.into()) };
        let copy = ObjectCopy {
            info: found.info,
            data: osd.store.read(pg, object, 0, found.size).wait().map_err(failed)?.into_bytes(),
            xattrs: osd.store.xattrs(pg, object).wait().map_err(failed)?,
            omap_header: osd.store.omap_header(pg, object).wait().map_err(failed)?,
            omap: osd.store.omap_range(pg, object, EVERYTHING).wait().map_err(failed)?.entries,
        };
        let after = stat()?;
        if after.is_some_and(|after| after.info.version == found.info.version) {
            return Ok(copy);
        }
        before = after;
    }
    Err(Errno::EBUSY.into())
}

const EVERYTHING: OmapQuery<'_> =
    OmapQuery { after: b"", prefix: b"", max_entries: usize::MAX, max_bytes: usize::MAX, keys_only: false };

/// Puts the copy in the place of the object, which gets the source's user version.
pub(super) fn copy_from(x: &mut Execution<'_, '_>) -> OpResult {
    let copy = x.sources.pop_front().unwrap_or(Err(Errno::EINVAL.into()))?;
    let size = copy.data.len() as u64;
    if x.exists() {
        x.remove();
    }
    x.change_data(Change::WriteFull(copy.data.into()), size);
    for (name, value) in copy.xattrs {
        x.change(Change::SetXattr { name: name.into(), value: value.into() });
    }
    if !copy.omap_header.is_empty() {
        x.change(Change::OmapSetHeader(copy.omap_header.into()));
    }
    for (key, value) in copy.omap {
        x.change(Change::OmapSet { key: key.into(), value: value.into() });
    }
    // The copy is as old as its source, whatever time the request carries.
    x.mtime = copy.info.mtime;
    x.info.mtime = copy.info.mtime;
    x.copied_version = Some(copy.info.user_version);
    x.written += size;
    Ok(0)
}
