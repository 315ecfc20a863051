//! Attacks on a monitor: foreign global_ids (CVE-2021-20288), keys that are not known, identities that are not
//! one's own, and other sessions' tickets.

mod support;

use std::{cell::RefCell, time::Duration};

use sepiola_cephx::{
    AuthEnv, AuthError, ConMode, EntityAuth, KeyServer, ServerAuthenticator, ServiceSet, TicketKeeper,
};
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_wire::{EntityType, GlobalId};
use std::sync::Arc;
use support::attack::*;
use support::{Cluster, Exchange, Failure, Frame, START, rng::ScriptRng};

#[test]
fn a_global_id_is_not_given_to_who_only_names_it() {
    each_type(|mut cluster, keeper| {
        let victim = keeper.global_id();
        let thief = cluster.keeper("client.admin", cluster.keys.entity(keeper.name()).unwrap().key);
        let failure = to_mon(&mut cluster, &thief, |frame, bytes| {
            if frame == Frame::Request {
                *bytes = claim("client.admin", victim.0);
            }
        });
        assert_eq!(failure.map(drop).unwrap_err().errno(), EACCES);
    });
}

#[test]
fn a_ticket_proves_its_own_global_id_only() {
    each_type(|mut cluster, keeper| {
        // With the right key and a ticket of its own, but another client's number.
        let failure = to_mon(&mut cluster, &keeper, |frame, bytes| {
            if frame == Frame::Request {
                *bytes = claim("client.admin", 4001);
            }
        });
        assert_eq!(failure.map(drop).unwrap_err().errno(), EACCES);
    });
}

#[test]
fn a_ticket_proves_the_global_id_for_its_own_name_only() {
    each_type(|mut cluster, keeper| {
        let thief_key = cluster.add("client.thief", KeyType::Aes, &[("mon", "allow r")]);
        let thief = cluster.keeper("client.thief", thief_key);
        // The thief has got hold of the victim's ticket, which travels in the clear.
        let stolen = RefCell::new(Vec::new());
        to_mon(&mut cluster, &keeper, |frame, bytes| {
            if frame == Frame::RequestMore {
                *stolen.borrow_mut() = bytes[19..bytes.len() - 4].to_vec();
            }
        })
        .unwrap();
        let victim = keeper.global_id();
        let failure = to_mon(&mut cluster, &thief, |frame, bytes| match frame {
            Frame::Request => *bytes = claim("client.thief", victim.0),
            Frame::RequestMore => {
                let mask = bytes.split_off(bytes.len() - 4);
                bytes.truncate(19);
                bytes.extend(stolen.borrow().iter().chain(&mask));
            }
            _ => {}
        });
        assert_eq!(failure.map(drop).unwrap_err().errno(), EACCES);
    });
}

#[test]
fn a_new_id_with_an_old_ticket_is_invalid() {
    let (mut cluster, keeper) = settled(KeyType::Aes256k);
    let failure = to_mon(&mut cluster, &keeper, |frame, bytes| {
        if frame == Frame::Request {
            *bytes = claim("client.admin", 0);
        }
    });
    assert_eq!(failure.map(drop).unwrap_err().errno(), -22);
}

#[test]
fn an_altered_old_ticket_proves_nothing() {
    each_type(|mut cluster, keeper| {
        for at in [19 + 13, 19 + 40] {
            let keeper = match keeper.global_id() {
                GlobalId(0) => {
                    cluster.open_mon(&keeper, START).unwrap();
                    keeper.clone()
                }
                _ => keeper.clone(),
            };
            let failure = to_mon(&mut cluster, &keeper, |frame, bytes| {
                if frame == Frame::RequestMore {
                    bytes[at] ^= 4;
                }
            });
            assert_eq!(failure.map(drop).unwrap_err().errno(), EACCES);
        }
    });
}

#[test]
fn nobody_reads_the_ticket_of_a_reclaim_without_the_old_session_key() {
    each_type(|mut cluster, keeper| {
        // Somebody with the principal's key, but not the old ticket's session key, sits in the middle.
        let done = RefCell::new(Vec::new());
        to_mon(&mut cluster, &keeper, |frame, bytes| {
            if frame == Frame::Done {
                *done.borrow_mut() = bytes.clone();
            }
        })
        .unwrap();
        let key = cluster.keys.entity(keeper.name()).unwrap().key;
        let thief = cluster.keeper("client.admin", key);
        let mut client = thief.mon_authenticator();
        let mut env = AuthEnv::new(START, &mut cluster.rng);
        client.request(&mut env).unwrap();
        client.reply_more(&[1, 1, 2, 3, 4, 5, 6, 7, 8], &mut env).unwrap();
        let stolen = client.done(keeper.global_id(), SECURE, &done.borrow(), &mut env);
        assert!(matches!(stolen, Err(AuthError::Unexpected(_))));
        assert_eq!(thief.global_id(), GlobalId(0));
    });
}

