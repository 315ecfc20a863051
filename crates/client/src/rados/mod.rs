//! The cluster handle.

mod commands;
mod pools;
mod stats;

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use sepiola_monclient::MonClient;
use sepiola_osdmap::{OsdMap, Release};
use sepiola_wire::{AddrType, EntityAddr, EntityName, Epoch, GlobalId, PoolId, Uuid};

pub use commands::CommandOutput;
pub use pools::PoolInfo;
pub use stats::ClusterStat;

use crate::{
    Error, IoCtx, RadosBuilder, Result,
    monitors::Monitors,
    objecter::{MonitorLink, Objecter, ObjecterOptions},
};

/// A connection to a cluster. Clones share it; it ends with the last of them and of the [`IoCtx`]s made from
/// it. Any number of tasks may use it at once.
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

impl Rados {
    /// Settings for a connection.
    pub fn builder() -> RadosBuilder {
        RadosBuilder::new()
    }

    pub(crate) fn start(client: Arc<MonClient>, options: ObjecterOptions) -> Self {
        let monitors = Arc::new(Monitors { client });
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
        self.0.monitors.timeout()
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

    /// The value of an option of ceph.conf, as this handle was set up: built-in values included, keys
    /// hidden. `None` for an option that is unknown and not set.
    pub fn config_value(&self, option: &str) -> Option<String> {
        self.mon().options().config.read(|config| config.shown(option))
    }

    /// What the cluster's central configuration sets for this entity. Local settings count more; time limits
    /// follow it at once, others with the next connection.
    pub fn cluster_config(&self) -> BTreeMap<String, String> {
        (*self.mon().config()).clone()
    }

    /// The address by which the cluster knows this instance: what [`Rados::blocklist_add`] takes to keep it
    /// out. `None` while there is no session with a monitor.
    pub fn address(&self) -> Option<EntityAddr> {
        let nonce = self.mon().options().addrs.0.first()?.nonce;
        Some(EntityAddr { kind: AddrType::Any, ..EntityAddr::client(self.mon().seen_as()?, nonce) })
    }

    /// The oldest release whose clients the cluster is set to admit (`osd set-require-min-compat-client`).
    pub fn min_compatible_client(&self) -> Release {
        self.osdmap().require_min_compat_client()
    }

    /// The oldest release that the OSDs must be of (`osd require-osd-release`).
    pub fn min_compatible_osd(&self) -> Release {
        self.osdmap().require_osd_release()
    }

    /// Ends the handle: what waits fails with [`Error::ShutDown`], and so does every later call. Dropping the
    /// last clone does the same.
    pub fn shut_down(&self) {
        self.objecter().shut_down();
    }
}

impl fmt::Debug for Rados {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rados").field("name", self.name()).field("fsid", &self.fsid()).finish_non_exhaustive()
    }
}
