//! The monitor's state, changed only by applying log entries.
//!
//! [`MonState::apply`] is a pure function of the state and the entry: every time, key and number comes from
//! the entry. Two monitors that applied the same entries, or one before and after a restart, hold equal
//! states. Clones share their parts, so that a published state costs a few reference counts.

mod apply;
pub mod change;
mod cluster_log;
mod entity;
mod osd_maps;
mod snapshot;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, fmt, sync::Arc};

use bytes::Bytes;
use sepiola_cephx::{EntityAuth, RotatingSecrets};
use sepiola_messages::MonMap;
use sepiola_osdmap::OsdMap;
use sepiola_wire::{EntityName, EntityType, GlobalId, OsdId, Uuid};
use thiserror::Error;

pub use cluster_log::{ClusterLog, KEPT_LINES};
pub use osd_maps::{KEPT_INCREMENTALS, OsdMaps};

/// An entry that cannot follow the present state. Never the result of a valid log: it means that the log is
/// damaged or was written by a newer version.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("log entry cannot be applied: {0}")]
pub struct ApplyError(pub(crate) &'static str);

/// A configuration option's address: who it is for, and its name.
pub type ConfigId = (String, String);

/// What a daemon says about itself and its host, by name.
pub type Metadata = BTreeMap<String, String>;

/// Everything that the monitors agree on.
#[derive(Clone, PartialEq)]
pub struct MonState {
    /// Index of the last applied entry.
    applied: u64,
    monmap: Arc<MonMap>,
    osd_maps: OsdMaps,
    entities: Arc<BTreeMap<EntityName, EntityAuth>>,
    rotating: Arc<BTreeMap<EntityType, Arc<RotatingSecrets>>>,
    global_id_bound: GlobalId,
    config: Arc<BTreeMap<ConfigId, String>>,
    config_keys: Arc<BTreeMap<String, Bytes>>,
    osd_metadata: Arc<BTreeMap<OsdId, Metadata>>,
    cluster_log: ClusterLog,
}

impl fmt::Debug for MonState {
    /// Epochs and names: config-key values and options may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MonState")
            .field("applied", &self.applied)
            .field("monmap", &self.monmap.epoch)
            .field("osdmap", &self.osdmap().epoch())
            .field("entities", &self.entities.keys())
            .field("global_id_bound", &self.global_id_bound)
            .field("config", &self.config.keys())
            .field("config_keys", &self.config_keys.keys())
            .finish_non_exhaustive()
    }
}

impl MonState {
    /// Index of the last applied entry; 0 for none.
    pub fn applied(&self) -> u64 {
        self.applied
    }

    /// The cluster's id.
    pub fn fsid(&self) -> Uuid {
        self.monmap.fsid
    }

    /// The monitor map.
    pub fn monmap(&self) -> &Arc<MonMap> {
        &self.monmap
    }

    /// The OSD map.
    pub fn osdmap(&self) -> &Arc<OsdMap> {
        self.osd_maps.current()
    }

    /// The OSD map as it is sent, and the steps that led to it.
    pub fn osd_maps(&self) -> &OsdMaps {
        &self.osd_maps
    }

    /// All entities.
    pub fn entities(&self) -> &BTreeMap<EntityName, EntityAuth> {
        &self.entities
    }

    /// One entity.
    pub fn entity(&self, name: &EntityName) -> Option<&EntityAuth> {
        self.entities.get(name)
    }

    /// The rotating secrets of a service, once they were made.
    pub fn rotating(&self, service: EntityType) -> Option<&Arc<RotatingSecrets>> {
        self.rotating.get(&service)
    }

    /// The highest global id that may be assigned.
    pub fn global_id_bound(&self) -> GlobalId {
        self.global_id_bound
    }

    /// The configuration database.
    pub fn config(&self) -> &BTreeMap<ConfigId, String> {
        &self.config
    }

    /// The key-value store behind `config-key`.
    pub fn config_keys(&self) -> &BTreeMap<String, Bytes> {
        &self.config_keys
    }

    /// What an OSD said about itself when it last booted.
    pub fn osd_metadata(&self, osd: OsdId) -> Option<&Metadata> {
        self.osd_metadata.get(&osd)
    }

    /// The cluster log.
    pub fn cluster_log(&self) -> &ClusterLog {
        &self.cluster_log
    }
}
