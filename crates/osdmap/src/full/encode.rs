//! Writing a full map.

use sepiola_wire::{Encode, Features, Put};

use super::{OUTER, checksum};
use crate::{Osd, OsdMap};

impl OsdMap {
    /// The encoded map, in the layout of these features; [`CANONICAL_FEATURES`](crate::CANONICAL_FEATURES)
    /// suit every client. The last four bytes are its checksum.
    pub fn encode(&self, features: Features) -> Vec<u8> {
        let mut out = Vec::with_capacity(2048 + 512 * self.osds.len() + 512 * self.pools.len());
        out.put_versioned(OUTER.0, OUTER.1, |out| {
            self.encode_client_section(out, features);
            self.encode_osd_section(out, features);
            out.put_u32(0);
        });
        let at = out.len() - 4;
        let crc = checksum(&out, at);
        out.patch(at, &crc.to_le_bytes());
        out
    }

    fn encode_client_section(&self, out: &mut Vec<u8>, features: Features) {
        let reef = features.has(Features::SERVER_REEF);
        out.put_versioned(if reef { 10 } else { 9 }, 1, |out| {
            self.fsid.encode(out, features);
            self.epoch.encode(out, features);
            self.created.encode(out, features);
            self.modified.encode(out, features);
            out.put_len(self.pools.len());
            for (id, pool) in &self.pools {
                id.encode(out, features);
                pool.encode(out, features);
            }
            self.pool_names.encode(out, features);
            out.put_i32(self.pool_max);
            out.put_u32(self.flags.0);
            out.put_i32(self.max_osd());
            self.per_osd(out, |osd, out| out.put_u32(osd.state.0));
            self.per_osd(out, |osd, out| out.put_u32(osd.weight));
            self.per_osd(out, |osd, out| osd.client_addrs.encode(out, features));
            self.pg_temp.encode(out, features);
            self.primary_temp.encode(out, features);
            self.primary_affinity.encode(out, features);
            out.put_sized(|out| self.crush.encode(out, features));
            self.erasure_code_profiles.encode(out, features);
            self.pg_upmap.encode(out, features);
            self.pg_upmap_items.encode(out, features);
            out.put_i32(self.crush_version);
            self.new_removed_snaps.encode(out, features);
            self.new_purged_snaps.encode(out, features);
            self.last_up_change.encode(out, features);
            self.last_in_change.encode(out, features);
            if reef {
                self.pg_upmap_primaries.encode(out, features);
            }
        });
    }

    fn encode_osd_section(&self, out: &mut Vec<u8>, features: Features) {
        let version = match () {
            () if self.allow_crimson => 12,
            () if !self.range_blocklist.is_empty() => 11,
            () if self.stretch.enabled => 10,
            () => 9,
        };
        out.put_versioned(version, 1, |out| {
            self.per_osd(out, |osd, out| osd.heartbeat_back_addrs.encode(out, features));
            self.per_osd(out, |osd, out| osd.info.encode(out, features));
            self.blocklist.encode(out, features);
            self.per_osd(out, |osd, out| osd.cluster_addrs.encode(out, features));
            self.cluster_snapshot.0.encode(out, features);
            self.cluster_snapshot.1.encode(out, features);
            self.per_osd(out, |osd, out| osd.uuid.encode(out, features));
            self.per_osd(out, |osd, out| osd.xinfo.encode(out, features));
            self.per_osd(out, |osd, out| osd.heartbeat_front_addrs.encode(out, features));
            out.put_f32(self.ratios.nearfull);
            out.put_f32(self.ratios.full);
            out.put_f32(self.ratios.backfillfull);
            out.put_u8(self.require_min_compat_client.0);
            out.put_u8(self.require_osd_release.0);
            self.removed_snaps_queue.encode(out, features);
            self.crush_node_flags.encode(out, features);
            self.device_class_flags.encode(out, features);
            if version >= 10 {
                self.stretch.encode(out, features);
            }
            if version >= 11 {
                self.range_blocklist.encode(out, features);
            }
            if version >= 12 {
                out.put_bool(self.allow_crimson);
            }
        });
    }

    fn per_osd(&self, out: &mut Vec<u8>, field: impl Fn(&Osd, &mut Vec<u8>)) {
        out.put_len(self.osds.len());
        self.osds.iter().for_each(|osd| field(osd, out));
    }
}

impl Encode for crate::StretchMode {
    fn encode(&self, out: &mut Vec<u8>, _: Features) {
        out.put_bool(self.enabled);
        out.put_u32(self.bucket_count);
        out.put_u32(self.degraded);
        out.put_u32(self.recovering);
        out.put_i32(self.mode_bucket);
    }
}
