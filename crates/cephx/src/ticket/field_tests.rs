//! Tickets with one field altered, as they were tried on real daemons, which took most of them. None that
//! an issuer would not write is taken here.

use sepiola_crypto::{CryptoKey, KeyType, Usage};
use sepiola_wire::{Decode, Put, Reader, UTime};
use serde_json::Value;

use super::{ExpiryCheck, TicketInfo};
use crate::{
    envelope,
    server::{ExpiringKey, RotatingSecrets},
    test_rng::ScriptRng,
    test_vectors::{Recording, bytes, load, time},
};

/// Cases that an issuer could have written, or that something else than the ticket's content decides.
const GOOD: &[&str] = &[
    "control: same fields, resealed",
    "created.nsec = 10^9 - 1",
    "created.nsec = 10^9",
    "expires.nsec = 10^9",
    "caps bl empty",
    "caps bl = one empty string (len 0)",
    "caps text unparseable",
    "caps text with NUL byte",
    "expires = created + 1 ns, both now",
    "lifetime = ttl + 1 s (expires later)",
    "lifetime = ttl + 2 s (expires later)",
    "lifetime = ttl + 30 s (expires later)",
    "lifetime = ttl + 60 s (expires later)",
    "lifetime = ttl + 3590 s (expires later)",
    "created 1 h in the past, expires unchanged (lifetime 2 ttl)",
    "created 60 s in the future",
    "session_key.created = ticket.created +0 s",
    "session_key.created = ticket.created +1 s",
    "session_key.created = ticket.created +60 s",
    "session_key.created = ticket.created +299 s",
    "session_key.created = ticket.created +300 s",
    "name type osd id 0 (peer says client in HELLO)",
    "other name, same gid",
    "gid differs from declared",
    "session key of type 1 (aes), 16 bytes",
    "session key of type 2 (aes256k), 32 bytes",
    "session key secret 1 byte longer",
];

/// Cases about the secret or the envelope around the content.
fn is_about_the_carrier(case: &str) -> bool {
    ["sealed with", "envelope", "secret_id", "unknown secret_id"].iter().any(|start| case.starts_with(start))
}

fn accepts(blob: &[u8], secret: &ExpiringKey, now: UTime) -> bool {
    TicketInfo::open(blob, secret, now, ExpiryCheck::Enforce).is_ok()
}

fn seal(key: &CryptoKey, plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    envelope::seal(key, Usage::TicketInfo, &mut ScriptRng::new(), &mut out, |out| out.put(plain));
    out
}

/// The secret that sealed the recorded tickets, with another key.
fn secret_like(context: &Value, created: UTime) -> ExpiringKey {
    let entry = &context["rotating"][1];
    let kind = KeyType::from_u16(entry[1].as_u64().unwrap() as u16).unwrap();
    ExpiringKey { key: CryptoKey::generate(kind, created, &mut ScriptRng::new()), expires: time(&entry[2]) }
}

#[test]
fn altered_content_is_refused_under_both_key_types() {
    for file in ["ticket_fields_type1.json", "ticket_fields_type2.json"] {
        let cases = load(file);
        let now = time(&cases[0]["ticket"]["created"]);
        let life = std::time::Duration::from_secs(7200);
        let secret = secret_like(&cases[0], time(&cases[0]["rotating"][1][2]).saturating_sub(life));
        let mut checked = 0;
        for case in &cases.as_array().unwrap()[1..] {
            let name = case["case"].as_str().unwrap();
            if is_about_the_carrier(name) {
                continue;
            }
            let blob = seal(&secret.key, &bytes(&case["plain"]));
            assert_eq!(accepts(&blob, &secret, now), GOOD.contains(&name), "{file}: {name}");
            checked += 1;
        }
        assert_eq!(checked, 74, "{file}");
    }
}

