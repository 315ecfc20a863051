//! What a running OSD tells whoever runs it: counters for `perf dump`, its status, operations that wait.

use std::{
    fmt,
    sync::{Arc, OnceLock, Weak, atomic::Ordering},
    time::Duration,
};

use sepiola_wire::Uuid;
use serde_json::{Value, json};

use crate::Osd;

/// What an OSD has done and holds. Names as Ceph's `perf dump` has them; sizes in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OsdPerf {
    /// Client operations.
    pub op: u64,
    /// Those that only read.
    pub op_r: u64,
    /// Those that wrote.
    pub op_w: u64,
    /// Payload taken in.
    pub op_in_bytes: u64,
    /// Payload handed out.
    pub op_out_bytes: u64,
    /// Placement groups here.
    pub numpg: u64,
    /// Objects here.
    pub objects: u64,
    /// What the store may take.
    pub stat_bytes: u64,
    /// What objects take of it.
    pub stat_bytes_used: u64,
    /// The map's epoch.
    pub osdmap_epoch: u32,
    /// The operations' times together, from the look at the map to the result, in nanoseconds.
    pub op_latency_nanos: u64,
    /// Connections that began to authenticate.
    pub handshakes: u64,
    /// Those that did it.
    pub sessions_opened: u64,
    /// Those that are open.
    pub sessions: u64,
}

/// Asks an OSD that [`run`](crate::run) runs: give a clone to its options, keep one.
#[derive(Clone, Default)]
pub struct OsdHandle(Arc<OnceLock<(Weak<Osd>, Uuid)>>);

impl OsdHandle {
    /// The counters, `None` before the OSD has started and after it has ended.
    pub fn perf(&self) -> Option<OsdPerf> {
        self.osd().map(|osd| osd.perf())
    }

    /// The operations that wait, in the form of Ceph's `dump_ops_in_flight`; none before the OSD has started
    /// and after it has ended.
    pub fn dump_ops_in_flight(&self) -> Value {
        self.osd().map_or_else(|| json!({ "ops": [], "num_ops": 0 }), |osd| osd.dump_ops_in_flight())
    }

    /// The operations that have waited for `complaint_time`, in the form of Ceph's `dump_blocked_ops`; `None` as
    /// with [`OsdHandle::perf`].
    pub fn dump_blocked_ops(&self, complaint_time: Duration) -> Option<Value> {
        Some(self.osd()?.dump_blocked_ops(complaint_time))
    }

    /// What `status` shows; `None` as with [`OsdHandle::perf`].
    pub fn status(&self) -> Option<Value> {
        let osd = self.osd()?;
        let view = osd.view();
        let whoami = osd.config.whoami;
        let up = view.map().osd(whoami).is_some_and(|entry| entry.is_up());
        Some(json!({
            "cluster_fsid": view.map().fsid().to_string(),
            "osd_fsid": self.0.get()?.1.to_string(),
            "whoami": whoami.0,
            "state": if up { "active" } else { "booting" },
            "oldest_map": osd.history.lock().oldest().unwrap_or(view.epoch()).0,
            "newest_map": view.epoch().0,
            "num_pgs": osd.all_pgs().len(),
        }))
    }

    fn osd(&self) -> Option<Arc<Osd>> {
        self.0.get()?.0.upgrade()
    }

    pub(crate) fn attach(&self, osd: &Arc<Osd>, uuid: Uuid) {
        // A handle that was used for an earlier run stays with that one.
        let _ = self.0.set((Arc::downgrade(osd), uuid));
    }
}

impl fmt::Debug for OsdHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OsdHandle").field(&self.perf()).finish()
    }
}

impl Osd {
    /// The counters so far.
    pub fn perf(&self) -> OsdPerf {
        let (stored, space) = (self.statistics(), self.store.space());
        let mut perf = OsdPerf {
            objects: stored.objects,
            stat_bytes: space.total,
            stat_bytes_used: space.used,
            osdmap_epoch: self.epoch().0,
            handshakes: self.traffic.handshakes.load(Ordering::Relaxed),
            sessions_opened: self.traffic.opened.load(Ordering::Relaxed),
            sessions: self.traffic.sessions(),
            ..OsdPerf::default()
        };
        for pg in self.all_pgs() {
            let io = pg.lock().io;
            perf.numpg += 1;
            perf.op_r += io.reads;
            perf.op_w += io.writes;
            perf.op_in_bytes += io.write_bytes;
            perf.op_out_bytes += io.read_bytes;
            perf.op_latency_nanos += io.nanos;
        }
        perf.op = perf.op_r + perf.op_w;
        perf
    }
}
