//! The accepting side against recorded clients: real ones, and ones that a real OSD answered.

mod support;

use sepiola_cephx::{
    AuthEnv, AuthMethod, ConMode, EntityAuth, ExpiringKey, RotatingSecrets, ServerAuthDone, ServerAuthStep,
    ServerAuthenticator,
};
use sepiola_crypto::{CryptoKey, KeyType, Usage};
use sepiola_wire::{Decode, Encode, EntityType, Features, Reader, UTime, decode_all};
use serde_json::Value;
use support::{
    Cluster, START,
    rng::ScriptRng,
    vectors::{Recording, bytes, load, time},
};

fn more(step: ServerAuthStep) -> Vec<u8> {
    match step {
        ServerAuthStep::More(payload) => payload,
        ServerAuthStep::Done(_) => panic!("authenticated in the first round"),
    }
}

fn done(step: ServerAuthStep) -> ServerAuthDone {
    match step {
        ServerAuthStep::Done(done) => *done,
        ServerAuthStep::More(_) => panic!("another challenge"),
    }
}

#[test]
fn the_proofs_of_real_clients_are_accepted() {
    // A stock 16.2 client at a recorded server, and clients that real monitors accepted.
    let stock = load("server_mon.json");
    let entries = stock.as_array().unwrap();
    let second = entries.iter().rposition(|e| e["what"] == "AUTH_REQUEST").unwrap();
    let admin = "91d202fb40d7c3b664042a3a3284540b";
    let mut cases = vec![
        (Recording::of(Value::Array(entries[..second].to_vec())), admin.to_owned()),
        (Recording::of(Value::Array(entries[second..].to_vec())), admin.to_owned()),
    ];
    for file in ["transcript_mon.json", "transcript_mon_crc.json", "transcript_mon_type2_secure.json"] {
        let recording = Recording::load(file);
        let secret = recording.note("principal")["key_secret"].as_str().unwrap().to_owned();
        cases.push((recording, secret));
    }
    for (recording, secret) in cases {
        let mut cluster = Cluster::new(KeyType::Aes256k);
        let secret = hex::decode(secret).unwrap();
        let kind = if secret.len() == 16 { KeyType::Aes } else { KeyType::Aes256k };
        let key = CryptoKey::from_secret(kind, UTime::ZERO, &secret).unwrap();
        let caps = [("mon".to_owned(), "allow *".to_owned())];
        cluster.set("client.admin", EntityAuth::new(key, caps.into()));

        let challenge = u64::from_le_bytes(recording.reply_more()[1..].try_into().unwrap());
        let rng = &mut ScriptRng::new().then_u64(challenge);
        let env = &mut AuthEnv::new(START, rng);
        let mut mon = cluster.mon();
        let (client, cephx, secure) = (EntityType::Client, AuthMethod::Cephx, ConMode::Secure);
        let reply = more(mon.request(client, cephx, secure, &recording.request(), env).unwrap());
        assert_eq!(reply, recording.reply_more());
        let done = done(mon.request_more(&recording.request_more(), env).unwrap());
        assert_eq!(done.peer.name.to_string(), "client.admin");
        assert_eq!(done.connection_secret.len(), 64);
    }
}

/// The secrets of the recorded OSDs, by key type.
fn recorded_secrets(kind: KeyType) -> RotatingSecrets {
    if kind == KeyType::Aes256k {
        let recording = Recording::load("transcript_mon_type2_rotating.json");
        return decode_all(&bytes(&recording.note("rotating secrets")["plain_after_envelope"])).unwrap();
    }
    let mut secrets = RotatingSecrets::default();
    for entry in load("case_rotating_and_ticket.json")["result"][0][11].as_array().unwrap() {
        let key = CryptoKey::from_secret(kind, time(&entry[1]), &bytes(&entry[3])).unwrap();
        secrets.insert(entry[0].as_u64().unwrap(), ExpiringKey { key, expires: time(&entry[2]) });
    }
    secrets
}

