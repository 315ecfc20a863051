//! Reading `pg_pool`.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use sepiola_wire::{Decode, DecodeError, EVersion, Epoch, PgId, PoolId, Reader, SnapId, UTime};

use super::{MAX_PG_NUM, Opaque, PeeringCrush, PgMerge, Pool, PoolKind, PoolOpt, PoolSnap};
use crate::{PoolFlags, SnapIntervals};

/// The newest layout that is read in full; newer ones are read up to here.
const KNOWN: u8 = 32;
/// Written since Nautilus.
const OLDEST: u8 = 29;

impl Decode for Pool {
    const MIN_SIZE: usize = 6;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("pg_pool", KNOWN)?;
        if s.version < OLDEST {
            return Err(DecodeError::Invalid("a pool in a layout older than Nautilus"));
        }
        let (version, r) = (s.version, &mut s.body);
        let kind = match r.u8()? {
            1 => PoolKind::Replicated,
            3 => PoolKind::Erasure,
            _ => return Err(DecodeError::Invalid("unknown pool type")),
        };
        let (size, crush_rule, object_hash) = (r.u8()?, r.u8()?, r.u8()?);
        let (pg_num, pgp_num) = (pg_count(r)?, pg_count(r)?);
        // Counts of a kind of pg that no longer exists.
        r.u32()?;
        r.u32()?;
        let last_change = Epoch::decode(r)?;
        let (snap_seq, snap_epoch) = (SnapId::decode(r)?, Epoch::decode(r)?);
        let snaps = BTreeMap::decode(r)?;
        let removed_snaps = SnapIntervals::decode(r)?;
        let auid = r.u64()?;
        let flags = PoolFlags(r.u64()?);
        r.u32()?;
        let min_size = r.u8()?;
        let pool = Pool {
            kind,
            size,
            min_size,
            crush_rule,
            object_hash,
            pg_num,
            pgp_num,
            last_change,
            snap_seq,
            snap_epoch,
            snaps,
            removed_snaps,
            auid,
            flags,
            quota_max_bytes: r.u64()?,
            quota_max_objects: r.u64()?,
            tiers: BTreeSet::decode(r)?,
            tier_of: PoolId::decode(r)?,
            cache_mode: r.u8()?,
            read_tier: PoolId::decode(r)?,
            write_tier: PoolId::decode(r)?,
            properties: BTreeMap::decode(r)?,
            hit_set_params: Opaque::decode(r)?,
            hit_set_period: r.u32()?,
            hit_set_count: r.u32()?,
            stripe_width: r.u32()?,
            target_max_bytes: r.u64()?,
            target_max_objects: r.u64()?,
            cache_target_dirty_ratio_micro: r.u32()?,
            cache_target_full_ratio_micro: r.u32()?,
            cache_min_flush_age: r.u32()?,
            cache_min_evict_age: r.u32()?,
            erasure_code_profile: String::decode(r)?,
            last_force_op_resend_preluminous: Epoch::decode(r)?,
            min_read_recency_for_promote: r.i32()?,
            expected_num_objects: r.u64()?,
            cache_target_dirty_high_ratio_micro: r.u32()?,
            min_write_recency_for_promote: r.i32()?,
            use_gmt_hitset: r.bool()?,
            fast_read: r.bool()?,
            hit_set_grade_decay_rate: r.i32()?,
            hit_set_search_last_n: r.u32()?,
            opts: decode_opts(r)?,
            last_force_op_resend_prenautilus: Epoch::decode(r)?,
            application_metadata: BTreeMap::decode(r)?,
            create_time: UTime::decode(r)?,
            pg_num_target: r.u32()?,
            pgp_num_target: r.u32()?,
            pg_num_pending: r.u32()?,
            last_force_op_resend: {
                r.u32()?;
                r.u32()?;
                Epoch::decode(r)?
            },
            pg_autoscale_mode: r.u8()?,
            last_pg_merge: PgMerge::decode(r)?,
            peering_crush: match version {
                ..30 => None,
                30 => Some(PeeringCrush::decode(r)?),
                31.. => Option::decode(r)?,
            },
            nonprimary_shards: if version >= 32 { [varint(r)?, varint(r)?] } else { [0; 2] },
        };
        Ok(pool)
    }
}

fn pg_count(r: &mut Reader<'_>) -> Result<u32, DecodeError> {
    match r.u32()? {
        count @ 1..=MAX_PG_NUM => Ok(count),
        _ => Err(DecodeError::Invalid("a pool without pgs or with more than can be")),
    }
}

fn decode_opts(r: &mut Reader<'_>) -> Result<BTreeMap<u32, PoolOpt>, DecodeError> {
    let mut s = r.versioned("pool_opts", 2)?;
    let r = &mut s.body;
    let mut opts = BTreeMap::new();
    for _ in 0..r.count(12)? {
        let key = r.u32()?;
        let value = match r.u32()? {
            0 => PoolOpt::Text(String::decode(r)?),
            1 => PoolOpt::Int(r.i64()?),
            2 => PoolOpt::Float(r.f64()?),
            _ => return Err(DecodeError::Invalid("unknown kind of pool option")),
        };
        opts.insert(key, value);
    }
    Ok(opts)
}

/// Seven bits a byte, lowest first; the top bit says that more follow.
fn varint(r: &mut Reader<'_>) -> Result<u64, DecodeError> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = r.u8()?;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            break;
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(DecodeError::Invalid("a variable-length integer does not fit 64 bits"))
}

impl Decode for PoolSnap {
    const MIN_SIZE: usize = 26;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("pool_snap_info", 2)?;
        let r = &mut s.body;
        Ok(PoolSnap { id: SnapId::decode(r)?, stamp: UTime::decode(r)?, name: String::decode(r)? })
    }
}

impl Decode for Opaque {
    const MIN_SIZE: usize = 6;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (version, compat) = (r.u8()?, r.u8()?);
        Ok(Opaque { version, compat, body: Bytes::decode(r)? })
    }
}

impl Decode for PgMerge {
    const MIN_SIZE: usize = 6;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("pg_merge_meta", 1)?;
        let r = &mut s.body;
        Ok(PgMerge {
            source: PgId::decode(r)?,
            ready_epoch: Epoch::decode(r)?,
            last_epoch_started: Epoch::decode(r)?,
            last_epoch_clean: Epoch::decode(r)?,
            source_version: EVersion::decode(r)?,
            target_version: EVersion::decode(r)?,
        })
    }
}

impl Decode for PeeringCrush {
    const MIN_SIZE: usize = 16;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(PeeringCrush {
            bucket_count: r.u32()?,
            bucket_target: r.u32()?,
            bucket_barrier: r.u32()?,
            mandatory_member: r.i32()?,
        })
    }
}
