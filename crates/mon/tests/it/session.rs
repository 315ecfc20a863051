//! What clients of a monitor see over the wire.

use crate::common::{Client, KEYRING, Mon, fsid};
use sepiola_cephx::{AuthEnv, AuthMethod, AuthReply as Outcome, ConMode, Keyring, ServiceSet, TicketKeeper};
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_messages::{
    Auth, AuthReply, Config, GetPoolStats, GetPoolStatsReply, MonGetMap, MonGetVersion, MonGetVersionReply,
    MonMapMessage, MonSubscribe, OsdMapMessage, Ping, PoolOp, PoolOpCode, PoolOpReply, Statfs, StatfsReply,
    SubscribeFlags, Subscription, kind,
};
use sepiola_osdmap::OsdMap;
use sepiola_wire::{EntityType, Errno, UTime};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bootstrap_is_answered_as_librados_expects() {
    let dir = tempfile::tempdir().unwrap();
    Mon::mkfs(dir.path());
    let mon = Mon::start(dir.path()).await;
    let mut client = Client::connect(&mon, "client.admin").await;
    client.send(&MonGetMap);
    let all = |what: &str| (what.to_owned(), Subscription { start: 0, flags: SubscribeFlags::CONTINUOUS });
    client.send(&MonSubscribe { what: [all("config"), all("monmap")].into(), hostname: "h".into() });
    let map = client.receive::<MonMapMessage>().await.1.map().unwrap();
    assert_eq!((map.fsid, map.epoch.0), (fsid(), 1));
    assert_eq!(map.by_rank().next().unwrap().addrs.0, [mon.addr], "the port that was taken");
    client.receive::<Config>().await;
    client.receive::<MonMapMessage>().await;
    let map = OsdMap::decode(client.osdmap(0).await.full.values().next().unwrap()).unwrap();
    assert_eq!(map.fsid(), fsid());
    client.send(&Ping::default());
    assert!(client.receive::<Ping>().await.1.text.unwrap().contains("\"quorum\":[0]"));
    mon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_keys_and_missing_caps_end_the_handshake_alike() {
    let dir = tempfile::tempdir().unwrap();
    Mon::mkfs(dir.path());
    let mon = Mon::start(dir.path()).await;
    let keyring = Keyring::parse(KEYRING).unwrap();
    let reader = keyring.get(&"client.reader".parse().unwrap()).unwrap().key.clone().unwrap();
    let wrong = CryptoKey::generate(KeyType::Aes, UTime::now(), &mut rand::rng());
    for (name, key) in [("client.admin", wrong), ("client.nobody", reader.clone()), ("client.nocaps", reader)]
    {
        let keeper = TicketKeeper::new(name.parse().unwrap(), key, ServiceSet::CLIENT);
        let refused = Client::with_keeper(&mon, keeper, &[ConMode::Secure]).await.err().unwrap();
        assert!(refused.is_denied(), "{name}: {refused}");
        assert_eq!(refused.errno(), Errno::EACCES);
    }
    // Crc is not offered by default, and the newest key type works like the old one.
    let admin = keyring.get(&"client.admin".parse().unwrap()).unwrap().key.clone().unwrap();
    let keeper = TicketKeeper::new("client.admin".parse().unwrap(), admin, ServiceSet::CLIENT);
    assert!(Client::with_keeper(&mon, keeper, &[ConMode::Crc]).await.is_err());
    Client::connect(&mon, "client.newest").await.output(json!({"prefix": "fsid"})).await;
    mon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pools_are_made_and_deleted_by_message() {
    let dir = tempfile::tempdir().unwrap();
    Mon::mkfs(dir.path());
    let mon = Mon::start(dir.path()).await;
    let mut client = Client::connect(&mon, "client.admin").await;
    let op = |op, pool, name: &str| PoolOp {
        fsid: fsid(),
        pool,
        op,
        name: name.into(),
        crush_rule: -1,
        ..PoolOp::default()
    };
    let create = client.send(&op(PoolOpCode::CREATE, 0, "p"));
    let (tid, reply) = client.receive::<PoolOpReply>().await;
    assert_eq!((tid, reply.result, reply.epoch.0), (create, 0, 2));
    let step = client.osdmap(2).await;
    assert_eq!(step.incremental.keys().map(|e| e.0).collect::<Vec<_>>(), [2]);

    client.send(&op(PoolOpCode::CREATE, 0, "p"));
    assert_eq!(client.receive::<PoolOpReply>().await.1.result, Errno::EEXIST.to_wire());
    client.send(&op(PoolOpCode::CREATE_SNAP, 1, "s"));
    assert_eq!(client.receive::<PoolOpReply>().await.1.result, Errno::EOPNOTSUPP.to_wire());
    client.send(&MonGetVersion { handle: 9, what: "osdmap".into() });
    let version = client.receive::<MonGetVersionReply>().await.1;
    assert_eq!((version.handle, version.version), (9, 2));
    client.send(&GetPoolStats { fsid: fsid(), pools: vec!["p".into(), "q".into()], ..Default::default() });
    let stats = client.receive::<GetPoolStatsReply>().await.1;
    assert_eq!(stats.pools.keys().collect::<Vec<_>>(), ["p"]);
    client.send(&Statfs { fsid: fsid(), ..Default::default() });
    client.receive::<StatfsReply>().await;

    // Rights are those of the message, not those of having authenticated (CVE-2018-10861).
    let mut reader = Client::connect(&mon, "client.reader").await;
    for request in [op(PoolOpCode::CREATE, 0, "r"), op(PoolOpCode::DELETE, 1, "delete")] {
        reader.send(&request);
        assert_eq!(reader.receive::<PoolOpReply>().await.1.result, Errno::EPERM.to_wire());
    }
    assert_eq!(reader.command(json!({"prefix": "auth ls"})).await.result, Errno::EACCES.to_wire());
    client.send(&op(PoolOpCode::DELETE, 1, "delete"));
    assert_eq!(client.receive::<PoolOpReply>().await.1.result, 0);
    assert_eq!(client.output(json!({"prefix": "osd pool ls"})).await, "");
    mon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn subscribers_hear_of_each_epoch_before_its_maker_does() {
    let dir = tempfile::tempdir().unwrap();
    Mon::mkfs(dir.path());
    let mon = Mon::start(dir.path()).await;
    let mut maker = Client::connect(&mon, "client.admin").await;
    maker.send(&MonSubscribe::one("osdmap", 2, SubscribeFlags::CONTINUOUS));
    let mut listener = Client::connect(&mon, "client.reader").await;
    listener.send(&MonSubscribe::one("osdmap", 0, SubscribeFlags::CONTINUOUS));
    assert_eq!(listener.receive::<OsdMapMessage>().await.1.last().unwrap().0, 1);
    for epoch in 2..12 {
        let create = json!({"prefix": "osd pool create", "pool": format!("p{epoch}"), "pg_num": 1});
        maker.send(&sepiola_messages::MonCommand {
            fsid: fsid(),
            cmd: vec![create.to_string()],
            ..Default::default()
        });
        assert_eq!(maker.kinds_before::<sepiola_messages::MonCommandAck>().await, [kind::OSD_MAP]);
        let heard = listener.receive::<OsdMapMessage>().await.1;
        assert_eq!(heard.incremental.keys().map(|e| e.0).collect::<Vec<_>>(), [epoch]);
    }
    mon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_messages_are_dropped_and_malformed_ones_end_the_session() {
    let dir = tempfile::tempdir().unwrap();
    Mon::mkfs(dir.path());
    let mon = Mon::start(dir.path()).await;
    let mut client = Client::connect(&mon, "client.admin").await;
    client.send(&sepiola_messages::MonSubscribeAck::default());
    client.output(json!({"prefix": "fsid"})).await;
    let other =
        sepiola_messages::MonCommand { cmd: vec!["{\"prefix\": \"fsid\"}".into()], ..Default::default() };
    client.send(&other);
    let refused = client.receive::<sepiola_messages::MonCommandAck>().await.1;
    assert_eq!(refused.result, Errno::EPERM.to_wire(), "another cluster's command");

    struct Broken;
    impl sepiola_messages::WireMessage for Broken {
        const TYPE: u16 = kind::MON_COMMAND;
        const VERSION: u16 = 1;
        const COMPAT: u16 = 1;
        fn encode_front(&self, out: &mut Vec<u8>, _: sepiola_wire::Features) {
            out.extend([0xff; 40]);
        }
        fn decode(_: u16, _: &[u8], _: &[u8]) -> Result<Self, sepiola_wire::DecodeError> {
            Ok(Broken)
        }
    }
    let mut bystander = Client::connect(&mon, "client.admin").await;
    client.send(&Broken);
    client.closed().await;
    bystander.output(json!({"prefix": "fsid"})).await;
    mon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tickets_are_renewed_on_the_open_session() {
    let dir = tempfile::tempdir().unwrap();
    Mon::mkfs(dir.path());
    let mon = Mon::start(dir.path()).await;
    let mut client = Client::connect(&mon, "client.admin").await;
    let keeper = client.keeper.clone();
    assert!(keeper.ticket(EntityType::Osd).is_some(), "came with the handshake");
    keeper.invalidate(EntityType::Osd);
    let payload = keeper.renewal(&mut AuthEnv::new(UTime::now(), &mut rand::rng())).unwrap();
    client.send(&Auth { protocol: AuthMethod::Cephx.as_u32(), payload: payload.into(), monmap_epoch: 1 });
    let reply = client.receive::<AuthReply>().await.1;
    assert_eq!((reply.result, reply.global_id), (0, keeper.global_id()));
    let outcome: Outcome =
        keeper.handle_auth_reply(reply.result, reply.global_id, &reply.payload, UTime::now()).unwrap();
    drop(outcome);
    assert!(keeper.ticket(EntityType::Osd).is_some());
    client.send(&Auth { protocol: 2, payload: vec![0, 2, 9].into(), monmap_epoch: 1 });
    assert!(client.receive::<AuthReply>().await.1.result < 0);
    mon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_authentication_everybody_is_believed_if_so_told() {
    let dir = tempfile::tempdir().unwrap();
    Mon::mkfs(dir.path());
    let mon = Mon::start_with(dir.path(), |o| o.auth = vec![AuthMethod::None]).await;
    let keeper = TicketKeeper::without_keys("client.anybody".parse().unwrap());
    let mut client = Client::with_keeper(&mon, keeper, &[ConMode::Crc]).await.unwrap();
    client.output(json!({"prefix": "auth ls"})).await;
    assert!(Client::try_connect(&mon, "client.admin").await.is_err(), "cephx is not offered");
    mon.stop().await;
}
