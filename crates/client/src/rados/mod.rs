//! The cluster handle.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use sepiola_messages::{PoolOp, PoolOpCode, PoolStat};
use sepiola_monclient::MonClient;
use sepiola_osdmap::OsdMap;
use sepiola_wire::{EntityName, Epoch, Errno, GlobalId, PoolId, Uuid};

use crate::{
    Error, IoCtx, RadosBuilder, Result,
    monitors::Monitors,
    objecter::{MonitorLink, Objecter, ObjecterOptions},
};

/// A connection to a cluster. Clones share it; it ends with the last of them and of the [`IoCtx`]s made from
/// it. Any number of tasks may use it at once.
///
/// ```no_run
/// # async fn example() -> Result<(), sepiola_client::Error> {
/// use sepiola_client::Rados;
/// let rados = Rados::builder().conf_file("ceph.conf")?.name("client.admin").connect().await?;
/// let io = rados.open_ioctx("pool").await?;
/// io.write_full("obj", "data").await?;
/// assert_eq!(io.read("obj", 0..4096).await?, "data");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Rados(Arc<Inner>);

struct Inner {
    monitors: Arc<Monitors>,
    objecter: Objecter,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.objecter.shut_down();
    }
}

/// A pool's number and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolInfo {
    /// The number; never reused.
    pub id: PoolId,
    /// The name.
    pub name: String,
}

/// Usage of the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClusterStat {
    /// Capacity in KiB.
    pub kb: u64,
    /// Used, in KiB.
    pub kb_used: u64,
    /// Free, in KiB.
    pub kb_avail: u64,
    /// Objects.
    pub num_objects: u64,
}

/// What a monitor answered to a command that succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutput {
    /// A line of explanation, which tools print to stderr.
    pub status: String,
    /// The output, which tools print to stdout.
    pub output: Bytes,
}

impl Rados {
    /// Settings for a connection.
    pub fn builder() -> RadosBuilder {
        RadosBuilder::new()
    }

    pub(crate) fn start(client: Arc<MonClient>, mon_timeout: Duration, options: ObjecterOptions) -> Self {
        let monitors = Arc::new(Monitors { client, timeout: mon_timeout });
        let objecter = Objecter::start(monitors.clone(), options);
        Rados(Arc::new(Inner { monitors, objecter }))
    }

    pub(crate) fn objecter(&self) -> &Objecter {
        &self.0.objecter
    }

    fn mon(&self) -> &MonClient {
        &self.0.monitors.client
    }

    fn mon_timeout(&self) -> Duration {
        self.0.monitors.timeout
    }

    /// The cluster's id.
    pub fn fsid(&self) -> Uuid {
        self.mon().fsid()
    }

    /// The entity that this connection is authenticated as.
    pub fn name(&self) -> &EntityName {
        &self.mon().options().name
    }

    /// This instance's number, which watches and locks show.
    pub fn instance_id(&self) -> GlobalId {
        self.mon().global_id()
    }

    /// The newest map that has been received.
    pub fn osdmap(&self) -> Arc<OsdMap> {
        self.mon().osdmap()
    }

    /// Waits for the newest map there is: afterwards everything is visible that others did before.
    ///
    /// # Errors
    /// When no monitor answers in time.
    pub async fn wait_for_latest_osdmap(&self) -> Result<Epoch> {
        let epoch = self.0.monitors.catch_up().await?;
        self.objecter().use_newest_map();
        Ok(epoch)
    }

    /// Opens a pool.
    ///
    /// # Errors
    /// [`Error::NoSuchPool`] if it is not in the newest map.
    pub async fn open_ioctx(&self, pool: &str) -> Result<IoCtx> {
        let id = self.pool_id(pool).await?;
        Ok(IoCtx::new(self.clone(), id, pool.to_owned()))
    }

    /// Opens a pool by its number.
    ///
    /// # Errors
    /// [`Error::NoSuchPool`] if it is not in the newest map.
    pub async fn open_ioctx_by_id(&self, pool: PoolId) -> Result<IoCtx> {
        let name = |map: &OsdMap| map.pool_name(pool).map(str::to_owned);
        let name = match name(&self.osdmap()) {
            Some(name) => name,
            None => {
                self.wait_for_latest_osdmap().await?;
                name(&self.osdmap()).ok_or_else(|| Error::NoSuchPool(format!("#{pool}")))?
            }
        };
        Ok(IoCtx::new(self.clone(), pool, name))
    }

