//! Peers that do not fit together, and what each side is told about it.

mod common;

use common::{
    Recording, ScriptedServer,
    pair::{ADMIN, Cluster, Pair, Way, addr, connect, plain},
    raw::{BANNER, Unit, frame},
};
use sepiola_cephx::{AuthError, AuthMethod, ConMode, ServiceSet, TicketKeeper};
use sepiola_crypto::{ConnectionSecret, CryptoKey, KeyType};
use sepiola_msgr2::{
    ClientConfig, Denial, Error, Handshake, Incompatibility, LocalFault, Misbehaviour, Progress, ReadBuffer,
    ServerConfig,
    frame::{
        Tag,
        control::{
            AuthBadMethod, AuthRequest, AuthRequestMore, AuthSignature, Control, Hello, ServerIdent,
            SessionReconnect, SessionReset,
        },
    },
};
use sepiola_wire::{Cookie, EntityAddrVec, EntityName, EntityType, Errno, Features, GlobalId, UTime};

const CEPHX: [AuthMethod; 1] = [AuthMethod::Cephx];
const CRC: [ConMode; 1] = [ConMode::Crc];
const SECURE: [ConMode; 1] = [ConMode::Secure];

fn errors(pair: Pair) -> (Error, Error) {
    (pair.client.error(), pair.server.error())
}

#[test]
fn no_common_mode() {
    for (client, server) in [(CRC, SECURE), (SECURE, CRC)] {
        let cluster = Cluster::new(KeyType::Aes, &CEPHX, &server);
        let pair = connect(cluster.client(&cluster.keeper(ADMIN), &client), cluster.mon(), plain);
        assert_eq!(
            pair.client.error().to_string(),
            format!("the server allows connection mode {}, this side offers {} only", server[0], client[0])
        );
        // The client may still come with something else.
        assert!(!pair.server.is_open());
    }
}

#[test]
fn no_common_method() {
    let cluster = Cluster::new(KeyType::Aes, &[AuthMethod::None], &CRC);
    let pair = connect(cluster.client(&cluster.keeper(ADMIN), &CRC), cluster.mon(), plain);
    assert_eq!(
        pair.client.error().to_string(),
        "the server allows authentication by none, this side offers cephx only"
    );
    let cluster = Cluster::new(KeyType::Aes, &CEPHX, &CRC);
    let keeper = TicketKeeper::without_keys(ADMIN.parse().unwrap());
    let pair = connect(cluster.client(&keeper, &CRC), cluster.mon(), plain);
    assert!(matches!(
        pair.client.error(),
        Error::PeerIncompatible(Incompatibility::Methods { offered: AuthMethod::None, .. })
    ));
}

#[test]
fn no_keys_and_secure_only_is_refused_before_a_request() {
    let cluster = Cluster::new(KeyType::Aes, &[AuthMethod::None], &[ConMode::Secure, ConMode::Crc]);
    let keeper = TicketKeeper::without_keys(ADMIN.parse().unwrap());
    let pair = connect(cluster.client(&keeper, &SECURE), cluster.mon(), plain);
    assert!(matches!(pair.client.error(), Error::Local(LocalFault::NoModeForMethod(AuthMethod::None))));
}

#[test]
fn a_wrong_key_and_an_unknown_name_look_the_same() {
    let cluster = Cluster::new(KeyType::Aes256k, &CEPHX, &SECURE);
    let wrong = CryptoKey::generate(KeyType::Aes256k, UTime::ZERO, &mut rand::rng());
    for name in [ADMIN, "client.nobody"] {
        let keeper = TicketKeeper::new(name.parse().unwrap(), wrong.clone(), ServiceSet::CLIENT);
        let (client, server) = errors(connect(cluster.client(&keeper, &SECURE), cluster.mon(), plain));
        assert_eq!(
            client.to_string(),
            format!("the monitor refused {name}: wrong key, unknown entity, or no mon capabilities")
        );
        assert!(matches!(client, Error::Denied(Denial::ByServer(AuthError::Denied(_)))));
        let Error::Denied(denial) = server else { panic!("{server}") };
        assert_eq!(denial.errno(), Errno::EACCES);
    }
}

