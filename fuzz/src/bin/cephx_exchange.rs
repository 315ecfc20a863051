//! A whole cephx exchange (first authentication, renewals, an authorizer), with one of its payloads altered.
#![no_main]

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use sepiola_cephx::{
    AuthEnv, AuthMethod, ClientAuthenticator, ConMode, ServerAuthDone, ServerAuthStep, ServerAuthenticator,
    ServiceSet, TicketKeeper,
};
use sepiola_crypto::KeyType;
use sepiola_fuzz::{Cluster, NOW, rng};
use sepiola_wire::{EntityName, EntityType, OsdId};

static CLUSTERS: LazyLock<[Arc<Cluster>; 3]> = LazyLock::new(|| {
    [
        Cluster::new(EntityName::client("a"), KeyType::Aes),
        Cluster::new(EntityName::client("a"), KeyType::Aes256k),
        Cluster::new(EntityName::osd(OsdId(0)), KeyType::Aes256k),
    ]
});

/// Payloads of an exchange, counted as they travel.
const PAYLOADS: u8 = 14;

/// The one payload that is altered, and how.
struct Attack<'a> {
    at: u8,
    how: u8,
    offset: usize,
    bytes: &'a [u8],
}

impl Attack<'_> {
    fn on(&self, payload: u8, mut honest: Vec<u8>) -> Vec<u8> {
        if payload != self.at {
            return honest;
        }
        let at = self.offset.min(honest.len());
        match self.how % 4 {
            0 => return self.bytes.to_vec(),
            1 => {
                drop(honest.splice(at..(at + self.bytes.len()).min(honest.len()), self.bytes.iter().copied()))
            }
            2 => drop(honest.splice(at..at, self.bytes.iter().copied())),
            _ => honest.truncate(at),
        }
        honest
    }
}

/// Runs one connection; `None` as soon as a side refuses.
fn connect(
    attack: &Attack<'_>,
    first: u8,
    peer: EntityType,
    client: &mut dyn ClientAuthenticator,
    server: &mut dyn ServerAuthenticator,
) -> Option<()> {
    let mut rng = rng();
    let mut env = AuthEnv::new(NOW, &mut rng);
    let mode = ConMode::Secure;
    let request = attack.on(first, client.request(&mut env).ok()?);
    let step = server.request(peer, AuthMethod::Cephx, mode, &request, &mut env).ok()?;
    let ServerAuthStep::More(challenge) = step else { panic!("accepted without a proof") };
    let answer = client.reply_more(&attack.on(first + 1, challenge), &mut env).ok()?;
    let step = server.request_more(&attack.on(first + 2, answer), &mut env).ok()?;
    let ServerAuthStep::Done(done) = step else { panic!("more than two rounds") };
    let ServerAuthDone { global_id, payload, connection_secret, .. } = *done;
    assert!(connection_secret.len() >= sepiola_crypto::ConnectionSecret::MIN_LEN);
    let done = client.done(global_id, mode, &attack.on(first + 3, payload), &mut env).ok()?;
    assert!(done.connection_secret.len() >= sepiola_crypto::ConnectionSecret::MIN_LEN);
    Some(())
}

/// Sends a request over the open session and gives the answer to the client.
fn mauth(
    attack: &Attack<'_>,
    first: u8,
    request: Vec<u8>,
    server: &mut dyn ServerAuthenticator,
    client: &TicketKeeper,
    env: &mut AuthEnv<'_>,
) -> Option<()> {
    let answer = server.mauth(&attack.on(first, request), env).ok()?;
    client.handle_auth_reply(0, client.global_id(), &attack.on(first + 1, answer), env.now).ok()?;
    Some(())
}

fn exchange(attack: &Attack<'_>, cluster: &Arc<Cluster>) -> Option<()> {
    let peer = cluster.name.kind;
    let keeper = TicketKeeper::new(cluster.name.clone(), cluster.key.clone(), ServiceSet::CLIENT);
    let mut mon = cluster.mon();
    connect(attack, 0, peer, &mut *keeper.mon_authenticator(), &mut mon)?;

    let mut service = keeper.service_authenticator(EntityType::Osd, NOW).ok()?;
    connect(attack, 4, peer, &mut *service, &mut cluster.osd())?;

    let mut rng = rng();
    let mut env = AuthEnv::new(NOW, &mut rng);
    if peer == EntityType::Osd {
        mauth(attack, 8, keeper.rotating_request(), &mut mon, &keeper, &mut env)?;
    }
    // Old enough for new service tickets, and then for a new AUTH ticket.
    for (first, hours) in [(10, 1), (12, 60)] {
        env.now = NOW.saturating_add(Duration::from_secs(3600 * hours - 300));
        let request = keeper.renewal(&mut env)?;
        mauth(attack, first, request, &mut mon, &keeper, &mut env)?;
    }
    Some(())
}

fuzz_target!(|bytes: &[u8]| {
    let Some(([cluster, at, how, low, high], bytes)) = bytes.split_first_chunk() else { return };
    let offset = u16::from_le_bytes([*low, *high]).into();
    let attack = Attack { at: at % (PAYLOADS + 1), how: *how, offset, bytes };
    let cluster = &CLUSTERS[usize::from(*cluster) % CLUSTERS.len()];
    let completed = exchange(&attack, cluster).is_some();
    assert!(completed || attack.at < PAYLOADS, "an exchange that nobody altered failed");
});