    /// The number of the pool with this name.
    ///
    /// # Errors
    /// [`Error::NoSuchPool`] if it is not in the newest map.
    pub async fn pool_id(&self, pool: &str) -> Result<PoolId> {
        if let Some(id) = self.osdmap().pool_by_name(pool) {
            return Ok(id);
        }
        self.wait_for_latest_osdmap().await?;
        self.osdmap().pool_by_name(pool).ok_or_else(|| Error::NoSuchPool(pool.to_owned()))
    }

    /// All pools, in the order of their numbers.
    ///
    /// # Errors
    /// When no monitor answers in time.
    pub async fn list_pools(&self) -> Result<Vec<PoolInfo>> {
        self.wait_for_latest_osdmap().await?;
        let map = self.osdmap();
        let pools = map.pools().filter_map(|(id, _)| {
            let name = map.pool_name(id)?.to_owned();
            Some(PoolInfo { id, name })
        });
        Ok(pools.collect())
    }

    /// Creates a pool with the cluster's defaults. `mon_command` with `osd pool create` has all the choices.
    ///
    /// # Errors
    /// EEXIST if there is one with this name.
    pub async fn create_pool(&self, name: &str) -> Result<PoolId> {
        let op = PoolOp {
            op: PoolOpCode::CREATE,
            name: name.to_owned(),
            crush_rule: DEFAULT_RULE,
            ..PoolOp::default()
        };
        self.pool_op(op).await?;
        self.pool_id(name).await
    }

    /// Deletes a pool with everything in it.
    ///
    /// # Errors
    /// EPERM unless the monitors allow it (`mon_allow_pool_delete`).
    pub async fn delete_pool(&self, name: &str) -> Result<()> {
        let id = self.pool_id(name).await?;
        let pool = u32::try_from(id.0)
            .map_err(|_| Error::InvalidArgument("pool numbers in messages have 32 bits".into()))?;
        let op = PoolOp {
            op: PoolOpCode::DELETE,
            pool,
            name: DELETE_CONFIRMATION.to_owned(),
            crush_rule: DEFAULT_RULE,
            ..PoolOp::default()
        };
        self.pool_op(op).await
    }

    async fn pool_op(&self, op: PoolOp) -> Result<()> {
        self.mon().pool_op(op, self.mon_timeout()).await?;
        self.objecter().use_newest_map();
        Ok(())
    }

    /// Statistics of a pool, as its OSDs last reported them.
    ///
    /// # Errors
    /// [`Error::NoSuchPool`] if the monitor has none for it.
    pub async fn pool_stat(&self, pool: &str) -> Result<PoolStat> {
        let mut reply = self.mon().pool_stats(vec![pool.to_owned()], self.mon_timeout()).await?;
        reply.pools.remove(pool).ok_or_else(|| Error::NoSuchPool(pool.to_owned()))
    }

    /// Usage of the cluster, as its OSDs last reported it.
    ///
    /// # Errors
    /// When no monitor answers in time.
    pub async fn cluster_stat(&self) -> Result<ClusterStat> {
        let reply = self.mon().statfs(None, self.mon_timeout()).await?;
        Ok(ClusterStat {
            kb: reply.kb,
            kb_used: reply.kb_used,
            kb_avail: reply.kb_avail,
            num_objects: reply.num_objects,
        })
    }

    /// Runs a monitor command: a JSON object such as `{"prefix": "osd pool ls", "format": "json"}`, and
    /// input for those that take some.
    ///
    /// ```no_run
    /// # async fn example(rados: sepiola_client::Rados) -> Result<(), sepiola_client::Error> {
    /// let pools = rados.mon_command(r#"{"prefix": "osd pool ls", "format": "json"}"#, "").await?;
    /// println!("{}", String::from_utf8_lossy(&pools.output));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Command`] if it fails; when there is no answer in time it may have been executed.
    pub async fn mon_command(
        &self,
        command: impl Into<String>,
        input: impl Into<Bytes>,
    ) -> Result<CommandOutput> {
        let reply = self.mon().command(command, input, self.mon_timeout()).await?;
        match Errno::from_wire(reply.code) {
            Ok(_) => Ok(CommandOutput { status: reply.status, output: reply.output }),
            Err(errno) => Err(Error::Command { errno, status: reply.status, output: reply.output }),
        }
    }
}

/// The cluster chooses.
const DEFAULT_RULE: i16 = -1;
/// What the monitors want to read in a pool's deletion.
const DELETE_CONFIRMATION: &str = "delete";

impl fmt::Debug for Rados {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rados").field("name", self.name()).field("fsid", &self.fsid()).finish_non_exhaustive()
    }
}
