//! Both sides with real cephx against each other, without a network.

mod common;

use common::pair::{ADMIN, Cluster, Pair, addr, connect, connect_with, plain};
use proptest::prelude::*;
use rand::{SeedableRng, rngs::StdRng};
use sepiola_cephx::{AuthMethod, ConMode, TicketKeeper};
use sepiola_crypto::KeyType;
use sepiola_msgr2::{Established, Event, GlobalSeq, MessageHeader, ReadBuffer};
use sepiola_wire::{EntityType, Features, Tid, UTime};

const BOTH: [ConMode; 2] = [ConMode::Secure, ConMode::Crc];

fn cells() -> impl Iterator<Item = (KeyType, ConMode)> {
    [KeyType::Aes, KeyType::Aes256k]
        .into_iter()
        .flat_map(|key_type| BOTH.into_iter().map(move |mode| (key_type, mode)))
}

/// A message each way, to see that both directions' keys and numbers fit.
fn talk(from: &mut Established, to: &mut Established, input: &mut ReadBuffer) {
    let header = MessageHeader::new(42, 8, 1).with_tid(Tid(5));
    from.writer.message(&header, |out| out.extend_from_slice(b"front"), b"", &[b"da", b"ta"]).unwrap();
    let bytes = from.writer.pending().to_vec();
    from.writer.consume(bytes.len());
    input.extend(&bytes);
    let Some(Event::Message(message)) = to.reader.next(input).unwrap() else { panic!("no message") };
    assert_eq!((message.header.kind, message.header.tid), (42, Tid(5)));
    assert_eq!((message.front, &message.data[..]), (&b"front"[..], &b"data"[..]));
}

fn check(pair: Pair, mode: ConMode, kind: EntityType) {
    let Pair { client, server, mut client_input, mut server_input } = pair;
    let (mut client, mut server) = (client.established(), server.established());
    assert_eq!((client.peer.mode, server.peer.mode), (mode, mode));
    assert_eq!((client.peer.kind, server.peer.kind), (kind, EntityType::Client));
    assert_eq!(client.peer.features, Features::SUPPORTED);
    assert_eq!(client.peer.global_id, server.peer.global_id);
    assert_eq!(server.peer.gid, client.peer.global_id.0 as i64);
    let peer = server.peer.authenticated.as_ref().unwrap();
    assert_eq!(peer.name.to_string(), ADMIN);
    // The client did not know its IP and was told it.
    assert_eq!(server.peer.addrs.0, [addr("127.0.0.9:0/1234")]);
    for _ in 0..3 {
        talk(&mut client, &mut server, &mut server_input);
        talk(&mut server, &mut client, &mut client_input);
    }
    assert_eq!((client.writer.last_seq(), client.reader.last_seq()), (3, 3));
    server.session.suspend(&server.reader, &server.writer);
    assert_eq!((server.session.in_seq, server.session.out_seq), (3, 3));
    assert!(server.auth.into_server().is_some());
}

fn with_tickets(cluster: &Cluster, mode: ConMode) -> TicketKeeper {
    let keeper = cluster.keeper(ADMIN);
    connect(cluster.client(&keeper, &[mode]), cluster.mon(), plain).client.established();
    keeper
}

#[test]
fn with_a_monitor_and_with_an_osd() {
    for (key_type, mode) in cells() {
        let cluster = Cluster::new(key_type, &[AuthMethod::Cephx], &[mode]);
        let keeper = cluster.keeper(ADMIN);
        check(connect(cluster.client(&keeper, &[mode]), cluster.mon(), plain), mode, EntityType::Mon);
        check(connect(cluster.osd_client(&keeper, &[mode]), cluster.osd(), plain), mode, EntityType::Osd);
    }
}

#[test]
fn without_keys() {
    let cluster = Cluster::new(KeyType::Aes, &[AuthMethod::None], &BOTH);
    let keeper = TicketKeeper::without_keys(ADMIN.parse().unwrap());
    // Secure is preferred, but without keys there is nothing to encrypt with.
    let pair = connect(cluster.client(&keeper, &BOTH), cluster.mon(), plain);
    check(pair, ConMode::Crc, EntityType::Mon);
}

#[test]
fn the_clients_preference_decides_the_mode() {
    let cluster = Cluster::new(KeyType::Aes, &[AuthMethod::Cephx], &BOTH);
    for preference in [[ConMode::Crc, ConMode::Secure], [ConMode::Secure, ConMode::Crc]] {
        let pair = connect(cluster.client(&cluster.keeper(ADMIN), &preference), cluster.mon(), plain);
        check(pair, preference[0], EntityType::Mon);
    }
}

