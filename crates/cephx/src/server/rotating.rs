//! The rotating secrets that monitors share with one kind of service.
//!
//! There are three: the previous one, which still opens old tickets, the current one, which seals new
//! tickets, and the next one, which services already know when it becomes current.

use std::{collections::BTreeMap, time::Duration};

use rand_core::CryptoRng;
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_wire::{Decode, DecodeError, Encode, EntityType, Features, Put, Reader, UTime};

const KEPT: usize = 3;

/// A secret and the end of its turn.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpiringKey {
    /// The secret.
    pub key: CryptoKey,
    /// When it stops sealing new tickets.
    pub expires: UTime,
}

impl ExpiringKey {
    /// From creation to expiry; no ticket that it seals lives longer.
    pub fn span(&self) -> Duration {
        self.expires.saturating_since(self.key.created())
    }
}

impl Encode for ExpiringKey {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_u8(1);
        self.key.encode(out, features);
        self.expires.encode(out, features);
    }
}

impl Decode for ExpiringKey {
    const MIN_SIZE: usize = 21;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        if r.u8()? != 1 {
            return Err(DecodeError::Invalid("unknown expiring key version"));
        }
        Ok(ExpiringKey { key: CryptoKey::decode(r)?, expires: UTime::decode(r)? })
    }
}

/// The secrets of one service, oldest first, and the highest number given out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RotatingSecrets {
    secrets: BTreeMap<u64, ExpiringKey>,
    max_id: u64,
}

impl RotatingSecrets {
    /// The secret with this number, if it is one of those kept.
    pub fn get(&self, id: u64) -> Option<&ExpiringKey> {
        self.secrets.get(&id)
    }

    /// Number and secret, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &ExpiringKey)> {
        self.secrets.iter().map(|(id, secret)| (*id, secret))
    }

    /// The highest number ever given out.
    pub fn max_id(&self) -> u64 {
        self.max_id
    }

    /// True before the first rotation.
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    fn second_oldest(&self) -> Option<(u64, &ExpiringKey)> {
        self.iter().nth(1).or_else(|| self.iter().next())
    }

    fn newest(&self) -> Option<(u64, &ExpiringKey)> {
        self.secrets.last_key_value().map(|(id, secret)| (*id, secret))
    }

    /// The secret that seals new tickets: the second oldest, or the newest if that one's turn is over.
    pub fn sealing(&self, now: UTime) -> Option<(u64, &ExpiringKey)> {
        let (id, secret) = self.second_oldest()?;
        if secret.expires > now { Some((id, secret)) } else { self.newest() }
    }

    /// How long a ticket may live that is issued now with a wanted life of `ttl`; whole seconds, zero if no
    /// ticket can be issued.
    pub fn ticket_life(&self, now: UTime, ttl: Duration) -> Duration {
        let (Some((_, newest)), Some((_, sealing))) = (self.newest(), self.sealing(now)) else {
            return Duration::ZERO;
        };
        let life = ttl.min(newest.expires.saturating_since(now)).min(sealing.span());
        Duration::from_secs(life.as_secs())
    }

    /// True once a service should fetch the secrets again: the current one ended some time ago, so that
    /// the monitors have had time to make the next.
    pub fn refresh_due(&self, now: UTime, ttl: Duration) -> bool {
        let grace = Duration::from_secs(30).min(ttl / 4);
        self.second_oldest().is_none_or(|(_, current)| current.expires <= now.saturating_sub(grace))
    }

    /// True if [`RotatingSecrets::rotate`] would change anything.
    pub fn rotation_due(&self, now: UTime) -> bool {
        self.secrets.len() < KEPT || self.second_oldest().is_none_or(|(_, current)| current.expires <= now)
    }

    /// The secrets after every rotation that is due at `now`, or `None` if none is. `ttl` is the life of the
    /// service's tickets, and `kind` the type of new secrets.
    ///
    /// A pure function: the leader computes the new set and the monitors' log carries it.
    #[must_use]
    pub fn rotate(
        &self,
        now: UTime,
        ttl: Duration,
        kind: KeyType,
        rng: &mut dyn CryptoRng,
    ) -> Option<RotatingSecrets> {
        let mut next = self.clone();
        // After a long pause two additions make the second oldest a secret that was just made; an empty
        // set takes three.
        for _ in 0..KEPT {
            if next.rotation_due(now) {
                next = next.with_one_more(now, ttl, kind, rng);
            }
        }
        (next.max_id != self.max_id).then_some(next)
    }

    fn with_one_more(&self, now: UTime, ttl: Duration, kind: KeyType, rng: &mut dyn CryptoRng) -> Self {
        let mut next = self.clone();
        let expires = match self.newest() {
            None => now.saturating_add(ttl),
            Some((_, newest)) => now.saturating_add(ttl).max(newest.expires).saturating_add(ttl),
        };
        next.max_id += 1;
        next.secrets.insert(next.max_id, ExpiringKey { key: CryptoKey::generate(kind, now, rng), expires });
        while next.secrets.len() > KEPT {
            next.secrets.pop_first();
        }
        next
    }

    /// Adds or replaces a secret, for building a set from stored or recorded parts.
    pub fn insert(&mut self, id: u64, secret: ExpiringKey) {
        self.secrets.insert(id, secret);
        self.max_id = self.max_id.max(id);
    }
}

impl Encode for RotatingSecrets {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_u8(1);
        self.secrets.encode(out, features);
        out.put_u64(self.max_id);
    }
}

impl Decode for RotatingSecrets {
    const MIN_SIZE: usize = 13;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        if r.u8()? != 1 {
            return Err(DecodeError::Invalid("unknown rotating secrets version"));
        }
        Ok(RotatingSecrets { secrets: BTreeMap::decode(r)?, max_id: r.u64()? })
    }
}

