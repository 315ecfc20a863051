//! Clients, monitors and OSDs that authenticate each other, over a day of virtual time.

mod support;

use sepiola_cephx::{
    AllowedAuth, AuthEnv, AuthError, AuthMethod, AuthReply, ConMode, EntityAuth, NoTicket,
    ServerAuthenticator, ServiceSet, TicketKeeper,
};
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_wire::{EntityName, EntityType, Errno, GlobalId};
use support::{BOTH, Cluster, Exchange, Failure, START, assert_same_keys, later, rng::ScriptRng};

#[test]
fn every_mix_of_key_types_and_modes_reaches_monitor_and_osd() {
    for principal in [KeyType::Aes, KeyType::Aes256k] {
        for service in [KeyType::Aes, KeyType::Aes256k] {
            for mode in [ConMode::Crc, ConMode::Secure] {
                let mut cluster = Cluster::new(service);
                let keeper = cluster.admin(principal);
                let mut exchange = Exchange::new(EntityType::Client, mode, START);
                let mut mon = cluster.mon();
                let both =
                    exchange.run(&mut *keeper.mon_authenticator(), &mut mon, &mut cluster.rng).unwrap();
                assert_same_keys(&both, mode);
                assert_eq!(both.client.session_key.kind(), principal);
                assert_eq!(both.server.peer.name, EntityName::client("admin"));
                assert_eq!(both.server.peer.caps.text(), "allow *");
                assert_eq!(keeper.global_id(), both.server.global_id);

                let mut client = keeper.service_authenticator(EntityType::Osd, START).unwrap();
                let mut exchange = Exchange::new(EntityType::Client, mode, START);
                let both = exchange.run(&mut *client, &mut cluster.osd(), &mut cluster.rng).unwrap();
                assert_same_keys(&both, mode);
                assert_eq!(both.client.session_key.kind(), principal.min(service));
                assert_eq!(both.server.peer.global_id, keeper.global_id());
            }
        }
    }
}

#[test]
fn a_reconnect_keeps_the_global_id_and_gets_new_keys() {
    for mut cluster in Cluster::both_types() {
        for kind in [KeyType::Aes, KeyType::Aes256k] {
            let keeper = cluster.admin(kind);
            let (first, _) = cluster.open_mon(&keeper, START).unwrap();
            let (second, _) = cluster.open_mon(&keeper, later(60)).unwrap();
            assert_eq!(first.server.global_id, second.server.global_id);
            assert!(first.client.session_key != second.client.session_key);
            assert!(first.client.connection_secret != second.client.connection_secret);
            cluster.open_osd(&keeper, later(60)).unwrap();
        }
    }
}

#[test]
fn an_expired_auth_ticket_still_proves_the_global_id_while_its_secret_is_kept() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    let keeper = cluster.admin(KeyType::Aes256k);
    let (first, _) = cluster.open_mon(&keeper, START).unwrap();
    let (second, _) = cluster.open_mon(&keeper, later(259_200 + 3600)).unwrap();
    assert_eq!(first.server.global_id, second.server.global_id);
}

