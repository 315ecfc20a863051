//! The next map from a map and an incremental. The order of the steps is part of the format.

use std::{collections::BTreeMap, sync::Arc};

use sepiola_wire::{Decode, OsdId, Reader};

use super::Incremental;
use crate::{ApplyError, CANONICAL_FEATURES, MAX_OSDS, Osd, OsdMap, OsdState, WEIGHT_IN, crush::CrushMap};

/// A new epoch in every form that peers ask for.
#[derive(Debug, Clone)]
pub struct Published {
    /// The map.
    pub map: OsdMap,
    /// The map, encoded.
    pub full: Vec<u8>,
    /// The step to it from the map before, encoded.
    pub incremental: Vec<u8>,
}

impl OsdMap {
    /// An incremental without changes to the next epoch, for a monitor to fill in and publish.
    pub fn next_incremental(&self, modified: sepiola_wire::UTime) -> Incremental {
        Incremental::new(self.fsid, self.epoch.next(), modified)
    }

    /// Applies an incremental and encodes both it and the result in the canonical layout: what a monitor
    /// does with each change.
    pub fn publish(&self, mut incremental: Incremental) -> Result<Published, ApplyError> {
        incremental.encode_features = CANONICAL_FEATURES;
        let map = self.apply(&incremental)?;
        let full = map.encode(CANONICAL_FEATURES);
        // The checksum is the last field.
        let crc = full.last_chunk().copied().map_or(0, u32::from_le_bytes);
        incremental.full_crc = crc;
        let incremental = incremental.encode(CANONICAL_FEATURES);
        Ok(Published { map, full, incremental })
    }

    /// Like [`OsdMap::apply`], and checks that the result is the sender's map, which costs an encoding.
    pub fn apply_checked(&self, incremental: &Incremental) -> Result<OsdMap, ApplyError> {
        let map = self.apply(incremental)?;
        let full = map.encode(incremental.encode_features);
        let computed = full.last_chunk().copied().map_or(0, u32::from_le_bytes);
        if computed != incremental.full_crc {
            return Err(ApplyError::Crc { expected: incremental.full_crc, computed });
        }
        Ok(map)
    }

    /// The map that results from an incremental.
    pub fn apply(&self, inc: &Incremental) -> Result<OsdMap, ApplyError> {
        if inc.fsid != self.fsid {
            return Err(ApplyError::WrongCluster);
        }
        if Some(inc.epoch.0) != self.epoch.0.checked_add(1) {
            return Err(ApplyError::WrongEpoch { map: self.epoch, incremental: inc.epoch });
        }
        if !inc.full_map.is_empty() {
            let map = OsdMap::decode(&inc.full_map)?;
            if map.fsid != self.fsid {
                return Err(ApplyError::WrongCluster);
            }
            if map.epoch != inc.epoch {
                return Err(ApplyError::WrongEpoch { map: map.epoch, incremental: inc.epoch });
            }
            return Ok(map);
        }
        let mut map = self.clone();
        map.epoch = inc.epoch;
        map.modified = inc.modified;
        map.apply_limits(inc)?;
        map.apply_pools(inc);
        map.apply_snaps(inc);
        map.apply_weights(inc)?;
        map.apply_profiles(inc);
        map.apply_states(inc)?;
        map.apply_boots(inc)?;
        map.apply_osd_details(inc)?;
        map.apply_mappings(inc);
        map.apply_blocklists(inc);
        map.apply_settings(inc);
        if !inc.crush.is_empty() {
            map.crush = Arc::new(CrushMap::decode(&mut Reader::new(&inc.crush))?);
            map.crush_version = map.crush_version.wrapping_add(1);
        }
        map.derive(Some(self));
        Ok(map)
    }

    fn apply_limits(&mut self, inc: &Incremental) -> Result<(), ApplyError> {
        if let Some(flags) = inc.new_flags {
            self.flags = flags;
        }
        if let Some(max) = inc.new_max_osd {
            if max > MAX_OSDS {
                return Err(ApplyError::Invalid("more OSDs than a map can have"));
            }
            // Not negative: an absent change is `None`.
            let max = usize::try_from(max).unwrap_or(0);
            self.osds.resize(max, Osd::default());
            if !self.primary_affinity.is_empty() {
                self.primary_affinity.resize(max, WEIGHT_IN);
            }
        }
        if let Some(max) = inc.new_pool_max {
            self.pool_max =
                i32::try_from(max.0).map_err(|_| ApplyError::Invalid("a pool id beyond the range"))?;
        }
        Ok(())
    }