#[test]
fn unknown_entities_wrong_keys_and_refused_ciphers_look_the_same() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    cluster.admin(KeyType::Aes256k);
    cluster.add("client.nocaps", KeyType::Aes256k, &[]);
    let mut rng = ScriptRng::seeded(3);
    let wrong = CryptoKey::generate(KeyType::Aes256k, START, &mut rng);
    let of_type_1 = CryptoKey::generate(KeyType::Aes, START, &mut rng);
    let mut seen = Vec::new();
    for (name, key) in [
        ("client.nobody", wrong.clone()),
        ("client.admin", wrong.clone()),
        // The other type's computation, as for a key that was cut to 16 bytes.
        ("client.admin", of_type_1),
        ("client.nocaps", wrong),
    ] {
        let keeper = cluster.keeper(name, key);
        let shape = RefCell::new(Vec::new());
        let failure = to_mon(&mut cluster, &keeper, |frame, bytes| {
            if frame == Frame::ReplyMore {
                shape.borrow_mut().push(bytes.len());
            }
        });
        match failure.map(drop).unwrap_err() {
            Failure::Refused(refused, AuthError::Denied(_)) => {
                seen.push((refused.errno, refused.to_string(), shape.into_inner()));
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "{seen:?}");
}

#[test]
fn a_cipher_that_is_not_allowed_is_refused_with_the_right_key() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    let keeper = cluster.admin(KeyType::Aes);
    let mut policy = (*cluster.policy).clone();
    policy.allowed_ciphers = vec![KeyType::Aes256k];
    cluster.policy = Arc::new(policy);
    let failure = cluster.open_mon(&keeper, START).map(drop).unwrap_err();
    assert!(matches!(failure, Failure::Refused(_, AuthError::Denied(_))));
    let keeper = cluster.admin(KeyType::Aes256k);
    cluster.open_mon(&keeper, START).unwrap();
}

#[test]
fn an_entity_whose_key_has_type_none_cannot_authenticate() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    let caps = [("mon".to_owned(), "allow *".to_owned())];
    cluster.set("client.open", EntityAuth::new(CryptoKey::none(), caps.into()));
    let keeper = cluster.keeper("client.open", CryptoKey::none());
    assert_eq!(cluster.open_mon(&keeper, START).map(drop).unwrap_err().errno(), EACCES);
}

#[test]
fn an_entity_without_mon_caps_is_refused() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    for caps in [&[("osd", "allow *")][..], &[("mon", ""), ("osd", "allow *")]] {
        let key = cluster.add("client.x", KeyType::Aes256k, caps);
        let keeper = cluster.keeper("client.x", key);
        assert_eq!(cluster.open_mon(&keeper, START).map(drop).unwrap_err().errno(), EACCES);
    }
}

#[test]
fn secure_mode_without_room_for_a_secret_is_a_refusal() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    let keeper = cluster.admin(KeyType::Aes256k);
    let no_other_keys = |frame: Frame, bytes: &mut Vec<u8>| {
        if frame == Frame::RequestMore {
            let at = bytes.len() - 4;
            bytes[at..].fill(0);
        }
    };
    assert_eq!(to_mon(&mut cluster, &keeper, no_other_keys).map(drop).unwrap_err().errno(), EACCES);
    // In crc mode there is nothing to make room for.
    let mut exchange = Exchange::new(CLIENT, ConMode::Crc, START).tampering(no_other_keys);
    exchange.run(&mut *keeper.mon_authenticator(), &mut cluster.mon(), &mut cluster.rng).unwrap();
}

#[test]
fn the_client_bit_and_unknown_bits_get_no_ticket_and_break_nothing() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    let keeper = cluster.admin(KeyType::Aes256k);
    to_mon(&mut cluster, &keeper, |frame, bytes| {
        if frame == Frame::RequestMore {
            let at = bytes.len() - 4;
            bytes[at..].fill(0xff);
        }
    })
    .unwrap();
    cluster.open_osd(&keeper, START).unwrap();
}

#[test]
fn after_a_wrong_answer_the_connection_gets_no_second_challenge() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    cluster.admin(KeyType::Aes256k);
    let mut mon = cluster.mon();
    let env = &mut AuthEnv::new(START, &mut cluster.rng);
    let hello = claim("client.admin", 0);
    mon.request(CLIENT, CEPHX, SECURE, &hello, env).unwrap();
    assert!(mon.request_more(&[0, 1, 3], env).is_err());
    assert_eq!(mon.request(CLIENT, CEPHX, SECURE, &hello, env).err().unwrap().errno.to_wire(), EACCES);
}

#[test]
fn a_recorded_proof_answers_no_other_challenge() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    let keeper = cluster.admin(KeyType::Aes256k);
    let mut exchange = Exchange::new(CLIENT, SECURE, START);
    exchange.run(&mut *keeper.mon_authenticator(), &mut cluster.mon(), &mut cluster.rng).unwrap();
    let [request, answer] = exchange.recorded.try_into().unwrap();
    let mut mon = cluster.mon();
    let env = &mut AuthEnv::new(START, &mut cluster.rng);
    mon.request(CLIENT, CEPHX, SECURE, &request, env).unwrap();
    assert_eq!(mon.request_more(&answer, env).err().unwrap().errno.to_wire(), EACCES);
}

