//! What one principal holds: its key, its global_id and its tickets, shared by the sessions that use them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use sepiola_crypto::{CryptoKey, KeyType, Usage};
use sepiola_wire::{Decode, EntityName, EntityType, GlobalId, Reader, UTime};

use super::{mon::MonClientAuth, none::NoneAuthenticator, service::ServiceClientAuth};
use crate::{
    AuthError, AuthMethod, ClientAuthenticator, NoTicket, ServiceSet, envelope,
    protocol::auth_mode,
    ticket::{ServiceTicket, TicketBlob, TicketRecord},
};

/// A principal's tickets. Clones share them; the monitor session fills them in, sessions with services use
/// them. Every lock is short.
#[derive(Clone)]
pub struct TicketKeeper(Arc<Shared>);

struct Shared {
    name: EntityName,
    method: AuthMethod,
    key: CryptoKey,
    wanted: ServiceSet,
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) global_id: GlobalId,
    pub(super) tickets: BTreeMap<EntityType, Ticket>,
    /// The challenge of the monitor session that is open; renewals answer it again.
    pub(super) server_challenge: Option<u64>,
    /// A request was sent on the open session and is not answered yet.
    pub(super) in_flight: bool,
    /// Services that the monitor gave no ticket for, though asked. Not asked again on this session, unless
    /// [`TicketKeeper::invalidate`] gives a reason to.
    pub(super) ungranted: ServiceSet,
}

#[derive(Clone)]
pub(super) struct Ticket {
    pub(super) session_key: CryptoKey,
    pub(super) blob: TicketBlob,
    pub(super) expires: UTime,
    pub(super) renew_after: UTime,
}

/// The life of one ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TicketStatus {
    /// From when on it should be replaced: three quarters of its life.
    pub renew_after: UTime,
    /// Until when it can be used.
    pub expires: UTime,
}

impl TicketKeeper {
    /// For a principal with a key. `wanted` are the services to hold tickets for.
    pub fn new(name: EntityName, key: CryptoKey, wanted: ServiceSet) -> Self {
        Self::with_method(AuthMethod::Cephx, name, key, wanted)
    }

    /// For a cluster that authenticates nobody: no tickets, and a name that is believed.
    pub fn without_keys(name: EntityName) -> Self {
        Self::with_method(AuthMethod::None, name, CryptoKey::none(), ServiceSet::EMPTY)
    }

    fn with_method(method: AuthMethod, name: EntityName, key: CryptoKey, wanted: ServiceSet) -> Self {
        TicketKeeper(Arc::new(Shared { name, method, key, wanted, state: Mutex::default() }))
    }

    /// The principal.
    pub fn name(&self) -> &EntityName {
        &self.0.name
    }

    /// How it authenticates.
    pub fn method(&self) -> AuthMethod {
        self.0.method
    }

    /// The id that the monitors assigned; 0 before the first authentication.
    pub fn global_id(&self) -> GlobalId {
        self.state().global_id
    }

    /// An authenticator for one attempt to open a monitor session. The first asks for a global_id; later
    /// ones claim it again and prove it with the AUTH ticket.
    pub fn mon_authenticator(&self) -> Box<dyn ClientAuthenticator> {
        match self.0.method {
            AuthMethod::None => Box::new(NoneAuthenticator::for_keeper(self.clone(), auth_mode::MON)),
            AuthMethod::Cephx => Box::new(MonClientAuth::new(self.clone())),
        }
    }

    /// An authenticator for one attempt to open a session with a service other than a monitor.
    pub fn service_authenticator(
        &self,
        service: EntityType,
        now: UTime,
    ) -> Result<Box<dyn ClientAuthenticator>, NoTicket> {
        if self.0.method == AuthMethod::None {
            return Ok(Box::new(NoneAuthenticator::for_keeper(self.clone(), auth_mode::AUTHORIZER)));
        }
        let state = self.state();
        let ticket = state.tickets.get(&service).filter(|t| now < t.expires).ok_or(NoTicket(service))?;
        Ok(Box::new(ServiceClientAuth::new(self.clone(), state.global_id, service, ticket.clone())))
    }

    /// The life of the ticket for `service`, if there is one; [`EntityType::Auth`] for the AUTH ticket.
    pub fn ticket(&self, service: EntityType) -> Option<TicketStatus> {
        let state = self.state();
        let ticket = state.tickets.get(&service)?;
        Some(TicketStatus { renew_after: ticket.renew_after, expires: ticket.expires })
    }