#[test]
fn an_osd_answers_as_the_recorded_one() {
    for (file, kind) in [
        ("transcript_osd.json", KeyType::Aes),
        ("transcript_osd_crc.json", KeyType::Aes),
        ("transcript_osd_type2_secure.json", KeyType::Aes256k),
        ("transcript_osd_type2_crc.json", KeyType::Aes256k),
    ] {
        let recording = Recording::load(file);
        let cluster = Cluster::new(kind);
        let secrets = recorded_secrets(kind);
        let now = secrets.get(1).unwrap().key.created().saturating_add(std::time::Duration::from_secs(60));
        cluster.osd.install(secrets);

        // What the recorded OSD drew: its challenge, and in secure mode the connection's secret.
        let note = recording.note("svc AUTH_DONE");
        let session_key = CryptoKey::from_secret(kind, UTime::ZERO, &bytes(&note["session_key"])).unwrap();
        let opened = session_key.open(Usage::AuthorizerChallenge, &recording.reply_more()).unwrap();
        let challenge = &opened[10..18];
        let rng = &mut ScriptRng::new().then(challenge);
        let mut env = AuthEnv::new(now, rng);

        let (global_id, mode, payload) = recording.done();
        let mode = ConMode::from_u32(mode).unwrap();
        let mut osd = cluster.osd();
        let client = EntityType::Client;
        let reply =
            more(osd.request(client, AuthMethod::Cephx, mode, &recording.request(), &mut env).unwrap());
        let rng = &mut ScriptRng::new().then(&bytes(&note["connection_secret"]));
        let done = done(osd.request_more(&recording.request_more(), &mut AuthEnv::new(now, rng)).unwrap());
        assert_eq!(done.global_id.0, global_id);
        assert_eq!(done.peer.name.to_string(), "client.admin");
        assert_eq!(done.peer.caps.text(), "allow *");
        assert_eq!(done.session_key.secret(), bytes(&note["session_key"]));
        if kind == KeyType::Aes {
            assert_eq!(reply, recording.reply_more(), "{file}");
            assert_eq!(done.payload, payload, "{file}");
            assert_eq!(done.connection_secret.as_bytes(), bytes(&note["connection_secret"]));
        } else {
            assert_eq!(reply.len(), recording.reply_more().len(), "{file}");
            assert_eq!(done.payload.len(), payload.len(), "{file}");
        }
    }
}

#[test]
fn a_replayed_recording_of_a_real_exchange_is_refused() {
    let recording = Recording::load("transcript_osd.json");
    let cluster = Cluster::new(KeyType::Aes);
    let secrets = recorded_secrets(KeyType::Aes);
    let now = secrets.get(1).unwrap().key.created().saturating_add(std::time::Duration::from_secs(60));
    cluster.osd.install(secrets);
    let rng = &mut ScriptRng::new();
    let env = &mut AuthEnv::new(now, rng);
    let mut osd = cluster.osd();
    let (client, cephx, secure) = (EntityType::Client, AuthMethod::Cephx, ConMode::Secure);
    // The answer alone earns nothing but another challenge.
    more(osd.request(client, cephx, secure, &recording.request_more(), env).unwrap());
    let refused = osd.request_more(&recording.request_more(), env).err().unwrap();
    assert_eq!(refused.errno.to_wire(), -13);
}

#[test]
fn method_none_as_recorded() {
    let cases = load("auth_none.json");
    let allowed = sepiola_cephx::AllowedAuth::uniform(&[AuthMethod::None], support::BOTH);
    let cluster = Cluster::with(KeyType::Aes, allowed);
    let rng = &mut ScriptRng::new();
    let env = &mut AuthEnv::new(START, rng);
    for (case, server) in
        [("none_mon", &mut cluster.mon() as &mut dyn ServerAuthenticator), ("none_osd", &mut cluster.osd())]
    {
        let recording = Recording::of(cases[case].clone());
        let request = recording.request();
        let step = server.request(EntityType::Client, AuthMethod::None, ConMode::Crc, &request, env);
        let done = done(step.unwrap());
        assert_eq!(done.payload, recording.done().2);
        assert!(done.session_key.is_none());
        if case == "none_osd" {
            assert_eq!(done.global_id.0, recording.done().0);
        }
    }
}

#[test]
fn an_entity_record_in_both_versions() {
    // Fields as in a real monitor's store: version, no user number, key, capabilities, no pending key.
    let key = "01000000000000000000 1000 000102030405060708090a0b0c0d0e0f".replace(' ', "");
    let caps = "02000000030000006d6f6e0b00000007000000616c6c6f77202a030000006f736400000000";
    let version_2 = hex::decode(format!("02ffffffffffffffff{key}{caps}")).unwrap();
    let version_3 = hex::decode(format!("03ffffffffffffffff{key}{caps}{}", "00".repeat(12))).unwrap();
    let old = EntityAuth::decode(&mut Reader::new(&version_2)).unwrap();
    let new = EntityAuth::decode(&mut Reader::new(&version_3)).unwrap();
    assert_eq!(old, new);
    assert_eq!(
        (new.caps_for("mon"), new.caps_for("osd"), new.caps_for("mds")),
        (Some("allow *"), None, None)
    );
    let mut with_pending = new.clone();
    with_pending.pending_key = Some(CryptoKey::generate(KeyType::Aes256k, START, &mut ScriptRng::new()));
    let mut encoded = Vec::new();
    with_pending.encode(&mut encoded, Features::NONE);
    assert_eq!(decode_all::<EntityAuth>(&encoded).unwrap(), with_pending);
    let mut encoded = Vec::new();
    EntityAuth { caps: [("mon".to_owned(), "allow *".to_owned())].into(), ..new }
        .encode(&mut encoded, Features::NONE);
    let one = "01000000030000006d6f6e0b00000007000000616c6c6f77202a";
    assert_eq!(hex::encode(encoded), format!("03ffffffffffffffff{key}{one}{}", "00".repeat(12)));
}
