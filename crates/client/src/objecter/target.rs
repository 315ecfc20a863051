//! Where an operation belongs in a map.

use sepiola_messages::osd_op::{OpCode, RequestFlags, RequestHead};
use sepiola_osdmap::{MapFlags, OsdMap, OsdState, Pool, PoolFlags};
use sepiola_wire::{Epoch, OsdId, PgId, PoolId, SpgId};

use super::op::OpState;

/// The place of an operation in one map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub spg: SpgId,
    /// The object's whole placement hash.
    pub hash: u32,
    /// The pg's acting primary.
    pub osd: OsdId,
    /// Its position in the acting set.
    pub role: usize,
    pub pg_num: u32,
    pub epoch: Epoch,
}

/// What a map says about an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Location {
    At(Place),
    /// The pool is not in this map.
    NoPool,
    /// No OSD serves the pg.
    NoPrimary,
    /// The cluster holds such operations back.
    Paused,
}

/// Finds the place of `head`; a lookup, as the map keeps the places of pgs.
pub(crate) fn locate(map: &OsdMap, head: &RequestHead, writes: bool) -> Location {
    let pool_id = head.locator.pool;
    let Some(pool) = map.pool(pool_id) else { return Location::NoPool };
    if is_paused(map, pool, writes, head.flags) {
        return Location::Paused;
    }
    let hash = match u32::try_from(head.locator.hash) {
        // Operations on a pg carry its number instead of a name.
        Ok(ps) => ps,
        Err(_) => pool.object_hash(&head.oid, &head.locator.key, &head.locator.nspace),
    };
    let pg = PgId::new(pool_id, pool.fold(hash));
    let set = map.pg_to_up_acting(pg);
    let Some(osd) = set.acting_primary else { return Location::NoPrimary };
    Location::At(Place {
        spg: SpgId { pg, shard: set.primary_shard(pool) },
        hash,
        osd,
        role: set.acting.iter().position(|o| *o == osd).unwrap_or(usize::MAX),
        pg_num: pool.pg_num,
        epoch: map.epoch(),
    })
}

/// Full clusters and pools hold back writes, except those that make room.
fn is_paused(map: &OsdMap, pool: &Pool, writes: bool, flags: RequestFlags) -> bool {
    if !writes {
        return map.flags().has(MapFlags::PAUSERD);
    }
    let full = map.flags().has(MapFlags::FULL)
        || pool.flags.has(PoolFlags::FULL)
        || pool.flags.has(PoolFlags::FULL_QUOTA);
    let despite = flags.0 & RequestFlags::FULL_TRY.with(RequestFlags::FULL_FORCE).0 != 0;
    map.flags().has(MapFlags::PAUSEWR) || (full && !despite)
}

/// Why the map holds back writes to a pool, as the end of "write obj: ... within 30s".
pub(crate) fn why_paused(map: &OsdMap, id: PoolId) -> String {
    let name = map.pool_name(id).unwrap_or_default();
    let flags = map.pool(id).map_or(PoolFlags::NONE, |pool| pool.flags);
    if map.flags().has(MapFlags::PAUSEWR) {
        "no end to the pause of writes".to_owned()
    } else if flags.has(PoolFlags::FULL_QUOTA) {
        format!("no room in pool `{name}` (its quota is reached)")
    } else {
        let full = map.osds().filter(|(_, osd)| osd.state.has(OsdState::FULL));
        let full: Vec<_> = full.map(|(id, _)| format!("osd.{id}")).collect();
        let why = if full.is_empty() { String::new() } else { format!(" (full: {})", full.join(", ")) };
        if flags.has(PoolFlags::FULL) {
            format!("no room in pool `{name}`{why}")
        } else {
            format!("no room in the cluster{why}")
        }
    }
}

/// True if an operation that was placed by an older map has to be sent again, or elsewhere.
pub(crate) fn must_resend(map: &OsdMap, op: &OpState, now: &Place) -> bool {
    let Some(before) = &op.place else { return true };
    let forced = map.pool(now.spg.pg.pool).map_or(Epoch(0), |pool| pool.last_force_op_resend);
    before.spg != now.spg
        || before.osd != now.osd
        || before.role != now.role
        // The pg was split or merged: what its OSD has not executed yet, it has dropped.
        || before.pg_num != now.pg_num
        || (before.epoch < forced && forced <= now.epoch)
        || op.paused
}

/// The flags of a request of `ops`.
pub(crate) fn request_flags(writes: bool, codes: impl IntoIterator<Item = OpCode>) -> RequestFlags {
    let mut flags = RequestFlags::ONDISK | RequestFlags::KNOWN_IF_REDIRECTED;
    flags |= if writes { RequestFlags::WRITE } else { RequestFlags::READ };
    let mut deletes_only = writes;
    for code in codes {
        if code.is_pg() {
            flags |= RequestFlags::IGNORE_OVERLAY;
        }
        deletes_only &= code == OpCode::DELETE;
    }
    if deletes_only {
        // A full cluster has to be able to become less full.
        flags |= RequestFlags::FULL_FORCE;
    }
    flags
}
