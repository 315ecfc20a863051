//! Counters for `perf dump`, read from a running OSD.

use std::{
    fmt,
    sync::{Arc, OnceLock, Weak},
};

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
}

/// Reads the counters of an OSD that [`run`](crate::run) runs: give a clone to its options, keep one.
#[derive(Clone, Default)]
pub struct PerfHandle(Arc<OnceLock<Weak<Osd>>>);

impl PerfHandle {
    /// The counters, `None` before the OSD has started and after it has ended.
    pub fn read(&self) -> Option<OsdPerf> {
        self.0.get()?.upgrade().map(|osd| osd.perf())
    }

    /// The operations that wait, in the form of Ceph's `dump_ops_in_flight`; none before the OSD has started
    /// and after it has ended.
    pub fn dump_ops_in_flight(&self) -> serde_json::Value {
        let osd = self.0.get().and_then(Weak::upgrade);
        osd.map_or_else(|| serde_json::json!({ "ops": [], "num_ops": 0 }), |osd| osd.dump_ops_in_flight())
    }

    pub(crate) fn attach(&self, osd: &Arc<Osd>) {
        // A handle that was used for an earlier run stays with that one.
        let _ = self.0.set(Arc::downgrade(osd));
    }
}

impl fmt::Debug for PerfHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PerfHandle").field(&self.read()).finish()
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
            ..OsdPerf::default()
        };
        for pg in self.all_pgs() {
            let io = pg.lock().io;
            perf.numpg += 1;
            perf.op_r += io.reads;
            perf.op_w += io.writes;
            perf.op_in_bytes += io.write_bytes;
            perf.op_out_bytes += io.read_bytes;
        }
        perf.op = perf.op_r + perf.op_w;
        perf
    }
}
