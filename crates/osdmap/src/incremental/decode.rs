//! Reading an incremental.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use sepiola_wire::{Decode, DecodeError, Epoch, Features, PoolId, Reader, UTime, Uuid};

use super::Incremental;
use crate::{MapError, MapFlags, Release, StretchMode, full::Outer};

const CLIENT_KNOWN: u8 = 9;
const OSD_KNOWN: u8 = 12;
const CLIENT_OLDEST: u8 = 8;
const OSD_OLDEST: u8 = 9;

impl Incremental {
    /// Reads an incremental and checks its checksum.
    pub fn decode(blob: &[u8]) -> Result<Incremental, MapError> {
        let mut outer = Outer::open(blob, "OSDMap incremental")?;
        let mut client = outer.body.versioned("incremental client section", CLIENT_KNOWN)?;
        let mut osd = outer.body.versioned("incremental OSD section", OSD_KNOWN)?;
        outer.check()?;
        if client.version < CLIENT_OLDEST || osd.version < OSD_OLDEST {
            return Err(DecodeError::Invalid("an incremental in a layout older than Nautilus").into());
        }
        let mut inc = decode_client_section(&mut client.body, client.version)?;
        decode_osd_section(&mut inc, &mut osd.body, osd.version)?;
        inc.full_crc = outer.body.u32()?;
        Ok(inc)
    }
}

fn decode_client_section(r: &mut Reader<'_>, version: u8) -> Result<Incremental, DecodeError> {
    let (fsid, epoch, modified) = (Uuid::decode(r)?, Epoch::decode(r)?, UTime::decode(r)?);
    let mut inc = Incremental::new(fsid, epoch, modified);
    inc.new_pool_max = Some(r.i64()?).filter(|max| *max >= 0).map(PoolId);
    inc.new_flags = u32::try_from(r.i32()?).ok().map(MapFlags);
    inc.full_map = Bytes::decode(r)?;
    inc.crush = Bytes::decode(r)?;
    inc.new_max_osd = Some(r.i32()?).filter(|max| *max >= 0);
    inc.new_pools = BTreeMap::decode(r)?;
    inc.new_pool_names = BTreeMap::decode(r)?;
    inc.old_pools = BTreeSet::decode(r)?;
    inc.new_up_client = BTreeMap::decode(r)?;
    inc.new_state = BTreeMap::decode(r)?;
    inc.new_weight = BTreeMap::decode(r)?;
    inc.new_pg_temp = BTreeMap::decode(r)?;
    inc.new_primary_temp = BTreeMap::decode(r)?;
    inc.new_primary_affinity = BTreeMap::decode(r)?;
    inc.new_erasure_code_profiles = BTreeMap::decode(r)?;
    inc.old_erasure_code_profiles = Vec::decode(r)?;
    inc.new_pg_upmap = BTreeMap::decode(r)?;
    inc.old_pg_upmap = BTreeSet::decode(r)?;
    inc.new_pg_upmap_items = BTreeMap::decode(r)?;
    inc.old_pg_upmap_items = BTreeSet::decode(r)?;
    inc.new_removed_snaps = BTreeMap::decode(r)?;
    inc.new_purged_snaps = BTreeMap::decode(r)?;
    inc.new_last_up_change = UTime::decode(r)?;
    inc.new_last_in_change = UTime::decode(r)?;
    if version >= 9 {
        inc.new_pg_upmap_primaries = BTreeMap::decode(r)?;
        inc.old_pg_upmap_primaries = BTreeSet::decode(r)?;
    }
    Ok(inc)
}

fn decode_osd_section(inc: &mut Incremental, r: &mut Reader<'_>, version: u8) -> Result<(), DecodeError> {
    inc.new_heartbeat_back = BTreeMap::decode(r)?;
    inc.new_up_thru = BTreeMap::decode(r)?;
    inc.new_last_clean_interval = BTreeMap::decode(r)?;
    inc.new_lost = BTreeMap::decode(r)?;
    inc.new_blocklist = BTreeMap::decode(r)?;
    inc.old_blocklist = Vec::decode(r)?;
    inc.new_cluster_addrs = BTreeMap::decode(r)?;
    inc.cluster_snapshot = String::decode(r)?;
    inc.new_uuid = BTreeMap::decode(r)?;
    inc.new_xinfo = BTreeMap::decode(r)?;
    inc.new_heartbeat_front = BTreeMap::decode(r)?;
    inc.encode_features = Features::from_bits(r.u64()?);
    let ratio = |value: f32| (value >= 0.0).then_some(value);
    inc.new_nearfull_ratio = ratio(r.f32()?);
    inc.new_full_ratio = ratio(r.f32()?);
    inc.new_backfillfull_ratio = ratio(r.f32()?);
    let release = |value: u8| (value != 0xff).then_some(Release(value));
    inc.new_require_min_compat_client = release(r.u8()?);
    inc.new_require_osd_release = release(r.u8()?);
    inc.new_crush_node_flags = BTreeMap::decode(r)?;
    inc.new_device_class_flags = BTreeMap::decode(r)?;
    if version >= 10 {
        let changed = r.bool()?;
        let stretch = StretchMode {
            bucket_count: r.u32()?,
            degraded: r.u32()?,
            recovering: r.u32()?,
            mode_bucket: r.i32()?,
            enabled: r.bool()?,
        };
        inc.new_stretch = changed.then_some(stretch);
    }
    if version >= 11 {
        inc.new_range_blocklist = BTreeMap::decode(r)?;
        inc.old_range_blocklist = Vec::decode(r)?;
    }
    if version >= 12 {
        inc.allow_crimson = r.u8()? != 0;
    }
    Ok(())
}