#[test]
fn the_blobs_that_a_real_daemon_got_end_in_the_same_way() {
    let recording = Recording::load("transcript_mon_type2_rotating.json");
    let plain = bytes(&recording.note("rotating secrets decoded")["plain_after_envelope"]);
    let secrets = RotatingSecrets::decode(&mut Reader::new(&plain)).unwrap();
    let cases = load("ticket_fields_type2.json");
    let now = time(&cases[0]["ticket"]["created"]);
    for case in &cases.as_array().unwrap()[1..] {
        let name = case["case"].as_str().unwrap();
        // The lives of the secrets end 3600, 7200 and 10800 s after a moment that is some microseconds before
        // they were made, so a ticket of exactly that life is too long for them.
        let good = match name {
            "created 1 h in the past, expires unchanged (lifetime 2 ttl)" => false,
            "sealed with rotating secret id 3 (mint used 2), same lifetime" => true,
            _ if name.starts_with("sealed with id") => true,
            _ => GOOD.contains(&name),
        };
        let Some(secret) = case["secret_id"].as_u64().and_then(|id| secrets.get(id)) else {
            assert!(name.contains("secret_id"), "{name}");
            continue;
        };
        assert_eq!(accepts(&bytes(&case["blob"]), secret, now), good, "{name}");
    }
}

#[test]
fn recorded_tickets_are_rebuilt_byte_for_byte() {
    let rng = &mut ScriptRng::new();
    for file in ["ticket_fields_type1.json", "ticket_fields_type2.json", "auth_ticket_fields_type1.json"] {
        let context = &load(file)[0];
        let plain = bytes(&context["ticket"]["plain"]);
        let key = CryptoKey::generate(KeyType::Aes, UTime::ZERO, rng);
        let secret = ExpiringKey { key, expires: UTime::from_secs(u32::MAX) };
        let created = time(&context["ticket"]["created"]);
        let info =
            TicketInfo::open(&seal(&secret.key, &plain), &secret, created, ExpiryCheck::Enforce).unwrap();
        assert_eq!(info.global_id.0, context["ticket"]["gid"].as_u64().unwrap());
        assert_eq!(info.caps.as_deref().unwrap_or_default(), context["ticket"]["caps"]);
        assert_eq!(info.seal(&secret.key, rng), seal(&secret.key, &plain), "{file}");
    }
}

#[test]
fn the_end_of_a_ticket_counts_for_access_and_not_for_a_reclaim() {
    let context = &load("ticket_fields_type1.json")[0];
    let secret = secret_like(
        context,
        time(&context["rotating"][1][2]).saturating_sub(std::time::Duration::from_secs(7200)),
    );
    let blob = seal(&secret.key, &bytes(&context["ticket"]["plain"]));
    let end = time(&context["ticket"]["expires"]);
    let after = |seconds| end.saturating_add(std::time::Duration::from_secs(seconds));
    assert!(accepts(&blob, &secret, end), "clocks may differ a little");
    assert!(!accepts(&blob, &secret, after(60)));
    assert!(TicketInfo::open(&blob, &secret, after(60), ExpiryCheck::Ignore).is_ok());
}

#[test]
fn flipping_any_bit_of_a_type_1_ticket_before_its_key_is_noticed() {
    let context = &load("ticket_fields_type1.json")[0];
    let secret = secret_like(
        context,
        time(&context["rotating"][1][2]).saturating_sub(std::time::Duration::from_secs(7200)),
    );
    let blob = seal(&secret.key, &bytes(&context["ticket"]["plain"]));
    let now = time(&context["ticket"]["created"]);
    // A flip scrambles its own block and flips one bit of the next. In the last two blocks that may be
    // nothing but the session key, which then fails to open the rest of the authorizer.
    let checked = blob.len() - 32;
    let accepted: Vec<usize> = (0..checked * 8)
        .filter(|bit| {
            let mut altered = blob.clone();
            altered[bit / 8] ^= 1 << (bit % 8);
            accepts(&altered, &secret, now)
        })
        .collect();
    assert!(accepted.is_empty(), "accepted with these bits flipped: {accepted:?}");
}
