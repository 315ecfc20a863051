//! A monitor that is killed keeps every promise: what it acknowledged is there after the restart, and OSDs
//! and clients go on by themselves.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use sepiola_client::Rados;
use sepiola_tests::{Bystander, MiniCluster, Tool, test_pool};
use serde_json::json;

const SOON: Duration = Duration::from_secs(20);

fn pools(cluster: &MiniCluster) -> Vec<String> {
    serde_json::from_value(cluster.ceph_json(&["osd", "pool", "ls"])).unwrap()
}

fn epoch(cluster: &MiniCluster) -> u64 {
    cluster.ceph_json(&["osd", "dump"])["epoch"].as_u64().unwrap()
}

#[test]
fn a_command_acknowledged_just_before_the_kill_is_kept() {
    let mut cluster = MiniCluster::start(|options| options);
    let fsid = cluster.ceph(&["fsid"]);
    let mut epoch_before = epoch(&cluster);
    for round in 0..4 {
        let (pool, user) = (format!("pool-{round}"), format!("client.user-{round}"));
        cluster.ceph(&["osd", "pool", "create", &pool, "8"]);
        cluster.kill("mon.a");
        cluster.restart("mon.a");
        assert!(pools(&cluster).contains(&pool), "{pool} was acknowledged");
        let epoch_now = epoch(&cluster);
        assert!(epoch_now > epoch_before, "a pool makes an epoch: {epoch_before} to {epoch_now}");
        epoch_before = epoch_now;

        let given = cluster.ceph(&["auth", "get-or-create", &user, "mon", "allow r", "osd", "allow rw"]);
        cluster.kill("mon.a");
        cluster.restart("mon.a");
        let found = cluster.ceph_json(&["auth", "get", &user]);
        let key = found[0]["key"].as_str().unwrap();
        assert!(given.contains(key), "{user} has another key than the one given out");
        assert_eq!(found[0]["caps"], json!({ "mon": "allow r", "osd": "allow rw" }));
    }

    // Removals are promises, too.
    cluster.ceph(&["auth", "rm", "client.user-0"]);
    let removal = ["osd", "pool", "rm", "pool-0", "pool-0", "--yes-i-really-really-mean-it"];
    cluster.ceph(&removal);
    cluster.kill("mon.a");
    cluster.restart("mon.a");
    assert!(!pools(&cluster).contains(&"pool-0".to_owned()));
    cluster.run(Tool::Sepiola, "ceph", &["auth", "get", "client.user-0"]).refused().unwrap();
    assert_eq!(cluster.ceph(&["fsid"]), fsid);
}

/// What a monitor has acknowledged.
#[derive(Default)]
struct Acknowledged {
    pools: Vec<String>,
    keys: BTreeMap<String, String>,
    /// The newest epoch that anyone was told of.
    epoch: u32,
}

/// Makes pools and users until it is told to stop; commands in flight when the monitor dies may fail.
async fn administer(rados: Rados, prefix: &str, stop: &AtomicBool, told: &Mutex<Acknowledged>) {
    for n in 0.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let pool = format!("{prefix}-{n}");
        let command = json!({ "prefix": "osd pool create", "pool": pool, "pg_num": 1 });
        if rados.mon_command(command.to_string(), "").await.is_ok() {
            told.lock().unwrap().pools.push(pool);
        }
        let user = format!("client.{prefix}-{n}");
        let caps = ["mon", "allow r", "osd", "allow rw"];
        let command =
            json!({ "prefix": "auth get-or-create", "entity": user, "caps": caps, "format": "json" });
        if let Ok(done) = rados.mon_command(command.to_string(), "").await {
            let answer: serde_json::Value = serde_json::from_slice(&done.output).unwrap();
            let key = answer[0]["key"].as_str().unwrap().to_owned();
            told.lock().unwrap().keys.insert(user, key);
        }
        let epoch = rados.osdmap().epoch().0;
        let mut told = told.lock().unwrap();
        told.epoch = told.epoch.max(epoch);
    }
}

