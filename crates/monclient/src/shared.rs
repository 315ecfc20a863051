//! What the client's handle and its session task share.

use std::{collections::BTreeMap, sync::Arc};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use sepiola_cephx::{RotatingSecrets, TicketKeeper};
use sepiola_messages::{MonMap, OsdMapMessage, SubscribeFlags};
use sepiola_messenger::{SendError, Sender};
use sepiola_msgr2::GlobalSeq;
use sepiola_osdmap::{CrushMap, OsdMap, crush::Tunables};
use sepiola_wire::{AddrType, Epoch, Tid, UTime, Uuid};
use tokio::sync::{Notify, watch};

use crate::{
    MonClientOptions, MonError, OsdMapWish,
    error::Attempts,
    maps::{Maps, Need},
    renewal::AuthQueue,
    requests::{Ask, Outgoing, Requests},
    subscriptions::Subscriptions,
};

/// Where the client stands.
#[derive(Debug, Clone, Default)]
pub(crate) enum Status {
    /// Looking for a monitor, or waiting for the first maps.
    #[default]
    Connecting,
    /// Was connected and has what it needs; may be looking for another monitor.
    Ready,
    /// The first connection failed for good.
    Failed(MonError),
}

pub(crate) struct Shared {
    pub(crate) options: MonClientOptions,
    pub(crate) tickets: TicketKeeper,
    pub(crate) global_seq: GlobalSeq,
    pub(crate) state: Mutex<State>,
    pub(crate) osdmap: ArcSwap<OsdMap>,
    // Held while maps are applied, which takes longer than anything under `state`. Never taken under it.
    maps: Mutex<Maps>,
    pub(crate) epochs: watch::Sender<Epoch>,
    pub(crate) status: watch::Sender<Status>,
    /// Counts sessions; 0 before the first.
    pub(crate) sessions: watch::Sender<u64>,
    pub(crate) monmap: ArcSwap<MonMap>,
    pub(crate) config: watch::Sender<Arc<BTreeMap<String, String>>>,
    pub(crate) rotating: watch::Sender<Option<Arc<RotatingSecrets>>>,
    /// Tickets have changed.
    pub(crate) tickets_changed: watch::Sender<u64>,
    /// Asks the session task to look at tickets and secrets now.
    pub(crate) renew: Notify,
}

/// Short-lived facts under one lock.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) session: Option<Sender>,
    pub(crate) subscriptions: Subscriptions,
    pub(crate) requests: Requests,
    pub(crate) attempts: Attempts,
    pub(crate) auth: AuthQueue,
    pub(crate) wants_rotating: bool,
    pub(crate) got_monmap: bool,
    pub(crate) got_config: bool,
}

impl Shared {
    pub(crate) fn new(options: MonClientOptions) -> Arc<Self> {
        let guess = MonMap::from_addrs(options.monitors.iter().map(|addr| {
            let mut addr = *addr;
            if addr.kind == AddrType::Any {
                addr.kind = AddrType::Msgr2;
            }
            addr.into()
        }));
        let initial = options.initial_map.clone();
        let epoch = initial.as_ref().map_or(Epoch(0), |map| map.epoch());
        let host = options.config.read(|config| config.text("host")).unwrap_or_default();
        let mut state = State {
            wants_rotating: options.needs_rotating(),
            subscriptions: Subscriptions::on_host(host),
            ..State::default()
        };
        let always = SubscribeFlags::CONTINUOUS;
        state.subscriptions.want("config", 0, always);
        state.subscriptions.want("monmap", 0, always);
        let start = if epoch.0 == 0 { 0 } else { u64::from(epoch.0) + 1 };
        match options.osdmap {
            OsdMapWish::None => {}
            OsdMapWish::OnDemand => state.subscriptions.want("osdmap", start, SubscribeFlags::ONETIME),
            OsdMapWish::Continuous => state.subscriptions.want("osdmap", start, always),
        }
        let none = || {
            let crush = CrushMap::empty(Tunables::JEWEL);
            Arc::new(OsdMap::with_crush(Uuid::nil(), UTime::ZERO, crush))
        };
        Arc::new(Shared {
            tickets: options.ticket_keeper(),
            global_seq: GlobalSeq::new(),
            state: Mutex::new(state),
            osdmap: ArcSwap::new(initial.clone().unwrap_or_else(none)),
            maps: Mutex::new(Maps::new(initial)),
            epochs: watch::Sender::new(epoch),
            status: watch::Sender::default(),
            sessions: watch::Sender::new(0),
            monmap: ArcSwap::from_pointee(guess),
            config: watch::Sender::default(),
            rotating: watch::Sender::default(),
            tickets_changed: watch::Sender::new(0),
            renew: Notify::new(),
            options,
        })
    }