/// How long tickets live: `auth_mon_ticket_ttl` for the AUTH ticket, `auth_service_ticket_ttl` for the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TicketLife {
    /// Life of the AUTH ticket.
    pub auth: Duration,
    /// Life of tickets for services.
    pub service: Duration,
}

impl Default for TicketLife {
    fn default() -> Self {
        TicketLife { auth: Duration::from_secs(259_200), service: Duration::from_secs(3600) }
    }
}

impl TicketLife {
    /// The life of tickets for `service`.
    pub fn of(&self, service: EntityType) -> Duration {
        if service == EntityType::Auth { self.auth } else { self.service }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_rng::ScriptRng;

    const TTL: Duration = Duration::from_secs(3600);
    const START: UTime = UTime::from_secs(1_800_000_000);

    fn rotated(secrets: &RotatingSecrets, now: UTime) -> Option<RotatingSecrets> {
        secrets.rotate(now, TTL, KeyType::Aes256k, &mut ScriptRng::seeded(now.sec.into()))
    }

    fn after(seconds: u64) -> UTime {
        START.saturating_add(Duration::from_secs(seconds))
    }

    fn lives(secrets: &RotatingSecrets) -> Vec<(u64, u64)> {
        secrets.iter().map(|(id, s)| (id, s.expires.saturating_since(START).as_secs())).collect()
    }

    #[test]
    fn three_secrets_from_the_start_and_one_more_each_turn() {
        let first = rotated(&RotatingSecrets::default(), START).unwrap();
        assert_eq!(lives(&first), [(1, 3600), (2, 7200), (3, 10_800)]);
        assert_eq!(rotated(&first, after(7199)), None);
        let second = rotated(&first, after(7200)).unwrap();
        assert_eq!(lives(&second), [(2, 7200), (3, 10_800), (4, 14_400)]);
        assert!(second.get(3).unwrap() == first.get(3).unwrap(), "known secrets stay");
        // After a night in which nothing rotated, the secret in use is one that has its turn before it.
        let third = rotated(&second, after(100_000)).unwrap();
        assert_eq!(lives(&third), [(4, 14_400), (5, 107_200), (6, 110_800)]);
        assert_eq!(rotated(&third, after(100_000)), None);
    }

    #[test]
    fn the_second_oldest_seals_until_its_turn_is_over() {
        let secrets = rotated(&RotatingSecrets::default(), START).unwrap();
        assert_eq!(secrets.sealing(START).unwrap().0, 2);
        assert_eq!(secrets.sealing(after(7199)).unwrap().0, 2);
        assert_eq!(secrets.sealing(after(7200)).unwrap().0, 3);
        assert!(RotatingSecrets::default().sealing(START).is_none());
    }

    #[test]
    fn tickets_end_with_the_newest_secret_at_the_latest() {
        let secrets = rotated(&RotatingSecrets::default(), START).unwrap();
        assert_eq!(secrets.ticket_life(START, TTL), TTL);
        assert_eq!(secrets.ticket_life(after(7200), TTL), TTL);
        assert_eq!(secrets.ticket_life(after(7201), TTL).as_secs(), 3599);
        assert_eq!(secrets.ticket_life(after(20_000), TTL), Duration::ZERO);
        assert_eq!(secrets.ticket_life(START, TTL * 10).as_secs(), 7200, "the sealing secret's own life");
        assert_eq!(RotatingSecrets::default().ticket_life(START, TTL), Duration::ZERO);
    }

    #[test]
    fn services_refresh_a_while_after_the_turn() {
        let secrets = rotated(&RotatingSecrets::default(), START).unwrap();
        assert!(!secrets.refresh_due(after(7229), TTL));
        assert!(secrets.refresh_due(after(7230), TTL));
        assert!(secrets.refresh_due(after(7203), Duration::from_secs(12)), "a quarter of a short life");
        assert!(RotatingSecrets::default().refresh_due(START, TTL));
    }

    proptest! {
        /// Whenever the leader looks, at least once a ttl, a ticket lives for its full time, under a secret
        /// that services which fetched at the last turn know, and that is kept until the ticket ends.
        #[test]
        fn a_ticket_outlives_no_secret_it_needs(pauses in proptest::collection::vec(1u64..3600, 1..60)) {
            let mut now = START;
            let mut secrets = rotated(&RotatingSecrets::default(), now).unwrap();
            let mut sealed: Vec<(u64, UTime)> = Vec::new();
            for pause in pauses {
                now = now.saturating_add(Duration::from_secs(pause));
                let known = secrets.clone();
                if let Some(next) = rotated(&secrets, now) {
                    prop_assert!(next.max_id() > secrets.max_id());
                    secrets = next;
                }
                let (id, _) = secrets.sealing(now).unwrap();
                prop_assert!(known.get(id).is_some(), "{id} is new to services");
                let life = secrets.ticket_life(now, TTL);
                prop_assert_eq!(life, TTL);
                sealed.push((id, now.saturating_add(life)));
                for (id, end) in &sealed {
                    prop_assert!(*end <= now || secrets.get(*id).is_some());
                }
            }
        }

        #[test]
        fn what_is_encoded_is_decoded(turns in 0u32..5) {
            let mut secrets = RotatingSecrets::default();
            for turn in 0..turns {
                secrets = rotated(&secrets, after(u64::from(turn) * 8000)).unwrap_or(secrets);
            }
            let bytes = sepiola_wire::encode_to_vec(&secrets, Features::NONE);
            prop_assert_eq!(sepiola_wire::decode_all::<RotatingSecrets>(&bytes).unwrap(), secrets);
        }
    }
}
