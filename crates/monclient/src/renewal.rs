//! Tickets and rotating secrets over the open session.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use sepiola_cephx::{AuthEnv, AuthMethod, AuthReply as Renewed};
use sepiola_messages::{Auth, AuthReply};
use sepiola_messenger::{CloseReason, Sender};
use sepiola_wire::{Tid, UTime};
use tokio::time::{Instant, sleep};

use crate::shared::Shared;

/// A monitor that does not answer for this long is left for another.
const ANSWER_DEADLINE: Duration = Duration::from_secs(30);
/// Longest pause between two looks at the clock, which may have been set meanwhile.
const TICK: Duration = Duration::from_secs(10);

/// What was asked in MAuth messages, in order: answers come in the same order, and a refusal does not say
/// what it refuses.
#[derive(Debug, Default)]
pub(crate) struct AuthQueue {
    asked: VecDeque<(AuthAsk, Instant)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AuthAsk {
    Tickets,
    Rotating,
}

impl AuthQueue {
    pub(crate) fn clear(&mut self) {
        self.asked.clear();
    }

    fn waits_for(&self, ask: AuthAsk) -> bool {
        self.asked.iter().any(|(a, _)| *a == ask)
    }

    fn is_overdue(&self, now: Instant) -> bool {
        self.asked.front().is_some_and(|(_, since)| now >= *since + ANSWER_DEADLINE)
    }
}

/// Renews what is due, again and again. Returns when the session should be given up.
pub(crate) async fn keep_fresh(shared: &Shared, sender: &Sender) -> CloseReason {
    if shared.tickets.method() == AuthMethod::None {
        return std::future::pending().await;
    }
    loop {
        if shared.state.lock().auth.is_overdue(Instant::now()) {
            return CloseReason::Unresponsive(ANSWER_DEADLINE);
        }
        ask_for_what_is_due(shared, sender, UTime::now());
        let now = UTime::now();
        let pause = shared.tickets.next_renewal().map_or(TICK, |at| at.saturating_since(now)).min(TICK);
        // A renewal that is under way is due still; its answer raises the signal.
        tokio::select! {
            () = shared.renew.notified() => {}
            () = sleep(pause.max(Duration::from_secs(1))) => {}
        }
    }
}

fn ask_for_what_is_due(shared: &Shared, sender: &Sender, now: UTime) {
    if !shared.state.lock().auth.waits_for(AuthAsk::Tickets)
        && let Some(payload) = shared.tickets.renewal(&mut AuthEnv::new(now, &mut rand::rng()))
    {
        ask(shared, sender, AuthAsk::Tickets, payload);
    }
    let due = {
        let state = shared.state.lock();
        let stale = || match &*shared.rotating.borrow() {
            Some(secrets) => secrets.refresh_due(now, shared.options.service_ticket_ttl),
            None => shared.options.needs_rotating(),
        };
        !state.auth.waits_for(AuthAsk::Rotating) && (state.wants_rotating || stale())
    };
    if due {
        let payload = shared.tickets.rotating_request();
        ask(shared, sender, AuthAsk::Rotating, payload);
    }
}

fn ask(shared: &Shared, sender: &Sender, what: AuthAsk, payload: Vec<u8>) {
    let message = Auth {
        protocol: AuthMethod::Cephx.as_u32(),
        payload: payload.into(),
        monmap_epoch: shared.monmap.load().epoch.0,
    };
    shared.state.lock().auth.asked.push_back((what, Instant::now()));
    // A failure ends the session, and the next one starts over.
    let _ = sender.send_typed(&message, Tid(0));
}

/// Takes an AUTH_REPLY. An error gives the session up.
pub(crate) fn take_reply(shared: &Shared, reply: &AuthReply) -> Result<(), CloseReason> {
    if reply.protocol != AuthMethod::Cephx.as_u32() {
        return Err(CloseReason::dispatch("authentication reply of another method"));
    }
    let Some((asked, _)) = shared.state.lock().auth.asked.pop_front() else {
        return Err(CloseReason::dispatch("authentication reply that nobody asked for"));
    };
    let taken = shared.tickets.handle_auth_reply(reply.result, reply.global_id, &reply.payload, UTime::now());
    match taken {
        Ok(Renewed::Rotating(secrets)) => {
            shared.state.lock().wants_rotating = false;
            shared.rotating.send_replace(Some(Arc::new(secrets)));
        }
        Ok(_) => shared.tickets_changed.send_modify(|n| *n += 1),
        Err(error) if asked == AuthAsk::Rotating => {
            // Tickets are good without them; whoever waits runs into its deadline.
            shared.state.lock().wants_rotating = false;
            tracing::warn!(%error, "the monitor gives no rotating secrets");
            return Ok(());
        }
        Err(error) => {
            tracing::warn!(%error, "tickets were not renewed");
            return Err(CloseReason::dispatch("tickets were not renewed"));
        }
    }
    shared.renew.notify_one();
    Ok(())
}
