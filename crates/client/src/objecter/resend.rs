//! New maps: which operations move, and which are sent again.

use std::sync::Arc;

use sepiola_osdmap::{MapFlags, OsdMap};
use sepiola_wire::{Epoch, Errno};
use tokio::sync::watch;
use tracing::debug;

use super::{
    Inner, Placement,
    op::Op,
    session::Session,
    target::{Location, locate, must_resend},
};
use crate::Error;

/// Applies each new map.
pub(super) async fn watch_maps(inner: Arc<Inner>, mut epochs: watch::Receiver<Epoch>) {
    loop {
        inner.use_map(inner.link.osdmap());
        if epochs.changed().await.is_err() {
            return;
        }
    }
}

/// Finds out whether missing pools are missing in the newest map too. Pools are created by others, so that a
/// map in which one is missing proves nothing before it is known to be the newest.
pub(super) async fn watch_missing_pools(inner: Arc<Inner>) {
    loop {
        inner.missing_pool.notified().await;
        match inner.link.catch_up().await {
            Ok(epoch) => {
                inner.use_map(inner.link.osdmap());
                inner.fail_missing_pools(epoch);
            }
            Err(error) => {
                debug!(%error, "cannot ask for the newest map");
                // Operations are still waiting; their own deadlines end that.
                tokio::time::sleep(super::connect::FIRST_PAUSE).await;
                inner.missing_pool.notify_one();
            }
        }
    }
}

impl Inner {
    /// Places every operation by `map`, if it is newer than the one in use.
    pub(super) fn use_map(self: &Arc<Self>, map: Arc<OsdMap>) {
        let mut placement = self.placement.write();
        if map.epoch() <= placement.map.epoch() {
            return;
        }
        debug!(epoch = %map.epoch(), "new osdmap");
        placement.map = map;
        let mut moving: Vec<Arc<Op>> = std::mem::take(&mut *self.parked.lock()).into_values().collect();
        moving.extend(end_moved_sessions(&mut placement));
        for session in placement.sessions.values() {
            moving.extend(take_moving(&placement.map, session));
        }
        // Operations on one object stay in the order of submission.
        moving.sort_by_key(|op| op.tid);
        for op in &moving {
            self.place(&mut placement, op);
        }
        // The end of a pause must not be missed, whether or not something waits for it yet.
        let pauses = MapFlags::PAUSERD.with(MapFlags::PAUSEWR).with(MapFlags::FULL);
        if placement.map.flags().without(pauses) != placement.map.flags() {
            self.link.want_map_after(placement.map.epoch());
        }
    }

    /// The map of `newest` has been applied: what it does not have does not exist.
    fn fail_missing_pools(&self, newest: Epoch) {
        let placement = self.placement.read();
        if placement.map.epoch() < newest {
            // The watcher of missing pools is told again by whoever is still waiting.
            self.missing_pool.notify_one();
            return;
        }
        let mut gone = Vec::new();
        self.parked.lock().retain(|_, op| {
            let missing = placement.map.pool(op.lock().head.locator.pool).is_none();
            if missing {
                gone.push(op.clone());
            }
            !missing
        });
        drop(placement);
        for op in gone {
            let error = Error::operation(Errno::ENOENT, op.what, &op.lock().head.oid);
            op.complete(Err(error));
        }
    }
}

/// Ends the sessions whose OSD is down or is another process now.
fn end_moved_sessions(placement: &mut Placement) -> Vec<Arc<Op>> {
    let Placement { map, sessions } = placement;
    let mut ops = Vec::new();
    sessions.retain(|osd, session| {
        let stays = map.is_up(*osd)
            && map.osd(*osd).is_some_and(|info| info.client_addrs.msgr2() == Some(&session.addr));
        if !stays {
            ops.extend(session.end());
        }
        stays
    });
    ops
}

/// Takes the operations out of a session that have to be sent again, here or elsewhere.
fn take_moving(map: &OsdMap, session: &Session) -> Vec<Arc<Op>> {
    let mut moving = session.ops();
    moving.retain(|op| {
        let mut state = op.lock();
        match locate(map, &state.head, op.writes) {
            Location::At(place) => must_resend(map, &state, &place),
            // The OSD may answer all the same. If not, the operation is sent again when the pause ends.
            Location::Paused => {
                state.paused = true;
                state.queued
            }
            Location::NoPool | Location::NoPrimary => true,
        }
    });
    for op in &moving {
        session.remove(op.tid);
    }
    moving
}
