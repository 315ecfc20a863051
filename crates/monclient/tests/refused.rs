//! First connections that cannot succeed: an error in time, with its reason.

mod support;

use std::{sync::atomic::Ordering, time::Duration};

use sepiola_cephx::{AuthMethod, ConMode};
use sepiola_config::{Config, Layer};
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_monclient::{Credentials, MonClient, MonClientOptions, MonError};
use sepiola_wire::{EntityAddr, EntityName, Errno, UTime};
use support::{Cluster, Mon, options};

fn admin() -> EntityName {
    EntityName::client("admin")
}

fn other_key() -> CryptoKey {
    CryptoKey::generate(KeyType::Aes, UTime::now(), &mut rand::rng())
}

#[tokio::test]
async fn a_wrong_key_and_an_unknown_entity_are_refused_alike() {
    let (cluster, key) = Cluster::closed(&admin());
    let (a, b) = (Mon::start(&cluster, "a"), Mon::start(&cluster, "b"));
    for (name, key) in [(admin(), other_key()), (EntityName::client("nobody"), key)] {
        let wanted = options(name.clone(), Credentials::Key(key), vec![a.addr, b.addr]);
        let error = MonClient::connect(wanted).await.unwrap_err();
        assert_eq!(error.errno(), Errno::EACCES);
        let text = error.to_string();
        let named = [a.socket(), b.socket()]
            .map(|addr| format!("access denied: key of {name} refused by mon at {addr}"));
        assert!(named.contains(&text), "{text}");
    }
}

#[tokio::test]
async fn modes_without_anything_in_common_are_a_reason_of_their_own() {
    let (cluster, key) = Cluster::closed(&admin());
    let mon = Mon::start(&cluster, "a");
    let mut wanted = options(admin(), Credentials::Key(key), vec![mon.addr]);
    wanted.modes = vec![ConMode::Crc];
    let error = MonClient::connect(wanted).await.unwrap_err();
    assert!(matches!(error, MonError::Mismatch { .. }), "{error:?}");
    assert!(error.to_string().contains("secure"), "{error}");
    assert!(error.to_string().contains(&mon.socket().to_string()), "{error}");
}

#[tokio::test]
async fn a_cluster_with_keys_does_not_take_a_client_without() {
    let (cluster, _) = Cluster::closed(&admin());
    let mon = Mon::start(&cluster, "a");
    let error = MonClient::connect(options(admin(), Credentials::None, vec![mon.addr])).await.unwrap_err();
    assert!(matches!(error, MonError::Mismatch { .. }), "{error:?}");
}

#[tokio::test]
async fn dead_and_silent_monitors_are_named_when_time_is_over() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let dead = free.local_addr().unwrap();
    drop(free);
    // Accepts connections into its backlog, and that is all.
    let silent_listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = silent_listener.local_addr().unwrap();

    let monitors = [dead, silent].map(|socket| EntityAddr::msgr2(socket, 0));
    let mut wanted = options(admin(), Credentials::None, monitors.to_vec());
    wanted.hunt_interval = Duration::from_millis(100);
    wanted.connect_timeout = Duration::from_millis(800);
    let error = MonClient::connect(wanted).await.unwrap_err();
    assert_eq!(error.errno(), Errno::ETIMEDOUT);
    let MonError::Unreachable { attempts, .. } = &error else { panic!("{error}") };
    let mut named: Vec<_> = attempts.iter().map(|(addr, _)| *addr).collect();
    named.sort();
    let mut expected = vec![dead, silent];
    expected.sort();
    assert_eq!(named, expected);
    assert!(error.to_string().contains("refused"), "{error}");
    assert!(error.to_string().contains("handshake"), "{error}");
}

#[tokio::test]
async fn a_dead_monitor_among_others_does_not_matter() {
    let cluster = Cluster::open();
    let mon = Mon::start(&cluster, "a");
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let dead = EntityAddr::msgr2(free.local_addr().unwrap(), 0);
    drop(free);
    MonClient::connect(options(admin(), Credentials::None, vec![dead, mon.addr])).await.unwrap();
}

#[tokio::test]
async fn a_monitor_without_maps_is_told_from_one_that_is_not_there() {
    let cluster = Cluster::open();
    let mon = Mon::start(&cluster, "a");
    cluster.no_maps.store(true, Ordering::Relaxed);
    let mut wanted = options(admin(), Credentials::None, vec![mon.addr]);
    wanted.connect_timeout = Duration::from_millis(500);
    let error = MonClient::connect(wanted).await.unwrap_err();
    assert!(matches!(error, MonError::TimedOut { .. }), "{error:?}");
}

fn config(options: &[(&str, &str)]) -> Config {
    let mut config = Config::new(admin());
    for (name, value) in options {
        config.set(Layer::CommandLine, name, *value);
    }
    config
}

#[test]
fn a_missing_key_is_a_reason_of_its_own() {
    let nowhere = [("mon_host", "127.0.0.1:3300"), ("keyring", "/nonexistent/keyring")];
    let error = MonClientOptions::from_config(&config(&nowhere)).unwrap_err();
    assert!(matches!(error, MonError::NoKey { .. }), "{error:?}");
    assert!(error.to_string().contains("/nonexistent/keyring"), "{error}");

    // With none allowed, a key is not needed.
    let mut with_none = nowhere.to_vec();
    with_none.push(("auth_client_required", "cephx, none"));
    let wanted = MonClientOptions::from_config(&config(&with_none)).unwrap();
    assert_eq!((wanted.method(), &wanted.modes[..]), (AuthMethod::None, &[ConMode::Crc][..]));
    with_none.push(("ms_mon_client_mode", "secure"));
    assert!(matches!(MonClientOptions::from_config(&config(&with_none)), Err(MonError::Config(_))));
}

#[test]
fn monitors_key_and_modes_come_from_the_configuration() {
    let key = other_key();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keyring");
    std::fs::write(&path, format!("[client.admin]\n\tkey = {}\n", key.to_base64().as_str())).unwrap();
    let wanted = MonClientOptions::from_config(&config(&[
        ("mon_host", "[v2:127.0.0.1:3301/0,v1:127.0.0.1:6789/0]"),
        ("keyring", path.to_str().unwrap()),
        ("ms_mon_client_mode", "secure"),
        ("client_mount_timeout", "7"),
    ]))
    .unwrap();
    assert_eq!(wanted.monitors, ["v2:127.0.0.1:3301/0".parse().unwrap()]);
    assert!(matches!(&wanted.credentials, Credentials::Key(k) if *k == key));
    assert_eq!(wanted.modes, [ConMode::Secure]);
    assert_eq!(wanted.connect_timeout, Duration::from_secs(7));

    let legacy = [("mon_host", "v1:127.0.0.1:6789/0"), ("keyring", path.to_str().unwrap())];
    let error = MonClientOptions::from_config(&config(&legacy)).unwrap_err();
    assert!(matches!(error, MonError::NoMonitors(_)), "{error:?}");
}
