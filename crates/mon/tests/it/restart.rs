//! What was acknowledged is there after the monitor died.

use crate::common::{Client, Mon};
use sepiola_mon::{MkfsError, MkfsOptions, MonOptions, RunError, mkfs, run};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_monitor_comes_back_with_all_it_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    Mon::mkfs(dir.path());
    let mut mon = Mon::start(dir.path()).await;
    let addr = mon.addr;
    let (mut pools, mut ids) = (String::new(), Vec::new());
    for life in 0..4 {
        let mut client = Client::connect(&mon, "client.admin").await;
        ids.push(client.keeper.global_id());
        assert_eq!(client.output(json!({"prefix": "osd pool ls"})).await, pools, "life {life}");
        for n in 0..3 {
            let name = format!("p{life}-{n}");
            client.output(json!({"prefix": "osd pool create", "pool": name, "pg_num": 1})).await;
            pools += &format!("{name}\n");
        }
        client.output(json!({"prefix": "config-key set", "key": "life", "val": life.to_string()})).await;
        let key = client.output(json!({"prefix": "auth get-or-create-key", "entity": "client.new"})).await;
        let before = client.osdmap(0).await;
        mon.kill().await;
        mon = Mon::start(dir.path()).await;
        assert_eq!(mon.addr, addr, "the port stays");
        let mut client = Client::connect(&mon, "client.admin").await;
        assert_eq!(client.osdmap(0).await, before);
        assert_eq!(client.output(json!({"prefix": "config-key get", "key": "life"})).await, life.to_string());
        assert_eq!(client.output(json!({"prefix": "auth get-key", "entity": "client.new"})).await, key);
        ids.push(client.keeper.global_id());
    }
    let total = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), total, "global ids are not given out twice");
    mon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_keeps_its_global_id_over_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    Mon::mkfs(dir.path());
    let mon = Mon::start(dir.path()).await;
    let client = Client::connect(&mon, "client.admin").await;
    let keeper = client.keeper.clone();
    let id = keeper.global_id();
    mon.kill().await;
    let mon = Mon::start(dir.path()).await;
    keeper.session_closed();
    Client::with_keeper(&mon, keeper.clone(), &[sepiola_cephx::ConMode::Secure]).await.unwrap();
    assert_eq!(keeper.global_id(), id, "the rotating secrets survived, so the old ticket proves it");
    mon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_changes_are_cut_behind_a_snapshot() {
    let dir = tempfile::tempdir().unwrap();
    Mon::mkfs(dir.path());
    let mon = Mon::start(dir.path()).await;
    let mut client = Client::connect(&mon, "client.admin").await;
    for n in 0..600 {
        client
            .output(json!({"prefix": "config-key set", "key": (n % 10).to_string(), "val": n.to_string()}))
            .await;
    }
    mon.kill().await;
    let (log, recovered) =
        sepiola_mon::log::RedbLog::open(&sepiola_mon::log::RedbLog::path(dir.path())).unwrap();
    assert!(recovered.snapshot.is_some() && recovered.entries.len() < 512, "{}", recovered.entries.len());
    drop(log);
    let mon = Mon::start(dir.path()).await;
    let mut client = Client::connect(&mon, "client.admin").await;
    assert_eq!(client.output(json!({"prefix": "config-key get", "key": "9"})).await, "599");
    mon.stop().await;
}

#[tokio::test]
async fn a_store_is_made_once_and_needed() {
    let dir = tempfile::tempdir().unwrap();
    let (_stop, shutdown) = sepiola_messenger::Shutdown::new();
    let none = run(MonOptions::new("a", dir.path()), shutdown.clone()).await;
    assert!(matches!(none, Err(RunError::NoStore(_))));
    Mon::mkfs(dir.path());
    let map = sepiola_messages::MonMap::new(crate::common::fsid(), sepiola_wire::UTime::now());
    let again = mkfs(&MkfsOptions::new(dir.path(), map.clone(), Default::default()));
    assert!(matches!(again, Err(MkfsError::Monmap)), "no monitors");
    let mut map = map;
    map.add("a", "v2:127.0.0.1:0/0".parse::<sepiola_wire::EntityAddr>().unwrap().into());
    let again = mkfs(&MkfsOptions::new(dir.path(), map, Default::default()));
    assert!(matches!(again, Err(MkfsError::Exists(_))));
    let other = run(MonOptions::new("b", dir.path()), shutdown).await;
    assert!(matches!(other, Err(RunError::NotInMonmap(_))));
}