    fn apply_pools(&mut self, inc: &Incremental) {
        for id in &inc.old_pools {
            self.pools.remove(id);
            self.pool_names.remove(id);
        }
        for (id, pool) in &inc.new_pools {
            let mut pool = pool.clone();
            pool.last_change = inc.epoch;
            self.pools.insert(*id, Arc::new(pool));
        }
        self.pool_names.extend(inc.new_pool_names.iter().map(|(id, name)| (*id, name.clone())));
    }

    fn apply_snaps(&mut self, inc: &Incremental) {
        // These describe one epoch, not the sum of all.
        self.new_removed_snaps.clone_from(&inc.new_removed_snaps);
        self.new_purged_snaps.clone_from(&inc.new_purged_snaps);
        for (pool, snaps) in &inc.new_removed_snaps {
            self.removed_snaps_queue.entry(*pool).or_default().insert_all(snaps);
        }
        for (pool, snaps) in &inc.new_purged_snaps {
            if let Some(queue) = self.removed_snaps_queue.get_mut(pool) {
                queue.remove_all(snaps);
                if queue.is_empty() {
                    self.removed_snaps_queue.remove(pool);
                }
            }
        }
        if !inc.new_last_up_change.is_zero() {
            self.last_up_change = inc.new_last_up_change;
        }
        if !inc.new_last_in_change.is_zero() {
            self.last_in_change = inc.new_last_in_change;
        }
    }

    fn apply_weights(&mut self, inc: &Incremental) -> Result<(), ApplyError> {
        for (id, weight) in &inc.new_weight {
            let osd = self.osd_mut(*id)?;
            osd.weight = *weight;
            if *weight != 0 {
                osd.state = osd.state.with(OsdState::EXISTS).without(OsdState::AUTOOUT.with(OsdState::NEW));
                osd.xinfo.old_weight = 0;
            }
        }
        for (id, affinity) in &inc.new_primary_affinity {
            self.osd_mut(*id)?;
            self.primary_affinity.resize(self.osds.len(), WEIGHT_IN);
            self.primary_affinity[id.0 as usize] = *affinity;
        }
        Ok(())
    }

    fn apply_profiles(&mut self, inc: &Incremental) {
        for name in &inc.old_erasure_code_profiles {
            self.erasure_code_profiles.remove(name);
        }
        let new = inc.new_erasure_code_profiles.iter();
        self.erasure_code_profiles.extend(new.map(|(name, profile)| (name.clone(), profile.clone())));
    }

    fn apply_states(&mut self, inc: &Incremental) -> Result<(), ApplyError> {
        for (id, bits) in &inc.new_state {
            let flips = if *bits == 0 { OsdState::UP } else { OsdState(*bits) };
            let osd = self.osd_mut(*id)?;
            if osd.state.has(OsdState::UP) && flips.has(OsdState::UP) {
                osd.info.down_at = inc.epoch;
                osd.xinfo.down_stamp = inc.modified;
            }
            if osd.state.has(OsdState::EXISTS) && flips.has(OsdState::EXISTS) {
                // What is known about it goes, but its weight stays: removed OSDs keep theirs in real maps.
                *osd = Osd { weight: osd.weight, ..Osd::default() };
                if let Some(affinity) = self.primary_affinity.get_mut(id.0 as usize) {
                    *affinity = WEIGHT_IN;
                }
            } else {
                osd.state.0 ^= flips.0;
            }
        }
        Ok(())
    }

    fn apply_boots(&mut self, inc: &Incremental) -> Result<(), ApplyError> {
        for (id, addrs) in &inc.new_up_client {
            let osd = self.osd_mut(*id)?;
            osd.state = osd.state.with(OsdState::EXISTS).with(OsdState::UP);
            osd.client_addrs.clone_from(addrs);
            osd.info.up_from = inc.epoch;
        }
        for (id, addrs) in &inc.new_heartbeat_back {
            self.osd_mut(*id)?.heartbeat_back_addrs.clone_from(addrs);
        }
        for (id, addrs) in &inc.new_heartbeat_front {
            self.osd_mut(*id)?.heartbeat_front_addrs.clone_from(addrs);
        }
        for (id, addrs) in &inc.new_cluster_addrs {
            self.osd_mut(*id)?.cluster_addrs.clone_from(addrs);
        }
        Ok(())
    }

