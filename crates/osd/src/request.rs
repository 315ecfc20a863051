//! A client's request on its way: found its pg, allowed, executed, answered.

use std::{sync::Arc, time::Instant};

use bytes::Bytes;
use sepiola_cephx::caps::{ClassCall, OsdAccess};
use sepiola_messages::osd_op::{OpCode, OpFlags, OsdOpRequest, RequestFlags};
use sepiola_objectstore::{ObjectRef, StoreError, Transaction};
use sepiola_osdmap::PoolFlags;
use sepiola_wire::{EVersion, Epoch, Errno, ReqId, SnapId, Tid};

use crate::{
    class::{self, Caller},
    core::{Osd, Scratch},
    maps::{MapView, PoolView, Slot},
    op::{
        self, Execution, Outputs,
        copy_from::{self, Sources},
        listing,
    },
    outgoing::{Outgoing, Refusal},
    pg::{Outcome, Pg, PgState},
    reply::{Verdict, Versions},
    session::Session,
};

/// What is decided before anything is executed.
enum Admission {
    /// Go ahead.
    Execute {
        /// Some op or method writes.
        writes: bool,
    },
    /// No answer: the client sends the request again when it has the newer map.
    Drop(&'static str),
    /// An error before execution.
    Refuse(Errno),
}

impl Osd {
    /// Executes a request that the OSD's map is new enough for, and sends the reply.
    pub(crate) fn execute(
        &self,
        session: &Arc<Session>,
        tid: Tid,
        request: &OsdOpRequest<'_>,
        shared: Option<&Bytes>,
        scratch: &mut Scratch,
        out: &mut impl Outgoing,
    ) -> Result<(), Refusal> {
        let began = Instant::now();
        let view = self.view();
        self.share_maps(session, &view, request.map_epoch, out)?;
        let dropped = |why| {
            tracing::debug!(peer = %session.peer.source, %tid, pg = %request.spg.pg, why, "request dropped");
            Ok(())
        };
        let (pool, slot, pg) = match find_pg(&view, request) {
            Ok(found) => found,
            Err(why) => return dropped(why),
        };
        scratch.outputs.clear();
        let verdict = match self.admit(session, &view, pool, request) {
            Admission::Drop(why) => return dropped(why),
            Admission::Refuse(errno) => Verdict::early(errno),
            Admission::Execute { .. } if !slot.active => {
                return self.block(session, &view, request.spg.pg, false, out);
            }
            Admission::Execute { .. } if is_pg_request(request) => {
                listing::run(self, &view, pg, began, request, &mut scratch.outputs)
            }
            Admission::Execute { writes } => {
                let (id, caller) = (request_id(session, tid, request), self.caller(session));
                let sources = copy_from::sources(self, session, &view, request);
                let full = full(&view, pool);
                let admitted = Admitted { began, id, caller, writes, sources, full };
                match self.run_ops(pg, view.epoch(), admitted, request, shared, scratch) {
                    Some(verdict) => verdict,
                    None => {
                        self.filling_up.notify_one();
                        return dropped("there is no room");
                    }
                }
            }
        };
        verdict.send(request, tid, view.epoch(), scratch, out)
    }

    /// Checks that need no look at the object, in the order in which real OSDs make them.
    fn admit(
        &self,
        session: &Session,
        view: &MapView,
        pool: &PoolView,
        request: &OsdOpRequest<'_>,
    ) -> Admission {
        use Admission::{Drop, Execute, Refuse};
        let limits = &self.config.limits;
        if session.is_blocklisted(view) {
            return Refuse(Errno::ESHUTDOWN);
        }
        let calls = match class::calls(request) {
            Ok(calls) => calls,
            Err(errno) => return Refuse(errno),
        };
        let writes = request.has_write_op() || calls.iter().any(|call| call.method.access.write);
        if !may(session, pool, request, &calls) {
            return Refuse(Errno::EPERM);
        }
        if request.flags.contains(RequestFlags::PARALLELEXEC) || request.raw_ops().len() > limits.max_ops {
            return Refuse(Errno::EINVAL);
        }
        if pool.flags.has(PoolFlags::EIO) {
            let understood = request.flags.contains(RequestFlags::SUPPORTS_POOL_EIO);
            return if understood { Drop("the pool's eio flag is set") } else { Refuse(Errno::EIO) };
        }
        if is_pg_request(request) {
            return Execute { writes: false };
        }
        if request.oid.is_empty() {
            return Refuse(Errno::EINVAL);
        }
        if request.oid.len() > limits.max_name
            || request.locator.key.len() > limits.max_name
            || request.locator.nspace.len() > limits.max_nspace
        {
            return Refuse(Errno::ENAMETOOLONG);
        }
        if writes {
            if request.snap != SnapId::HEAD {
                return Refuse(Errno::EINVAL);
            }
            if request.data().len() > limits.max_write {
                return Refuse(Errno::EMSGSIZE);
            }
        }
        Execute { writes }
    }

