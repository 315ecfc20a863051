//! How OSDs come, stay and go.

use std::time::Duration;

use crate::common::{Client, Mon, fsid};
use sepiola_messages::{
    MonSubscribe, OsdMapMessage, SubscribeFlags, pg_state,
    proto::{
        ObjectSums, OsdBeacon, OsdBoot, OsdDown, OsdDownAck, OsdFailureReport, OsdStats, OsdStatsAck,
        PgStats, StoreStatfs,
    },
};
use sepiola_osdmap::{Incremental, OsdMap};
use sepiola_wire::{EntityAddr, EntityAddrVec, Features, OsdId, encode_to_vec};
use serde_json::json;

fn addrs(id: i32, nonce: u32) -> Vec<u8> {
    let addr: EntityAddr = format!("v2:127.0.0.1:{}/{nonce}", 6800 + id).parse().unwrap();
    encode_to_vec(&EntityAddrVec::from(addr), Features::SUPPORTED)
}

fn boot(id: i32, nonce: u32) -> OsdBoot {
    OsdBoot {
        fsid: fsid().as_bytes().to_vec().into(),
        osd_uuid: vec![id as u8 + 1; 16].into(),
        osd_id: id,
        client_addrs: addrs(id, nonce).into(),
        metadata: [("hostname".to_owned(), "h1".to_owned())].into(),
        ..OsdBoot::default()
    }
}

/// A map that is kept up to date by what arrives.
struct Watched {
    client: Client,
    map: OsdMap,
}

impl Watched {
    async fn new(mon: &Mon) -> Self {
        let mut client = Client::connect(mon, "client.admin").await;
        client.send(&MonSubscribe::one("osdmap", 0, SubscribeFlags::CONTINUOUS));
        let first = client.receive::<OsdMapMessage>().await.1;
        let map = OsdMap::decode(first.full.values().next().unwrap()).unwrap();
        Watched { client, map }
    }