#[test]
fn kills_under_concurrent_commands_lose_nothing_acknowledged() {
    let mut cluster = MiniCluster::start(|options| options);
    let bystander = Bystander::start(&cluster);
    let (stop, told) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Acknowledged::default())));
    let administrators: Vec<_> = ["left", "right"]
        .into_iter()
        .map(|prefix| {
            let (conf, stop, told) = (cluster.conf(), stop.clone(), told.clone());
            thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    let rados = Rados::builder().conf_file(conf).unwrap().connect().await.unwrap();
                    administer(rados, prefix, &stop, &told).await;
                });
            })
        })
        .collect();

    for round in 0..4 {
        let before = told.lock().unwrap().pools.len();
        cluster.wait_for("commands go on", SOON, || {
            (told.lock().unwrap().pools.len() >= before + 3).then_some(())
        });
        cluster.kill("mon.a");
        let (pools_told, keys_told, epoch_told) = {
            let told = told.lock().unwrap();
            (told.pools.clone(), told.keys.clone(), told.epoch)
        };
        cluster.restart("mon.a");
        let found = pools(&cluster);
        for pool in &pools_told {
            assert!(found.contains(pool), "round {round}: {pool} was acknowledged");
        }
        let listed = cluster.ceph_json(&["auth", "ls"]);
        let listed = listed["auth_dump"].as_array().unwrap();
        for (user, key) in &keys_told {
            let entity = listed.iter().find(|e| e["entity"] == user.as_str());
            let entity = entity.unwrap_or_else(|| panic!("round {round}: {user} was acknowledged"));
            assert_eq!(entity["key"], key.as_str(), "round {round}: {user}");
        }
        assert!(epoch(&cluster) >= u64::from(epoch_told), "round {round}: the epoch went back");
    }

    stop.store(true, Ordering::Relaxed);
    administrators.into_iter().for_each(|thread| thread.join().unwrap());
    bystander.finish();
}

#[test]
fn osds_and_clients_go_on_after_a_restart() {
    let mut cluster = MiniCluster::start(|options| options.osds(2));
    let rados = cluster.connect();
    let io = cluster.block_on(rados.open_ioctx(test_pool())).unwrap();
    cluster.block_on(io.write_full("before", "before")).unwrap();

    cluster.kill("mon.a");
    // A client that has its map and its tickets needs no monitor.
    cluster.block_on(io.write_full("meanwhile", "meanwhile")).unwrap();
    cluster.restart("mon.a");

    // The same handle talks to the new monitor process.
    cluster.block_on(rados.create_pool("after")).unwrap();
    // OSDs learn of the pool without having been restarted themselves.
    let after = cluster.block_on(rados.open_ioctx("after")).unwrap();
    for n in 0..8 {
        cluster.block_on(after.write_full(format!("object-{n}"), "after")).unwrap();
    }
    assert_eq!(cluster.block_on(io.read("before", 0..100)).unwrap(), "before");
    assert_eq!(cluster.block_on(io.read("meanwhile", 0..100)).unwrap(), "meanwhile");
    let status = cluster.run(Tool::Stock, "ceph", &["-s"]).success().unwrap();
    status.prints("osd: 2 osds: 2 up").unwrap();
    let listed = cluster.run(Tool::Stock, "rados", &["-p", "after", "ls"]).success().unwrap();
    assert_eq!(listed.text().lines().count(), 8);

    // OSDs whose monitor went and came are still watched: one that dies is noticed.
    cluster.kill("osd.1");
    cluster.wait_for("osd.1 down", SOON, || {
        (cluster.ceph_json(&["osd", "stat"])["num_up_osds"] == 1).then_some(())
    });
}

#[test]
fn statistics_come_back() {
    let mut cluster = MiniCluster::start(|options| options);
    let object = cluster.file("object", [7; 5000]);
    cluster.rados(&["put", "object", &object.to_string_lossy()]);
    cluster.kill("mon.a");
    cluster.restart("mon.a");
    // They are not in the monitor's log; the OSDs report again.
    cluster.wait_for("statistics", SOON, || {
        let usage = cluster.ceph_json(&["df"]);
        (usage["pools"][0]["stats"]["objects"] == 1 && usage["pools"][0]["stats"]["stored"] == 5000)
            .then_some(())
    });
}
