//! The open sessions: what is queued for each, and the table of all of them.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;
use sepiola_messages::{Subscription, WireMessage};
use sepiola_messenger::{OutMessage, Outbox};
use sepiola_wire::{Features, OsdId, Tid, UTime};
use tracing::debug;

use super::{cluster_log::LogSubscription, subscriptions::Subscriptions};
use crate::{caller::Caller, state::MonState};

/// What others reach of a session.
pub(crate) struct SessionShared {
    id: u64,
    pub caller: Caller,
    pub features: Features,
    pub opened: UTime,
    outbox: Outbox,
    // Held while messages are made and queued, so that maps are queued in the order of their epochs.
    subscriptions: Mutex<Subscriptions>,
    log: Mutex<LogSubscription>,
}

impl SessionShared {
    /// Queues a message.
    pub fn send<M: WireMessage>(&self, message: &M, tid: Tid) {
        // A session that is gone or too slow is being closed already.
        let _ = self.outbox.push(OutMessage::typed(message, tid, self.features));
    }

    /// Adds subscriptions and queues what they are owed at once.
    pub fn subscribe<'a>(
        &self,
        state: &MonState,
        host: &str,
        wanted: impl Iterator<Item = (&'a str, Subscription)>,
    ) {
        let mut subscriptions = self.subscriptions.lock();
        subscriptions.seen_on(host);
        for (what, subscription) in wanted {
            if !self.log.lock().want(what, subscription) {
                subscriptions.want(what, subscription);
            }
        }
        self.send_due(&mut subscriptions, state);
    }

    fn send_due(&self, subscriptions: &mut Subscriptions, state: &MonState) {
        let mut due = subscriptions.due(state, &self.caller.name, self.features);
        due.extend(self.log.lock().due(state, self.features));
        for message in due {
            if self.outbox.push(message).is_err() {
                break;
            }
        }
    }

    /// The OSD that this session has authenticated as.
    pub fn osd(&self) -> Option<OsdId> {
        if self.caller.name.kind != sepiola_wire::EntityType::Osd {
            return None;
        }
        self.caller.name.id.parse().ok().filter(|id| *id >= 0).map(OsdId)
    }
}

/// The open sessions.
#[derive(Default)]
pub(crate) struct Sessions {
    next_id: AtomicU64,
    open: Mutex<HashMap<u64, Arc<SessionShared>>>,
}

impl Sessions {
    /// How many are open.
    pub fn count(&self) -> usize {
        self.open.lock().len()
    }

    /// How many were ever opened.
    pub fn opened(&self) -> u64 {
        self.next_id.load(Ordering::Relaxed)
    }

    /// The open sessions, in the order in which they were opened.
    pub fn all(&self) -> Vec<Arc<SessionShared>> {
        let mut all: Vec<_> = self.open.lock().values().cloned().collect();
        all.sort_by_key(|session| session.id);
        all
    }

    /// Adds a session.
    pub fn open(&self, caller: Caller, features: Features, outbox: Outbox) -> Arc<SessionShared> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let shared = Arc::new(SessionShared {
            id,
            caller,
            features,
            opened: UTime::now(),
            outbox,
            subscriptions: Mutex::default(),
            log: Mutex::default(),
        });
        self.open.lock().insert(id, shared.clone());
        shared
    }

    /// Removes a session.
    pub fn close(&self, session: &SessionShared) {
        self.open.lock().remove(&session.id);
        debug!(peer = %session.caller.name, global_id = session.caller.global_id.0, "session closed");
    }

    /// Sends everybody what a new state owes them.
    pub fn publish(&self, state: &MonState) {
        for session in self.all() {
            session.send_due(&mut session.subscriptions.lock(), state);
        }
    }
}
