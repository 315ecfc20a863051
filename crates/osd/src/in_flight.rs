//! Operations that wait, for `dump_ops_in_flight` and for the log. Others are done before anybody can ask.

use std::{fmt, time::Duration};

use sepiola_messages::osd_op::{OpCode, OpRef, OsdOpRequest, RequestFlags};
use sepiola_wire::{EntityAddr, EntityNum, Tid, UTime};
use serde_json::{Value, json};

use crate::{core::Osd, session::PeerIdentity};

/// Operations that one dump shows; their number is always told.
const MOST_SHOWN: usize = 256;
/// Ops of one message that its description shows.
const OPS_SHOWN: usize = 16;

/// An operation that an OSD has taken and not answered.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OpInFlight {
    /// The operation as Ceph prints it, `osd_op(client.4123.0:7 1.3 1:c0...:::name:head [stat] ... e12)`.
    pub description: String,
    /// Who sent it.
    pub client: EntityNum,
    /// The address that it came from.
    pub client_addr: EntityAddr,
    /// Its number in the client's session.
    pub tid: Tid,
    /// When it arrived.
    pub initiated_at: UTime,
    /// How long ago that was.
    pub age: Duration,
}

impl OpInFlight {
    /// In the form of Ceph's `dump_ops_in_flight`.
    pub fn to_json(&self) -> Value {
        let at = self.initiated_at.to_string();
        let event = |name: &str| json!({ "event": name, "time": at, "duration": 0.0 });
        let age = self.age.as_secs_f64();
        json!({
            "description": self.description,
            "initiated_at": at,
            "age": age,
            "duration": age,
            "type_data": {
                "flag_point": "delayed",
                "client_info": {
                    "client": self.client.to_string(),
                    "client_addr": self.client_addr.to_string(),
                    "tid": self.tid.0,
                },
                "events": [event("initiated"), event("waiting for a newer map")],
            },
        })
    }
}

impl Osd {
    /// Operations that have waited for `age` or longer: the oldest of them, `most` at the most, and how many
    /// there are.
    pub fn ops_in_flight(&self, age: Duration, most: usize) -> (Vec<OpInFlight>, usize) {
        let now = (self.clock)();
        let sessions: Vec<_> = self.waiting_sessions().lock().iter().filter_map(|s| s.upgrade()).collect();
        // Buffers are shared here, and decoded only where somebody looks at them.
        let mut ops = Vec::new();
        for session in &sessions {
            let waiting = session.waiting.lock();
            let old = waiting.iter().take_while(|op| now.saturating_since(op.since) >= age);
            ops.extend(
                old.map(|op| {
                    (op.since, &session.peer, op.tid, op.version, op.front.clone(), op.data.clone())
                }),
            );
        }
        ops.sort_by_key(|(since, ..)| *since);
        let described = ops.iter().take(most).filter_map(|(since, peer, tid, version, front, data)| {
            let request = OsdOpRequest::decode(*version, front, data).ok()?;
            Some(OpInFlight {
                description: Described { peer, tid: *tid, request: &request }.to_string(),
                client: peer.source,
                client_addr: peer.addr,
                tid: *tid,
                initiated_at: *since,
                age: now.saturating_since(*since),
            })
        });
        (described.collect(), ops.len())
    }

    /// The same as Ceph's `dump_ops_in_flight`, with the oldest [`MOST_SHOWN`].
    pub fn dump_ops_in_flight(&self) -> Value {
        let (ops, count) = self.ops_in_flight(Duration::ZERO, MOST_SHOWN);
        json!({ "ops": ops.iter().map(OpInFlight::to_json).collect::<Vec<_>>(), "num_ops": count })
    }

