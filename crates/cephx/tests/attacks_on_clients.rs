//! Attacks on a client: servers that do not know its key, and somebody in the middle.

mod support;

use sepiola_cephx::{AuthEnv, AuthError, ConMode, ServerAuthStep, ServerAuthenticator};
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_wire::{EntityType, GlobalId};
use support::attack::*;
use support::{Cluster, Frame, START, rng::ScriptRng};

#[test]
fn a_monitor_that_does_not_know_the_key_is_found_out() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    let keeper = cluster.admin(KeyType::Aes256k);
    let impostor_key = CryptoKey::generate(KeyType::Aes256k, START, &mut ScriptRng::seeded(5));
    let mut client = cluster.keeper("client.admin", impostor_key).mon_authenticator();
    // The monitor answers the honest client; the client with another key takes the answer.
    let mut done = None;
    to_mon(&mut cluster, &keeper, |frame, bytes| {
        if frame == Frame::Done {
            done = Some(bytes.clone());
        }
    })
    .unwrap();
    let env = &mut AuthEnv::new(START, &mut cluster.rng);
    client.request(env).unwrap();
    client.reply_more(&[1, 1, 2, 3, 4, 5, 6, 7, 8], env).unwrap();
    let result = client.done(GlobalId(5000), SECURE, &done.unwrap(), env);
    assert_eq!(result.err(), Some(AuthError::NotGenuine(EntityType::Mon)));
}

#[test]
fn a_client_accepts_nothing_altered_from_either_server() {
    each_type(|mut cluster, keeper| {
        // Further behind, type 1 would let a flip through into the connection's secret, with which the
        // first frame then does not open.
        for at in [0, 7, 20] {
            for flip in [Frame::ReplyMore, Frame::Done] {
                let alter = |frame: Frame, bytes: &mut Vec<u8>| {
                    if frame == flip {
                        let at = at.min(bytes.len() - 1);
                        bytes[at] ^= 0x80;
                    }
                };
                assert!(to_osd(&mut cluster, &keeper, alter).is_err(), "{flip:?} {at}");
                if !keeper.can_reach(EntityType::Osd, START) {
                    cluster.open_mon(&keeper, START).unwrap();
                }
            }
        }
    });
}

#[test]
fn a_server_that_skips_the_challenge_or_repeats_it_is_refused() {
    let (mut cluster, keeper) = settled(KeyType::Aes256k);
    let env = &mut AuthEnv::new(START, &mut cluster.rng);
    for mut client in
        [keeper.mon_authenticator(), keeper.service_authenticator(EntityType::Osd, START).unwrap()]
    {
        client.request(env).unwrap();
        let result = client.done(keeper.global_id(), ConMode::Crc, &[], env);
        assert!(matches!(result, Err(AuthError::Unexpected(_))));
    }
    let mut client = keeper.mon_authenticator();
    client.request(env).unwrap();
    client.reply_more(&[1, 1, 0, 0, 0, 0, 0, 0, 0], env).unwrap();
    assert!(client.reply_more(&[1, 2, 0, 0, 0, 0, 0, 0, 0], env).is_err());
}

#[test]
fn secure_mode_without_a_secret_fails_at_the_client() {
    let (mut cluster, keeper) = settled(KeyType::Aes256k);
    // Both servers work in crc mode and send no secret; an attacker tells the client that it is secure.
    for service in [false, true] {
        let (mut mon, mut osd) = (cluster.mon(), cluster.osd());
        let mut env = AuthEnv::new(START, &mut cluster.rng);
        let server: &mut dyn ServerAuthenticator = if service { &mut osd } else { &mut mon };
        let mut client = match service {
            true => keeper.service_authenticator(EntityType::Osd, START).unwrap(),
            false => keeper.mon_authenticator(),
        };
        let request = client.request(&mut env).unwrap();
        let Ok(ServerAuthStep::More(challenge)) =
            server.request(CLIENT, CEPHX, ConMode::Crc, &request, &mut env)
        else {
            panic!("no challenge")
        };
        let answer = client.reply_more(&challenge, &mut env).unwrap();
        let Ok(ServerAuthStep::Done(done)) = server.request_more(&answer, &mut env) else {
            panic!("refused")
        };
        let result = client.done(done.global_id, SECURE, &done.payload, &mut env);
        assert_eq!(result.err(), Some(AuthError::NoConnectionSecret));
    }
}

#[test]
fn another_global_id_than_the_one_claimed_is_refused_by_the_client() {
    let (mut cluster, keeper) = settled(KeyType::Aes256k);
    let mut mon = cluster.mon();
    let mut env = AuthEnv::new(START, &mut cluster.rng);
    let mut client = keeper.mon_authenticator();
    let request = client.request(&mut env).unwrap();
    let Ok(ServerAuthStep::More(challenge)) = mon.request(CLIENT, CEPHX, SECURE, &request, &mut env) else {
        panic!("no challenge")
    };
    let answer = client.reply_more(&challenge, &mut env).unwrap();
    let Ok(ServerAuthStep::Done(done)) = mon.request_more(&answer, &mut env) else { panic!("refused") };
    let result = client.done(GlobalId(done.global_id.0 + 1), SECURE, &done.payload, &mut env);
    assert!(matches!(result, Err(AuthError::Unexpected(_))));
}

#[test]
fn positive_results_and_foreign_answers_are_no_tickets() {
    let (mut cluster, keeper) = settled(KeyType::Aes256k);
    keeper.invalidate(EntityType::Osd);
    keeper.renewal(&mut AuthEnv::new(START, &mut cluster.rng)).unwrap();
    let take =
        |result, global_id, payload: &[u8]| keeper.handle_auth_reply(result, global_id, payload, START);
    assert!(take(1, keeper.global_id(), &[]).is_err());
    assert!(take(0, keeper.global_id(), &[0, 3, 0, 0, 0, 0]).is_err(), "a request that was never made");
    assert!(take(0, GlobalId(1), &[0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0]).is_err(), "another client's");
    assert!(take(0, keeper.global_id(), &[0, 2, 0xf3, 0xff, 0xff, 0xff]).is_err(), "a negative status");
    assert!(!keeper.can_reach(EntityType::Osd, START));
}
