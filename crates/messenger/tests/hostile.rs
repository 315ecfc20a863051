//! Peers that stall, lie or flood: each ends itself only, and no call waits for ever.

mod common;

use std::{sync::atomic::Ordering, time::Duration};

use common::{ECHO, Pass, relay, run, send, start, start_secure, until};
use sepiola_cephx::{AuthMethod, ConMode, ServiceSet, TicketKeeper};
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_messenger::{CloseReason, Connection, DialOptions, Error, Keepalive, ServeOptions};
use sepiola_wire::{EntityName, Errno, UTime};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Reads until the other side closes.
async fn read_to_end(stream: &mut TcpStream) -> usize {
    let mut all = Vec::new();
    // A reset ends it as well as a close does.
    let _ = stream.read_to_end(&mut all).await;
    all.len()
}

async fn still_serves(server: &common::Server) {
    let (sender, receiver) = server.dial().await;
    let (mut replies, _task) = run(receiver);
    send(&sender, ECHO, 1, &[], &[]);
    assert_eq!(replies.recv().await.unwrap().tid, 1);
}

const BANNER: &[u8] = b"ceph v2\n\x10\x00\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

#[tokio::test]
async fn silence_in_a_handshake_ends_at_the_deadline() {
    let mut options = ServeOptions::default();
    options.handshake_deadline = Duration::from_millis(200);
    let server = start_secure(options);
    let mut silent = TcpStream::connect(server.addr).await.unwrap();
    let mut halfway = TcpStream::connect(server.addr).await.unwrap();
    halfway.write_all(BANNER).await.unwrap();
    let mut drip = TcpStream::connect(server.addr).await.unwrap();
    let dripping = tokio::spawn(async move {
        // Bytes that arrive do not extend the deadline.
        for byte in BANNER.iter().cycle() {
            if drip.write_all(&[*byte]).await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    assert!(read_to_end(&mut silent).await >= 26, "the banner comes without waiting");
    read_to_end(&mut halfway).await;
    dripping.await.unwrap();
    assert_eq!(server.echo.opened.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn garbage_and_oversized_frames_before_authentication_close_the_connection() {
    let server = start_secure(ServeOptions::default());
    // A HELLO that announces a gigabyte, with a correct checksum over its preamble.
    let mut huge = vec![1, 1, 0, 0, 0, 0x40, 8, 0];
    huge.resize(28, 0);
    let crc = sepiola_wire::crc32c(0, &huge);
    huge.extend_from_slice(&crc.to_le_bytes());
    for bytes in [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        b"ceph v027".to_vec(),
        [BANNER, &[0xff; 64]].concat(),
        [BANNER, &huge].concat(),
    ] {
        let mut stream = TcpStream::connect(server.addr).await.unwrap();
        stream.write_all(&bytes).await.unwrap();
        read_to_end(&mut stream).await;
    }
    assert_eq!(server.echo.opened.load(Ordering::SeqCst), 0);
    still_serves(&server).await;
}

#[tokio::test]
async fn unauthenticated_connections_of_one_address_are_limited() {
    let mut options = ServeOptions::default();
    options.max_handshakes_per_address = 4;
    let server = start_secure(options);
    let mut waiting = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect(server.addr).await.unwrap();
        let mut banner = [0; 26];
        stream.read_exact(&mut banner).await.unwrap();
        waiting.push(stream);
    }
    let mut fifth = TcpStream::connect(server.addr).await.unwrap();
    assert_eq!(read_to_end(&mut fifth).await, 0, "not even a banner");
    drop(waiting);
    // The server needs a moment to see that they have left.
    loop {
        let auth = server.auth(AuthMethod::Cephx);
        if Connection::dial(server.addr, server.config(&[ConMode::Secure]), auth, DialOptions::default())
            .await
            .is_ok()
        {
            break;
        }
    }
    // Authenticated connections do not count.
    let mut open = Vec::new();
    for _ in 0..8 {
        open.push(server.dial().await);
    }
}

#[tokio::test]
async fn dialling_fails_with_its_own_reason() {
    let server = start_secure(ServeOptions::default());
    let dial = |addr, config, auth, deadline: Duration| Connection::dial(addr, config, auth, deadline);
    let ten = Duration::from_secs(10);

    // Nobody there.
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let config = server.config(&[ConMode::Secure]);
    let error = dial(gone, config.clone(), server.auth(AuthMethod::Cephx), ten).await.unwrap_err();
    assert!(matches!(error, Error::Connect { .. }), "{error}");
    assert_eq!(error.errno(), Errno::ECONNREFUSED);

    // Somebody who says nothing.
    let mute = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = mute.local_addr().unwrap();
    let short = Duration::from_millis(200);
    let error = dial(addr, config.clone(), server.auth(AuthMethod::Cephx), short).await.unwrap_err();
    assert!(matches!(error, Error::TimedOut { .. }), "{error}");
    assert_eq!(error.errno(), Errno::ETIMEDOUT);

    // Somebody who hangs up.
    let rude = tokio::spawn(async move {
        mute.accept().await.unwrap();
        mute.accept().await.unwrap();
    });
    let error = dial(addr, config.clone(), server.auth(AuthMethod::Cephx), ten).await.unwrap_err();
    assert!(matches!(error, Error::Closed { .. }), "{error}");
    rude.await.unwrap();

    // A wrong key.
    let wrong = CryptoKey::generate(KeyType::Aes, UTime::now(), &mut rand::rng());
    let keeper = TicketKeeper::new(EntityName::client("admin"), wrong, ServiceSet::CLIENT);
    let error = dial(server.addr, config.clone(), keeper.mon_authenticator(), ten).await.unwrap_err();
    assert!(error.is_denied(), "{error}");
    assert_eq!(error.errno(), Errno::EACCES);

    // A mode that is not allowed.
    let crc = server.config(&[ConMode::Crc]);
    let error = dial(server.addr, crc, server.auth(AuthMethod::Cephx), ten).await.unwrap_err();
    assert!(matches!(error, Error::Protocol { .. }), "{error}");

    // A method that is not allowed.
    let error = dial(server.addr, config, server.auth(AuthMethod::None), ten).await.unwrap_err();
    assert!(matches!(error, Error::Protocol { .. }), "{error}");
    still_serves(&server).await;
}

#[tokio::test]
async fn a_peer_that_stops_answering_keepalives_is_given_up() {
    let server = start(&[AuthMethod::None], &[ConMode::Crc], ServeOptions::default());
    let relay = relay(server.addr).await;
    let keepalive = Keepalive { interval: Duration::from_millis(30), timeout: Duration::from_millis(150) };
    let (_sender, receiver) = Connection::dial(
        relay.addr,
        server.config(&[ConMode::Crc]),
        server.auth(AuthMethod::None),
        DialOptions::default().with_keepalive(keepalive),
    )
    .await
    .unwrap();
    let (_replies, task) = run(receiver);
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert!(!task.is_finished(), "answers keep it");
    relay.from_server.send(Pass::Nothing).unwrap();
    assert!(matches!(task.await.unwrap(), CloseReason::Unresponsive(_)));
}

#[tokio::test]
async fn bytes_changed_on_an_open_connection_end_it() {
    let server = start_secure(ServeOptions::default());
    let relay = relay(server.addr).await;
    let config = server.config(&[ConMode::Secure]);
    let auth = server.auth(AuthMethod::Cephx);
    let (sender, receiver) =
        Connection::dial(relay.addr, config, auth, DialOptions::default()).await.unwrap();
    let (mut replies, task) = run(receiver);
    send(&sender, ECHO, 1, &[], b"untouched");
    assert_eq!(replies.recv().await.unwrap().data, b"untouched");
    relay.from_client.send(Pass::Flipped).unwrap();
    send(&sender, ECHO, 2, &[], b"tampered with");
    assert!(matches!(task.await.unwrap(), CloseReason::PeerClosed));
    until(&server.echo.closed, 1).await;
    assert_eq!(server.echo.handled.load(Ordering::SeqCst), 1, "nothing of it was delivered");
    still_serves(&server).await;
}
