//! Both sides over real sockets: what is sent arrives, whole and in order, in every mode.

mod common;

use std::{sync::atomic::Ordering, time::Duration};

use common::{ECHO, Got, HELD, PANIC, QUIT, run, send, start, start_secure, until, workers};
use sepiola_cephx::{AuthMethod, ConMode};
use sepiola_messenger::{CloseReason, DialOptions, Keepalive, OutMessage, PushError, ServeOptions};
use sepiola_msgr2::MessageHeader;

#[tokio::test]
async fn messages_of_all_sizes_come_back_in_order_in_every_mode() {
    for (method, mode) in [
        (AuthMethod::None, ConMode::Crc),
        (AuthMethod::Cephx, ConMode::Crc),
        (AuthMethod::Cephx, ConMode::Secure),
    ] {
        let server = start(&[method], &[mode], ServeOptions::default());
        let (sender, receiver) = server.dial_with(method, mode, DialOptions::default()).await;
        let (mut replies, _task) = run(receiver);
        let sizes = [0, 1, 4096, 65536, 65537, 5 << 20, 17];
        for (tid, size) in (1..).zip(sizes) {
            send(&sender, ECHO, tid, &[tid as u8; 50], &vec![tid as u8; size]);
        }
        for (tid, size) in (1..).zip(sizes) {
            let expected = Got { tid, front: vec![tid as u8; 50], data: vec![tid as u8; size] };
            assert!(replies.recv().await.unwrap() == expected, "{method} {mode} {size}");
        }
    }
}

