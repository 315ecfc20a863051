//! How much is stored.

use sepiola_messages::PoolStat;

use super::Rados;
use crate::{Error, Result};

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

impl Rados {
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
}
