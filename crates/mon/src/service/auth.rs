//! The key server: what authentication reads of the published state.

use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use rand_core::CryptoRng;
use sepiola_cephx::{
    AllowedAuth, AuthMethod, ConMode, EntityAuth, KeyServer, MonAuthPolicy, RotatingSecrets, SERVICES,
    next_global_id,
};
use sepiola_proto::MonChange;
use sepiola_wire::{EntityName, EntityType, GlobalId, UTime};

use crate::{
    MonOptions,
    core::{CoreHandle, Outcome},
    state::{MonState, change},
};

/// The monitor's keys and global ids. Nothing here waits: handshakes read the published state, and ids come
/// from a range that was reserved before.
pub(crate) struct Keys {
    state: Arc<ArcSwap<MonState>>,
    /// The last id that was assigned; ids up to the bound of an earlier life of this monitor count as such.
    last_id: Mutex<GlobalId>,
    rank: u64,
    step: u64,
    core: CoreHandle,
}

impl Keys {
    /// Assigns ids above `last_id`.
    pub fn new(
        state: Arc<ArcSwap<MonState>>,
        last_id: GlobalId,
        rank: u64,
        options: &MonOptions,
        core: CoreHandle,
    ) -> Self {
        Keys { state, last_id: Mutex::new(last_id), rank, step: options.global_id_step, core }
    }

    /// Extends the reserved range unless somebody did since this was asked for.
    fn reserve_more(&self, seen: GlobalId) {
        let step = self.step;
        self.core.propose(Box::new(move |draft| {
            let bound = draft.state.global_id_bound();
            let changes =
                if bound > seen { vec![] } else { vec![change::global_id_bound(GlobalId(bound.0 + step))] };
            Outcome::silent(changes)
        }));
    }
}

impl KeyServer for Keys {
    fn entity(&self, name: &EntityName) -> Option<EntityAuth> {
        self.state.load().entity(name).cloned()
    }

    fn rotating(&self, service: EntityType) -> Option<Arc<RotatingSecrets>> {
        self.state.load().rotating(service).cloned()
    }

    fn assign_global_id(&self) -> Option<GlobalId> {
        let state = self.state.load();
        let (bound, mons) = (state.global_id_bound(), state.monmap().mons.len() as u64);
        let mut last = self.last_id.lock();
        let id = next_global_id(*last, self.rank, mons, bound);
        *last = id.unwrap_or(*last);
        // Asked for in time, so that no client ever waits for it.
        if bound.0 - last.0 < self.step / 2 {
            self.reserve_more(bound);
        }
        id
    }

    fn pending_key_used(&self, name: &EntityName) {
        let name = name.clone();
        self.core.propose(Box::new(move |draft| {
            let taken_over = draft.state.entity(&name).and_then(|entity| {
                let mut entity = entity.clone();
                entity.key = entity.pending_key.take()?;
                Some(change::entity_set(&name, &entity))
            });
            Outcome::silent(taken_over.into_iter().collect())
        }));
    }
}

/// What this monitor requires of its peers.
pub(crate) fn policy(options: &MonOptions, rng: &mut dyn CryptoRng) -> MonAuthPolicy {
    let mut modes = options.modes.clone();
    if options.auth == [AuthMethod::None] {
        // It has no secret to encrypt with. Beside cephx it gets no crc that cephx peers could then use too.
        modes = vec![ConMode::Crc];
    }
    let mut policy = MonAuthPolicy::new(AllowedAuth::uniform(&options.auth, &modes), options.key_type, rng);
    policy.ticket_life = options.tickets;
    policy
}

/// The rotations that are due, as changes.
pub(crate) fn rotations(
    state: &MonState,
    options: &MonOptions,
    now: UTime,
    rng: &mut dyn CryptoRng,
) -> Vec<MonChange> {
    let rotated = SERVICES.into_iter().filter_map(|service| {
        let secrets = state.rotating(service).map(|s| (**s).clone()).unwrap_or_default();
        let next = secrets.rotate(now, options.tickets.of(service), options.key_type, rng)?;
        Some(change::rotating_set(service, &next))
    });
    rotated.collect()
}
