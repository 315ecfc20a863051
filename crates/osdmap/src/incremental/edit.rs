//! The changes that a monitor makes, as edits of an incremental.

use std::collections::btree_map::Entry;

use sepiola_wire::{EntityAddrVec, Epoch, OsdId, PoolId, Uuid, encode_to_vec};

use super::Incremental;
use crate::{CANONICAL_FEATURES, OsdMap, OsdState, OsdXInfo, Pool, WEIGHT_IN, crush::CrushMap};

/// What an OSD tells when it boots.
#[derive(Debug, Clone)]
pub struct OsdBoot {
    /// Its number.
    pub id: OsdId,
    /// The identity of its store.
    pub uuid: Uuid,
    /// Where clients reach it.
    pub client_addrs: EntityAddrVec,
    /// Where other OSDs reach it.
    pub cluster_addrs: EntityAddrVec,
    /// The features of its session.
    pub features: u64,
    /// The first epoch that it was up in before, and the last; both 0 for a new OSD.
    pub last_clean: (Epoch, Epoch),
}

impl Incremental {
    /// Replaces the CRUSH map.
    pub fn set_crush(&mut self, crush: &CrushMap) {
        self.crush = encode_to_vec(crush, CANONICAL_FEATURES).into();
    }

    /// Adds a pool with the next free id, which is returned. `base` is the map that this incremental
    /// follows; pools that it already adds are counted.
    pub fn add_pool(&mut self, base: &OsdMap, name: &str, pool: Pool) -> PoolId {
        let id = PoolId(self.new_pool_max.unwrap_or(base.pool_max()).0.max(0) + 1);
        self.new_pool_max = Some(id);
        self.new_pools.insert(id, pool);
        self.new_pool_names.insert(id, name.to_owned());
        id
    }

    /// Removes a pool and what the map has about its pgs.
    pub fn remove_pool(&mut self, base: &OsdMap, id: PoolId) {
        self.new_pools.remove(&id);
        self.new_pool_names.remove(&id);
        self.old_pools.insert(id);
        let in_pool = |pg: &&sepiola_wire::PgId| pg.pool == id;
        self.new_pg_temp.extend(base.pg_temp.keys().filter(in_pool).map(|pg| (*pg, Vec::new())));
        self.new_primary_temp.extend(base.primary_temp.keys().filter(in_pool).map(|pg| (*pg, OsdId(-1))));
        self.old_pg_upmap.extend(base.pg_upmap.keys().filter(in_pool));
        self.old_pg_upmap_items.extend(base.pg_upmap_items.keys().filter(in_pool));
    }

    /// The pool as this incremental leaves it, for editing.
    pub fn edit_pool(&mut self, base: &OsdMap, id: PoolId) -> Option<&mut Pool> {
        match self.new_pools.entry(id) {
            Entry::Occupied(pool) => Some(pool.into_mut()),
            Entry::Vacant(free) => Some(free.insert(base.pool(id)?.clone())),
        }
    }

    /// Marks a booting OSD up, with room for its number. A new one is also marked in.
    pub fn boot_osd(&mut self, base: &OsdMap, boot: &OsdBoot) {
        let id = boot.id;
        let needed = id.0.saturating_add(1);
        if needed > self.new_max_osd.unwrap_or(base.max_osd()) {
            self.new_max_osd = Some(needed);
        }
        let old = base.osd(id);
        if !old.is_some_and(|osd| osd.exists()) {
            self.new_weight.insert(id, WEIGHT_IN);
            self.new_last_in_change = self.modified;
        }
        self.new_up_client.insert(id, boot.client_addrs.clone());
        self.new_cluster_addrs.insert(id, boot.cluster_addrs.clone());
        self.new_heartbeat_back.insert(id, boot.cluster_addrs.clone());
        self.new_heartbeat_front.insert(id, boot.client_addrs.clone());
        self.new_uuid.insert(id, boot.uuid);
        let xinfo = OsdXInfo { features: boot.features, ..old.map(|osd| osd.xinfo).unwrap_or_default() };
        self.new_xinfo.insert(id, xinfo);
        if boot.last_clean != (Epoch(0), Epoch(0)) {
            self.new_last_clean_interval.insert(id, boot.last_clean);
        }
        self.new_last_up_change = self.modified;
    }

    /// Marks an OSD down; false when it is not up.
    pub fn mark_down(&mut self, base: &OsdMap, id: OsdId) -> bool {
        let up = base.is_up(id);
        if up {
            *self.new_state.entry(id).or_default() |= OsdState::UP.0;
            self.new_last_up_change = self.modified;
        }
        up
    }

    /// Takes an OSD out of the map, as if it had never been there. Its number can be given to another.
    pub fn remove_osd(&mut self, base: &OsdMap, id: OsdId) {
        let state = base.osd(id).map(|osd| osd.state).unwrap_or_default();
        // Only flips: a bit that is not set would be set.
        let flips = state.0 & OsdState::EXISTS.with(OsdState::UP).0;
        if flips != 0 {
            self.new_state.insert(id, flips);
        }
        self.new_weight.insert(id, 0);
        self.new_up_client.remove(&id);
    }

    /// Sets an OSD's in/out weight, 16.16.
    pub fn set_weight(&mut self, id: OsdId, weight: u32) {
        self.new_weight.insert(id, weight);
        self.new_last_in_change = self.modified;
    }
}

#[cfg(test)]
mod tests {
    use sepiola_wire::{EntityAddr, UTime};

    use super::*;
    use crate::{MapFlags, crush::RuleStep};

    /// The smallest map that real 16.2.15 and 20.2.4 clients were seen to work with, made here.
    #[test]
    fn the_smallest_viable_map_is_reproduced_byte_for_byte() {
        let fsid = Uuid::parse_str("00112233-4455-6677-8899-aabbccddeeff").unwrap();
        let mut crush = CrushMap::new_cluster();
        crush.type_names.retain(|number, _| [0, 1, 11].contains(number));
        crush.set_device(0, WEIGHT_IN, "h0").unwrap();
        crush.add_replicated_rule("replicated_rule", 0).unwrap();
        crush.rules[0].as_mut().unwrap().steps[1].op = RuleStep::CHOOSELEAF_FIRSTN;
        let mut map = OsdMap::with_crush(fsid, UTime::from_secs(1), crush);
        // That map was written at once, so its first epoch has the OSD and the pool already.
        map.epoch = Epoch(0);
        let mut inc = map.next_incremental(UTime::ZERO);
        inc.new_flags = Some(MapFlags::NONE);
        let addrs = EntityAddrVec::from(EntityAddr::msgr2(([127, 0, 0, 1], 16800).into(), 1));
        let boot = OsdBoot {
            id: OsdId(0),
            uuid: Uuid::nil(),
            client_addrs: addrs.clone(),
            cluster_addrs: addrs,
            features: 0x3f01_cfbd_fffd_ffff,
            last_clean: (Epoch(0), Epoch(0)),
        };
        inc.boot_osd(&map, &boot);
        inc.add_pool(&map, "bench", Pool::replicated(1, 8, 0, UTime::ZERO));
        map = map.apply(&inc).unwrap();
        for epoch in [2, 3] {
            map = map.apply(&Incremental::new(fsid, Epoch(epoch), UTime::from_secs(2))).unwrap();
        }
        let expected: &[u8] = include_bytes!("../../tests/data/osdmap/min_viable.bin");
        assert!(map.encode(CANONICAL_FEATURES) == expected);
    }
}