    fn apply_osd_details(&mut self, inc: &Incremental) -> Result<(), ApplyError> {
        for (id, epoch) in &inc.new_up_thru {
            self.osd_mut(*id)?.info.up_thru = *epoch;
        }
        for (id, (begin, end)) in &inc.new_last_clean_interval {
            let info = &mut self.osd_mut(*id)?.info;
            (info.last_clean_begin, info.last_clean_end) = (*begin, *end);
        }
        for (id, epoch) in &inc.new_lost {
            self.osd_mut(*id)?.info.lost_at = *epoch;
        }
        for (id, uuid) in &inc.new_uuid {
            self.osd_mut(*id)?.uuid = *uuid;
        }
        for (id, xinfo) in &inc.new_xinfo {
            self.osd_mut(*id)?.xinfo = *xinfo;
        }
        Ok(())
    }

    fn apply_mappings(&mut self, inc: &Incremental) {
        for (pg, osds) in &inc.new_pg_temp {
            if osds.is_empty() {
                self.pg_temp.remove(pg);
            } else {
                self.pg_temp.insert(*pg, osds.clone());
            }
        }
        for (pg, osd) in &inc.new_primary_temp {
            if *osd == OsdId(-1) {
                self.primary_temp.remove(pg);
            } else {
                self.primary_temp.insert(*pg, *osd);
            }
        }
        self.pg_upmap.extend(inc.new_pg_upmap.iter().map(|(pg, osds)| (*pg, osds.clone())));
        for pg in &inc.old_pg_upmap {
            self.pg_upmap.remove(pg);
        }
        self.pg_upmap_items.extend(inc.new_pg_upmap_items.iter().map(|(pg, items)| (*pg, items.clone())));
        for pg in &inc.old_pg_upmap_items {
            self.pg_upmap_items.remove(pg);
        }
        self.pg_upmap_primaries.extend(&inc.new_pg_upmap_primaries);
        for pg in &inc.old_pg_upmap_primaries {
            self.pg_upmap_primaries.remove(pg);
        }
    }

    fn apply_blocklists(&mut self, inc: &Incremental) {
        self.blocklist.extend(&inc.new_blocklist);
        for key in &inc.old_blocklist {
            self.blocklist.remove(key);
        }
        self.range_blocklist.extend(&inc.new_range_blocklist);
        for key in &inc.old_range_blocklist {
            self.range_blocklist.remove(key);
        }
    }

    fn apply_settings(&mut self, inc: &Incremental) {
        let ratios = &mut self.ratios;
        ratios.nearfull = inc.new_nearfull_ratio.unwrap_or(ratios.nearfull);
        ratios.full = inc.new_full_ratio.unwrap_or(ratios.full);
        ratios.backfillfull = inc.new_backfillfull_ratio.unwrap_or(ratios.backfillfull);
        self.require_min_compat_client =
            inc.new_require_min_compat_client.unwrap_or(self.require_min_compat_client);
        self.require_osd_release = inc.new_require_osd_release.unwrap_or(self.require_osd_release);
        merge_flags(&mut self.crush_node_flags, &inc.new_crush_node_flags);
        merge_flags(&mut self.device_class_flags, &inc.new_device_class_flags);
        self.stretch = inc.new_stretch.unwrap_or(self.stretch);
        self.allow_crimson |= inc.allow_crimson;
    }

    fn osd_mut(&mut self, id: OsdId) -> Result<&mut Osd, ApplyError> {
        usize::try_from(id.0)
            .ok()
            .and_then(|i| self.osds.get_mut(i))
            .ok_or(ApplyError::Invalid("the incremental changes an OSD beyond the map's last"))
    }
}

fn merge_flags(flags: &mut BTreeMap<i32, u32>, changes: &BTreeMap<i32, u32>) {
    for (id, value) in changes {
        if *value == 0 {
            flags.remove(id);
        } else {
            flags.insert(*id, *value);
        }
    }
}
