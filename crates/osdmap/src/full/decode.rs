//! Reading a full map.

use std::{collections::BTreeMap, sync::Arc};

use sepiola_wire::{Decode, DecodeError, EntityAddrVec, Epoch, OsdId, PgId, PoolId, Reader, UTime, Uuid};

use super::Outer;
use crate::{
    FullRatios, MAX_OSDS, MapError, MapFlags, Osd, OsdInfo, OsdMap, OsdState, OsdXInfo, Pool, Release,
    StretchMode, crush::CrushMap,
};

/// The newest section layouts that are read in full; newer ones are read up to here.
const CLIENT_KNOWN: u8 = 10;
const OSD_KNOWN: u8 = 12;
/// The oldest layouts, of Nautilus.
const CLIENT_OLDEST: u8 = 9;
const OSD_OLDEST: u8 = 9;

impl OsdMap {
    /// Reads a full map and checks its checksum.
    pub fn decode(blob: &[u8]) -> Result<OsdMap, MapError> {
        let mut outer = Outer::open(blob, "OSDMap")?;
        let mut client = outer.body.versioned("OSDMap client section", CLIENT_KNOWN)?;
        let mut osd = outer.body.versioned("OSDMap OSD section", OSD_KNOWN)?;
        outer.check()?;
        if client.version < CLIENT_OLDEST || osd.version < OSD_OLDEST {
            return Err(DecodeError::Invalid("a map in a layout older than Nautilus").into());
        }
        let mut map = decode_client_section(&mut client.body, client.version)?;
        decode_osd_section(&mut map, &mut osd.body, osd.version)?;
        if let Some(highest) = map.pools.keys().next_back() {
            map.pool_max = map.pool_max.max(i32::try_from(highest.0).unwrap_or(i32::MAX));
        }
        map.derive(None);
        Ok(map)
    }
}

fn decode_client_section(r: &mut Reader<'_>, version: u8) -> Result<OsdMap, DecodeError> {
    let fsid = Uuid::decode(r)?;
    let epoch = Epoch::decode(r)?;
    let created = UTime::decode(r)?;
    let modified = UTime::decode(r)?;
    let pools = BTreeMap::<PoolId, Pool>::decode(r)?;
    let pool_names = BTreeMap::decode(r)?;
    let pool_max = r.i32()?;
    let flags = MapFlags(r.u32()?);
    let max_osd = r.i32()?;
    if !(0..=MAX_OSDS).contains(&max_osd) {
        return Err(DecodeError::Invalid("more OSDs than a map can have"));
    }
    // The vectors below must all have an entry per OSD, so what is reserved is bounded by what came.
    let mut osds = Vec::new();
    let states = Vec::<u32>::decode(r)?;
    if states.len() != max_osd as usize {
        return Err(WRONG_LENGTH);
    }
    osds.resize(states.len(), Osd::default());
    for (osd, state) in osds.iter_mut().zip(states) {
        osd.state = OsdState(state);
    }
    per_osd(&mut osds, r, |osd, weight| osd.weight = weight)?;
    per_osd(&mut osds, r, |osd, addrs| osd.client_addrs = addrs)?;
    let pg_temp = BTreeMap::decode(r)?;
    let primary_temp = BTreeMap::<PgId, OsdId>::decode(r)?;
    let primary_affinity = Vec::<u32>::decode(r)?;
    if !primary_affinity.is_empty() && primary_affinity.len() != osds.len() {
        return Err(WRONG_LENGTH);
    }
    let crush = CrushMap::decode(&mut r.sub_blob()?)?;
    let erasure_code_profiles = BTreeMap::decode(r)?;
    let pg_upmap = BTreeMap::decode(r)?;
    let pg_upmap_items = BTreeMap::decode(r)?;
    let crush_version = r.i32()?;
    let new_removed_snaps = BTreeMap::decode(r)?;
    let new_purged_snaps = BTreeMap::decode(r)?;
    let last_up_change = UTime::decode(r)?;
    let last_in_change = UTime::decode(r)?;
    let pg_upmap_primaries = if version >= 10 { BTreeMap::decode(r)? } else { BTreeMap::new() };
    Ok(OsdMap {
        epoch,
        modified,
        pools: pools.into_iter().map(|(id, pool)| (id, Arc::new(pool))).collect(),
        pool_names,
        pool_max,
        flags,
        osds,
        pg_temp,
        primary_temp,
        primary_affinity,
        erasure_code_profiles,
        pg_upmap,
        pg_upmap_items,
        crush_version,
        new_removed_snaps,
        new_purged_snaps,
        last_up_change,
        last_in_change,
        pg_upmap_primaries,
        ..OsdMap::with_crush(fsid, created, crush)
    })
}

fn decode_osd_section(map: &mut OsdMap, r: &mut Reader<'_>, version: u8) -> Result<(), DecodeError> {
    let osds = &mut map.osds;
    per_osd(osds, r, |osd, addrs: EntityAddrVec| osd.heartbeat_back_addrs = addrs)?;
    per_osd(osds, r, |osd, info: OsdInfo| osd.info = info)?;
    map.blocklist = BTreeMap::decode(r)?;
    per_osd(osds, r, |osd, addrs: EntityAddrVec| osd.cluster_addrs = addrs)?;
    map.cluster_snapshot = (Epoch::decode(r)?, String::decode(r)?);
    per_osd(osds, r, |osd, uuid: Uuid| osd.uuid = uuid)?;
    per_osd(osds, r, |osd, xinfo: OsdXInfo| osd.xinfo = xinfo)?;
    per_osd(osds, r, |osd, addrs: EntityAddrVec| osd.heartbeat_front_addrs = addrs)?;
    map.ratios = FullRatios { nearfull: r.f32()?, full: r.f32()?, backfillfull: r.f32()? };
    map.require_min_compat_client = Release(r.u8()?);
    map.require_osd_release = Release(r.u8()?);
    map.removed_snaps_queue = BTreeMap::decode(r)?;
    map.crush_node_flags = BTreeMap::decode(r)?;
    map.device_class_flags = BTreeMap::decode(r)?;
    if version >= 10 {
        map.stretch = StretchMode::decode(r)?;
    }
    if version >= 11 {
        map.range_blocklist = BTreeMap::decode(r)?;
    }
    if version >= 12 {
        map.allow_crimson = r.bool()?;
    }
    Ok(())
}

const WRONG_LENGTH: DecodeError = DecodeError::Invalid("a vector of the map does not have an entry per OSD");

/// Reads a vector with an entry per OSD.
fn per_osd<T: Decode>(
    osds: &mut [Osd],
    r: &mut Reader<'_>,
    mut set: impl FnMut(&mut Osd, T),
) -> Result<(), DecodeError> {
    if r.u32()? as usize != osds.len() {
        return Err(WRONG_LENGTH);
    }
    for osd in osds {
        set(osd, T::decode(r)?);
    }
    Ok(())
}

impl Decode for StretchMode {
    const MIN_SIZE: usize = 17;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(StretchMode {
            enabled: r.bool()?,
            bucket_count: r.u32()?,
            degraded: r.u32()?,
            recovering: r.u32()?,
            mode_bucket: r.i32()?,
        })
    }
}
