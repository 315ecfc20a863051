//! Deadlines, and operations that take suspiciously long.
//!
//! One task looks at all operations now and then, instead of one timer an operation: deadlines are seconds,
//! operations are microseconds.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, MissedTickBehavior, interval};
use tracing::debug;

use super::{
    Inner,
    op::{Home, Op},
    target::{Location, locate, why_paused},
};
use crate::Error;

const LOOK_EVERY: Duration = Duration::from_millis(250);
/// An operation older than this makes the client ask for a newer map and the OSD for a sign of life.
const SLOW: Duration = Duration::from_secs(10);

pub(super) async fn run(inner: Arc<Inner>) {
    let mut ticks = interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut last_nudge = Instant::now();
    loop {
        ticks.tick().await;
        let now = Instant::now();
        inner.expire(now);
        inner.send_queued();
        if now - last_nudge >= SLOW / 2 {
            last_nudge = now;
            inner.nudge_slow(now);
        }
    }
}

impl Inner {
    fn expire(&self, now: Instant) {
        for op in self.all_ops() {
            if op.deadline.is_some_and(|deadline| deadline <= now) {
                let error = self.deadline_passed(&op);
                let home = std::mem::replace(&mut op.lock().home, Home::None);
                match home {
                    Home::None => {}
                    Home::Parked => {
                        self.parked.lock().remove(&op.tid);
                    }
                    Home::Session(session) => session.remove(op.tid),
                }
                op.complete(Err(error));
            }
        }
    }

    /// Says what an operation waited for, with the OSD and the pg that should have answered.
    fn deadline_passed(&self, op: &Op) -> Error {
        let placement = self.placement.read();
        // Sessions come before operations in the lock order.
        let (location, object, pool, pg) = {
            let state = op.lock();
            let location = locate(&placement.map, &state.head, op.writes);
            (location, state.head.oid.clone(), state.head.locator.pool, state.head.spg.pg)
        };
        let waited_for = match location {
            Location::At(place) => {
                let (osd, pg) = (place.osd, place.spg.pg);
                match placement.sessions.get(&osd).and_then(|session| session.trouble()) {
                    Some(trouble) => format!("no connection to osd.{osd} for pg {pg} ({trouble})"),
                    None => format!("no answer from osd.{osd} (pg {pg})"),
                }
            }
            Location::NoPrimary => format!("no OSD to serve pg {pg}"),
            Location::Paused if op.writes => why_paused(&placement.map, pool),
            Location::Paused => "no end to the pause of reads".to_owned(),
            Location::NoPool => "no map with its pool".to_owned(),
        };
        self.timed_out(op.what, &object, waited_for)
    }

    fn send_queued(&self) {
        for session in self.placement.read().sessions.values() {
            session.send_queued();
        }
    }

    fn nudge_slow(&self, now: Instant) {
        let placement = self.placement.read();
        let mut slow = self.parked.lock().values().any(|op| now - op.started >= SLOW);
        for session in placement.sessions.values() {
            if session.ops().iter().any(|op| now - op.started >= SLOW) {
                debug!(osd = %session.osd, "operations are slow");
                session.keepalive();
                slow = true;
            }
        }
        if slow {
            self.link.want_map_after(placement.map.epoch());
        }
    }
}
