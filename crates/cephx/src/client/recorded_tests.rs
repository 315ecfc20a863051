//! Exchanges with real monitors and OSDs, replayed: the bytes that left then leave again, and the answers
//! open to what was noted.

use sepiola_crypto::{CryptoKey, KeyType, Usage};
use sepiola_wire::{Encode, EntityType, Features, GlobalId, UTime};
use serde_json::Value;

use super::{AuthReply, TicketKeeper, keeper::Ticket, service::ServiceClientAuth};
use crate::{
    AuthEnv, ClientAuthenticator, ConMode, ServiceSet, envelope,
    test_rng::ScriptRng,
    test_vectors::{Recording, bytes, load, number},
    ticket::TicketBlob,
};

const NOW: UTime = UTime::from_secs(1_796_062_100);
const LATER: UTime = UTime::from_secs(u32::MAX - 1_000_000);

fn key(secret: &Value) -> CryptoKey {
    let secret = bytes(secret);
    let kind = if secret.len() == 16 { KeyType::Aes } else { KeyType::Aes256k };
    CryptoKey::from_secret(kind, UTime::ZERO, &secret).unwrap()
}

fn keeper(recording: &Recording, wanted: u32) -> TicketKeeper {
    let principal = recording.note("principal");
    let name = principal["name"].as_str().unwrap().parse().unwrap();
    TicketKeeper::new(name, key(&principal["key_secret"]), ServiceSet::from_bits(wanted))
}

fn ticket(session_key: CryptoKey, note: &Value) -> Ticket {
    let blob = TicketBlob { secret_id: note["secret_id"].as_u64().unwrap(), sealed: bytes(&note["blob"]) };
    Ticket { session_key, blob, expires: LATER, renew_after: LATER }
}

/// Runs the recorded authentication with a monitor; every byte sent must be as recorded.
fn authenticate(recording: &Recording, keeper: &TicketKeeper) {
    let challenge = recording.note("challenge");
    let rng = &mut ScriptRng::new().then_u64(number(&challenge["client"]));
    let env = &mut AuthEnv::new(NOW, rng);
    let mut client = keeper.mon_authenticator();
    assert_eq!(client.request(env).unwrap(), recording.request());
    assert_eq!(client.reply_more(&recording.reply_more(), env).unwrap(), recording.request_more());

    let (global_id, mode, payload) = recording.done();
    let mode = ConMode::from_u32(mode).unwrap();
    let done = client.done(GlobalId(global_id), mode, &payload, env).unwrap();
    let note = recording.note("AUTH_DONE decoded");
    assert_eq!(done.session_key.secret(), bytes(&note["session_key"]));
    assert_eq!(done.connection_secret.as_bytes(), bytes(&note["connection_secret"]));
    assert_eq!(keeper.global_id().0, note["global_id"].as_u64().unwrap());
    for (list, field) in [("tickets", 32), ("extra", 0)] {
        for record in note[list].as_array().unwrap() {
            let service = u32::try_from(record[0].as_u64().unwrap()).unwrap();
            assert!(field == 0 || service == field);
            let status = keeper.ticket(EntityType::from_u32(service).unwrap()).unwrap();
            let life = std::time::Duration::from_secs(record[2][0].as_u64().unwrap());
            assert_eq!(status.expires, NOW.saturating_add(life));
            assert_eq!(status.renew_after, NOW.saturating_add(life * 3 / 4));
        }
    }
}

#[test]
fn first_authentication_with_monitors_of_both_releases() {
    for (file, wanted) in [
        ("transcript_mon.json", 0x17),
        ("transcript_mon_crc.json", 0x17),
        ("transcript_mon_type2_secure.json", ServiceSet::CLIENT.bits()),
        ("transcript_mon_type2_crc.json", ServiceSet::CLIENT.bits()),
        ("transcript_mon_type2_rotating.json", 0x17),
    ] {
        let recording = Recording::load(file);
        authenticate(&recording, &keeper(&recording, wanted));
    }
}

