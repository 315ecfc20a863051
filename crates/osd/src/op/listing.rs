//! pgnls, pgls and their filtered forms: a pg's objects, a page at a time.
//!
//! Objects come in the order of their bit-reversed hash, so that a listing survives the splitting of pgs,
//! and the cursor is the first object not returned.

use std::{sync::Arc, time::Instant};

use sepiola_messages::osd_op::{
    OpCode, OpRef, OsdOpRequest,
    input::{self, ListFilter},
    output::{ListEntry, Listing},
};
use sepiola_objectstore::{KeyBuf, KeyRef, ObjectRef, StoreError};
use sepiola_wire::{Encode, Errno, Features, HObject, PgId, SnapId};

use super::{Failure, Outputs, execution::store_failure};
use crate::{
    core::Osd,
    maps::MapView,
    pg::{Pg, bounds::end_of_pg},
    reply::{Verdict, Versions},
};

/// A listing for all namespaces has this as its own.
const ALL_NAMESPACES: &[u8] = &[1];
/// Objects looked at for one reply: in a large pg few may be in the wanted namespace.
const MAX_SCANNED: usize = 64 << 10;
/// The result of the last page of a pg.
const END_OF_PG: i32 = 1;

/// Runs the ops of a request on a pg.
pub(crate) fn run(
    osd: &Osd,
    view: &MapView,
    pg: &Arc<Pg>,
    began: Instant,
    request: &OsdOpRequest<'_>,
    out: &mut Outputs,
) -> Verdict {
    let mut result = Ok(0);
    for op in request.ops() {
        out.begin();
        result = match op.code {
            OpCode::PGNLS | OpCode::PGLS | OpCode::PGNLS_FILTER | OpCode::PGLS_FILTER => {
                list(osd, view, pg.id(), request, &op, out)
            }
            _ => Err(Errno::EOPNOTSUPP.into()),
        };
        // The end of the pg is the message's result only, never the op's.
        out.finish(result.map_or_else(|failure| failure.0, |_| 0));
        if result.is_err() {
            break;
        }
    }
    out.pad(request.raw_ops().len());
    let mut state = pg.lock();
    state.io.count(began, false, 0, out.total() as u64);
    let versions = Versions::new(state.last_update, state.last_user_version);
    match result {
        Ok(value) => Verdict::new(value, versions),
        Err(failure) => {
            out.drop_data();
            Verdict::new(failure.0, versions)
        }
    }
}

fn list(
    osd: &Osd,
    view: &MapView,
    pg: PgId,
    request: &OsdOpRequest<'_>,
    op: &OpRef<'_>,
    out: &mut Outputs,
) -> Result<i32, Failure> {
    let (filter, cursor) = filter_and_cursor(op)?;
    let pool = view.map().pool(pg.pool).ok_or(Errno::ENOENT)?;
    let from_start = cursor == HObject::min();
    if !from_start && !cursor.max && (cursor.pool != pg.pool || pool.fold(cursor.hash) != pg.ps) {
        return Err(Errno::EINVAL.into());
    }
    let limit =
        usize::try_from(op.args.pgls().max_entries).unwrap_or(usize::MAX).min(osd.config.limits.max_listing);
    let wanted = request.locator.nspace;
    let all = wanted == ALL_NAMESPACES;

    let mut entries = Vec::new();
    let mut next = None;
    let mut from = KeyBuf::default();
    if from_start {
        from.set(ObjectRef { hash: pg.ps, nspace: b"", key: b"", name: b"", snap: SnapId(0) });
    } else {
        from.set(ObjectRef::of(&cursor));
    }
    let mut scanned = 0;
    while next.is_none() && !cursor.max {
        let batch = limit.saturating_sub(entries.len()) + 1;
        let found = osd.store.list(pg, from.get(), batch).wait().map_err(|error| store_failure(&error))?;
        let exhausted = found.len() < batch;
        scanned += found.len();
        for key in found {
            let object = key.to_hobject(pg.pool).map_err(|_| Errno::EIO)?;
            if entries.len() >= limit || (scanned > MAX_SCANNED && next.is_none()) {
                next = Some(object);
                break;
            }
            // The next batch starts behind this object: at the first key above its own.
            from.set_after(key.as_ref());
            let wanted = object.snap == SnapId::HEAD && (all || object.nspace == wanted);
            if wanted && passes(osd, pg, key.as_ref(), filter.as_ref())? {
                entries.push(ListEntry { nspace: object.nspace, oid: object.oid, key: object.key });
            }
        }
        if exhausted && next.is_none() {
            break;
        }
    }
    let value = if next.is_some() { 0 } else { END_OF_PG };
    let listing = Listing { next: next.unwrap_or_else(|| end_of_pg(pg, pool.pg_num)), entries };
    out.encode(|out| match op.code {
        OpCode::PGLS | OpCode::PGLS_FILTER => listing.encode_pgls(out),
        _ => listing.encode(out, Features::SUPPORTED),
    });
    Ok(value)
}

/// Filters that want an attribute to have a value; the second one is what class `hello` calls it.
const ATTRIBUTE_FILTERS: [&[u8]; 2] = [b"plain", b"hello.hello"];

fn filter_and_cursor<'a>(op: &OpRef<'a>) -> Result<(Option<ListFilter<'a>>, HObject), Failure> {
    if op.code == OpCode::PGNLS || op.code == OpCode::PGLS {
        let cursor = input::list_cursor(op).map_err(|_| Errno::EINVAL)?;
        return Ok((None, cursor));
    }
    let (filter, cursor) = input::list_filter(op).map_err(|_| Errno::EINVAL)?;
    if !ATTRIBUTE_FILTERS.contains(&filter.kind) {
        return Err(Errno::EINVAL.into());
    }
    Ok((Some(filter), cursor))
}

fn passes(osd: &Osd, pg: PgId, object: KeyRef<'_>, filter: Option<&ListFilter<'_>>) -> Result<bool, Failure> {
    let Some(filter) = filter else { return Ok(true) };
    let Some(name) = filter.attribute.strip_prefix(b"_") else { return Ok(false) };
    match osd.store.xattr(pg, object, name).wait() {
        Ok(value) => Ok(value.is_some_and(|value| value == filter.value)),
        // It was deleted since it was listed.
        Err(StoreError::NoObject) => Ok(false),
        Err(error) => Err(store_failure(&error)),
    }
}