#[test]
fn an_authorizer_is_not_for_monitors_and_a_monitors_request_not_for_osds() {
    let (mut cluster, keeper) = settled(KeyType::Aes256k);
    let failure = Exchange::new(CLIENT, SECURE, START)
        .run(&mut *keeper.mon_authenticator(), &mut cluster.osd(), &mut cluster.rng)
        .map(drop);
    assert_eq!(failure.unwrap_err().errno(), EACCES);
    cluster.open_mon(&keeper, START).unwrap();
    let mut client = keeper.service_authenticator(EntityType::Osd, START).unwrap();
    let failure = Exchange::new(CLIENT, SECURE, START)
        .run(&mut *client, &mut cluster.mon(), &mut cluster.rng)
        .map(drop);
    assert_eq!(failure.unwrap_err().errno(), EACCES);
}

#[test]
fn a_client_cannot_pass_for_a_daemon() {
    let (mut cluster, keeper) = settled(KeyType::Aes256k);
    for announced in [EntityType::Osd, EntityType::Mon, EntityType::Mgr] {
        let mut exchange = Exchange::new(announced, SECURE, START);
        let mut mon = cluster.mon();
        let failure = exchange.run(&mut *keeper.mon_authenticator(), &mut mon, &mut cluster.rng).map(drop);
        assert_eq!(failure.unwrap_err().errno(), EACCES);
        cluster.open_mon(&keeper, START).unwrap();
        let mut client = keeper.service_authenticator(EntityType::Osd, START).unwrap();
        let mut exchange = Exchange::new(announced, SECURE, START);
        let failure = exchange.run(&mut *client, &mut cluster.osd(), &mut cluster.rng).map(drop);
        assert_eq!(failure.unwrap_err().errno(), EACCES);
        cluster.open_mon(&keeper, START).unwrap();
    }
}

#[test]
fn another_sessions_ticket_gets_no_tickets() {
    each_type(|mut cluster, admin| {
        let key = cluster.add("client.lim", KeyType::Aes, &[("mon", "allow r"), ("osd", "allow r pool=x")]);
        let lim = cluster.keeper("client.lim", key);
        let (_, mut session) = cluster.open_mon(&lim, START).unwrap();
        // A request that the administrator made for the administrator's own session.
        admin.invalidate(EntityType::Osd);
        let mut env = AuthEnv::new(START, &mut cluster.rng);
        let stolen = admin.renewal(&mut env).unwrap();
        assert_eq!(session.mauth(&stolen, &mut env).unwrap_err().errno.to_wire(), EACCES);
        // The own one works.
        lim.invalidate(EntityType::Osd);
        let own = lim.renewal(&mut env).unwrap();
        session.mauth(&own, &mut env).unwrap();
    });
}

#[test]
fn an_auth_ticket_is_not_renewed_for_another_session() {
    each_type(|mut cluster, admin| {
        let due = admin.ticket(EntityType::Auth).unwrap().renew_after;
        let (_, mut own) = cluster.open_mon(&admin, START).unwrap();
        // A second administrator, with the same key and a global_id of its own.
        let other = cluster.keeper("client.admin", cluster.keys.entity(admin.name()).unwrap().key);
        let (_, mut others) = cluster.open_mon(&other, START).unwrap();
        let mut env = AuthEnv::new(due.saturating_add(Duration::from_secs(1)), &mut cluster.rng);
        let request = admin.renewal(&mut env).unwrap();
        assert_eq!(others.mauth(&request, &mut env).unwrap_err().errno.to_wire(), EACCES);
        own.mauth(&request, &mut env).unwrap();
    });
}

#[test]
fn clients_and_monitors_get_no_rotating_secrets() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    for (name, allowed) in [("client.admin", false), ("mon.", false), ("osd.1", true), ("mgr.x", true)] {
        let key = cluster.add(name, KeyType::Aes256k, &[("mon", "allow *")]);
        let keeper = TicketKeeper::new(name.parse().unwrap(), key, ServiceSet::CLIENT);
        let (_, mut session) = cluster.open_mon(&keeper, START).unwrap();
        let answer = session.mauth(&keeper.rotating_request(), &mut AuthEnv::new(START, &mut cluster.rng));
        assert_eq!(answer.is_ok(), allowed, "{name}");
    }
}

#[test]
fn mauth_needs_an_authenticated_session() {
    let (mut cluster, keeper) = settled(KeyType::Aes256k);
    keeper.invalidate(EntityType::Osd);
    let mut mon = cluster.mon();
    let env = &mut AuthEnv::new(START, &mut cluster.rng);
    let request = keeper.renewal(env).unwrap();
    assert!(mon.mauth(&request, env).is_err());
    assert!(mon.request(CLIENT, CEPHX, SECURE, &claim("client.admin", 0), env).is_ok());
    assert!(mon.mauth(&request, env).is_err());
}
