//! What librados has and this client does not have yet. Each call says so, at once.

use std::time::Duration;

use bytes::Bytes;
use sepiola_wire::{EntityAddr, SnapId};

use super::IoCtx;
use crate::{Error, ObjectName, Result};

const WATCH: Error = Error::Unsupported("watch/notify");
const SNAPSHOTS: Error = Error::Unsupported("snapshots");

impl IoCtx {
    /// Watches an object.
    ///
    /// # Errors
    /// Always [`Error::Unsupported`].
    pub async fn watch(&self, _object: impl Into<ObjectName>) -> Result<u64> {
        Err(WATCH)
    }

    /// Ends a watch.
    ///
    /// # Errors
    /// Always [`Error::Unsupported`].
    pub async fn unwatch(&self, _object: impl Into<ObjectName>, _cookie: u64) -> Result<()> {
        Err(WATCH)
    }

    /// Notifies those who watch an object and waits for their answers.
    ///
    /// # Errors
    /// Always [`Error::Unsupported`].
    pub async fn notify(
        &self,
        _object: impl Into<ObjectName>,
        _payload: impl Into<Bytes>,
        _timeout: Duration,
    ) -> Result<Bytes> {
        Err(WATCH)
    }

    /// Who watches an object.
    ///
    /// # Errors
    /// Always [`Error::Unsupported`].
    pub async fn list_watchers(&self, _object: impl Into<ObjectName>) -> Result<Vec<EntityAddr>> {
        Err(WATCH)
    }

    /// Takes a snapshot of the pool.
    ///
    /// # Errors
    /// Always [`Error::Unsupported`].
    pub async fn create_snapshot(&self, _name: &str) -> Result<SnapId> {
        Err(SNAPSHOTS)
    }

    /// Removes a snapshot of the pool.
    ///
    /// # Errors
    /// Always [`Error::Unsupported`].
    pub async fn remove_snapshot(&self, _name: &str) -> Result<()> {
        Err(SNAPSHOTS)
    }

    /// The snapshots of the pool.
    ///
    /// # Errors
    /// Always [`Error::Unsupported`].
    pub async fn list_snapshots(&self) -> Result<Vec<SnapId>> {
        Err(SNAPSHOTS)
    }

    /// Makes a number for a snapshot that the caller manages.
    ///
    /// # Errors
    /// Always [`Error::Unsupported`].
    pub async fn create_self_managed_snapshot(&self) -> Result<SnapId> {
        Err(SNAPSHOTS)
    }

    /// Gives a snapshot up that the caller managed.
    ///
    /// # Errors
    /// Always [`Error::Unsupported`].
    pub async fn remove_self_managed_snapshot(&self, _snap: SnapId) -> Result<()> {
        Err(SNAPSHOTS)
    }
}