#[test]
fn a_refused_reclaim_ends_with_a_new_global_id() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    let keeper = cluster.admin(KeyType::Aes256k);
    let (first, _) = cluster.open_mon(&keeper, START).unwrap();
    // So much later that no AUTH secret of that time is left.
    let now = later(10 * 259_200);
    cluster.rotate(now);
    match cluster.open_mon(&keeper, now).map(drop) {
        Err(Failure::Refused(refused, AuthError::ReclaimRefused(_))) => {
            assert_eq!(refused.errno, Errno::EACCES)
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(keeper.global_id(), GlobalId(0));
    assert_eq!(keeper.service_authenticator(EntityType::Osd, now).err(), Some(NoTicket(EntityType::Osd)));
    let (second, _) = cluster.open_mon(&keeper, now).unwrap();
    assert_ne!(first.server.global_id, second.server.global_id);
    // The second time nothing was claimed, so a refusal is about the key.
    cluster.remove("client.admin");
    keeper.forget_identity();
    let failure = cluster.open_mon(&keeper, now).map(drop).unwrap_err();
    assert!(matches!(failure, Failure::Refused(_, AuthError::Denied(_))), "{failure:?}");
}

#[test]
fn tickets_are_renewed_at_three_quarters_of_their_life_and_work() {
    for mut cluster in Cluster::both_types() {
        let keeper = cluster.admin(KeyType::Aes256k);
        let (_, mut mon) = cluster.open_mon(&keeper, START).unwrap();
        let first = keeper.ticket(EntityType::Osd).unwrap();
        assert_eq!((first.renew_after, first.expires), (later(2700), later(3600)));
        assert_eq!(keeper.ticket(EntityType::Auth).unwrap().renew_after, later(259_200 * 3 / 4));
        assert_eq!(keeper.next_renewal(), Some(later(2700)));

        assert_eq!(cluster.renew(&keeper, &mut mon, later(2699)), 0);
        assert_eq!(cluster.renew(&keeper, &mut mon, later(2700)), 1);
        assert_eq!(keeper.ticket(EntityType::Osd).unwrap().expires, later(2700 + 3600));
        cluster.open_osd(&keeper, later(2700 + 3599)).unwrap();
    }
}

#[test]
fn a_session_of_four_days_never_lacks_a_ticket() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    let keeper = cluster.admin(KeyType::Aes256k);
    let (_, mut mon) = cluster.open_mon(&keeper, START).unwrap();
    let global_id = keeper.global_id();
    let mut auth_renewed = 0;
    for step in 0..4 * 24 * 6 {
        let now = later(step * 600);
        cluster.rotate(now);
        if cluster.osd.refresh_due(now, cluster.policy.ticket_life.service) {
            cluster.osd.install(cluster.secrets(EntityType::Osd));
        }
        let before = keeper.ticket(EntityType::Auth);
        cluster.renew(&keeper, &mut mon, now);
        auth_renewed += u32::from(keeper.ticket(EntityType::Auth) != before);
        cluster.open_osd(&keeper, now).unwrap();
    }
    assert_eq!(auth_renewed, 1, "54 hours after the start");
    assert_eq!(keeper.global_id(), global_id);
}

#[test]
fn a_dropped_ticket_is_asked_for_again_and_one_that_is_not_granted_is_not() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    let keeper = cluster.admin(KeyType::Aes256k);
    let (_, mut mon) = cluster.open_mon(&keeper, START).unwrap();
    keeper.invalidate(EntityType::Osd);
    assert!(!keeper.can_reach(EntityType::Osd, START));
    assert_eq!(cluster.renew(&keeper, &mut mon, START), 1);
    assert!(keeper.can_reach(EntityType::Osd, START));

    // An answer without the ticket that was asked for.
    keeper.invalidate(EntityType::Osd);
    let mut env = AuthEnv::new(START, &mut cluster.rng);
    let request = keeper.renewal(&mut env).unwrap();
    assert!(keeper.renewal(&mut env).is_none(), "one request at a time");
    let mut without_bits = request.clone();
    let at = without_bits.len() - 4;
    without_bits[at..].fill(0);
    let answer = mon.mauth(&without_bits, &mut env).unwrap();
    keeper.handle_auth_reply(0, keeper.global_id(), &answer, START).unwrap();
    assert!(keeper.renewal(&mut env).is_none());
    assert_eq!(keeper.ticket(EntityType::Osd), None);
}

#[test]
fn an_osd_gets_its_secrets_and_follows_their_rotation() {
    for mut cluster in Cluster::both_types() {
        let client = cluster.admin(KeyType::Aes);
        cluster.open_mon(&client, START).unwrap();
        let key = cluster.add("osd.0", KeyType::Aes256k, &[("mon", "allow profile osd"), ("osd", "allow *")]);
        let osd = TicketKeeper::new("osd.0".parse().unwrap(), key, ServiceSet::OSD);
        let (_, mut mon) = cluster.open_mon(&osd, START).unwrap();

        let now = later(7230);
        cluster.rotate(now);
        assert!(!cluster.osd.refresh_due(later(7229), cluster.policy.ticket_life.service));
        assert!(cluster.osd.refresh_due(now, cluster.policy.ticket_life.service));
        let mut env = AuthEnv::new(now, &mut cluster.rng);
        let answer = mon.mauth(&osd.rotating_request(), &mut env).unwrap();
        let reply = osd.handle_auth_reply(0, osd.global_id(), &answer, now).unwrap();
        let AuthReply::Rotating(secrets) = reply else { panic!("{reply:?}") };
        assert_eq!(secrets, cluster.secrets(EntityType::Osd));
        assert_eq!(secrets.iter().map(|(id, _)| id).collect::<Vec<_>>(), [2, 3, 4]);
        cluster.osd.install(secrets);
        assert!(!cluster.osd.refresh_due(now, cluster.policy.ticket_life.service));
    }
}

