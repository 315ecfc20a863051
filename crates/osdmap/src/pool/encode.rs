//! Writing `pg_pool`.

use sepiola_wire::{Encode, Features, Put};

use super::{Opaque, PeeringCrush, PgMerge, Pool, PoolOpt, PoolSnap};

impl Encode for Pool {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        let version = match (features.has(Features::SERVER_TENTACLE), self.peering_crush) {
            (true, _) => 32,
            (false, Some(_)) => 30,
            (false, None) => 29,
        };
        out.put_versioned(version, 5, |out| {
            out.put_u8(self.kind as u8);
            out.put_u8(self.size);
            out.put_u8(self.crush_rule);
            out.put_u8(self.object_hash);
            out.put_u32(self.pg_num);
            out.put_u32(self.pgp_num);
            out.put_u32(0);
            out.put_u32(0);
            self.last_change.encode(out, features);
            self.snap_seq.encode(out, features);
            self.snap_epoch.encode(out, features);
            self.snaps.encode(out, features);
            self.removed_snaps.encode(out, features);
            out.put_u64(self.auid);
            out.put_u64(self.flags.0);
            out.put_u32(0);
            out.put_u8(self.min_size);
            out.put_u64(self.quota_max_bytes);
            out.put_u64(self.quota_max_objects);
            self.tiers.encode(out, features);
            self.tier_of.encode(out, features);
            out.put_u8(self.cache_mode);
            self.read_tier.encode(out, features);
            self.write_tier.encode(out, features);
            self.properties.encode(out, features);
            self.hit_set_params.encode(out, features);
            out.put_u32(self.hit_set_period);
            out.put_u32(self.hit_set_count);
            out.put_u32(self.stripe_width);
            out.put_u64(self.target_max_bytes);
            out.put_u64(self.target_max_objects);
            out.put_u32(self.cache_target_dirty_ratio_micro);
            out.put_u32(self.cache_target_full_ratio_micro);
            out.put_u32(self.cache_min_flush_age);
            out.put_u32(self.cache_min_evict_age);
            self.erasure_code_profile.encode(out, features);
            self.last_force_op_resend_preluminous.encode(out, features);
            out.put_i32(self.min_read_recency_for_promote);
            out.put_u64(self.expected_num_objects);
            out.put_u32(self.cache_target_dirty_high_ratio_micro);
            out.put_i32(self.min_write_recency_for_promote);
            out.put_bool(self.use_gmt_hitset);
            out.put_bool(self.fast_read);
            out.put_i32(self.hit_set_grade_decay_rate);
            out.put_u32(self.hit_set_search_last_n);
            encode_opts(self, out);
            self.last_force_op_resend_prenautilus.encode(out, features);
            self.application_metadata.encode(out, features);
            self.create_time.encode(out, features);
            out.put_u32(self.pg_num_target);
            out.put_u32(self.pgp_num_target);
            out.put_u32(self.pg_num_pending);
            out.put_u32(0);
            out.put_u32(0);
            self.last_force_op_resend.encode(out, features);
            out.put_u8(self.pg_autoscale_mode);
            self.last_pg_merge.encode(out, features);
            match (version, &self.peering_crush) {
                (30, Some(peering)) => peering.encode(out, features),
                (32, peering) => {
                    peering.encode(out, features);
                    self.nonprimary_shards.iter().for_each(|word| put_varint(*word, out));
                }
                _ => {}
            }
        });
    }
}

fn encode_opts(pool: &Pool, out: &mut Vec<u8>) {
    out.put_versioned(2, 1, |out| {
        out.put_len(pool.opts.len());
        for (key, value) in &pool.opts {
            out.put_u32(*key);
            match value {
                PoolOpt::Text(text) => {
                    out.put_u32(0);
                    out.put_blob(text.as_bytes());
                }
                PoolOpt::Int(number) => {
                    out.put_u32(1);
                    out.put_i64(*number);
                }
                PoolOpt::Float(number) => {
                    out.put_u32(2);
                    out.put_f64(*number);
                }
            }
        }
    });
}

fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.put_u8(value as u8 | 0x80);
        value >>= 7;
    }
    out.put_u8(value as u8);
}

impl Encode for PoolSnap {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_versioned(2, 2, |out| {
            self.id.encode(out, features);
            self.stamp.encode(out, features);
            self.name.encode(out, features);
        });
    }
}

impl Encode for Opaque {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_u8(self.version);
        out.put_u8(self.compat);
        self.body.encode(out, features);
    }
}

impl Encode for PgMerge {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_versioned(1, 1, |out| {
            self.source.encode(out, features);
            self.ready_epoch.encode(out, features);
            self.last_epoch_started.encode(out, features);
            self.last_epoch_clean.encode(out, features);
            self.source_version.encode(out, features);
            self.target_version.encode(out, features);
        });
    }
}

impl Encode for PeeringCrush {
    fn encode(&self, out: &mut Vec<u8>, _: Features) {
        out.put_u32(self.bucket_count);
        out.put_u32(self.bucket_target);
        out.put_u32(self.bucket_barrier);
        out.put_i32(self.mandatory_member);
    }
}