    /// The same as Ceph's `dump_blocked_ops`, with the oldest [`MOST_SHOWN`].
    pub fn dump_blocked_ops(&self, complaint_time: Duration) -> Value {
        let (ops, count) = self.ops_in_flight(complaint_time, MOST_SHOWN);
        json!({
            "ops": ops.iter().map(OpInFlight::to_json).collect::<Vec<_>>(),
            "complaint_time": complaint_time.as_secs_f64(),
            "num_blocked_ops": count,
        })
    }
}

/// Says in the log when operations wait for too long: not more often than they may wait, so that a stuck
/// cluster does not fill it.
#[derive(Debug)]
pub(crate) struct SlowOps {
    complaint_time: Duration,
    last: Option<UTime>,
}

impl SlowOps {
    /// Complains about operations older than `complaint_time`; never if that is zero.
    pub fn new(complaint_time: Duration) -> Self {
        SlowOps { complaint_time, last: None }
    }

    /// What there is to say now, if anything.
    pub fn complaint(&mut self, osd: &Osd, now: UTime) -> Option<String> {
        let silent = self.last.is_some_and(|last| now.saturating_since(last) < self.complaint_time);
        if silent || self.complaint_time.is_zero() || osd.waiting_sessions().lock().is_empty() {
            return None;
        }
        let (slow, count) = osd.ops_in_flight(self.complaint_time, 1);
        let oldest = slow.first()?;
        self.last = Some(now);
        let age = oldest.age.as_secs_f64();
        Some(format!("{count} slow requests, the oldest blocked for {age:.1} s: {}", oldest.description))
    }
}

struct Described<'a> {
    peer: &'a PeerIdentity,
    tid: Tid,
    request: &'a OsdOpRequest<'a>,
}

impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Described { peer, tid, request } = self;
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        write!(f, "osd_op({}.{}:{} {} ", peer.source, request.reqid.inc, tid.0, request.spg.pg)?;
        let (nspace, key, oid) = (request.locator.nspace, request.locator.key, request.oid);
        // The hash is written as it sorts: its bits, and so its digits, the other way round.
        let hash = request.hash.reverse_bits();
        let pool = request.spg.pg.pool;
        write!(f, "{pool}:{hash:08x}:{}:{}:{}:head [", text(nspace), text(key), text(oid))?;
        for (n, op) in request.ops().take(OPS_SHOWN).enumerate() {
            write!(f, "{}{}", if n > 0 { "," } else { "" }, DescribedOp(&op))?;
        }
        write!(f, "] snapc {:x}=[", request.snap_seq.0)?;
        for (n, snap) in request.snaps.iter().enumerate() {
            write!(f, "{}{:x}", if n > 0 { "," } else { "" }, snap.0)?;
        }
        f.write_str("]")?;
        if request.retry_attempt > 0 {
            write!(f, " RETRY={}", request.retry_attempt)?;
        }
        write!(f, " {} e{})", flag_names(request.flags), request.map_epoch)
    }
}

/// An op's name with its most telling arguments.
struct DescribedOp<'a>(&'a OpRef<'a>);

impl fmt::Display for DescribedOp<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DescribedOp(op) = self;
        write!(f, "{}", op.code)?;
        let extent = op.args.extent();
        match op.code {
            OpCode::READ
            | OpCode::SYNC_READ
            | OpCode::SPARSE_READ
            | OpCode::WRITE
            | OpCode::WRITE_FULL
            | OpCode::APPEND
            | OpCode::ZERO
            | OpCode::CMPEXT => write!(f, " {}~{}", extent.offset, extent.length),
            OpCode::TRUNCATE => write!(f, " {}", extent.offset),
            OpCode::GETXATTR | OpCode::SETXATTR | OpCode::RMXATTR | OpCode::CMPXATTR => {
                let xattr = op.args.xattr();
                let name = op.input.get(..xattr.name_len as usize).unwrap_or_default();
                write!(f, " {} ({})", String::from_utf8_lossy(name), xattr.value_len)
            }
            _ if op.input.is_empty() => Ok(()),
            _ => write!(f, " in={}b", op.input.len()),
        }
    }
}