#[test]
fn a_ticket_that_the_service_cannot_open() {
    let cluster = Cluster::new(KeyType::Aes, &CEPHX, &SECURE);
    let keeper = cluster.keeper(ADMIN);
    connect(cluster.client(&keeper, &SECURE), cluster.mon(), plain).client.established();
    // Another cluster's OSD on the same address: same names, other secrets.
    let stranger = Cluster::new(KeyType::Aes256k, &CEPHX, &SECURE);
    let (client, _) = errors(connect(cluster.osd_client(&keeper, &SECURE), stranger.osd(), plain));
    assert!(matches!(client, Error::Denied(Denial::ByServer(AuthError::TicketRefused(EntityType::Osd)))));
}

#[test]
fn announcing_another_kind_than_the_key_says() {
    let cluster = Cluster::new(KeyType::Aes, &CEPHX, &SECURE);
    let mut config = cluster.client_config(&cluster.mon_config(), &SECURE);
    config.kind = EntityType::Osd;
    let client = Handshake::client(config, cluster.keeper(ADMIN).mon_authenticator());
    let (client, server) = errors(connect(client, cluster.mon(), plain));
    assert!(matches!(client, Error::Denied(_)), "{client}");
    assert!(matches!(server, Error::Denied(_)), "{server}");
}

/// The same check where the authenticator does not make it.
#[test]
fn the_handshake_itself_compares_announcement_and_name() {
    let recording = Recording::load("mon_none");
    let mut config = recording.client_config();
    config.kind = EntityType::Mon;
    let client = Handshake::client(config, recording.client_auth());
    let server = Handshake::server(recording.server_config(), recording.server_auth());
    let (client, server) = errors(connect(client, server, plain));
    assert!(matches!(client, Error::Denied(_)), "{client}");
    let Error::Denied(Denial::OtherIdentity { name, announced }) = server else { panic!("{server}") };
    assert_eq!((name.to_string(), announced), (ADMIN.to_owned(), EntityType::Mon));
}

fn with_configs(change: impl FnOnce(&mut ClientConfig, &mut ServerConfig)) -> Pair {
    let cluster = Cluster::new(KeyType::Aes, &CEPHX, &SECURE);
    let mut server = cluster.mon_config();
    let mut client = cluster.client_config(&server, &SECURE);
    change(&mut client, &mut server);
    let client = Handshake::client(client, cluster.keeper(ADMIN).mon_authenticator());
    connect(client, cluster.mon_with(server), plain)
}

#[test]
fn another_kind_answers() {
    let pair = with_configs(|client, _| client.target_kind = EntityType::Osd);
    assert_eq!(pair.client.error().to_string(), "expected osd, but mon answered");
}

#[test]
fn the_dialled_address_must_be_one_of_the_servers() {
    for dialled in ["v2:127.0.0.1:3300/1", "v2:127.0.0.1:3301/0", "v1:127.0.0.1:3300/0", "127.0.0.1:3300/0"] {
        let pair = with_configs(|client, _| client.target = addr(dialled));
        let error = pair.server.error();
        assert!(
            matches!(&error, Error::PeerMisbehaved(Misbehaviour::WrongTarget(target)) if *target == addr(dialled)),
            "{error}"
        );
    }
}

