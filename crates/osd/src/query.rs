//! `ceph pg PGID query`: what an OSD knows of one of its pgs.

use sepiola_messages::pg_state;
use sepiola_wire::{PgId, PoolId};
use serde_json::{Value, json};

use crate::{core::Osd, report::pg_stats};

/// A pg's id in its text form, `POOL.PS` with the second part in hexadecimal.
fn parse(text: &str) -> Option<PgId> {
    let (pool, ps) = text.split_once('.')?;
    Some(PgId::new(PoolId(pool.parse().ok()?), u32::from_str_radix(ps, 16).ok()?))
}

impl Osd {
    /// The pg in the form of the stock tools, as far as it applies here; `None` if this OSD is not its
    /// primary.
    pub(crate) fn query_pg(&self, text: &str) -> Option<Value> {
        let id = parse(text)?;
        let view = self.view();
        let slot = view.pool(id.pool)?.slot(id.ps)?;
        let stats = pg_stats(self, &view, slot.pg.as_ref()?);
        let last_update = format!("{}'{}", stats.last_update_epoch, stats.last_update_version);
        let sums = stats.sums.unwrap_or_default();
        Some(json!({
            "state": pg_state::to_text(stats.state),
            "epoch": view.epoch().0,
            "up": stats.up,
            "acting": stats.acting,
            "info": {
                "pgid": text,
                "last_update": last_update,
                "last_complete": last_update,
                "history": {"same_interval_since": slot.since.0},
                "stats": {
                    "state": pg_state::to_text(stats.state),
                    "up_primary": stats.up_primary,
                    "acting_primary": stats.acting_primary,
                    "log_size": stats.log_size,
                    "stat_sum": {
                        "num_bytes": sums.bytes,
                        "num_objects": sums.objects,
                        "num_read": sums.reads,
                        "num_write": sums.writes,
                        "num_omap_keys": sums.omap_keys,
                    },
                },
            },
        }))
    }
}