#[test]
fn reclaims_with_the_old_ticket() {
    let recording = Recording::load("transcript_mon_type2_reclaim.json");
    let keeper = keeper(&recording, ServiceSet::CLIENT.bits());
    let old = recording.note("old AUTH session");
    let mut state = keeper.state();
    state.global_id = GlobalId(old["global_id"].as_u64().unwrap());
    state.tickets.insert(EntityType::Auth, ticket(key(&old["session_key"]), old));
    drop(state);
    authenticate(&recording, &keeper);
}

/// The keys of the tickets in a note.
fn noted_keys(note: &Value) -> Vec<(EntityType, Vec<u8>)> {
    let tickets = note["tickets"].as_array().unwrap().iter();
    let service = |t: &Value| EntityType::from_u32(t["service"].as_u64().unwrap() as u32).unwrap();
    tickets.map(|t| (service(t), bytes(&t["session_key"]))).collect()
}

#[test]
fn renews_over_an_open_session_with_type_1() {
    let recording = Recording::of(load("case_mauth_renewal.json"));
    let keeper = keeper(&recording, 0x17);
    authenticate(&recording, &keeper);
    let [for_services, for_auth] = recording.mauth().try_into().unwrap();

    // Two services' tickets, under the recorded nonce.
    keeper.invalidate(EntityType::Mds);
    keeper.invalidate(EntityType::Osd);
    let session_key = keeper.state().tickets[&EntityType::Auth].session_key.clone();
    let sealed = &for_services[for_services.len() - 5 - 32..for_services.len() - 5];
    let proof = envelope::open(&session_key, Usage::Authorizer, sealed).unwrap();
    let rng = &mut ScriptRng::new().then(&proof[1..9]);
    assert_eq!(keeper.renewal(&mut AuthEnv::new(NOW, rng)).unwrap(), for_services);
    let replies = recording.mauth_replies();
    let (result, global_id, payload) = &replies[0];
    keeper.handle_auth_reply(*result, GlobalId(*global_id), payload, NOW).unwrap();
    assert!(keeper.can_reach(EntityType::Osd, NOW) && keeper.can_reach(EntityType::Mds, NOW));

    // The AUTH ticket. The recording asked for one service only, which is the last field.
    let due = keeper.ticket(EntityType::Auth).unwrap().renew_after;
    let rng = &mut ScriptRng::new().then(&for_auth[3..11]);
    let mut sent = keeper.renewal(&mut AuthEnv::new(due, rng)).unwrap();
    let at = sent.len() - 4;
    assert_eq!(sent[at..], 0x17u32.to_le_bytes());
    sent[at..].copy_from_slice(&4u32.to_le_bytes());
    assert_eq!(sent, for_auth);
    let (result, global_id, payload) = &replies[1];
    keeper.handle_auth_reply(*result, GlobalId(*global_id), payload, due).unwrap();
    assert!(keeper.state().tickets[&EntityType::Auth].session_key != session_key);
    assert!(keeper.can_reach(EntityType::Osd, due));
}

#[test]
fn renews_over_an_open_session_with_type_2() {
    let recording = Recording::load("transcript_mon_type2_mauth_renewal.json");
    let keeper = keeper(&recording, 0x37);
    authenticate_loosely(&recording, &keeper);
    let [for_services, for_auth] = recording.mauth().try_into().unwrap();

    for service in keeper.services().iter() {
        keeper.invalidate(service);
    }
    let sent = keeper.renewal(&mut AuthEnv::new(NOW, &mut ScriptRng::new())).unwrap();
    // All but the sealed proof, which is randomised, and the mask behind it.
    assert_eq!(sent.len(), for_services.len());
    assert_eq!(sent[..sent.len() - 5 - 67], for_services[..for_services.len() - 5 - 67]);
    let replies = recording.mauth_replies();
    let (result, global_id, payload) = &replies[0];
    keeper.handle_auth_reply(*result, GlobalId(*global_id), payload, NOW).unwrap();
    for (service, secret) in noted_keys(recording.note("TicketReply decoded (MAuthReply 0x200)")) {
        assert_eq!(keeper.state().tickets[&service].session_key.secret(), secret);
    }

    let due = keeper.ticket(EntityType::Auth).unwrap().renew_after;
    let rng = &mut ScriptRng::new().then(&for_auth[3..11]);
    let sent = keeper.renewal(&mut AuthEnv::new(due, rng)).unwrap();
    let at = sent.len() - 4;
    assert_eq!(sent[..at], for_auth[..at]);
    let (result, global_id, payload) = &replies[1];
    keeper.handle_auth_reply(*result, GlobalId(*global_id), payload, due).unwrap();
    for title in
        ["TicketReply decoded (MAuthReply 0x100, AUTH", "TicketReply decoded (MAuthReply 0x100, extra"]
    {
        for (service, secret) in noted_keys(recording.note(title)) {
            assert_eq!(keeper.state().tickets[&service].session_key.secret(), secret);
        }
    }
}