/// A connection in crc mode whose SERVER_IDENT was changed on the way, which crc mode cannot notice.
fn with_server_ident(client: ClientConfig, server: ServerConfig, change: impl Fn(&mut ServerIdent)) -> Pair {
    let recording = Recording::load("mon-crc");
    let line = |way, bytes: Vec<u8>| {
        if way != Way::ToClient {
            return vec![bytes];
        }
        let edit = |unit| match unit {
            Unit::Frame(Tag::ServerIdent, payload) => {
                let mut ident = ServerIdent::decode(&payload).unwrap();
                change(&mut ident);
                frame(&ident)
            }
            unit => unit.bytes(),
        };
        Unit::split(&bytes).into_iter().map(edit).collect()
    };
    let client = Handshake::client(client, recording.client_auth());
    connect(client, Handshake::server(server, recording.server_auth()), line)
}

/// A server that does not check is checked by the client.
#[test]
fn the_server_must_serve_the_dialled_address() {
    let recording = Recording::load("mon-crc");
    let dialled = addr("v2:127.0.0.1:3300/9");
    let (mut client, mut server) = (recording.client_config(), recording.server_config());
    client.target = dialled;
    let served = server.addrs.clone();
    server.addrs.0.push(dialled);
    let error = with_server_ident(client, server, |ident| ident.addrs = served.clone()).client.error();
    assert!(
        matches!(&error, Error::PeerIncompatible(Incompatibility::OtherProcess { dialled: d, .. }) if *d == dialled),
        "{error}"
    );
}

#[test]
fn a_server_may_insist_on_a_lossless_session() {
    let recording = Recording::load("mon-crc");
    for asked_lossy in [true, false] {
        let mut client = recording.client_config();
        client.lossy = asked_lossy;
        let pair = with_server_ident(client, recording.server_config(), |ident| {
            ident.flags = 0;
            ident.cookie = Cookie(55);
        });
        let client = pair.client.established();
        assert!(!client.peer.lossy && !client.session.lossy);
        assert_eq!(client.session.server_cookie, Cookie(55));
        assert_eq!(client.session.client_cookie == Cookie(0), asked_lossy);
    }
}

/// Features are compared on both sides, whatever the other one has let pass.
#[test]
fn the_client_compares_features_itself() {
    let recording = Recording::load("mon-crc");
    let foreign = Features::from_bits(1 << 40 | Features::MSG_ADDR2.bits());
    let mut client = recording.client_config();
    client.features_required = Features::MSG_ADDR2;
    let pair = with_server_ident(client.clone(), recording.server_config(), |ident| {
        ident.supported = Features::NONE;
    });
    assert!(matches!(
        pair.client.error(),
        Error::PeerIncompatible(Incompatibility::PeerLacks(missing)) if missing == Features::MSG_ADDR2
    ));
    client.features_supported = Features::from_bits(Features::SUPPORTED.bits() & !(1 << 40));
    let pair = with_server_ident(client, recording.server_config(), |ident| ident.required = foreign);
    assert!(matches!(
        pair.client.error(),
        Error::PeerIncompatible(Incompatibility::PeerRequires(missing)) if missing.bits() == 1 << 40
    ));
}

#[test]
fn a_client_without_address() {
    let pair = with_configs(|client, _| client.addrs = EntityAddrVec(vec![]));
    assert!(matches!(pair.client.error(), Error::Local(LocalFault::NoAddress)));
    let pair = with_configs(|client, _| client.addrs = EntityAddrVec(vec![addr("127.0.0.1:0/1"); 17]));
    assert!(matches!(pair.server.error(), Error::PeerMisbehaved(Misbehaviour::NoAddress)));
}

#[test]
fn missing_features() {
    let lacking = Features::from_bits(1 << 40);
    let without = Features::from_bits(Features::SUPPORTED.bits() & !lacking.bits());
    assert_ne!(without, Features::SUPPORTED);

    let pair = with_configs(|client, server| {
        client.features_supported = without;
        server.features_required = lacking;
    });
    // The server has named them and waits for better; the client gives up.
    assert!(matches!(
        pair.client.error(),
        Error::PeerIncompatible(Incompatibility::PeerRequires(missing)) if missing == lacking
    ));
    assert!(!pair.server.is_open());

    let pair = with_configs(|client, server| {
        server.features_supported = without;
        client.features_required = lacking;
    });
    assert!(matches!(
        pair.server.error(),
        Error::PeerIncompatible(Incompatibility::PeerRequires(missing)) if missing == lacking
    ));

    let client = with_configs(|client, _| client.features_supported = without).client.established();
    assert_eq!(client.peer.features, without);
}