    /// Follows the map until it is as wanted.
    async fn until(&mut self, wanted: impl Fn(&OsdMap) -> bool) {
        while !wanted(&self.map) {
            let next = self.client.receive::<OsdMapMessage>().await.1;
            for step in next.incremental.values() {
                self.map = self.map.apply_checked(&Incremental::decode(step).unwrap()).unwrap();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_osd_boots_into_the_map_and_leaves_it_in_order() {
    let dir = tempfile::tempdir().unwrap();
    Mon::mkfs(dir.path());
    let mon = Mon::start(dir.path()).await;
    let mut watched = Watched::new(&mon).await;
    let mut osd = Client::connect(&mon, "osd.0").await;
    osd.send(&boot(0, 7));
    watched.until(|map| map.is_up(OsdId(0))).await;
    let entry = watched.map.osd(OsdId(0)).unwrap();
    assert!(entry.is_in() && entry.weight == 0x10000);
    assert_eq!(entry.client_addrs.to_string(), "v2:127.0.0.1:6800/7");
    let tree = watched.client.output(json!({"prefix": "osd tree"})).await;
    assert!(tree.contains("    host h1") && tree.contains("        osd.0      up"), "{tree}");

    // A restart that nobody noticed: the earlier life ends in an epoch of its own.
    let before = watched.map.epoch();
    osd.send(&boot(0, 8));
    watched.until(|map| map.osd(OsdId(0)).unwrap().client_addrs.to_string().ends_with("/8")).await;
    assert_eq!(watched.map.epoch().0, before.0 + 2);
    assert_eq!(watched.map.osd(OsdId(0)).unwrap().info.down_at.0, before.0 + 1);
    // The same again changes nothing.
    osd.send(&boot(0, 8));

    osd.send(&OsdDown { osd_uuid: vec![9; 16].into(), osd_id: 0, map_epoch: 0 });
    osd.receive::<OsdDownAck>().await;
    osd.send(&OsdDown { osd_uuid: vec![1; 16].into(), osd_id: 0, map_epoch: 0 });
    let ack = osd.receive::<OsdDownAck>().await.1;
    watched.until(|map| !map.is_up(OsdId(0))).await;
    assert_eq!((ack.map_epoch, watched.map.epoch().0), (before.0 + 3, before.0 + 3));
    mon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_osd_goes_down_and_one_with_beacons_stays() {
    let dir = tempfile::tempdir().unwrap();
    Mon::mkfs(dir.path());
    let mon = Mon::start_with(dir.path(), |o| {
        o.tick = Duration::from_millis(20);
        o.liveness.beacon_grace = Duration::from_millis(400);
    })
    .await;
    let mut watched = Watched::new(&mon).await;
    let (mut alive, mut silent) =
        (Client::connect(&mon, "osd.0").await, Client::connect(&mon, "osd.1").await);
    alive.send(&boot(0, 7));
    silent.send(&boot(1, 7));
    watched.until(|map| map.is_up(OsdId(0)) && map.is_up(OsdId(1))).await;
    let beacons = tokio::spawn(async move {
        loop {
            alive.send(&OsdBeacon { osd_uuid: vec![1; 16].into(), osd_id: 0, ..OsdBeacon::default() });
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    watched.until(|map| !map.is_up(OsdId(1))).await;
    assert!(watched.map.is_up(OsdId(0)));
    beacons.abort();
    watched.until(|map| !map.is_up(OsdId(0))).await;
    assert!(watched.map.osd(OsdId(0)).unwrap().is_in(), "down is not out");
    mon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_connection_is_reported_and_believed_at_once() {
    let dir = tempfile::tempdir().unwrap();
    Mon::mkfs(dir.path());
    // Nothing but the report can mark it down.
    let mon = Mon::start_with(dir.path(), |o| o.liveness.beacon_grace = Duration::from_secs(3600)).await;
    let mut watched = Watched::new(&mon).await;
    let (mut reporter, mut failed) =
        (Client::connect(&mon, "osd.0").await, Client::connect(&mon, "osd.1").await);
    reporter.send(&boot(0, 7));
    failed.send(&boot(1, 7));
    watched.until(|map| map.is_up(OsdId(0)) && map.is_up(OsdId(1))).await;
    let report = |nonce: u32| OsdFailureReport {
        reporter: 0,
        failed_osd: 1,
        failed_addrs: addrs(1, nonce).into(),
        immediate: true,
        ..OsdFailureReport::default()
    };
    let epoch = watched.map.epoch();
    reporter.send(&report(6)); // an earlier life
    reporter.send(&report(7));
    watched.until(|map| !map.is_up(OsdId(1))).await;
    assert_eq!(watched.map.epoch(), epoch.next());
    mon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_an_osd_with_its_caps_speaks_for_itself() {
    let dir = tempfile::tempdir().unwrap();
    Mon::mkfs(dir.path());
    let mon = Mon::start(dir.path()).await;
    let mut watched = Watched::new(&mon).await;
    // A client with every right, an OSD for another one, an OSD without the caps of one.
    for (name, id) in [("client.admin", 0), ("osd.1", 0), ("osd.2", 2)] {
        let mut peer = Client::connect(&mon, name).await;
        peer.send(&boot(id, 7));
        peer.closed().await;
    }
    watched.client.output(json!({"prefix": "osd pool create", "pool": "p"})).await;
    watched.until(|map| map.epoch().0 == 2).await;
    assert_eq!(watched.map.max_osd(), 0);
    mon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reports_show_up_in_status() {
    let dir = tempfile::tempdir().unwrap();
    Mon::mkfs(dir.path());
    let mon = Mon::start(dir.path()).await;
    let mut watched = Watched::new(&mon).await;
    watched.client.output(json!({"prefix": "osd pool create", "pool": "p", "pg_num": 1})).await;
    let mut osd = Client::connect(&mon, "osd.0").await;
    osd.send(&boot(0, 7));
    watched.until(|map| map.is_up(OsdId(0))).await;
    osd.send(&OsdStats {
        osd_uuid: vec![1; 16].into(),
        seq: 5,
        statfs: Some(StoreStatfs { total: 1 << 30, available: 1 << 29, ..StoreStatfs::default() }),
        pgs: vec![PgStats {
            pool: 1,
            state: pg_state::ACTIVE | pg_state::CLEAN,
            sums: Some(ObjectSums { objects: 3, bytes: 3 << 20, ..ObjectSums::default() }),
            ..PgStats::default()
        }],
        complete: true,
        ..OsdStats::default()
    });
    assert_eq!(osd.receive::<OsdStatsAck>().await.1.seq, 5);
    let status = watched.client.output(json!({"prefix": "status"})).await;
    for line in [
        "health: HEALTH_OK",
        "objects: 3 objects, 3 MiB",
        "512 MiB used, 512 MiB / 1 GiB avail",
        "1 active+clean",
    ] {
        assert!(status.contains(line), "{status}");
    }
    mon.stop().await;
}