    /// True if a session with `service` can be opened now.
    pub fn can_reach(&self, service: EntityType, now: UTime) -> bool {
        self.0.method == AuthMethod::None || self.ticket(service).is_some_and(|t| now < t.expires)
    }

    /// The monitor session is gone: nothing can be renewed until the next one is authenticated.
    pub fn session_closed(&self) {
        let mut state = self.state();
        state.server_challenge = None;
        state.in_flight = false;
    }

    /// Drops the ticket for `service`, which the service refused; the next renewal asks for a new one.
    pub fn invalidate(&self, service: EntityType) {
        let mut state = self.state();
        state.tickets.remove(&service);
        state.ungranted = state.ungranted.without(service);
    }

    /// Drops the ticket for `service` unless it was replaced since.
    pub(super) fn invalidate_if(&self, service: EntityType, refused: &TicketBlob) {
        let same = self.state().tickets.get(&service).is_some_and(|ticket| ticket.blob == *refused);
        if same {
            self.invalidate(service);
        }
    }

    /// Drops everything that a monitor gave out. The next authentication takes a new global_id.
    pub fn forget_identity(&self) {
        *self.state() = State::default();
    }

    pub(super) fn key(&self) -> &CryptoKey {
        &self.0.key
    }

    /// The services that tickets are held for, beside the AUTH ticket.
    pub(super) fn services(&self) -> ServiceSet {
        self.0.wanted.without(EntityType::Auth)
    }

    /// What is asked with a request for the AUTH ticket. Never nothing: a monitor would then send no
    /// connection secret.
    pub(super) fn asked_with_auth(&self) -> ServiceSet {
        match self.0.wanted.is_empty() {
            true => ServiceSet::EMPTY.with(EntityType::Auth),
            false => self.0.wanted,
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while the lock is held; even then the tickets stay whole.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for TicketKeeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TicketKeeper({}, global_id {})", self.0.name, self.global_id())
    }
}

impl Ticket {
    /// Opens both halves of a ticket. `owner_key` opens the owner's half; `old_session_key` a ticket that is
    /// sealed once more.
    pub(super) fn open(
        record: &TicketRecord<'_>,
        owner_key: &CryptoKey,
        old_session_key: Option<&CryptoKey>,
        now: UTime,
    ) -> Result<Self, AuthError> {
        let not_genuine = || AuthError::NotGenuine(EntityType::Mon);
        let opened = envelope::open(owner_key, Usage::TicketSessionKey, record.sealed_for_owner)
            .map_err(|_| not_genuine())?;
        let mut r = opened.reader();
        let ServiceTicket { session_key, validity } = ServiceTicket::decode(&mut r)?;
        r.finish()?;
        if session_key.kind() == KeyType::None {
            return Err(AuthError::Unexpected("a ticket without a session key"));
        }
        let blob = match (record.encrypted, old_session_key) {
            (false, _) => decode_blob(record.ticket)?,
            (true, Some(key)) => {
                let opened =
                    envelope::open(key, Usage::TicketBlob, record.ticket).map_err(|_| not_genuine())?;
                let mut r = opened.reader();
                let blob = decode_blob(r.blob()?)?;
                r.finish()?;
                blob
            }
            (true, None) => return Err(AuthError::Unexpected("a ticket sealed under a key we never had")),
        };
        let expires = now.saturating_add(validity);
        Ok(Ticket { session_key, blob, expires, renew_after: expires.saturating_sub(validity / 4) })
    }
}

fn decode_blob(bytes: &[u8]) -> Result<TicketBlob, AuthError> {
    let mut r = Reader::new(bytes);
    let blob = TicketBlob::decode(&mut r)?;
    r.finish()?;
    if blob.is_absent() {
        return Err(AuthError::Unexpected("an empty ticket"));
    }
    Ok(blob)
}

impl State {
    /// Takes the extra tickets of a list that may break off. A ticket that does not open, or is for a
    /// service that is unknown, is left out: the others are good without it.
    pub(super) fn take_extra(
        &mut self,
        records: &[TicketRecord<'_>],
        owner_key: &CryptoKey,
        asked: ServiceSet,
        now: UTime,
    ) {
        let mut granted = ServiceSet::EMPTY;
        for record in records {
            let Some(service) = EntityType::from_u32(record.service).filter(|s| asked.contains(*s)) else {
                continue;
            };
            if let Ok(ticket) = Ticket::open(record, owner_key, None, now) {
                self.tickets.insert(service, ticket);
                granted = granted.with(service);
            }
        }
        for service in asked.iter() {
            self.ungranted = match granted.contains(service) {
                true => self.ungranted.without(service),
                false => self.ungranted.with(service),
            };
        }
    }
}