/// A client speaking by hand, with method none, up to where the server waits for CLIENT_IDENT.
fn by_hand(recording: &Recording) -> (Handshake, ReadBuffer) {
    let mut server = Handshake::server(recording.server_config(), recording.server_auth());
    let mut input = ReadBuffer::new();
    input.extend(BANNER);
    input.extend(&frame(&recording.hello(true)));
    input.extend(&frame(&recording.auth_request()));
    input.extend(&frame(&AuthSignature([0; 32])));
    advance(&mut server, &mut input).unwrap();
    server.output().clear();
    (server, input)
}

fn advance(side: &mut Handshake, input: &mut ReadBuffer) -> Result<Progress, Error> {
    side.advance(input, UTime::from_secs(1), &mut rand::rng())
}

#[test]
fn a_session_that_is_gone_is_reset_and_opened_anew() {
    let recording = Recording::load("mon_none");
    let (mut server, mut input) = by_hand(&recording);
    let ident = recording.client_ident();
    let reconnect = SessionReconnect {
        addrs: ident.addrs.clone(),
        client_cookie: Cookie(7),
        server_cookie: Cookie(8),
        global_seq: 2,
        connect_seq: 1,
        msg_seq: 5,
    };
    input.extend(&frame(&reconnect));
    assert_eq!(advance(&mut server, &mut input).unwrap(), Progress::NeedInput);
    assert_eq!(std::mem::take(server.output()), frame(&SessionReset { full: true }));
    input.extend(&frame(&ident));
    assert_eq!(advance(&mut server, &mut input).unwrap(), Progress::Ready);
    let mut open = server.into_established();
    assert_eq!((open.session.in_seq, open.session.connect_seq), (0, 0));
    assert!(open.writer.pending().starts_with(&[Tag::ServerIdent as u8]));
    assert!(open.reader.next(&mut input).unwrap().is_none());
}

/// The command line tools ask monitors for a lossless session and take what they get.
#[test]
fn the_servers_word_on_lossiness_counts() {
    let recording = Recording::load("mon_none");
    let (mut server, mut input) = by_hand(&recording);
    let ident = sepiola_msgr2::frame::control::ClientIdent {
        flags: 0,
        cookie: Cookie(99),
        ..recording.client_ident()
    };
    input.extend(&frame(&ident));
    advance(&mut server, &mut input).unwrap();
    let open = server.into_established();
    assert!(open.peer.lossy && open.session.lossy);
    assert_eq!(open.session.client_cookie, Cookie(0));

    let pair = with_configs(|client, _| client.lossy = false);
    let client = pair.client.established();
    assert!(client.peer.lossy && client.session.lossy);
    assert_eq!(client.session.client_cookie, Cookie(0));
}

#[test]
fn an_authenticator_that_does_not_challenge_is_not_believed() {
    let recording = Recording::load("mon-crc");
    let auth = ScriptedServer {
        methods: CEPHX.to_vec(),
        modes: CRC.to_vec(),
        request: recording.auth_request().payload.to_vec(),
        reply_more: None,
        request_more: None,
        global_id: GlobalId(1),
        done: Vec::new(),
        session_key: recording.session_key.clone(),
        connection_secret: ConnectionSecret::empty(),
        name: EntityName::client("admin"),
    };
    let client = Handshake::client(recording.client_config(), recording.client_auth());
    let pair = connect(client, Handshake::server(recording.server_config(), Box::new(auth)), plain);
    assert!(matches!(pair.server.error(), Error::Local(LocalFault::Authenticator(_))));
    assert!(!pair.client.is_open());
}

