//! Attacks on an OSD: recorded authorizers (CVE-2018-1128, CVE-2020-25660) and tickets that were not issued as
//! they are (CVE-2025-30156).

mod support;

use sepiola_cephx::{AuthEnv, ServerAuthStep, ServerAuthenticator, ServiceAuthenticator, TicketKeeper};
use sepiola_crypto::KeyType;
use sepiola_wire::EntityType;
use std::sync::Arc;
use support::attack::*;
use support::{Cluster, Exchange, Frame, START, later, rng::ScriptRng};

/// The frames of an honest session with the OSD.
fn recorded_osd_session(cluster: &mut Cluster, keeper: &TicketKeeper) -> [Vec<u8>; 2] {
    let mut client = keeper.service_authenticator(EntityType::Osd, START).unwrap();
    let mut exchange = Exchange::new(CLIENT, SECURE, START);
    exchange.run(&mut *client, &mut cluster.osd(), &mut cluster.rng).unwrap();
    exchange.recorded.try_into().unwrap()
}

#[test]
fn a_replayed_authorizer_is_refused_in_the_second_round() {
    each_type(|mut cluster, keeper| {
        let [first, second] = recorded_osd_session(&mut cluster, &keeper);
        let mut osd = cluster.osd();
        let env = &mut AuthEnv::new(START, &mut cluster.rng);
        let step = osd.request(CLIENT, CEPHX, SECURE, &first, env).unwrap();
        assert!(matches!(step, ServerAuthStep::More(_)));
        assert_eq!(osd.request_more(&second, env).err().unwrap().errno.to_wire(), EACCES);
    });
}

#[test]
fn an_answer_sent_first_earns_a_challenge_and_nothing_else() {
    each_type(|mut cluster, keeper| {
        let [_, second] = recorded_osd_session(&mut cluster, &keeper);
        let mut osd = cluster.osd();
        let env = &mut AuthEnv::new(START, &mut cluster.rng);
        let step = osd.request(CLIENT, CEPHX, SECURE, &second, env).unwrap();
        assert!(matches!(step, ServerAuthStep::More(_)));
    });
}

#[test]
fn an_answer_without_a_challenge_is_refused() {
    each_type(|mut cluster, keeper| {
        let [first, second] = recorded_osd_session(&mut cluster, &keeper);
        let (mut fresh, mut osd) = (cluster.osd(), cluster.osd());
        let env = &mut AuthEnv::new(START, &mut cluster.rng);
        assert_eq!(fresh.request_more(&second, env).err().unwrap().errno.to_wire(), EACCES);
        // And the first round's authorizer, which answers nothing, is no answer in the second.
        osd.request(CLIENT, CEPHX, SECURE, &first, env).unwrap();
        assert_eq!(osd.request_more(&first, env).err().unwrap().errno.to_wire(), EACCES);
    });
}

#[test]
fn a_challenge_can_be_answered_once() {
    each_type(|cluster, keeper| {
        let mut client = keeper.service_authenticator(EntityType::Osd, START).unwrap();
        let mut osd = cluster.osd();
        let mut rng = ScriptRng::seeded(7);
        let mut env = AuthEnv::new(START, &mut rng);
        let request = client.request(&mut env).unwrap();
        let Ok(ServerAuthStep::More(challenge)) = osd.request(CLIENT, CEPHX, SECURE, &request, &mut env)
        else {
            panic!("no challenge")
        };
        let answer = client.reply_more(&challenge, &mut env).unwrap();
        let mut wrong = answer.clone();
        *wrong.last_mut().unwrap() ^= 1;
        assert!(osd.request_more(&wrong, &mut env).is_err());
        assert!(osd.request_more(&answer, &mut env).is_err(), "after a failure nothing helps");
        assert!(osd.request(CLIENT, CEPHX, SECURE, &request, &mut env).is_err());
    });
}

#[test]
fn an_authenticated_connection_cannot_be_authenticated_again() {
    let (mut cluster, keeper) = settled(KeyType::Aes256k);
    for service in [false, true] {
        let (mut mon, mut osd) = (cluster.mon(), cluster.osd());
        let server: &mut dyn ServerAuthenticator = if service { &mut osd } else { &mut mon };
        let mut client = match service {
            true => keeper.service_authenticator(EntityType::Osd, START).unwrap(),
            false => keeper.mon_authenticator(),
        };
        let mut exchange = Exchange::new(CLIENT, SECURE, START);
        exchange.run(&mut *client, server, &mut cluster.rng).unwrap();
        let [request, answer] = exchange.recorded.try_into().unwrap();
        let env = &mut AuthEnv::new(START, &mut cluster.rng);
        assert!(server.request(CLIENT, CEPHX, SECURE, &request, env).is_err());
        assert!(server.request_more(&answer, env).is_err());
    }
}

