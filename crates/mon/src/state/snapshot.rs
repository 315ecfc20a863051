//! The whole state as one record, and back.

use std::sync::Arc;

use sepiola_proto::{MonConfigKey, MonConfigOption, MonEntry, MonRotating, MonSnapshot};
use sepiola_wire::GlobalId;

use super::{
    ApplyError, ClusterLog, MonState, OsdMaps,
    apply::{collect, decode_line, decode_monmap, decode_rotating, osd_metadata},
    change::{osd_metadata_to_proto, stored},
    entity,
};
use crate::log::Recovered;

impl MonState {
    /// The state as a record.
    pub fn to_snapshot(&self) -> MonSnapshot {
        MonSnapshot {
            index: self.applied,
            monmap: stored(&*self.monmap),
            osdmap: self.osd_maps.encoded().clone(),
            incrementals: self.osd_maps.to_proto(),
            entities: self.entities.iter().map(|(name, auth)| entity::to_proto(name, auth)).collect(),
            rotating: self
                .rotating
                .iter()
                .map(|(service, s)| MonRotating { service: service.as_u32(), secrets: stored(&**s) })
                .collect(),
            global_id_bound: self.global_id_bound.0,
            config: self
                .config
                .iter()
                .map(|((who, name), value)| MonConfigOption {
                    who: who.clone(),
                    name: name.clone(),
                    value: value.clone(),
                })
                .collect(),
            config_keys: self
                .config_keys
                .iter()
                .map(|(key, value)| MonConfigKey { key: key.clone(), value: value.clone() })
                .collect(),
            osd_metadata: self
                .osd_metadata
                .iter()
                .map(|(osd, metadata)| osd_metadata_to_proto(*osd, metadata))
                .collect(),
            cluster_log_version: self.cluster_log.version(),
            cluster_log: self.cluster_log.lines().map(stored).collect(),
        }
    }

    /// The state from a record.
    pub fn from_snapshot(s: &MonSnapshot) -> Result<Self, ApplyError> {
        Ok(MonState {
            applied: s.index,
            monmap: decode_monmap(&s.monmap)?,
            osd_maps: OsdMaps::from_proto(s.osdmap.clone(), &s.incrementals)?,
            entities: collect(s.entities.iter().map(entity::from_proto))?,
            rotating: collect(s.rotating.iter().map(decode_rotating))?,
            global_id_bound: GlobalId(s.global_id_bound),
            config: Arc::new(
                s.config.iter().map(|o| ((o.who.clone(), o.name.clone()), o.value.clone())).collect(),
            ),
            config_keys: Arc::new(
                s.config_keys.iter().map(|pair| (pair.key.clone(), pair.value.clone())).collect(),
            ),
            osd_metadata: Arc::new(s.osd_metadata.iter().map(osd_metadata).collect()),
            cluster_log: ClusterLog::restored(
                s.cluster_log_version,
                s.cluster_log.iter().map(|line| decode_line(line)).collect::<Result<Vec<_>, _>>()?,
            ),
        })
    }

    /// The state that a log holds: its snapshot and the entries behind it. `None` for an empty log, in which
    /// no mkfs was done.
    pub fn replay(recovered: &Recovered) -> Result<Option<Self>, ApplyError> {
        let mut entries: &[MonEntry] = &recovered.entries;
        let mut state = match (&recovered.snapshot, entries) {
            (Some(snapshot), _) => Self::from_snapshot(snapshot)?,
            (None, [first, rest @ ..]) => {
                entries = rest;
                Self::first(first)?
            }
            (None, []) => return Ok(None),
        };
        for entry in entries {
            state.apply(entry)?;
        }
        Ok(Some(state))
    }
}
