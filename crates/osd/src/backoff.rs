//! Backoffs: a client is told to hold the requests for a pg back, and later that it may go on.
//!
//! The request that comes at the wrong time is dropped; the client keeps it, and sends what it kept, in order,
//! when the backoff ends. What it had sent before it heard of the backoff is still on its way, so everything
//! for that pg is dropped until the client has acknowledged: otherwise a later request could be executed
//! before an earlier one.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering},
};

use sepiola_messages::{BackoffOp, OsdBackoff};
use sepiola_wire::{PgId, SpgId, Tid};

use crate::{
    core::Osd,
    maps::MapView,
    outgoing::{Outgoing, Pushed, Refusal},
    pg::bounds::{end_of_pg, start_of_pg},
    session::Session,
};

/// The pgs that one client has been told to hold back for.
#[derive(Debug, Default)]
pub(crate) struct Backoffs {
    last_id: u64,
    pgs: BTreeMap<PgId, State>,
}

#[derive(Debug, Clone, Copy)]
struct State {
    id: u64,
    /// Only because too many requests wait already. Those came before, and run before the client goes on.
    crowded: bool,
    acknowledged: bool,
    /// The client was told to go on.
    released: bool,
}

impl Session {
    /// True if the client holds requests for the pg back, or does not know yet that it has to: one that
    /// arrives now is dropped.
    pub(crate) fn drops_arriving(&self, pg: PgId) -> bool {
        self.is_backed_off(pg, |_| true)
    }

    /// The same for a request that has waited.
    pub(crate) fn drops_waiting(&self, pg: PgId) -> bool {
        self.is_backed_off(pg, |state| !state.crowded)
    }

    fn is_backed_off(&self, pg: PgId, which: impl FnOnce(&State) -> bool) -> bool {
        // The usual case costs one load.
        self.backoff_count.load(Ordering::Acquire) != 0
            && self.backoffs.lock().pgs.get(&pg).is_some_and(which)
    }

    fn count(&self, backoffs: &Backoffs) {
        self.backoff_count.store(backoffs.pgs.len(), Ordering::Release);
    }
}

impl Osd {
    /// Tells the client to hold requests for a pg back, unless it was told so already; `crowded` if the pg
    /// could be served.
    pub(crate) fn block(
        &self,
        session: &Arc<Session>,
        view: &MapView,
        pg: PgId,
        crowded: bool,
        out: &mut impl Outgoing,
    ) -> Result<(), Refusal> {
        {
            // Held while the message is sent, so that the word to go on cannot overtake it.
            let mut backoffs = session.backoffs.lock();
            if let Some(state) = backoffs.pgs.get_mut(&pg) {
                state.crowded &= crowded;
                return Ok(());
            }
            backoffs.last_id += 1;
            let id = backoffs.last_id;
            backoffs.pgs.insert(pg, State { id, crowded, acknowledged: false, released: false });
            session.count(&backoffs);
            tracing::debug!(peer = %session.peer.source, %pg, id, "backoff");
            let message = message(view, pg, id, BackoffOp::Block);
            out.send_typed(&message, Tid(0), session.peer.features)?;
        }
        self.enlist(session);
        // What it waits for may have come in between; then nobody else will look at this session again.
        self.release(session);
        Ok(())
    }

    /// Tells the client to go on with the pgs that can be served now.
    pub(crate) fn release(&self, session: &Session) {
        if session.backoff_count.load(Ordering::Acquire) == 0 || self.is_crowded(session) {
            return;
        }
        let view = self.view();
        let mut backoffs = session.backoffs.lock();
        for (pg, state) in &mut backoffs.pgs {
            // A pg that is served elsewhere, or not at all any more, is nothing to wait for here.
            let slot = view.pool(pg.pool).and_then(|pool| pool.slot(pg.ps));
            if state.released || slot.is_some_and(|slot| slot.pg.is_some() && !slot.active) {
                continue;
            }
            state.released = true;
            tracing::debug!(peer = %session.peer.source, %pg, id = state.id, "end of the backoff");
            let message = message(&view, *pg, state.id, BackoffOp::Unblock);
            // Pushing never refuses: a connection that has ended takes messages silently.
            let _ = Pushed(&*session.push).send_typed(&message, Tid(0), session.peer.features);
        }
        backoffs.pgs.retain(|_, state| !(state.released && state.acknowledged));
        session.count(&backoffs);
    }

    /// The client has heard of a backoff: what it sends from here on, it sends because it may.
    pub(crate) fn backoff_acknowledged(&self, session: &Session, ack: &OsdBackoff) {
        if ack.op != BackoffOp::AckBlock {
            return;
        }
        let mut backoffs = session.backoffs.lock();
        if let Some(state) = backoffs.pgs.get_mut(&ack.spg.pg).filter(|state| state.id == ack.id) {
            state.acknowledged = true;
            if state.released {
                backoffs.pgs.remove(&ack.spg.pg);
                session.count(&backoffs);
            }
        }
    }
}

impl Backoffs {
    /// True while some pg was not released.
    pub(crate) fn hold(&self) -> bool {
        self.pgs.values().any(|state| !state.released)
    }
}

/// The whole pg is the range.
fn message(view: &MapView, pg: PgId, id: u64, op: BackoffOp) -> OsdBackoff {
    let pg_num = view.map().pool(pg.pool).map_or(1, |pool| pool.pg_num);
    OsdBackoff {
        spg: SpgId::replicated(pg),
        map_epoch: view.epoch(),
        op,
        id,
        begin: start_of_pg(pg),
        end: end_of_pg(pg, pg_num),
    }
}
