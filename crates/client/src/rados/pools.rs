//! Pools: which there are, and making, renaming and deleting them.

use std::collections::BTreeMap;

use futures_util::stream::{self, Stream, StreamExt};
use sepiola_messages::{PoolOp, PoolOpCode};
use sepiola_wire::{Errno, PoolId};
use serde_json::json;

use super::Rados;
use crate::{Error, Result};

/// A pool's number and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolInfo {
    /// The number; never reused.
    pub id: PoolId,
    /// The name.
    pub name: String,
}

/// The cluster chooses.
const DEFAULT_RULE: i16 = -1;
/// What the monitors want to read in a pool's deletion.
const DELETE_CONFIRMATION: &str = "delete";

impl Rados {
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
        // A monitor takes a second request for a repeated one.
        if self.pool_id(name).await.is_ok() {
            return Err(Error::operation(Errno::EEXIST, "create pool", name.as_bytes()));
        }
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

    /// All pools as a stream, in the order of their numbers. The list is one look at the newest map, so it
    /// comes at once or not at all.
    pub fn pools(&self) -> impl Stream<Item = Result<PoolInfo>> + Send {
        let rados = self.clone();
        stream::once(async move { rados.list_pools().await }).flat_map(|listed| match listed {
            Ok(pools) => stream::iter(pools).map(Ok).left_stream(),
            Err(error) => stream::iter([Err(error)]).right_stream(),
        })
    }

    /// Gives a pool another name. Contexts of it stay valid.
    ///
    /// # Errors
    /// ENOENT without the pool, EEXIST if the name is taken.
    pub async fn rename_pool(&self, from: &str, to: &str) -> Result<()> {
        self.pool_command(json!({"prefix": "osd pool rename", "srcpool": from, "destpool": to})).await
    }

    /// Says what a pool is for, such as `rbd`; otherwise the cluster's health warns of it. `force` allows a
    /// second application.
    ///
    /// # Errors
    /// ENOENT without the pool, EPERM for a second application.
    pub async fn enable_application(&self, pool: &str, application: &str, force: bool) -> Result<()> {
        let mut command = json!({"prefix": "osd pool application enable", "pool": pool, "app": application});
        if force {
            command["yes_i_really_mean_it"] = true.into();
        }
        self.pool_command(command).await
    }

    /// The applications of a pool, each with what was noted for it.
    ///
    /// # Errors
    /// [`Error::NoSuchPool`] if it is not in the newest map.
    pub async fn applications(&self, pool: &str) -> Result<BTreeMap<String, BTreeMap<String, String>>> {
        self.wait_for_latest_osdmap().await?;
        let id = self.pool_id(pool).await?;
        let map = self.osdmap();
        let pool = map.pool(id).ok_or_else(|| Error::NoSuchPool(pool.to_owned()))?;
        Ok(pool.application_metadata.clone())
    }

    /// Notes something for an application of a pool.
    ///
    /// # Errors
    /// ENOENT without the pool or the application.
    pub async fn set_application_value(
        &self,
        pool: &str,
        application: &str,
        key: &str,
        value: &str,
    ) -> Result<()> {
        let prefix = "osd pool application set";
        self.pool_command(
            json!({"prefix": prefix, "pool": pool, "app": application, "key": key, "value": value}),
        )
        .await
    }

    /// Removes what [`Rados::set_application_value`] noted.
    ///
    /// # Errors
    /// ENOENT without the pool or the application.
    pub async fn remove_application_value(&self, pool: &str, application: &str, key: &str) -> Result<()> {
        let prefix = "osd pool application rm";
        self.pool_command(json!({"prefix": prefix, "pool": pool, "app": application, "key": key})).await
    }

    /// A command after which this client has the map that shows its effect.
    async fn pool_command(&self, command: serde_json::Value) -> Result<()> {
        self.mon_command(command.to_string(), "").await?;
        self.wait_for_latest_osdmap().await?;
        Ok(())
    }
}