#[test]
fn every_connection_has_its_own_keys() {
    let cluster = Cluster::new(KeyType::Aes256k, &[AuthMethod::Cephx], &[ConMode::Secure]);
    let keeper = cluster.keeper(ADMIN);
    let mut sealed = Vec::new();
    for seed in 0..2 {
        let client = cluster.client(&keeper, &[ConMode::Secure]);
        let pair = connect_with(StdRng::seed_from_u64(seed), client, cluster.mon(), plain);
        let mut client = pair.client.established();
        client.writer.keepalive(UTime::from_secs(1)).unwrap();
        sealed.push(client.writer.pending().to_vec());
    }
    assert_ne!(sealed[0], sealed[1]);
}

/// A monitor that reads a daemon's own connection as one of that daemon, and the command line tools' as
/// one of a client.
#[test]
fn a_daemon_may_connect_as_itself_or_as_a_client() {
    let cluster = Cluster::new(KeyType::Aes, &[AuthMethod::Cephx], &[ConMode::Secure]);
    for (announced, gid, source) in [(EntityType::Osd, Some(3), 3), (EntityType::Client, None, 4101)] {
        let mut config = cluster.client_config(&cluster.mon_config(), &[ConMode::Secure]);
        (config.kind, config.gid) = (announced, gid);
        config.global_seq = GlobalSeq::new().next();
        let auth = cluster.keeper("osd.3").mon_authenticator();
        let server = connect(sepiola_msgr2::Handshake::client(config, auth), cluster.mon(), plain).server;
        let peer = server.established().peer;
        assert_eq!(peer.kind, announced);
        assert_eq!((peer.source().kind, peer.source().num), (announced as u8, source));
    }
}

/// What the peer claims to be its number does not matter.
#[test]
fn a_client_cannot_take_another_ones_number() {
    let cluster = Cluster::new(KeyType::Aes, &[AuthMethod::Cephx], &[ConMode::Secure]);
    let mut config = cluster.client_config(&cluster.mon_config(), &[ConMode::Secure]);
    config.gid = Some(999);
    let client = sepiola_msgr2::Handshake::client(config, cluster.keeper(ADMIN).mon_authenticator());
    let peer = connect(client, cluster.mon(), plain).server.established().peer;
    assert_eq!(peer.gid, 999);
    assert_eq!(peer.source().num, peer.authenticated.unwrap().global_id.0 as i64);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// However the bytes are cut, and with the last handshake frames and the first messages in one piece.
    #[test]
    fn in_any_pieces(cuts in prop::collection::vec(1usize..200, 1..40), secure: bool, type2: bool, osd: bool) {
        let mode = if secure { ConMode::Secure } else { ConMode::Crc };
        let key_type = if type2 { KeyType::Aes256k } else { KeyType::Aes };
        let cluster = Cluster::new(key_type, &[AuthMethod::Cephx], &[mode]);
        let keeper = with_tickets(&cluster, mode);
        let mut cuts = cuts.into_iter().cycle();
        let line = |_, bytes: Vec<u8>| {
            let mut rest = &bytes[..];
            let mut pieces = Vec::new();
            while !rest.is_empty() {
                let (piece, tail) = rest.split_at(cuts.next().unwrap().min(rest.len()));
                pieces.push(piece.to_vec());
                rest = tail;
            }
            pieces
        };
        if osd {
            check(connect(cluster.osd_client(&keeper, &[mode]), cluster.osd(), line), mode, EntityType::Osd);
        } else {
            check(connect(cluster.client(&keeper, &[mode]), cluster.mon(), line), mode, EntityType::Mon);
        }
    }
}

#[test]
fn byte_by_byte() {
    for (key_type, mode) in cells() {
        let cluster = Cluster::new(key_type, &[AuthMethod::Cephx], &[mode]);
        let line = |_, bytes: Vec<u8>| bytes.into_iter().map(|byte| vec![byte]).collect();
        let keeper = cluster.keeper(ADMIN);
        check(connect(cluster.client(&keeper, &[mode]), cluster.mon(), line), mode, EntityType::Mon);
        check(connect(cluster.osd_client(&keeper, &[mode]), cluster.osd(), line), mode, EntityType::Osd);
    }
}