    /// Why a request may not even wait for a newer map: whoever may do nothing would take room from others.
    /// What depends on a pool's metadata is left to the newer map, which may have other metadata.
    pub(crate) fn refuses_to_wait(&self, session: &Session, request: &OsdOpRequest<'_>) -> Option<Errno> {
        let view = self.view();
        let caps = &session.peer.caps;
        if session.is_blocklisted(&view) {
            return Some(Errno::ESHUTDOWN);
        }
        let allowed = match view.pool(request.spg.pg.pool) {
            Some(pool) => match class::calls(request) {
                Ok(calls) => may(session, pool, request, &calls) || caps.text().contains("tag"),
                Err(errno) => return Some(errno),
            },
            None => !caps.text().is_empty(),
        };
        (!allowed).then_some(Errno::EPERM)
    }

    /// Runs the ops of a request on its object, and logs what they did. `None` if there is no room for what
    /// they write: the client sends it again when the map says that there is.
    fn run_ops(
        &self,
        pg: &Arc<Pg>,
        epoch: Epoch,
        admitted: Admitted,
        request: &OsdOpRequest<'_>,
        shared: Option<&Bytes>,
        scratch: &mut Scratch,
    ) -> Option<Verdict> {
        let Admitted { began, id, caller, writes, sources, full } = admitted;
        let Scratch { key, transaction, outputs, .. } = scratch;
        let object = key.set(ObjectRef {
            hash: request.hash,
            nspace: request.locator.nspace,
            key: request.locator.key,
            name: request.oid,
            // There are no clones, so every snapshot that can be asked for is the head.
            snap: SnapId::HEAD,
        });
        let mut state = pg.lock();
        if writes && let Some(outcome) = state.dups.find(&id) {
            return Some(Verdict::duplicate(outcome, request, outputs));
        }
        let reused = std::mem::replace(transaction, Transaction::new(pg.id()));
        let transaction_memory = reused.recycle(pg.id());
        let limits = &self.config.limits;
        let started = Execution::start(&*self.store, object, transaction_memory, limits, caller, outputs);
        let mut x = match started {
            Ok(x) => x.with_mtime(request.mtime).with_shared(shared).with_sources(sources),
            // The pool was deleted while the request was on its way here.
            Err(error) => {
                tracing::debug!(pg = %pg.id(), %error, "no collection");
                return Some(Verdict::early(Errno::ENOENT));
            }
        };
        if !writes && !x.exists() {
            *transaction = x.abandon();
            return Some(Verdict::early(Errno::ENOENT));
        }
        if writes && let Some(errno) = refuse_snap_context(request) {
            *transaction = x.abandon();
            return Some(Verdict::new(errno.to_wire(), Versions::default()));
        }

        let outcome = run_all(&mut x, request);
        x.out.pad(request.raw_ops().len());
        let object_version = x.before().map_or(0, |stat| stat.info.user_version);
        let written = x.written;
        let returns = request.flags.contains(RequestFlags::RETURNVEC);
        let longest = if returns { self.config.limits.max_write_reply } else { 0 };
        let logged = writes.then_some(Logged { epoch, id, longest });
        let tries = request.flags.contains(RequestFlags::FULL_TRY);
        let outcome = match outcome {
            // What makes room, or needs none, may always go ahead.
            Ok(_) if writes && x.grows() => match self.no_room(full, request) {
                Some(errno) if tries => Err(errno.to_wire()),
                Some(_) => {
                    *transaction = x.abandon();
                    return None;
                }
                None => outcome,
            },
            _ => outcome,
        };
        let (verdict, left) = match outcome {
            Err(result) => {
                let verdict = failed(&mut state, logged, result, object_version, x.out);
                (verdict, x.abandon())
            }
            Ok(result) if !x.has_changes() => {
                let verdict = if writes {
                    // Logged, so that a duplicate gets the same answer, but no version for clients to see.
                    let at = log(&mut state, epoch, id, 0, result, Vec::new());
                    Verdict::new(result, Versions::new(at, object_version))
                } else {
                    Verdict::new(result, Versions::new(EVersion::default(), object_version))
                };
                (verdict, x.abandon())
            }
            Ok(result) => self.commit(x, &mut state, epoch, id, result, request),
        };
        *transaction = left.recycle(pg.id());
        state.io.count(began, writes, written, outputs.total() as u64);
        Some(verdict)
    }