#[test]
fn a_ticket_of_a_secret_that_is_not_known_yet_asks_for_the_secrets() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    let keeper = cluster.admin(KeyType::Aes256k);
    let ttl = cluster.policy.ticket_life.service;
    cluster.rotate(later(7201));
    cluster.rotate(later(10_802));
    let now = later(10_802);
    cluster.open_mon(&keeper, now).unwrap();
    // The OSD still has secrets 1 to 3, the ticket is sealed with 4.
    let failure = cluster.open_osd(&keeper, now).map(drop).unwrap_err();
    assert!(matches!(failure, Failure::Refused(_, AuthError::TicketRefused(EntityType::Osd))));
    assert!(!keeper.can_reach(EntityType::Osd, now), "the refused ticket is dropped");
    assert!(cluster.osd.refresh_due(START, ttl));
}

#[test]
fn a_pending_key_works_beside_the_old_one_and_is_reported() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    let keeper = cluster.admin(KeyType::Aes);
    let pending = CryptoKey::generate(KeyType::Aes256k, START, &mut cluster.rng);
    let name = keeper.name().clone();
    let mut entity: EntityAuth = sepiola_cephx::KeyServer::entity(&*cluster.keys, &name).unwrap();
    entity.pending_key = Some(pending.clone());
    cluster.set("client.admin", entity);

    cluster.open_mon(&keeper, START).unwrap();
    assert_eq!(*cluster.keys.pending_used.lock().unwrap(), []);
    let (both, _) = cluster.open_mon(&cluster.keeper("client.admin", pending), START).unwrap();
    assert_eq!(both.client.session_key.kind(), KeyType::Aes256k);
    assert_eq!(*cluster.keys.pending_used.lock().unwrap(), [name]);
}

#[test]
fn extra_tickets_carry_the_caps_of_their_service() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    let caps = [("mon", "allow r"), ("osd", "allow rw pool=foo namespace=bar")];
    let key = cluster.add("client.lim", KeyType::Aes256k, &caps);
    let keeper = cluster.keeper("client.lim", key);
    let (mon, _) = cluster.open_mon(&keeper, START).unwrap();
    assert_eq!(mon.server.peer.caps.text(), "allow r");
    let osd = cluster.open_osd(&keeper, START).unwrap();
    assert_eq!(osd.server.peer.caps.text(), "allow rw pool=foo namespace=bar");
}

#[test]
fn an_entity_without_osd_caps_gets_in_and_may_do_nothing() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    let key = cluster.add("client.m", KeyType::Aes256k, &[("mon", "allow r")]);
    let keeper = cluster.keeper("client.m", key);
    cluster.open_mon(&keeper, START).unwrap();
    let both = cluster.open_osd(&keeper, START).unwrap();
    let metadata = Default::default();
    let read = sepiola_cephx::caps::OsdAccess {
        pool_name: "p",
        application_metadata: &metadata,
        nspace: b"",
        object: b"o",
        read: true,
        write: false,
        classes: &[],
        addr: None,
    };
    assert!(!both.server.peer.caps.allows_osd(&read));
}

#[test]
fn a_daemons_key_may_be_used_by_a_command_line_tool() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    let key = cluster.add("osd.0", KeyType::Aes256k, &[("mon", "allow profile osd"), ("osd", "allow *")]);
    let keeper = cluster.keeper("osd.0", key);
    let mut exchange = Exchange::new(EntityType::Client, ConMode::Secure, START);
    exchange.run(&mut *keeper.mon_authenticator(), &mut cluster.mon(), &mut cluster.rng).unwrap();
}

fn without_keys() -> (Cluster, TicketKeeper) {
    let cluster = Cluster::with(KeyType::Aes256k, AllowedAuth::uniform(&[AuthMethod::None], BOTH));
    (cluster, TicketKeeper::without_keys(EntityName::client("admin")))
}