    pub(crate) fn epoch(&self) -> Epoch {
        *self.epochs.borrow()
    }

    pub(crate) fn fsid(&self) -> Uuid {
        self.monmap.load().fsid
    }

    /// Applies an OSD map message, from a monitor or an OSD, and asks for what is missing.
    pub(crate) fn take_osdmap(&self, message: &OsdMapMessage) {
        let (need, epoch, advanced) = {
            let mut maps = self.maps.lock();
            let before = maps.epoch();
            let need = maps.apply(message, self.fsid(), |map, source| {
                self.osdmap.store(map.clone());
                if let Some(observer) = &self.options.map_observer {
                    observer.map(map, source);
                }
            });
            let epoch = maps.epoch();
            if epoch != before {
                // Under the lock, so that the published epochs only grow.
                self.epochs.send_replace(epoch);
            }
            (need, epoch, epoch != before)
        };
        let mut state = self.state.lock();
        if advanced {
            state.subscriptions.got("osdmap", epoch.0.into());
        }
        match need {
            Need::Nothing => {}
            Need::From(epoch) => state.subscriptions.insist("osdmap", epoch.0.into()),
            Need::Full => state.subscriptions.want("osdmap", 0, SubscribeFlags::ONETIME),
        }
        self.send_subscriptions(&mut state);
        drop(state);
        self.check_ready();
    }

    /// Asks for the maps behind the current one.
    pub(crate) fn ask_for_newer_osdmap(&self) {
        let epoch = self.epoch();
        let start = if epoch.0 == 0 { 0 } else { u64::from(epoch.0) + 1 };
        let mut state = self.state.lock();
        state.subscriptions.want("osdmap", start, SubscribeFlags::ONETIME);
        self.send_subscriptions(&mut state);
    }

    pub(crate) fn send_subscriptions(&self, state: &mut State) {
        // Without a session they stay unsent, and the next session gets all of them.
        if let Some(sender) = &state.session
            && let Some(message) = state.subscriptions.changes()
        {
            let _ = sender.send_typed(&message, Tid(0));
        }
    }

    pub(crate) fn send_ask(&self, sender: &Sender, tid: Tid, ask: &Ask) -> Result<(), SendError> {
        match ask.outgoing(tid, self.fsid(), self.epoch()) {
            Outgoing::Command(m) => sender.send_typed(&m, tid),
            // The payload's handle identifies it.
            Outgoing::GetVersion(m) => sender.send_typed(&m, Tid(0)),
            Outgoing::PoolOp(m) => sender.send_typed(&m, tid),
            Outgoing::Statfs(m) => sender.send_typed(&m, tid),
            Outgoing::PoolStats(m) => sender.send_typed(&m, tid),
        }
    }

    /// Tells who waits for the first connection once all that it promises is here.
    pub(crate) fn check_ready(&self) {
        let complete = {
            let state = self.state.lock();
            state.got_monmap
                && state.got_config
                && (self.options.osdmap == OsdMapWish::None || self.epoch().0 > 0)
        };
        if complete {
            self.status.send_if_modified(|status| {
                let first = matches!(status, Status::Connecting);
                if first {
                    *status = Status::Ready;
                }
                first
            });
        }
    }

    /// Why there is no session, for errors of requests that were not answered.
    pub(crate) fn trouble(&self) -> Option<String> {
        let state = self.state.lock();
        (state.session.is_none()).then(|| state.attempts.to_string())
    }
}