    /// Why nothing may grow, if that is so. The map says it; before it does, the failsafe. What does not fit
    /// although nothing is full, the store refuses for good: no map will come that makes waiting worth it.
    fn no_room(&self, full: Option<Errno>, request: &OsdOpRequest<'_>) -> Option<Errno> {
        let full = full.filter(|_| !request.flags.contains(RequestFlags::FULL_FORCE));
        full.or_else(|| {
            let space = self.store.space();
            let limit = (space.total as f64 * self.config.failsafe_full) as u64;
            (space.used > limit).then_some(Errno::ENOSPC)
        })
    }

    /// Applies what the ops have changed.
    fn commit<'a>(
        &self,
        mut x: Execution<'a, '_>,
        state: &mut PgState,
        epoch: Epoch,
        id: ReqId,
        result: i32,
        request: &OsdOpRequest<'a>,
    ) -> (Verdict, Transaction<'a>) {
        let returns_outputs = request.flags.contains(RequestFlags::RETURNVEC);
        let result = if returns_outputs {
            let too_long = Errno::EOVERFLOW.to_wire();
            if x.out.fail_longer_than(self.config.limits.max_write_reply, too_long) {
                return (Verdict::new(too_long, Versions::default()), x.abandon());
            }
            result
        } else {
            x.out.drop_data();
            0
        };
        let at = state.next_version(epoch);
        let user_version =
            x.copied_version.unwrap_or_else(|| state.next_user_version(x.info.user_version, at));
        x.info.version = at;
        x.info.user_version = user_version;
        if !x.mtime.is_zero() {
            x.info.mtime = x.mtime;
        }
        let returns =
            if returns_outputs { x.out.to_returns(self.config.limits.max_write_reply) } else { Vec::new() };
        let (mut transaction, out) = x.into_parts();
        if let Err(error) = self.store.apply(&mut transaction) {
            // Nothing was applied, so nothing is logged either and a resend tries again.
            if error == StoreError::Full {
                self.filling_up.notify_one();
            }
            let failure = op::store_failure(&error);
            out.drop_data();
            return (Verdict::new(failure.0, Versions::default()), transaction);
        }
        state.last_update = at;
        state.last_user_version = state.last_user_version.max(user_version);
        state.dups.record(id, Outcome { version: at, user_version, result, returns });
        (Verdict::new(result, Versions::new(at, user_version)), transaction)
    }
}