/// Names as Ceph prints them, the usual ones.
fn flag_names(flags: RequestFlags) -> String {
    const NAMES: [(RequestFlags, &str); 14] = [
        (RequestFlags::ACK, "ack"),
        (RequestFlags::ONDISK, "ondisk"),
        (RequestFlags::RETRY, "retry"),
        (RequestFlags::READ, "read"),
        (RequestFlags::WRITE, "write"),
        (RequestFlags::ORDERSNAP, "ordersnap"),
        (RequestFlags::BALANCE_READS, "balance_reads"),
        (RequestFlags::RWORDERED, "rwordered"),
        (RequestFlags::IGNORE_OVERLAY, "ignore_overlay"),
        (RequestFlags::KNOWN_IF_REDIRECTED, "known_if_redirected"),
        (RequestFlags::FULL_TRY, "full_try"),
        (RequestFlags::FULL_FORCE, "full_force"),
        (RequestFlags::RETURNVEC, "returnvec"),
        (RequestFlags::SUPPORTS_POOL_EIO, "supports_pool_eio"),
    ];
    let set: Vec<_> = NAMES.iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, name)| *name).collect();
    set.join("+")
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    };

    use bytes::Bytes;
    use sepiola_cephx::PeerCaps;
    use sepiola_msgr2::MessageHeader;
    use sepiola_objectstore::MemStore;
    use sepiola_wire::{Epoch, Features, GlobalId, OsdId};

    use super::*;
    use crate::{OsdConfig, Push, Session, waiting::Waiting};

    static NOW: AtomicU32 = AtomicU32::new(1000);

    fn now() -> UTime {
        UTime::from_secs(NOW.load(Ordering::Relaxed))
    }

    struct Nowhere;
    impl Push for Nowhere {
        fn push(&self, _: MessageHeader, _: Bytes, _: Bytes) {}
    }

    #[test]
    fn slow_operations_are_complained_about_now_and_then() {
        let osd = Osd::new(OsdConfig::new(OsdId(0)), Arc::new(MemStore::new())).with_clock(now);
        let peer = PeerIdentity {
            source: EntityNum::client(GlobalId(4123)),
            caps: PeerCaps::allow_all(),
            addr: EntityAddr::BLANK,
            features: Features::SUPPORTED,
        };
        let session = Arc::new(Session::new(peer, Box::new(Nowhere)));
        let mut slow = SlowOps::new(Duration::from_secs(30));
        let mut at = |seconds: u32| {
            NOW.store(1000 + seconds, Ordering::Relaxed);
            slow.complaint(&osd, now())
        };
        assert_eq!(at(0), None);
        let front = {
            use sepiola_messages::osd_op::{OpSpec, RequestHead, encode_request};
            use sepiola_wire::{ObjectLocator, PgId, PoolId, SpgId};
            let (pool, mut front) = (PoolId(1), Vec::new());
            let spg = SpgId::replicated(PgId::new(pool, 1));
            let head = RequestHead::new(spg, 1, Epoch(9), ObjectLocator::new(pool), Bytes::from_static(b"x"));
            encode_request(&mut front, &head, &[OpSpec::stat()], Features::SUPPORTED);
            Bytes::from(front)
        };
        osd.park(&session, Epoch(9), || Waiting {
            permit: Box::new(()),
            since: now(),
            tid: Tid(1),
            epoch: Epoch(9),
            version: sepiola_messages::osd_op::REQUEST_VERSION,
            front,
            data: Bytes::new(),
        });
        assert_eq!(at(29), None);
        let complaint = at(31).unwrap();
        assert!(
            complaint
                .starts_with("1 slow requests, the oldest blocked for 31.0 s: osd_op(client.4123.0:1 1.1")
        );
        assert_eq!(at(32), None, "once is enough for a while");
        assert!(at(61).unwrap().contains("61.0 s"));
        session.abandon();
        assert_eq!(at(100), None);
    }
}
