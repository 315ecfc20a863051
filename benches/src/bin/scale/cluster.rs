//! A fresh cluster in processes of its own, and connections to it.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use sepiola_benches::process::{cpu, resident};
use sepiola_client::{IoCtx, Rados};
use sepiola_cluster::{Cluster, ClusterOptions, MsMode};
use sepiola_tests::{Failure, OSD_CAPACITY, Result, WorkDir, sepiola_binary};

use crate::failed;

const POOL: &str = "scale";
/// Enough for eight OSDs to get about the same share.
const PG_NUM: u32 = 64;
/// Handshakes at a time. More would only wait for each other.
const CONNECTING: usize = 32;

/// One monitor and some OSDs with MemStore, in secure mode. It ends when dropped.
pub struct Daemons {
    cluster: Cluster,
    osds: u32,
    // Goes after the daemons.
    _dir: WorkDir,
}

impl Daemons {
    /// Starts them and creates the pool.
    pub async fn start(osds: u32) -> Result<Self> {
        let dir = WorkDir::new("sepiola-scale")?;
        let options = ClusterOptions::new(dir.path()).program(sepiola_binary()?).osds(osds);
        let options = options.ms_mode(MsMode::Secure).pool_with_pgs(POOL, PG_NUM);
        let options = options.setting("memstore device bytes", OSD_CAPACITY.to_string());
        let cluster = options.start().await.map_err(failed("starting a cluster"))?;
        Ok(Daemons { cluster, osds, _dir: dir })
    }

    /// Handles of their own to the pool, each with a session at the monitor. They connect to an OSD with the
    /// first operation.
    pub async fn connect(&self, connections: usize) -> Result<Vec<IoCtx>> {
        let conf = self.cluster.conf();
        let connect = async || {
            let rados = Rados::builder().conf_file(&conf)?.id("admin").connect().await?;
            rados.open_ioctx(POOL).await
        };
        let connects = stream::iter(0..connections).map(|_| connect());
        connects.buffer_unordered(CONNECTING).try_collect().await.map_err(failed("connecting"))
    }

    /// A single handle.
    pub async fn connect_once(&self) -> Result<IoCtx> {
        self.connect(1).await?.pop().ok_or_else(|| Failure::new("no connection"))
    }

    /// Processor time of all OSDs so far.
    pub fn osd_cpu(&mut self) -> Result<Duration> {
        (0..self.osds).map(|osd| cpu(self.pid(&format!("osd.{osd}"))?)).sum()
    }

    /// Bytes resident in a daemon, such as `osd.0`.
    pub fn resident(&mut self, daemon: &str) -> Result<u64> {
        resident(self.pid(daemon)?)
    }

    fn pid(&mut self, daemon: &str) -> Result<u32> {
        self.cluster.pid(daemon).ok_or_else(|| Failure::new(format!("{daemon} does not run")))
    }
}
