//! A client's session with this OSD.

use std::{
    collections::VecDeque,
    fmt,
    sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
};

use parking_lot::Mutex;
use sepiola_cephx::PeerCaps;
use sepiola_wire::{EntityAddr, EntityNum, Epoch, Features};

use crate::{backoff::Backoffs, maps::MapView, outgoing::Push, waiting::Waiting};

/// Who is at the other end, as authentication found out.
#[derive(Debug, Clone)]
pub struct PeerIdentity {
    /// `client.GLOBAL_ID` or `osd.ID`: the requester in request ids.
    pub source: EntityNum,
    /// What it may do here.
    pub caps: PeerCaps,
    /// Its address with the nonce it announced, which blocklists name.
    pub addr: EntityAddr,
    /// What the connection negotiated.
    pub features: Features,
}

/// A session: shared between the connection's task and those who answer waiting requests.
pub struct Session {
    pub(crate) peer: PeerIdentity,
    pub(crate) push: Box<dyn Push>,
    /// The newest map that was sent to the peer.
    sent_epoch: AtomicU32,
    /// The epoch whose blocklist was looked at, and what it said.
    blocklist_epoch: AtomicU32,
    blocklisted: AtomicBool,
    /// Requests that wait for a newer map, in order. While there are any, later ones queue behind them.
    pub(crate) waiting: Mutex<VecDeque<Waiting>>,
    pub(crate) waiting_count: AtomicUsize,
    /// Pgs whose requests the client was told to hold back, and how many there are.
    pub(crate) backoffs: Mutex<Backoffs>,
    pub(crate) backoff_count: AtomicUsize,
    /// The OSD looks at this session when a map comes.
    pub(crate) enlisted: AtomicBool,
}

impl Session {
    /// A new session; `push` reaches its connection.
    pub fn new(peer: PeerIdentity, push: Box<dyn Push>) -> Self {
        Session {
            peer,
            push,
            sent_epoch: AtomicU32::new(0),
            blocklist_epoch: AtomicU32::new(0),
            blocklisted: AtomicBool::new(false),
            waiting: Mutex::default(),
            waiting_count: AtomicUsize::new(0),
            backoffs: Mutex::default(),
            backoff_count: AtomicUsize::new(0),
            enlisted: AtomicBool::new(false),
        }
    }

    /// The map epoch that maps have to be sent from, exclusive, to a peer that has shown `has`; `None` if
    /// it has been sent all up to `current`. Claims the sending.
    pub(crate) fn claim_maps(&self, has: Epoch, current: Epoch) -> Option<Epoch> {
        let sent = Epoch(self.sent_epoch.fetch_max(current.0, Ordering::Relaxed));
        let from = has.max(sent);
        (from < current).then_some(from)
    }

    /// Forgets what waits: the connection is gone, so there is nobody to answer.
    pub(crate) fn abandon(&self) {
        self.waiting.lock().clear();
        self.waiting_count.store(0, Ordering::Release);
    }

    /// Whether the peer is blocklisted; the map is asked once per epoch.
    pub(crate) fn is_blocklisted(&self, view: &MapView) -> bool {
        let epoch = view.epoch().0;
        if self.blocklist_epoch.load(Ordering::Acquire) != epoch {
            self.blocklisted.store(view.map().is_blocklisted(&self.peer.addr), Ordering::Relaxed);
            self.blocklist_epoch.store(epoch, Ordering::Release);
        }
        self.blocklisted.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("peer", &self.peer.source).finish_non_exhaustive()
    }
}
