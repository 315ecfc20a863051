//! How an entry changes the state.

use std::{collections::BTreeMap, sync::Arc};

use sepiola_cephx::RotatingSecrets;
use sepiola_messages::{LogEntry, MonMap};
use sepiola_proto::{MonChange, MonEntry, MonOsdMetadata, MonRotating, mon_change::Change};
use sepiola_wire::{EntityType, GlobalId, OsdId, decode_all};

use super::{ApplyError, ClusterLog, Metadata, MonState, OsdMaps, entity};

impl MonState {
    /// The state after a log's first entry, which must bring the monitor map and the OSD map.
    pub fn first(entry: &MonEntry) -> Result<Self, ApplyError> {
        let (mut monmap, mut osdmap) = (None, None);
        for change in &entry.changes {
            match &change.change {
                Some(Change::Monmap(encoded)) => monmap = Some(encoded),
                Some(Change::OsdmapFull(encoded)) => osdmap = Some(encoded),
                _ => {}
            }
        }
        let mut state = MonState {
            applied: entry.index - 1,
            monmap: decode_monmap(monmap.ok_or(ApplyError("the first entry has no monmap"))?)?,
            osd_maps: OsdMaps::new(osdmap.ok_or(ApplyError("the first entry has no OSD map"))?.clone())?,
            entities: Arc::default(),
            rotating: Arc::default(),
            global_id_bound: GlobalId(0),
            config: Arc::default(),
            config_keys: Arc::default(),
            osd_metadata: Arc::default(),
            cluster_log: ClusterLog::default(),
        };
        state.apply(entry)?;
        Ok(state)
    }

    /// Applies the next entry. On an error the state is unchanged.
    pub fn apply(&mut self, entry: &MonEntry) -> Result<(), ApplyError> {
        if entry.index != self.applied + 1 {
            return Err(ApplyError("it does not follow the last entry"));
        }
        let mut next = self.clone();
        for change in &entry.changes {
            next.apply_change(change)?;
        }
        next.applied = entry.index;
        *self = next;
        Ok(())
    }

    /// Ends an entry whose changes were applied one by one.
    pub(crate) fn finish_entry(&mut self) -> u64 {
        self.applied += 1;
        self.applied
    }

    /// Applies one change of an entry that is still being put together.
    pub(crate) fn apply_change(&mut self, change: &MonChange) -> Result<(), ApplyError> {
        let change = change.change.as_ref().ok_or(ApplyError("unknown change"))?;
        match change {
            Change::Monmap(encoded) => self.monmap = decode_monmap(encoded)?,
            Change::OsdmapFull(encoded) => self.osd_maps = OsdMaps::new(encoded.clone())?,
            Change::OsdmapIncremental(encoded) => self.osd_maps.advance(encoded.clone())?,
            Change::EntitySet(entity) => {
                let (name, entity) = entity::from_proto(entity)?;
                Arc::make_mut(&mut self.entities).insert(name, entity);
            }
            Change::EntityRemoved(name) => {
                let name = name.parse().map_err(|_| ApplyError("an entity's name does not parse"))?;
                Arc::make_mut(&mut self.entities).remove(&name);
            }
            Change::RotatingSet(rotating) => {
                let (service, secrets) = decode_rotating(rotating)?;
                Arc::make_mut(&mut self.rotating).insert(service, secrets);
            }
            // Never lowered: an id that was assigned once stays assigned.
            Change::GlobalIdBound(bound) => {
                self.global_id_bound = self.global_id_bound.max(GlobalId(*bound));
            }
            Change::ConfigSet(o) => {
                Arc::make_mut(&mut self.config).insert((o.who.clone(), o.name.clone()), o.value.clone());
            }
            Change::ConfigRemoved(o) => {
                Arc::make_mut(&mut self.config).remove(&(o.who.clone(), o.name.clone()));
            }
            Change::ConfigKeySet(pair) => {
                Arc::make_mut(&mut self.config_keys).insert(pair.key.clone(), pair.value.clone());
            }
            Change::ConfigKeyRemoved(key) => {
                Arc::make_mut(&mut self.config_keys).remove(key);
            }
            Change::OsdMetadataSet(metadata) => {
                let (osd, metadata) = osd_metadata(metadata);
                Arc::make_mut(&mut self.osd_metadata).insert(osd, metadata);
            }
            Change::OsdMetadataRemoved(osd) => {
                Arc::make_mut(&mut self.osd_metadata).remove(&OsdId(*osd));
            }
            Change::ClusterLog(line) => self.cluster_log.push(decode_line(line)?),
        }
        Ok(())
    }
}

pub(super) fn decode_monmap(encoded: &[u8]) -> Result<Arc<MonMap>, ApplyError> {
    decode_all(encoded).map(Arc::new).map_err(|_| ApplyError("the monmap does not decode"))
}

pub(super) fn decode_rotating(r: &MonRotating) -> Result<(EntityType, Arc<RotatingSecrets>), ApplyError> {
    let service = EntityType::from_u32(r.service).ok_or(ApplyError("unknown service"))?;
    let secrets = decode_all(&r.secrets).map_err(|_| ApplyError("rotating secrets do not decode"))?;
    Ok((service, Arc::new(secrets)))
}

pub(super) fn osd_metadata(m: &MonOsdMetadata) -> (OsdId, Metadata) {
    (OsdId(m.osd), m.items.iter().map(|item| (item.name.clone(), item.value.clone())).collect())
}

pub(super) fn decode_line(encoded: &[u8]) -> Result<LogEntry, ApplyError> {
    decode_all(encoded).map_err(|_| ApplyError("a line of the cluster log does not decode"))
}

pub(super) fn collect<K: Ord, V>(
    items: impl Iterator<Item = Result<(K, V), ApplyError>>,
) -> Result<Arc<BTreeMap<K, V>>, ApplyError> {
    items.collect::<Result<BTreeMap<_, _>, _>>().map(Arc::new)
}