/// The pg of a request, if this OSD has to answer it.
fn find_pg<'v>(
    view: &'v MapView,
    request: &OsdOpRequest<'_>,
) -> Result<(&'v PoolView, &'v Slot, &'v Arc<Pg>), &'static str> {
    let id = request.spg.pg;
    let pool = view.pool(id.pool).ok_or("no such pool")?;
    let slot = pool.slot(id.ps).ok_or("no such pg")?;
    let pg = slot.pg.as_ref().ok_or("another OSD is primary")?;
    if request.spg.shard != -1 {
        return Err("not a shard of this pg");
    }
    if view.map().pool(id.pool).is_none_or(|pool| pool.fold(request.hash) != id.ps) {
        return Err("the object is in another pg");
    }
    if request.map_epoch < slot.primary_since {
        return Err("sent in an earlier interval");
    }
    Ok((pool, slot, pg))
}

/// What is known of a request that may be executed.
struct Admitted {
    began: Instant,
    id: ReqId,
    caller: Caller,
    writes: bool,
    sources: Sources,
    full: Option<Errno>,
}

/// True for operations on a pg: listing.
fn is_pg_request(request: &OsdOpRequest<'_>) -> bool {
    request.codes().next().is_some_and(OpCode::is_pg)
}

/// Who sent which request, over all resends.
fn request_id(session: &Session, tid: Tid, request: &OsdOpRequest<'_>) -> ReqId {
    // Clients leave the id to the connection; only an OSD may speak for others.
    ReqId { name: session.peer.source, tid, inc: request.reqid.inc }
}

/// Whether the session's capabilities cover the request.
fn may(session: &Session, pool: &PoolView, request: &OsdOpRequest<'_>, calls: &[class::Found]) -> bool {
    let caps = &session.peer.caps;
    if caps.is_allow_all() {
        return true;
    }
    // Calls are judged by what their methods declare; every class may be called without a grant of its own.
    let classes: Vec<ClassCall<'_>> = calls
        .iter()
        .map(|call| ClassCall {
            class: call.class,
            method: call.method.name,
            read: call.method.access.read,
            write: call.method.access.write,
            allow_listed: true,
        })
        .collect();
    let plain = || request.codes().filter(|code| *code != OpCode::CALL);
    caps.allows_osd(&OsdAccess {
        pool_name: &pool.name,
        application_metadata: &pool.applications,
        nspace: request.locator.nspace,
        object: request.oid,
        read: plain().any(OpCode::is_read),
        write: plain().any(OpCode::is_write),
        classes: &classes,
        addr: session.peer.addr.socket.map(|socket| socket.ip()),
    })
}

/// Why writes have to wait, if they do.
fn full(view: &MapView, pool: &PoolView) -> Option<Errno> {
    if pool.flags.has(PoolFlags::FULL_QUOTA) {
        Some(Errno::EDQUOT)
    } else if pool.flags.has(PoolFlags::FULL) || view.is_full() {
        Some(Errno::ENOSPC)
    } else {
        None
    }
}

/// A snap context must be in order. One with snapshots would require a clone, and there are none.
fn refuse_snap_context(request: &OsdOpRequest<'_>) -> Option<Errno> {
    let descending = request.snaps.iter().zip(request.snaps.iter().skip(1)).all(|(a, b)| a > b);
    let newest = request.snaps.iter().next();
    if !descending || newest.is_some_and(|newest| newest > request.snap_seq) {
        return Some(Errno::EINVAL);
    }
    newest.map(|_| Errno::EOPNOTSUPP)
}

/// Runs ops until one fails.
fn run_all<'a>(x: &mut Execution<'a, '_>, request: &OsdOpRequest<'a>) -> Result<i32, i32> {
    let mut result = 0;
    for op in request.ops() {
        x.out.begin();
        match op::run(x, &op) {
            Ok(value) => {
                x.out.finish(value);
                result = value;
            }
            Err(failure) => {
                // A method may explain its failure in its output.
                if op.code != OpCode::CALL {
                    x.out.discard();
                }
                x.out.finish(failure.0);
                if !op.flags.contains(OpFlags::FAILOK) {
                    return Err(failure.0);
                }
                result = 0;
            }
        }
    }
    Ok(result)
}

/// Takes the next log position for a write that changed nothing clients can see.
fn log(
    state: &mut PgState,
    epoch: Epoch,
    id: ReqId,
    user_version: u64,
    result: i32,
    returns: Vec<(i32, Bytes)>,
) -> EVersion {
    let at = state.next_version(epoch);
    state.last_update = at;
    state.dups.record(id, Outcome { version: at, user_version, result, returns });
    at
}

/// How a write that failed is remembered, so that a duplicate fails likewise.
struct Logged {
    epoch: Epoch,
    id: ReqId,
    /// Outputs up to this length are kept, in bytes.
    longest: usize,
}

/// The answer to a message that failed. What its ops returned up to then goes along, also what a method
/// returned with its error.
fn failed(
    state: &mut PgState,
    logged: Option<Logged>,
    result: i32,
    object_version: u64,
    out: &mut Outputs,
) -> Verdict {
    let missing = result == Errno::ENOENT.to_wire();
    let before = state.last_update;
    let at = match &logged {
        Some(Logged { epoch, id, longest }) => log(state, *epoch, *id, 0, result, out.to_returns(*longest)),
        None => EVersion::default(),
    };
    let versions = if missing {
        Versions { replay: at, bad_replay: before, user: state.last_user_version }
    } else if logged.is_some() {
        Versions::new(at, object_version)
    } else {
        Versions::default()
    };
    Verdict::new(result, versions)
}
