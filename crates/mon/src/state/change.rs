//! Changes as log entries carry them, made from typed values.

use bytes::Bytes;
use sepiola_cephx::{EntityAuth, RotatingSecrets};
use sepiola_messages::{LogEntry, MonMap};
use sepiola_proto::{
    MonChange, MonConfigKey, MonConfigOption, MonMetadatum, MonOsdMetadata, MonRotating, mon_change::Change,
};
use sepiola_wire::{Encode, EntityName, EntityType, Features, GlobalId, OsdId, encode_to_vec};

use super::{Metadata, entity};

fn change(change: Change) -> MonChange {
    MonChange { change: Some(change) }
}

/// Everything that a map has, ciphers and join times included.
pub(super) fn storage_features() -> Features {
    Features::SUPPORTED | Features::SERVER_TENTACLE
}

/// Encodes for the log, where no peer's features matter.
pub(super) fn stored(value: &impl Encode) -> Bytes {
    encode_to_vec(value, storage_features()).into()
}

/// Replaces the monitor map.
pub fn monmap(map: &MonMap) -> MonChange {
    change(Change::Monmap(stored(map)))
}

/// The first OSD map, encoded in full.
pub fn osdmap_full(encoded: Bytes) -> MonChange {
    change(Change::OsdmapFull(encoded))
}

/// The step to the next OSD map, encoded.
pub fn osdmap_incremental(encoded: Bytes) -> MonChange {
    change(Change::OsdmapIncremental(encoded))
}

/// Creates or replaces an entity.
pub fn entity_set(name: &EntityName, entity: &EntityAuth) -> MonChange {
    change(Change::EntitySet(entity::to_proto(name, entity)))
}

/// Removes an entity.
pub fn entity_removed(name: &EntityName) -> MonChange {
    change(Change::EntityRemoved(name.to_string()))
}

/// Replaces a service's rotating secrets.
pub fn rotating_set(service: EntityType, secrets: &RotatingSecrets) -> MonChange {
    change(Change::RotatingSet(MonRotating { service: service.as_u32(), secrets: stored(secrets) }))
}

/// Allows global ids up to and including `bound`.
pub fn global_id_bound(bound: GlobalId) -> MonChange {
    change(Change::GlobalIdBound(bound.0))
}

/// Sets an option for `who`.
pub fn config_set(who: &str, name: &str, value: &str) -> MonChange {
    let option = MonConfigOption { who: who.into(), name: name.into(), value: value.into() };
    change(Change::ConfigSet(option))
}

/// Removes an option.
pub fn config_removed(who: &str, name: &str) -> MonChange {
    let option = MonConfigOption { who: who.into(), name: name.into(), value: String::new() };
    change(Change::ConfigRemoved(option))
}

/// Sets a config-key.
pub fn config_key_set(key: &str, value: Bytes) -> MonChange {
    change(Change::ConfigKeySet(MonConfigKey { key: key.into(), value }))
}

/// Removes a config-key.
pub fn config_key_removed(key: &str) -> MonChange {
    change(Change::ConfigKeyRemoved(key.into()))
}

/// Replaces what is known of an OSD and its host.
pub fn osd_metadata_set(osd: OsdId, metadata: &Metadata) -> MonChange {
    change(Change::OsdMetadataSet(osd_metadata_to_proto(osd, metadata)))
}

/// Forgets what is known of an OSD and its host.
pub fn osd_metadata_removed(osd: OsdId) -> MonChange {
    change(Change::OsdMetadataRemoved(osd.0))
}

/// Adds a line to the cluster log; its number is given when it is applied.
pub fn cluster_log(line: &LogEntry) -> MonChange {
    change(Change::ClusterLog(stored(line)))
}

pub(super) fn osd_metadata_to_proto(osd: OsdId, metadata: &Metadata) -> MonOsdMetadata {
    let item = |(name, value): (&String, &String)| MonMetadatum { name: name.clone(), value: value.clone() };
    MonOsdMetadata { osd: osd.0, items: metadata.iter().map(item).collect() }
}
