//! Somebody on the line, or a peer without manners: each ends that connection with a typed error.

mod common;

use common::{
    pair::{ADMIN, Cluster, Pair, Side, Way, connect, plain},
    raw::{BANNER, Unit, preamble, raw_frame},
};
use sepiola_cephx::{AuthMethod, ConMode};
use sepiola_crypto::KeyType;
use sepiola_msgr2::{
    Denial, Error, Handshake, Misbehaviour, ReadBuffer,
    frame::{
        Preamble, Tag,
        control::{AuthDone, AuthRequest, Control},
    },
};
use sepiola_wire::UTime;

const MODES: [ConMode; 2] = [ConMode::Crc, ConMode::Secure];
/// Everything that a client and a monitor say to each other before messages, in the order of turns.
const CLIENT_SAYS: [Option<Tag>; 6] = [
    None,
    Some(Tag::Hello),
    Some(Tag::AuthRequest),
    Some(Tag::AuthRequestMore),
    Some(Tag::AuthSignature),
    Some(Tag::ClientIdent),
];
const SERVER_SAYS: [Option<Tag>; 6] = [
    None,
    Some(Tag::Hello),
    Some(Tag::AuthReplyMore),
    Some(Tag::AuthDone),
    Some(Tag::AuthSignature),
    Some(Tag::ServerIdent),
];

fn said(way: Way) -> [Option<Tag>; 6] {
    if way == Way::ToServer { CLIENT_SAYS } else { SERVER_SAYS }
}

/// Only the listed mode is offered and allowed.
fn attacked(mode: ConMode, line: impl FnMut(Way, Vec<u8>) -> Vec<Vec<u8>>) -> Pair {
    let cluster = Cluster::new(KeyType::Aes, &[AuthMethod::Cephx], &[mode]);
    connect(cluster.client(&cluster.keeper(ADMIN), &[mode]), cluster.mon(), line)
}

/// Changes one unit of a connection in crc mode, checksums repaired.
fn edit(target: Way, nth: usize, mut change: impl FnMut(&mut Vec<u8>)) -> Pair {
    replace(target, nth, |mut unit| {
        change(unit.content());
        unit.bytes()
    })
}

/// Puts other bytes in the place of one unit of a connection in crc mode.
fn replace(target: Way, nth: usize, mut by: impl FnMut(Unit) -> Vec<u8>) -> Pair {
    let mut count = 0;
    attacked(ConMode::Crc, |way, bytes| {
        if way != target {
            return vec![bytes];
        }
        let unit = |unit: Unit| {
            count += 1;
            if count - 1 == nth { by(unit) } else { unit.bytes() }
        };
        Unit::split(&bytes).into_iter().map(unit).collect()
    })
}

fn receiver(pair: Pair, way: Way) -> (Side, ReadBuffer) {
    match way {
        Way::ToServer => (pair.server, pair.server_input),
        Way::ToClient => (pair.client, pair.client_input),
    }
}

#[test]
fn the_units_are_those_expected() {
    for way in [Way::ToServer, Way::ToClient] {
        let mut tags = Vec::new();
        attacked(ConMode::Crc, |to, bytes| {
            if to == way {
                tags.extend(Unit::split(&bytes).iter().map(Unit::tag));
            }
            vec![bytes]
        });
        assert_eq!(tags, said(way));
    }
}

/// As accidents do it: no byte of a handshake may be changed unnoticed, in either mode.
#[test]
fn a_flipped_bit_anywhere() {
    for mode in MODES {
        let mut lengths = [0, 0];
        attacked(mode, |way, bytes| {
            lengths[way as usize] += bytes.len();
            vec![bytes]
        });
        for way in [Way::ToServer, Way::ToClient] {
            for at in 0..lengths[way as usize] {
                let mut seen = 0;
                let pair = attacked(mode, |to, mut bytes| {
                    if to == way {
                        if (seen..seen + bytes.len()).contains(&at) {
                            bytes[at - seen] ^= 1 << (at % 8);
                        }
                        seen += bytes.len();
                    }
                    vec![bytes]
                });
                assert!(!(pair.client.is_open() && pair.server.is_open()), "{mode} {way:?} byte {at}");
                let (side, _) = receiver(pair, way);
                assert!(!side.is_open(), "{mode} {way:?} byte {at}");
                if let Side::Failed(error) = side {
                    assert!(!matches!(error, Error::Local(_)), "{mode} {way:?} byte {at}: {error}");
                }
            }
        }
    }
}