/// As [`authenticate`], where the recording asked for other services.
fn authenticate_loosely(recording: &Recording, keeper: &TicketKeeper) {
    let rng = &mut ScriptRng::new().then_u64(number(&recording.note("challenge")["client"]));
    let env = &mut AuthEnv::new(NOW, rng);
    let mut client = keeper.mon_authenticator();
    client.request(env).unwrap();
    client.reply_more(&recording.reply_more(), env).unwrap();
    let (global_id, _, payload) = recording.done();
    client.done(GlobalId(global_id), ConMode::Secure, &payload, env).unwrap();
}

#[test]
fn opens_rotating_secrets_and_writes_them_back() {
    let recording = Recording::load("transcript_mon_type2_rotating.json");
    let osd = keeper(&recording, 0x17);
    authenticate(&recording, &osd);
    assert_eq!(osd.rotating_request(), recording.mauth()[0]);
    let (result, global_id, payload) = recording.mauth_replies().remove(0);
    let reply = osd.handle_auth_reply(result, GlobalId(global_id), &payload, NOW).unwrap();
    let AuthReply::Rotating(secrets) = reply else { panic!("{reply:?}") };
    let note = recording.note("rotating secrets decoded");
    let mut encoded = Vec::new();
    secrets.encode(&mut encoded, Features::NONE);
    assert_eq!(encoded, bytes(&note["plain_after_envelope"]));
    for noted in note["keys"].as_array().unwrap() {
        let secret = secrets.get(noted["id"].as_u64().unwrap()).unwrap();
        assert_eq!(secret.key.secret(), bytes(&noted["secret"]));
    }
}

#[test]
fn sessions_with_osds_of_both_releases() {
    for (file, principal) in [
        ("transcript_osd.json", "transcript_mon.json"),
        ("transcript_osd_crc.json", "transcript_mon.json"),
        ("transcript_osd_type2_secure.json", "transcript_mon_type2_secure.json"),
        ("transcript_osd_type2_crc.json", "transcript_mon_type2_secure.json"),
    ] {
        let recording = Recording::load(file);
        let note = recording.note("service ticket");
        let keeper = keeper(&Recording::load(principal), 0x17);
        let global_id = GlobalId(note["global_id"].as_u64().unwrap());
        let held = ticket(key(&note["session_key"]), note);
        let randomised = held.session_key.kind() == KeyType::Aes256k;
        let mut client = ServiceClientAuth::new(keeper, global_id, EntityType::Osd, held);
        let rng = &mut ScriptRng::new().then_u64(number(&note["nonce"]));
        let env = &mut AuthEnv::new(NOW, rng);

        let same = |ours: &[u8], recorded: &[u8]| {
            // The proof is 18 bytes behind the envelope's 9; type 2 puts a random confounder before it.
            let compared = if randomised { recorded.len() - 67 } else { recorded.len() };
            assert_eq!(ours.len(), recorded.len(), "{file}");
            assert_eq!(ours[..compared], recorded[..compared], "{file}");
        };
        same(&client.request(env).unwrap(), &recording.request());
        same(&client.reply_more(&recording.reply_more(), env).unwrap(), &recording.request_more());
        let (global_id, mode, payload) = recording.done();
        let mode = ConMode::from_u32(mode).unwrap();
        let done = client.done(GlobalId(global_id), mode, &payload, env).unwrap();
        let note = recording.note("svc AUTH_DONE");
        assert_eq!(done.session_key.secret(), bytes(&note["session_key"]));
        assert_eq!(done.connection_secret.as_bytes(), bytes(&note["connection_secret"]));
    }
}