/// Secure mode with a secret too short for its keys: no AUTH_DONE leaves.
#[test]
fn a_connection_that_cannot_be_keyed() {
    let recording = Recording::load("mon");
    let auth = ScriptedServer {
        methods: CEPHX.to_vec(),
        modes: SECURE.to_vec(),
        request: recording.auth_request().payload.to_vec(),
        reply_more: Some(b"challenge".to_vec()),
        request_more: Some(b"answer".to_vec()),
        global_id: GlobalId(1),
        done: Vec::new(),
        session_key: recording.session_key.clone(),
        connection_secret: ConnectionSecret::empty(),
        name: EntityName::client("admin"),
    };
    let attempt = |secret: &[u8]| {
        let auth = ScriptedServer { connection_secret: ConnectionSecret::from_bytes(secret), ..auth.clone() };
        let mut server = Handshake::server(recording.server_config(), Box::new(auth));
        let mut input = ReadBuffer::new();
        input.extend(BANNER);
        input.extend(&frame(&recording.hello(true)));
        input.extend(&frame(&recording.auth_request()));
        input.extend(&frame(&AuthRequestMore { payload: b"answer" }));
        let result = advance(&mut server, &mut input);
        (result, server)
    };
    let (result, mut server) = attempt(&[1; 39]);
    assert!(matches!(result, Err(Error::Local(LocalFault::Keys(_)))));
    assert_eq!(Unit::split(server.output()).last().unwrap().tag(), Some(Tag::AuthReplyMore));
    assert_eq!(attempt(&[1; 40]).0.unwrap(), Progress::NeedInput);
}

/// What a real 16.2.15 monitor with "secure crc" answers to foreign modes and methods.
#[test]
fn refusals_have_the_recorded_bytes() {
    let recording = Recording::load("mon");
    for (method, mode, expected) in [
        (
            2,
            7,
            "03011c00000008000000000000000000000000000000000000000000e80a895902000000a1ffffff01000000020000000200000002000000010000003f7cf402",
        ),
        (
            1,
            2,
            "03011c00000008000000000000000000000000000000000000000000e80a895901000000a1ffffff0100000002000000020000000200000001000000929726e1",
        ),
        (
            99,
            2,
            "03011c00000008000000000000000000000000000000000000000000e80a895963000000a1ffffff0100000002000000020000000200000001000000f781a9bc",
        ),
    ] {
        let cluster = Cluster::new(KeyType::Aes, &CEPHX, &[ConMode::Secure, ConMode::Crc]);
        let mut server = cluster.mon();
        let mut input = ReadBuffer::new();
        input.extend(BANNER);
        input.extend(&frame(&Hello { kind: EntityType::Client, ..recording.hello(true) }));
        input.extend(&frame(&AuthRequest { method, modes: vec![mode], ..recording.auth_request() }));
        advance(&mut server, &mut input).unwrap();
        assert!(hex::encode(server.output()).ends_with(expected));
        // The connection is still good for another request.
        server.output().clear();
        input.extend(&frame(&AuthRequest { method: 2, modes: vec![2], ..recording.auth_request() }));
        advance(&mut server, &mut input).unwrap();
        assert_eq!(Unit::split(server.output())[0].tag(), Some(Tag::AuthReplyMore));
    }
}

/// A result that is no error is no reason to go on (CVE-2026-46119 and its kin).
#[test]
fn a_refusal_with_a_positive_result() {
    let recording = Recording::load("mon");
    let mut client = Handshake::client(recording.client_config(), recording.client_auth());
    let mut input = ReadBuffer::new();
    input.extend(BANNER);
    input.extend(&frame(&recording.hello(false)));
    input.extend(&frame(&AuthBadMethod { method: 2, result: 5, methods: vec![2], modes: vec![2] }));
    assert!(matches!(advance(&mut client, &mut input), Err(Error::PeerMisbehaved(_))));
}
