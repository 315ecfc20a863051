//! How much is stored.

use sepiola_messages::PoolStat;

use super::Rados;
use crate::Result;

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
    /// Statistics of a pool, as its OSDs last reported them; zeros for one that is too new for that.
    ///
    /// # Errors
    /// [`Error::NoSuchPool`](crate::Error::NoSuchPool) if it is not in the newest map.
    pub async fn pool_stat(&self, pool: &str) -> Result<PoolStat> {
        let mut reply = self.mon().pool_stats(vec![pool.to_owned()], self.mon_timeout()).await?;
        match reply.pools.remove(pool) {
            Some(stat) => Ok(stat),
            None => self.pool_id(pool).await.map(|_| PoolStat::default()),
        }
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
