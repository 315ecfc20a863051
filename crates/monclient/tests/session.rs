//! A client and a scripted monitor: what a session carries, and what happens when it breaks.

mod support;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use sepiola_cephx::TicketLife;
use sepiola_messages::{PoolOp, PoolOpCode, WireMessage, proto};
use sepiola_messenger::CloseReason;
use sepiola_monclient::{
    Credentials, MapObserver, MapSource, MonClient, MonError, OsdMapWish, PrivateHandler,
};
use sepiola_msgr2::Message;
use sepiola_osdmap::OsdMap;
use sepiola_wire::{EntityName, EntityType, Epoch, Errno, OsdId, UTime};
use support::{Cluster, FSID, LIMIT, Mon, Received, options, until};

fn admin() -> EntityName {
    EntityName::client("admin")
}

async fn connect(mon: &Mon) -> Arc<MonClient> {
    MonClient::connect(options(admin(), Credentials::None, vec![mon.addr])).await.unwrap()
}

#[tokio::test]
async fn a_connected_client_has_its_maps_and_gets_answers() {
    let cluster = Cluster::open();
    let mon = Mon::start(&cluster, "a");
    let client = connect(&mon).await;
    assert_eq!(client.fsid(), FSID);
    assert_eq!((client.epoch(), client.osdmap().epoch()), (Epoch(3), Epoch(3)));
    assert_eq!(client.global_id().0, 4100);
    assert_eq!(client.config()["debug_ms"], "1");
    assert_eq!(client.seen_as(), Some([127, 0, 0, 1].into()));

    let reply = client.command(r#"{"prefix": "status"}"#, "input", LIMIT).await.unwrap();
    assert_eq!((reply.code, reply.status.as_str()), (0, "fine"));
    assert_eq!(reply.output, r#"{"prefix": "status"}input"#);
    let reply = client.command(r#"{"prefix": "nonsense"}"#, "", LIMIT).await.unwrap();
    assert_eq!(reply.errno(), Some(Errno::EINVAL));

    let version = client.get_version("osdmap", LIMIT).await.unwrap();
    assert_eq!((version.version, version.oldest), (3, 1));
    assert_eq!(client.statfs(None, LIMIT).await.unwrap().kb, 1024);
    let stats = client.pool_stats(vec!["bench".into()], LIMIT).await.unwrap();
    assert!(stats.pools.contains_key("bench"));
}

#[tokio::test]
async fn a_pool_operation_is_done_when_its_map_is_here() {
    let cluster = Cluster::open();
    let mon = Mon::start(&cluster, "a");
    let client = connect(&mon).await;
    let create = |name: &str| PoolOp { op: PoolOpCode::CREATE, name: name.into(), ..PoolOp::default() };
    let reply = client.pool_op(create("new"), LIMIT).await.unwrap();
    assert_eq!((reply.epoch, client.epoch()), (Epoch(4), Epoch(4)));
    let error = client.pool_op(create("exists"), LIMIT).await.unwrap_err();
    assert_eq!(error.errno(), Errno::EEXIST);
}

#[tokio::test]
async fn newer_maps_come_when_they_are_asked_for() {
    let cluster = Cluster::open();
    let mon = Mon::start(&cluster, "a");
    let client = connect(&mon).await;
    cluster.publish(6);
    assert_eq!(client.wait_for_latest_osdmap(LIMIT).await.unwrap().epoch(), Epoch(6));
    let error = client.wait_for_epoch(Epoch(7), Duration::from_millis(100)).await.unwrap_err();
    assert!(matches!(error, MonError::TimedOut { .. }), "{error}");
    // The request stays armed at the monitor, once.
    assert_eq!(cluster.subscriptions("osdmap"), [(1, 0, true), (1, 4, true), (1, 7, true)]);
}

#[tokio::test]
async fn a_gap_in_pushed_maps_is_filled() {
    let cluster = Cluster::open();
    let mon = Mon::start(&cluster, "a");
    let mut wanted = options(admin(), Credentials::None, vec![mon.addr]);
    wanted.osdmap = OsdMapWish::Continuous;
    let client = MonClient::connect(wanted).await.unwrap();
    cluster.publish(6);
    cluster.push(&cluster.map_message(6..=6, None));
    // The continuous subscription goes on from 4, which the client has to say again.
    let mut epochs = client.watch_epochs();
    epochs.wait_for(|e| *e == Epoch(6)).await.unwrap();
}

#[tokio::test]
async fn a_broken_session_is_replaced_and_unanswered_requests_are_repeated() {
    let cluster = Cluster::open();
    let mon = Mon::start(&cluster, "a");
    let mut wanted = options(admin(), Credentials::None, vec![mon.addr]);
    wanted.osdmap = OsdMapWish::Continuous;
    let client = MonClient::connect(wanted).await.unwrap();
    let id = client.global_id();

    cluster.mute.store(true, Ordering::Relaxed);
    let asking = tokio::spawn({
        let client = client.clone();
        async move { client.command(r#"{"prefix": "status"}"#, "", LIMIT).await }
    });
    until(|| cluster.commands().len() == 1).await;
    cluster.mute.store(false, Ordering::Relaxed);
    cluster.break_sessions();
    assert_eq!(asking.await.unwrap().unwrap().status, "fine");

    let commands = cluster.commands();
    assert_eq!((commands[0].0, commands[1].0), (1, 2), "each on its session");
    assert_eq!(commands[0].1, commands[1].1, "under the same number");
    assert_eq!(cluster.subscriptions("osdmap"), [(1, 0, false), (2, 4, false)]);
    assert_eq!(client.global_id(), id);
    assert_eq!(*client.watch_sessions().borrow(), 2);
}

#[tokio::test]
async fn a_caller_who_gave_up_is_not_served_later() {
    let cluster = Cluster::open();
    let mon = Mon::start(&cluster, "a");
    let client = connect(&mon).await;
    cluster.mute.store(true, Ordering::Relaxed);
    let error = client.command("status", "", Duration::from_millis(50)).await.unwrap_err();
    assert_eq!(error.errno(), Errno::ETIMEDOUT);
    cluster.break_sessions();
    let mut sessions = client.watch_sessions();
    sessions.wait_for(|n| *n == 2).await.unwrap();
    cluster.mute.store(false, Ordering::Relaxed);
    client.command("status again", "", LIMIT).await.unwrap();
    let commands: Vec<_> = cluster.commands().into_iter().map(|c| c.2).collect();
    assert_eq!(commands, ["status", "status again"]);
}

#[tokio::test]
async fn another_monitor_takes_over() {
    let cluster = Cluster::open();
    let (a, b) = (Mon::start(&cluster, "a"), Mon::start(&cluster, "b"));
    // Only one of them is known at first; the map tells of the other.
    let client = connect(&a).await;
    assert_eq!(client.monmap().ranks, ["a", "b"]);
    let other = b.socket();
    a.stop().await;
    until(|| cluster.session_addrs() == [other]).await;
    assert_eq!(client.command("status", "", LIMIT).await.unwrap().code, 0);
    b.stop().await;
    let error = client.command("status", "", Duration::from_millis(300)).await.unwrap_err();
    assert!(error.to_string().contains("no session"), "{error}");
}

#[tokio::test]
async fn the_session_ends_with_the_client() {
    let cluster = Cluster::open();
    let mon = Mon::start(&cluster, "a");
    let client = connect(&mon).await;
    assert_eq!(cluster.session_count(), 1);
    drop(client);
    until(|| cluster.session_count() == 0).await;
}

#[derive(Default)]
struct Seen {
    maps: Mutex<Vec<(u32, bool)>>,
    private: AtomicU64,
}

impl MapObserver for Seen {
    fn map(&self, map: &Arc<OsdMap>, source: MapSource<'_>) {
        self.maps.lock().push((map.epoch().0, matches!(source, MapSource::Full(_))));
    }
}

impl PrivateHandler for Seen {
    fn message(&self, message: &Message<'_>) -> Result<(), CloseReason> {
        let ack = proto::OsdStatsAck::decode(message.header.version, message.front, b"").unwrap();
        self.private.store(ack.seq, Ordering::Relaxed);
        Ok(())
    }
}

#[tokio::test]
async fn an_osd_has_every_map_its_secrets_and_private_messages() {
    let name = EntityName::osd(OsdId(0));
    let (cluster, key) = Cluster::closed(&name);
    let mon = Mon::start(&cluster, "a");
    let seen = Arc::new(Seen::default());
    let mut wanted = options(name, Credentials::Key(key), vec![mon.addr]);
    wanted.osdmap = OsdMapWish::Continuous;
    wanted.daemon_id = Some(0);
    wanted.map_observer = Some(seen.clone());
    wanted.private_handler = Some(seen.clone());
    let client = MonClient::connect(wanted).await.unwrap();

    let mut rotating = client.rotating();
    let secrets = rotating.wait_for(Option::is_some).await.unwrap().clone().unwrap();
    assert_eq!(secrets.max_id(), 3);
    assert_eq!(client.fetch_rotating(LIMIT).await.unwrap().max_id(), 3);

    cluster.publish(5);
    cluster.push(&cluster.map_message(4..=5, None));
    until(|| client.epoch() == Epoch(5)).await;
    assert_eq!(*seen.maps.lock(), [(3, true), (4, false), (5, false)]);

    client.send_private(&proto::OsdBoot { map_epoch: 5, ..Default::default() }).unwrap();
    until(|| seen.private.load(Ordering::Relaxed) == 5).await;
}

#[tokio::test]
async fn tickets_are_asked_for_again_when_a_service_refuses_them() {
    let (cluster, key) = Cluster::closed(&admin());
    let mon = Mon::start(&cluster, "a");
    let client = MonClient::connect(options(admin(), Credentials::Key(key), vec![mon.addr])).await.unwrap();
    let osd = EntityType::Osd;
    assert!(client.tickets().can_reach(osd, UTime::now()), "the first authentication brings tickets");
    client.tickets().invalidate(osd);
    client.ensure_ticket(osd, LIMIT).await.unwrap();
    assert!(client.tickets().can_reach(osd, UTime::now()));
    assert!(cluster.received.lock().contains(&Received::Auth { session: 1 }));
}

#[tokio::test]
async fn tickets_are_renewed_before_they_expire() {
    let life = TicketLife { auth: Duration::from_secs(8), service: Duration::from_secs(4) };
    let (cluster, key) = Cluster::with_ticket_life(&admin(), life);
    let mon = Mon::start(&cluster, "a");
    let client = MonClient::connect(options(admin(), Credentials::Key(key), vec![mon.addr])).await.unwrap();
    for service in [EntityType::Osd, EntityType::Auth] {
        let first = client.tickets().ticket(service).unwrap();
        until(|| client.tickets().ticket(service).is_some_and(|t| t.expires > first.expires)).await;
    }
    assert_eq!(*client.watch_sessions().borrow(), 1, "all on the same session");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_session_keeps_the_identity() {
    let (cluster, key) = Cluster::closed(&admin());
    let (a, b) = (Mon::start(&cluster, "a"), Mon::start(&cluster, "b"));
    let monitors = vec![a.addr, b.addr];
    let client = MonClient::connect(options(admin(), Credentials::Key(key), monitors)).await.unwrap();
    let id = client.global_id();
    let mut sessions = client.watch_sessions();
    for n in 2..5 {
        cluster.break_sessions();
        sessions.wait_for(|s| *s == n).await.unwrap();
        assert_eq!(client.global_id(), id);
        // The tickets belong to the session that won.
        client.tickets().invalidate(EntityType::Osd);
        client.ensure_ticket(EntityType::Osd, LIMIT).await.unwrap();
    }
}

#[tokio::test]
async fn a_monitor_that_ends_every_session_is_not_stormed() {
    let cluster = Cluster::open();
    let mon = Mon::start(&cluster, "a");
    let client = connect(&mon).await;
    // From now on it calls itself another cluster's, and the client leaves at once each time.
    cluster.monmap.lock().fsid = sepiola_wire::Uuid::from_u128(9);
    cluster.monmap.lock().epoch = Epoch(2);
    cluster.break_sessions();
    tokio::time::sleep(Duration::from_millis(700)).await;
    // Pauses of 200 and 400 ms: a slow machine only makes them fewer.
    let sessions = *client.watch_sessions().borrow();
    assert!((2..=4).contains(&sessions), "{sessions}");
    assert_eq!(client.fsid(), FSID);
}