/// A connection that breaks off is never taken for one that is complete, and never for one that is broken.
#[test]
fn a_stream_that_ends_anywhere() {
    for mode in MODES {
        for way in [Way::ToServer, Way::ToClient] {
            let mut whole = 0;
            attacked(mode, |to, bytes| {
                whole += if to == way { bytes.len() } else { 0 };
                vec![bytes]
            });
            for end in 0..whole {
                let mut left = end;
                let pair = attacked(mode, |to, mut bytes| {
                    if to == way {
                        bytes.truncate(left);
                        left -= bytes.len();
                    }
                    vec![bytes]
                });
                let (side, _) = receiver(pair, way);
                assert!(matches!(side, Side::Opening(_)), "{mode} {way:?} {end} of {whole} bytes");
            }
        }
    }
}

/// As an attacker does it: checksums repaired. Up to AUTH_DONE the signatures cover every byte, and the
/// signatures cannot be made without the key.
#[test]
fn a_changed_byte_with_a_repaired_checksum() {
    for way in [Way::ToServer, Way::ToClient] {
        for (nth, tag) in said(way).into_iter().enumerate().take(5) {
            for at in 0.. {
                let mut within = false;
                let pair = edit(way, nth, |content| {
                    if let Some(byte) = content.get_mut(at) {
                        *byte ^= 1 << (at % 8);
                        within = true;
                    }
                });
                if !within {
                    break;
                }
                assert!(!(pair.client.is_open() && pair.server.is_open()), "{tag:?} byte {at}");
                if tag == Some(Tag::AuthSignature) {
                    let error = receiver(pair, way).0.error();
                    assert!(matches!(error, Error::PeerMisbehaved(Misbehaviour::BadSignature)), "{error}");
                }
            }
        }
    }
}

#[test]
fn a_payload_cut_short() {
    for way in [Way::ToServer, Way::ToClient] {
        for (nth, tag) in said(way).into_iter().enumerate().skip(1) {
            for cut in 1.. {
                let mut whole = 0;
                let pair = edit(way, nth, |content| {
                    whole = content.len();
                    content.truncate(whole.saturating_sub(cut));
                });
                if cut > whole {
                    break;
                }
                let error = receiver(pair, way).0.error();
                let fits = match &error {
                    Error::PeerMisbehaved(Misbehaviour::Decode { tag: broken, .. }) => Some(*broken) == tag,
                    // What the frame carries is the authenticators' business, and theirs to refuse.
                    Error::Denied(_) => true,
                    _ => false,
                };
                assert!(fits, "{tag:?} without its last {cut} bytes: {error}");
            }
        }
    }
}

/// A frame that announces too much is refused on its preamble, before anything is reserved for it.
#[test]
fn an_oversized_frame_at_every_step() {
    for way in [Way::ToServer, Way::ToClient] {
        for (nth, tag) in said(way).into_iter().enumerate().skip(1) {
            let tag = tag.unwrap() as u8;
            for lengths in [&[16 * 1024 + 1][..], &[u32::MAX], &[8, 8], &[41, 0, 0, u32::MAX]] {
                let pair = replace(way, nth, |_| preamble(tag, lengths));
                let (side, input) = receiver(pair, way);
                let error = side.error();
                assert!(matches!(error, Error::PeerMisbehaved(Misbehaviour::TooLarge { .. })), "{error}");
                assert_eq!(input.capacity(), ReadBuffer::new().capacity());
            }
        }
    }
}

#[test]
fn a_banner_that_is_none() {
    for way in [Way::ToServer, Way::ToClient] {
        for banner in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"ceph v027 and the rest of it", &[0; 26]] {
            let pair = replace(way, 0, |_| banner.to_vec());
            assert!(matches!(
                receiver(pair, way).0.error(),
                Error::PeerMisbehaved(_) | Error::PeerIncompatible(_)
            ));
        }
    }
}

const TAGS: [Tag; 20] = [
    Tag::Hello,
    Tag::AuthRequest,
    Tag::AuthBadMethod,
    Tag::AuthReplyMore,
    Tag::AuthRequestMore,
    Tag::AuthDone,
    Tag::AuthSignature,
    Tag::ClientIdent,
    Tag::ServerIdent,
    Tag::IdentMissingFeatures,
    Tag::SessionReconnect,
    Tag::SessionReset,
    Tag::SessionRetry,
    Tag::SessionRetryGlobal,
    Tag::SessionReconnectOk,
    Tag::Wait,
    Tag::Message,
    Tag::Keepalive2,
    Tag::Keepalive2Ack,
    Tag::Ack,
];