#[test]
fn any_flipped_bit_of_an_authorizer_is_refused() {
    each_type(|mut cluster, keeper| {
        let [first, _] = recorded_osd_session(&mut cluster, &keeper);
        for bit in 0..first.len() * 8 {
            let mut altered = first.clone();
            altered[bit / 8] ^= 1 << (bit % 8);
            let mut osd = cluster.osd();
            let env = &mut AuthEnv::new(START, &mut cluster.rng);
            match osd.request(CLIENT, CEPHX, SECURE, &altered, env) {
                Err(refused) => assert_eq!(refused.errno.to_wire(), EACCES, "bit {bit}"),
                // A type 1 proof is not authenticated. Behind its first blocks a flip changes the nonce,
                // which is the sender's own, or the answer to a challenge, which does not count yet.
                Ok(_) => {
                    let unauthenticated = cluster.secrets(EntityType::Osd).get(1).unwrap().key.kind();
                    assert_eq!(unauthenticated, KeyType::Aes, "bit {bit}");
                    assert!(bit / 8 >= first.len() - 32, "bit {bit} of {}", first.len() * 8);
                }
            }
        }
    });
}

#[test]
fn another_global_id_than_the_tickets_is_refused() {
    each_type(|mut cluster, keeper| {
        for frame in [Frame::Request, Frame::RequestMore] {
            let failure = to_osd(&mut cluster, &keeper, |f, bytes| {
                if f == frame {
                    bytes[1] ^= 1;
                }
            });
            assert_eq!(failure.map(drop).unwrap_err().errno(), EACCES);
            let (again, _) = cluster.open_mon(&keeper, START).unwrap();
            assert_eq!(again.server.global_id, keeper.global_id());
        }
    });
}

#[test]
fn a_ticket_for_another_service_is_refused() {
    let (mut cluster, keeper) = settled(KeyType::Aes256k);
    // To a manager with an OSD's ticket, first as it is, then relabelled.
    let mgr =
        ServiceAuthenticator::new(EntityType::Mgr, cluster.osd.clone(), Arc::new(cluster.allowed.clone()));
    let mut mgr = Some(mgr);
    for relabel in [false, true] {
        let mut client = keeper.service_authenticator(EntityType::Osd, START).unwrap();
        let mut exchange = Exchange::new(CLIENT, SECURE, START).tampering(|frame, bytes| {
            if relabel && frame == Frame::Request {
                bytes[9..13].copy_from_slice(&EntityType::Mgr.as_u32().to_le_bytes());
            }
        });
        let mut server = mgr.take().unwrap_or_else(|| {
            // A manager has its own secrets, not those of the OSDs.
            let own = Arc::new(sepiola_cephx::ServiceSecrets::new());
            own.install(cluster.secrets(EntityType::Mgr));
            ServiceAuthenticator::new(EntityType::Mgr, own, Arc::new(cluster.allowed.clone()))
        });
        let failure = exchange.run(&mut *client, &mut server, &mut cluster.rng).map(drop).unwrap_err();
        drop(exchange);
        assert_eq!(failure.errno(), EACCES);
        cluster.open_mon(&keeper, START).unwrap();
    }
}

#[test]
fn a_ticket_of_a_secret_that_was_never_made_or_of_the_fixed_key_is_refused() {
    each_type(|mut cluster, keeper| {
        for id in [0, 1, 99, u64::MAX] {
            let failure = to_osd(&mut cluster, &keeper, |_, bytes| {
                if bytes[0] == 1 && bytes.len() > 30 && bytes[13] == 1 {
                    bytes[14..22].copy_from_slice(&id.to_le_bytes());
                }
            });
            assert_eq!(failure.map(drop).unwrap_err().errno(), EACCES, "secret {id}");
            cluster.open_mon(&keeper, START).unwrap();
        }
    });
}

#[test]
fn an_expired_ticket_is_refused_though_its_secret_is_still_known() {
    each_type(|mut cluster, keeper| {
        let mut client = keeper.service_authenticator(EntityType::Osd, START).unwrap();
        let mut exchange = Exchange::new(CLIENT, SECURE, later(3600 + 30));
        let failure = exchange.run(&mut *client, &mut cluster.osd(), &mut cluster.rng).map(drop).unwrap_err();
        assert_eq!(failure.errno(), EACCES);
        assert!(keeper.service_authenticator(EntityType::Osd, later(3600)).is_err(), "nor is it offered");
    });
}

#[test]
fn capabilities_that_do_not_parse_are_refused() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    for (caps, errno_at_mon) in [
        ([("mon", "allow r"), ("osd", "alow *")], None),
        ([("mon", "alow r"), ("osd", "allow *")], Some(EACCES)),
    ] {
        let key = cluster.add("client.x", KeyType::Aes256k, &caps);
        let keeper = cluster.keeper("client.x", key);
        match (cluster.open_mon(&keeper, START), errno_at_mon) {
            (Ok(_), None) => {
                let failure = cluster.open_osd(&keeper, START).map(drop).unwrap_err();
                assert_eq!(failure.errno(), EACCES);
            }
            (Err(failure), Some(errno)) => assert_eq!(failure.errno(), errno),
            (result, _) => panic!("{:?}", result.map(drop)),
        }
    }
}
