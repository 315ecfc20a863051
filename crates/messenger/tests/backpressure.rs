//! Limits: over them a connection stops reading, and goes on when there is room.

mod common;

use std::sync::atomic::Ordering;

use common::{ECHO, HELD, Pass, relay, run, send, settled, start_secure, until};
use sepiola_cephx::{AuthMethod, ConMode};
use sepiola_messenger::{Connection, DialOptions, OutMessage, PushError, SendError, ServeOptions, Throttle};
use sepiola_msgr2::MessageHeader;

#[tokio::test]
async fn a_peer_that_does_not_read_is_not_read_from_and_loses_nothing() {
    const MESSAGES: u64 = 2000;
    const SIZE: usize = 60_000;
    /// What sockets on the way may hold, several of them at their largest.
    const IN_SOCKETS: usize = 64 << 20;
    let mut options = ServeOptions::default();
    options.max_output = 1 << 20;
    let server = start_secure(options);
    let relay = relay(server.addr).await;
    let (config, auth) = (server.config(&[ConMode::Secure]), server.auth(AuthMethod::Cephx));
    let (sender, receiver) =
        Connection::dial(relay.addr, config, auth, DialOptions::default()).await.unwrap();
    let (mut replies, _task) = run(receiver);
    relay.from_server.send(Pass::Wait).unwrap();
    for tid in 0..MESSAGES {
        send(&sender, ECHO, tid, &[], &[9; SIZE]);
    }
    let handled = settled(&server.echo.handled).await;
    assert!(handled < MESSAGES as usize);
    assert!(handled * SIZE < (1 << 20) + IN_SOCKETS, "{handled} messages were taken");
    relay.from_server.send(Pass::All).unwrap();
    for tid in 0..MESSAGES {
        assert_eq!(replies.recv().await.unwrap().tid, tid);
    }
}

#[tokio::test]
async fn operations_in_flight_hold_back_reading_until_they_reply() {
    let mut options = ServeOptions::default();
    options.max_ops_in_flight = 4;
    let server = start_secure(options);
    let (sender, receiver) = server.dial().await;
    let (mut replies, _task) = run(receiver);
    for tid in 0..10 {
        send(&sender, HELD, tid, b"held", &[]);
    }
    for (taken, first) in [(4, 0), (8, 4)] {
        assert_eq!(settled(&server.echo.handled).await, taken);
        server.echo.release();
        for tid in first..first + 4 {
            assert_eq!(replies.recv().await.unwrap().tid, tid);
        }
    }
    until(&server.echo.handled, 10).await;
    server.echo.release();
    assert_eq!(replies.recv().await.unwrap().tid, 8);
}

#[tokio::test]
async fn a_shared_throttle_holds_back_all_connections() {
    let throttle = Throttle::new(1, 1 << 20);
    let mut options = ServeOptions::default();
    options.throttle = Some(throttle.clone());
    let server = start_secure(options);
    let mut clients = Vec::new();
    for _ in 0..3 {
        let (sender, receiver) = server.dial().await;
        clients.push((sender, run(receiver)));
    }
    let permit = throttle.take(1);
    for (sender, _) in &clients {
        send(sender, ECHO, 1, &[], &[]);
    }
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    assert_eq!(server.echo.handled.load(Ordering::SeqCst), 0);
    drop(permit);
    for (_, (replies, _)) in &mut clients {
        assert_eq!(replies.recv().await.unwrap().tid, 1);
    }
}

#[tokio::test]
async fn an_outbox_that_nobody_empties_closes_its_connection() {
    let mut options = ServeOptions::default();
    options.max_outbox = 4 << 20;
    let server = start_secure(options);
    let relay = relay(server.addr).await;
    let (config, auth) = (server.config(&[ConMode::Secure]), server.auth(AuthMethod::Cephx));
    let (_sender, _receiver) =
        Connection::dial(relay.addr, config, auth, DialOptions::default()).await.unwrap();
    relay.from_server.send(Pass::Wait).unwrap();
    until(&server.echo.opened, 1).await;
    let outbox = server.echo.outboxes.lock()[0].clone();
    let message = OutMessage::new(MessageHeader::new(ECHO, 1, 1), vec![]).with_data(vec![0; 1 << 20]);
    let refused = loop {
        match outbox.push(message.clone()) {
            Ok(()) => tokio::task::yield_now().await,
            Err(refused) => break refused,
        }
    };
    assert_eq!(refused, PushError::Full);
    until(&server.echo.closed, 1).await;
    assert_eq!(outbox.push(message), Err(PushError::Closed));
}

#[tokio::test]
async fn a_sender_refuses_more_than_its_limit() {
    let server = start_secure(ServeOptions::default());
    let mut dial = DialOptions::default();
    dial.max_output = 1 << 20;
    // Nothing runs the receiver, so that nothing empties the output once the socket is full.
    let (sender, receiver) = server.dial_with(AuthMethod::Cephx, ConMode::Secure, dial).await;
    let header = MessageHeader::new(ECHO, 1, 1);
    let refused = loop {
        if let Err(refused) = sender.send(&header, |_| {}, &[&[0; 65536]]) {
            break refused;
        }
    };
    assert!(matches!(refused, SendError::Full));
    // A message counts with its front, not with its data alone.
    let front = |out: &mut Vec<u8>| out.extend_from_slice(&[0; 65536]);
    assert!(matches!(sender.send(&header, front, &[]), Err(SendError::Full)));
    assert!(sender.send(&header, |_| {}, &[]).is_ok(), "a small one still fits, and the connection is well");
    drop(receiver);
    assert!(matches!(sender.send(&header, |_| {}, &[]), Err(SendError::Closed)));
}