/// What may come instead of the expected frame without being out of place.
fn alternatives(expected: Tag) -> &'static [Tag] {
    match expected {
        Tag::AuthReplyMore | Tag::AuthDone => &[Tag::AuthReplyMore, Tag::AuthDone, Tag::AuthBadMethod],
        Tag::ClientIdent => &[Tag::ClientIdent, Tag::SessionReconnect],
        Tag::ServerIdent => &[Tag::ServerIdent, Tag::IdentMissingFeatures],
        _ => &[],
    }
}

#[test]
fn every_frame_at_every_wrong_step() {
    for way in [Way::ToServer, Way::ToClient] {
        for (nth, expected) in said(way).into_iter().enumerate().skip(1) {
            let expected = expected.unwrap();
            for tag in TAGS {
                if tag == expected || alternatives(expected).contains(&tag) {
                    continue;
                }
                let pair = replace(way, nth, |_| raw_frame(tag, &[0; 64]));
                let error = receiver(pair, way).0.error();
                let fits = matches!(&error, Error::PeerMisbehaved(Misbehaviour::Unexpected { tag: t, .. }) if *t == tag);
                assert!(fits, "{tag} instead of {expected}: {error}");
            }
            let pair = replace(way, nth, |_| preamble(99, &[8]));
            let error = receiver(pair, way).0.error();
            assert!(matches!(error, Error::PeerMisbehaved(Misbehaviour::UnknownTag(99))), "{error}");
        }
    }
}

/// A list edited so that both sides would settle for crc: the signatures tell.
#[test]
fn a_downgrade_by_editing_the_clients_modes() {
    let both = [ConMode::Secure, ConMode::Crc];
    let cluster = Cluster::new(KeyType::Aes256k, &[AuthMethod::Cephx], &both);
    let line = |way, bytes: Vec<u8>| {
        if way != Way::ToServer {
            return vec![bytes];
        }
        // Frames of crc mode all the way, since that is what the attack achieves.
        let edited = Unit::split(&bytes).into_iter().map(|unit| match unit {
            Unit::Frame(Tag::AuthRequest, payload) => {
                let mut request = AuthRequest::decode(&payload).unwrap();
                assert_eq!(request.modes, [2, 1]);
                request.modes = vec![1, 2];
                let mut edited = Vec::new();
                request.encode(&mut edited);
                raw_frame(Tag::AuthRequest, &edited)
            }
            unit => unit.bytes(),
        });
        edited.collect()
    };
    let pair = connect(cluster.client(&cluster.keeper(ADMIN), &both), cluster.mon(), line);
    // The server signs what it received, which is not what the client sent.
    let error = pair.client.error();
    assert!(matches!(error, Error::PeerMisbehaved(Misbehaviour::BadSignature)), "{error}");
    assert!(!pair.server.is_open());
}

#[test]
fn a_downgrade_by_editing_the_servers_choice() {
    let both = [ConMode::Secure, ConMode::Crc];
    for (offered, expected_refusal) in [(&both[..], false), (&[ConMode::Secure], true)] {
        let cluster = Cluster::new(KeyType::Aes256k, &[AuthMethod::Cephx], &both);
        let line = |way, bytes: Vec<u8>| {
            let done = way == Way::ToClient && bytes.first() == Some(&(Tag::AuthDone as u8));
            if !done {
                return vec![bytes];
            }
            let len = Preamble::decode(bytes.first_chunk().unwrap()).unwrap().len(0);
            let mut done = AuthDone::decode(&bytes[32..32 + len]).unwrap();
            assert_eq!(done.mode, 2);
            done.mode = 1;
            let mut edited = Vec::new();
            done.encode(&mut edited);
            vec![raw_frame(Tag::AuthDone, &edited), bytes[32 + len + 4..].to_vec()]
        };
        let pair = connect(cluster.client(&cluster.keeper(ADMIN), offered), cluster.mon(), line);
        assert!(!pair.server.is_open());
        let error = pair.client.error();
        let refused = matches!(error, Error::PeerMisbehaved(Misbehaviour::ModeNotOffered(1)));
        assert_eq!(refused, expected_refusal, "{error}");
    }
}

