//! Writing an incremental.

use sepiola_wire::{Encode, Features, PoolId, Put};

use super::Incremental;
use crate::{
    MapFlags, Release, StretchMode,
    full::{OUTER, checksum},
};

const UNCHANGED: i32 = -1;
const UNCHANGED_RATIO: f32 = -1.0;
const UNCHANGED_RELEASE: Release = Release(0xff);

impl Incremental {
    /// The encoded incremental in the layout of these features, with its checksum and
    /// [`Incremental::full_crc`].
    pub fn encode(&self, features: Features) -> Vec<u8> {
        let mut out = Vec::with_capacity(1024 + self.crush.len() + self.full_map.len());
        out.put_versioned(OUTER.0, OUTER.1, |out| {
            self.encode_client_section(out, features);
            self.encode_osd_section(out, features);
            out.put_u32(0);
            out.put_u32(self.full_crc);
        });
        let at = out.len() - 8;
        let crc = checksum(&out, at);
        out.patch(at, &crc.to_le_bytes());
        out
    }

    fn encode_client_section(&self, out: &mut Vec<u8>, features: Features) {
        let reef = features.has(Features::SERVER_REEF);
        out.put_versioned(if reef { 9 } else { 8 }, 1, |out| {
            self.fsid.encode(out, features);
            self.epoch.encode(out, features);
            self.modified.encode(out, features);
            self.new_pool_max.unwrap_or(PoolId(UNCHANGED.into())).encode(out, features);
            out.put_i32(self.new_flags.map_or(UNCHANGED, |MapFlags(flags)| flags as i32));
            self.full_map.encode(out, features);
            self.crush.encode(out, features);
            out.put_i32(self.new_max_osd.unwrap_or(UNCHANGED));
            self.new_pools.encode(out, features);
            self.new_pool_names.encode(out, features);
            self.old_pools.encode(out, features);
            self.new_up_client.encode(out, features);
            self.new_state.encode(out, features);
            self.new_weight.encode(out, features);
            self.new_pg_temp.encode(out, features);
            self.new_primary_temp.encode(out, features);
            self.new_primary_affinity.encode(out, features);
            self.new_erasure_code_profiles.encode(out, features);
            self.old_erasure_code_profiles.encode(out, features);
            self.new_pg_upmap.encode(out, features);
            self.old_pg_upmap.encode(out, features);
            self.new_pg_upmap_items.encode(out, features);
            self.old_pg_upmap_items.encode(out, features);
            self.new_removed_snaps.encode(out, features);
            self.new_purged_snaps.encode(out, features);
            self.new_last_up_change.encode(out, features);
            self.new_last_in_change.encode(out, features);
            if reef {
                self.new_pg_upmap_primaries.encode(out, features);
                self.old_pg_upmap_primaries.encode(out, features);
            }
        });
    }

    fn encode_osd_section(&self, out: &mut Vec<u8>, features: Features) {
        let ranges = !self.new_range_blocklist.is_empty() || !self.old_range_blocklist.is_empty();
        let version = match () {
            () if self.allow_crimson => 12,
            () if ranges => 11,
            () if self.new_stretch.is_some() => 10,
            () => 9,
        };
        out.put_versioned(version, 1, |out| {
            self.new_heartbeat_back.encode(out, features);
            self.new_up_thru.encode(out, features);
            self.new_last_clean_interval.encode(out, features);
            self.new_lost.encode(out, features);
            self.new_blocklist.encode(out, features);
            self.old_blocklist.encode(out, features);
            self.new_cluster_addrs.encode(out, features);
            self.cluster_snapshot.encode(out, features);
            self.new_uuid.encode(out, features);
            self.new_xinfo.encode(out, features);
            self.new_heartbeat_front.encode(out, features);
            out.put_u64(self.encode_features.bits());
            out.put_f32(self.new_nearfull_ratio.unwrap_or(UNCHANGED_RATIO));
            out.put_f32(self.new_full_ratio.unwrap_or(UNCHANGED_RATIO));
            out.put_f32(self.new_backfillfull_ratio.unwrap_or(UNCHANGED_RATIO));
            out.put_u8(self.new_require_min_compat_client.unwrap_or(UNCHANGED_RELEASE).0);
            out.put_u8(self.new_require_osd_release.unwrap_or(UNCHANGED_RELEASE).0);
            self.new_crush_node_flags.encode(out, features);
            self.new_device_class_flags.encode(out, features);
            if version >= 10 {
                let stretch = self.new_stretch.unwrap_or_default();
                encode_stretch_change(self.new_stretch.is_some(), &stretch, out);
            }
            if version >= 11 {
                self.new_range_blocklist.encode(out, features);
                self.old_range_blocklist.encode(out, features);
            }
            if version >= 12 {
                out.put_bool(self.allow_crimson);
            }
        });
    }
}

/// Whether anything changes comes first, and whether the mode is on comes last.
fn encode_stretch_change(changed: bool, stretch: &StretchMode, out: &mut Vec<u8>) {
    out.put_bool(changed);
    out.put_u32(stretch.bucket_count);
    out.put_u32(stretch.degraded);
    out.put_u32(stretch.recovering);
    out.put_i32(stretch.mode_bucket);
    out.put_bool(stretch.enabled);
}