#[test]
fn method_none_believes_names_and_only_in_crc_mode() {
    let (mut cluster, keeper) = without_keys();
    assert_eq!(cluster.mon().modes(EntityType::Client, AuthMethod::None), [ConMode::Crc]);
    let mut exchange = Exchange::new(EntityType::Client, ConMode::Crc, START);
    let both = exchange.run(&mut *keeper.mon_authenticator(), &mut cluster.mon(), &mut cluster.rng).unwrap();
    assert_same_keys(&both, ConMode::Crc);
    assert_eq!(both.client.session_key.kind(), KeyType::None);
    assert_eq!(keeper.global_id(), both.server.global_id);
    assert!(both.server.peer.caps.is_allow_all());

    let mut client = keeper.service_authenticator(EntityType::Osd, START).unwrap();
    let both = Exchange::new(EntityType::Client, ConMode::Crc, START)
        .run(&mut *client, &mut cluster.osd(), &mut cluster.rng)
        .unwrap();
    assert_eq!(both.server.peer.global_id, keeper.global_id());

    for server in [&mut cluster.mon() as &mut dyn ServerAuthenticator, &mut cluster.osd()] {
        let mut exchange = Exchange::new(EntityType::Client, ConMode::Secure, START);
        let failure = exchange.run(&mut *keeper.mon_authenticator(), server, &mut ScriptRng::new()).map(drop);
        assert_eq!(failure.unwrap_err().errno(), -95);
    }
}

#[test]
fn methods_that_are_not_allowed_are_refused_in_both_directions() {
    let (mut open, anonymous) = without_keys();
    let mut closed = Cluster::new(KeyType::Aes256k);
    let admin = closed.admin(KeyType::Aes256k);
    let failure = open.open_mon(&admin, START).map(drop).unwrap_err();
    assert!(matches!(failure, Failure::Refused(_, AuthError::MethodRefused(AuthMethod::Cephx))));
    for server in [&mut closed.mon() as &mut dyn ServerAuthenticator, &mut closed.osd()] {
        let mut exchange = Exchange::new(EntityType::Client, ConMode::Crc, START);
        let failure =
            exchange.run(&mut *anonymous.mon_authenticator(), server, &mut ScriptRng::new()).map(drop);
        assert_eq!(failure.unwrap_err().errno(), -95);
    }
    // After a refusal of the method the peer may come with another one.
    let mut mon = closed.mon();
    let mut exchange = Exchange::new(EntityType::Client, ConMode::Crc, START);
    exchange.run(&mut *anonymous.mon_authenticator(), &mut mon, &mut ScriptRng::new()).map(drop).unwrap_err();
    exchange.run(&mut *admin.mon_authenticator(), &mut mon, &mut ScriptRng::new()).unwrap();
}

#[test]
fn a_daemons_name_needs_the_clusters_method_whatever_it_announces() {
    let mut allowed = AllowedAuth::uniform(&[AuthMethod::Cephx], BOTH);
    allowed.service_methods = vec![AuthMethod::None];
    let mut cluster = Cluster::with(KeyType::Aes256k, allowed);
    let osd = TicketKeeper::without_keys("osd.0".parse().unwrap());
    let mut exchange = Exchange::new(EntityType::Client, ConMode::Crc, START);
    let failure = exchange.run(&mut *osd.mon_authenticator(), &mut cluster.mon(), &mut cluster.rng).map(drop);
    assert_eq!(failure.unwrap_err().errno(), -95);
}

#[test]
fn only_a_negative_result_is_a_refusal() {
    let mut cluster = Cluster::new(KeyType::Aes256k);
    let keeper = cluster.admin(KeyType::Aes256k);
    let (_, mut mon) = cluster.open_mon(&keeper, START).unwrap();
    for (result, taken) in [(1, true), (-13, false)] {
        keeper.invalidate(EntityType::Osd);
        let mut env = AuthEnv::new(START, &mut cluster.rng);
        let request = keeper.renewal(&mut env).unwrap();
        let answer = mon.mauth(&request, &mut env).unwrap();
        let reply = keeper.handle_auth_reply(result, keeper.global_id(), &answer, START);
        assert_eq!(reply.is_ok(), taken, "{result}");
        assert_eq!(keeper.can_reach(EntityType::Osd, START), taken, "{result}");
    }
}