/// Everything that a client ever said, said again to the same server: the challenge is another one.
#[test]
fn a_replayed_client() {
    for osd in [false, true] {
        let cluster = Cluster::new(KeyType::Aes256k, &[AuthMethod::Cephx], &[ConMode::Crc]);
        let keeper = cluster.keeper(ADMIN);
        connect(cluster.client(&keeper, &[ConMode::Crc]), cluster.mon(), plain).client.established();
        let (client, server, mut again) = if osd {
            (cluster.osd_client(&keeper, &[ConMode::Crc]), cluster.osd(), cluster.osd())
        } else {
            (cluster.client(&cluster.keeper(ADMIN), &[ConMode::Crc]), cluster.mon(), cluster.mon())
        };
        let mut recorded = Vec::new();
        let pair = connect(client, server, |way, bytes| {
            if way == Way::ToServer {
                recorded.extend_from_slice(&bytes);
            }
            vec![bytes]
        });
        assert!(pair.server.is_open());
        let mut input = ReadBuffer::new();
        input.extend(&recorded);
        let error = again.advance(&mut input, common::pair::NOW, &mut rand::rng()).unwrap_err();
        assert!(matches!(error, Error::Denied(Denial::OfClient(_))), "{error}");
        // The last word is the errno alone.
        let said = Unit::split(again.output());
        assert_eq!(said.last().unwrap().tag(), Some(Tag::AuthBadMethod));
    }
}

/// A peer that talks on for ever without authenticating.
#[test]
fn endless_requests() {
    let cluster = Cluster::new(KeyType::Aes, &[AuthMethod::Cephx], &[ConMode::Secure]);
    let mut server = cluster.mon();
    let mut input = ReadBuffer::new();
    let mut rng = rand::rng();
    let mut hello = Unit::Banner(BANNER.to_vec()).bytes();
    hello.extend(raw_frame(Tag::Hello, &hello_payload()));
    input.extend(&hello);
    server.advance(&mut input, UTime::from_secs(1), &mut rng).unwrap();
    let mut request = Vec::new();
    AuthRequest { method: 1, modes: vec![1], payload: b"" }.encode(&mut request);
    let mut refusals = 0;
    let error = loop {
        server.output().clear();
        input.extend(&raw_frame(Tag::AuthRequest, &request));
        match server.advance(&mut input, UTime::from_secs(1), &mut rng) {
            Ok(_) => refusals += 1,
            Err(error) => break error,
        }
        assert!(refusals < 100);
    };
    assert!(matches!(error, Error::PeerMisbehaved(Misbehaviour::HandshakeTooLong)), "{error}");
    assert!(refusals > 1);
}

/// The log that the signatures cover is bounded as a whole, too.
#[test]
fn a_handshake_that_says_too_much() {
    let recording = common::Recording::load("mon_none");
    let mut config = recording.server_config();
    config.limits.handshake_total = 100;
    let client = Handshake::client(recording.client_config(), recording.client_auth());
    let pair = connect(client, Handshake::server(config, recording.server_auth()), plain);
    let error = pair.server.error();
    assert!(matches!(error, Error::PeerMisbehaved(Misbehaviour::HandshakeTooLong)), "{error}");
}

fn hello_payload() -> Vec<u8> {
    let mut out = Vec::new();
    common::Recording::load("mon").hello(true).encode(&mut out);
    out
}

/// Random bytes behind a banner never panic, and never reach an established connection.
#[test]
fn noise() {
    use rand::{Rng, SeedableRng, rngs::StdRng};
    let cluster = Cluster::new(KeyType::Aes, &[AuthMethod::Cephx], &[ConMode::Secure]);
    for seed in 0..200 {
        let mut rng = StdRng::seed_from_u64(seed);
        for client in [false, true] {
            let mut side: Handshake = if client {
                cluster.client(&cluster.keeper(ADMIN), &[ConMode::Secure])
            } else {
                cluster.mon()
            };
            let mut bytes = vec![0; 600];
            rng.fill_bytes(&mut bytes);
            let mut input = ReadBuffer::new();
            input.extend(BANNER);
            input.extend(&bytes);
            assert!(side.advance(&mut input, UTime::from_secs(1), &mut rng).is_err());
        }
    }
}