#[tokio::test]
async fn many_tasks_share_a_connection() {
    let server = start_secure(ServeOptions::default());
    let (sender, receiver) = server.dial().await;
    let (mut replies, _task) = run(receiver);
    for task in 0..16 {
        let sender = sender.clone();
        tokio::spawn(async move {
            for i in 0..100 {
                send(&sender, ECHO, task * 100 + i, b"front", &[7; 1000]);
                tokio::task::yield_now().await;
            }
        });
    }
    let mut next = [0; 16];
    for _ in 0..1600 {
        let got = replies.recv().await.unwrap();
        let (task, i) = ((got.tid / 100) as usize, got.tid % 100);
        assert_eq!(next[task], i, "the order of one sender is kept");
        next[task] += 1;
        assert_eq!(got.data, [7; 1000]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_connections_are_spread_over_workers() {
    let mut options = ServeOptions::default();
    options.workers = Some(workers(3));
    let server = start_secure(options);
    let mut clients = Vec::new();
    for _ in 0..60 {
        let (sender, receiver) = server.dial().await;
        clients.push((sender, run(receiver)));
    }
    for round in 0..20 {
        for (sender, _) in &clients {
            send(sender, ECHO, round, b"x", &[1; 100]);
        }
        for (_, (replies, _)) in &mut clients {
            assert_eq!(replies.recv().await.unwrap().tid, round);
        }
    }
    assert_eq!(server.echo.opened.load(Ordering::SeqCst), 60);
    drop(clients);
    // The receivers' tasks still run: what ends connections is the end of the server.
    server.stop.raise();
    server.task.await.unwrap();
    assert_eq!(server.echo.closed.load(Ordering::SeqCst), 60);
}

#[tokio::test]
async fn spinning_sides_serve_as_sleeping_ones_do() {
    let mut options = ServeOptions::default();
    options.spin = Duration::from_micros(200);
    let server = start_secure(options);
    let mut dial = DialOptions::default();
    dial.spin = Duration::from_micros(200);
    let (sender, receiver) = server.dial_with(AuthMethod::Cephx, ConMode::Secure, dial).await;
    let (mut replies, _task) = run(receiver);
    for tid in 0..50 {
        send(&sender, ECHO, tid, b"x", &[]);
        assert_eq!(replies.recv().await.unwrap().tid, tid);
    }
}

#[tokio::test]
async fn others_reach_a_connection_through_its_outbox() {
    let mut options = ServeOptions::default();
    options.workers = Some(workers(1));
    let server = start_secure(options);
    let (_sender, receiver) = server.dial().await;
    let (mut replies, task) = run(receiver);
    until(&server.echo.opened, 1).await;
    let outbox = server.echo.outboxes.lock()[0].clone();
    let pushed = outbox.clone();
    std::thread::spawn(move || {
        for tid in 0..1000 {
            let header = MessageHeader { tid: tid.into(), ..MessageHeader::new(ECHO, 1, 1) };
            pushed.push(OutMessage::new(header, vec![1, 2, 3]).with_data(vec![4; 5000])).unwrap();
        }
    });
    for tid in 0..1000 {
        let got = replies.recv().await.unwrap();
        assert_eq!((got.tid, got.front.len(), got.data.len()), (tid, 3, 5000));
    }
    // Only now: a close does not wait for a socket that is full.
    outbox.close();
    assert!(matches!(task.await.unwrap(), CloseReason::PeerClosed));
    until(&server.echo.closed, 1).await;
    let late = OutMessage::new(MessageHeader::new(ECHO, 1, 1), vec![]);
    assert_eq!(outbox.push(late), Err(PushError::Closed));
}

#[tokio::test]
async fn a_session_is_given_back_once_however_it_ends() {
    let server = start_secure(ServeOptions::default());
    let echo = &server.echo;

    let (sender, receiver) = server.dial().await;
    let (_replies, task) = run(receiver);
    sender.close();
    assert!(matches!(task.await.unwrap(), CloseReason::Local));
    assert!(sender.is_closed());
    until(&echo.closed, 1).await;

    for (ended, kind) in [(2, QUIT), (3, PANIC)] {
        let (sender, receiver) = server.dial().await;
        let (_replies, task) = run(receiver);
        send(&sender, kind, 1, &[], &[]);
        assert!(matches!(task.await.unwrap(), CloseReason::PeerClosed));
        until(&echo.closed, ended).await;
    }

    // Others are not harmed.
    let (sender, receiver) = server.dial().await;
    let (mut replies, _task) = run(receiver);
    send(&sender, ECHO, 9, &[], &[]);
    assert_eq!(replies.recv().await.unwrap().tid, 9);
    assert_eq!(echo.opened.load(Ordering::SeqCst), 4);
    assert_eq!(echo.closed.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn keepalives_are_answered_and_keep_a_quiet_connection() {
    let mut options = ServeOptions::default();
    options.idle_timeout = Duration::from_millis(300);
    let server = start_secure(options);
    let keepalive = Keepalive { interval: Duration::from_millis(50), timeout: Duration::from_secs(60) };
    let dial = DialOptions::default().with_keepalive(keepalive);
    let (kept, receiver) = server.dial_with(AuthMethod::Cephx, ConMode::Secure, dial).await;
    let (mut replies, _task) = run(receiver);
    // One that sends nothing ends.
    let (_quiet, receiver) = server.dial().await;
    let (_none, quiet_task) = run(receiver);
    assert!(matches!(quiet_task.await.unwrap(), CloseReason::PeerClosed));
    send(&kept, ECHO, 1, &[], &[]);
    assert_eq!(replies.recv().await.unwrap().tid, 1);
}

#[tokio::test]
async fn a_shutdown_lets_work_in_flight_reply() {
    let server = start_secure(ServeOptions::default());
    let (sender, receiver) = server.dial().await;
    let (mut replies, task) = run(receiver);
    send(&sender, HELD, 5, b"late", &[]);
    until(&server.echo.handled, 1).await;
    server.stop.raise();
    // New work is not taken any more.
    send(&sender, ECHO, 6, &[], &[]);
    tokio::time::sleep(Duration::from_millis(50)).await;
    server.echo.release();
    assert_eq!(replies.recv().await.unwrap(), Got { tid: 5, front: b"late".to_vec(), data: vec![] });
    assert!(matches!(task.await.unwrap(), CloseReason::PeerClosed));
    server.task.await.unwrap();
    assert!(replies.recv().await.is_none());
}
