//! Where settings come from, which of them counts, and that deadlines are kept and named.

use std::{env, process::Command, time::Duration};

use sepiola_client::{ConMode, Config, EntityName, Errno, Error, Layer, Rados, RadosBuilder};
use sepiola_cluster::{Cluster, ClusterOptions};

async fn start() -> Cluster {
    ClusterOptions::temporary().unwrap().in_process().pool_with_pgs("pool", 1).start().await.unwrap()
}

fn builder(cluster: &Cluster) -> RadosBuilder {
    Rados::builder().conf_file(cluster.conf()).unwrap()
}

#[tokio::test]
async fn each_later_source_counts_more_than_those_before() {
    let cluster = start().await;
    let mut base = Config::new(EntityName::client("admin"));
    base.load_file(&cluster.conf()).unwrap();
    base.set(Layer::File, "rados_osd_op_timeout", "11");
    base.set(Layer::File, "rados_mon_op_timeout", "12");
    base.set(Layer::File, "objecter_inflight_ops", "13");
    let text =
        "[global]\nrados_mon_op_timeout = 22\nobjecter_inflight_ops = 23\n[osd]\nrados_osd_op_timeout = 24\n";
    let rados = Rados::builder()
        .config(base.clone())
        .conf_text(text)
        .unwrap()
        .option("objecter_inflight_ops", "33")
        .connect()
        .await
        .unwrap();
    let value = |option| rados.config_value(option).unwrap();
    assert_eq!(value("rados_osd_op_timeout"), "11", "the section of OSDs is not this client's");
    assert_eq!(value("rados_mon_op_timeout"), "22");
    assert_eq!(value("objecter_inflight_ops"), "33");
    assert_eq!(rados.name(), &EntityName::client("admin"));

    // A configuration belongs to the entity that it was read for.
    let error = Rados::builder().config(base).id("other").connect().await.unwrap_err();
    assert!(matches!(error, Error::Config(_)) && error.to_string().contains("client.other"), "{error:?}");
    let error = Rados::builder().conf_text("[global\n").unwrap_err();
    assert_eq!(error.errno(), Errno::EINVAL);
}

#[tokio::test]
async fn monitors_and_keys_need_no_file() {
    let cluster = start().await;
    let conf = std::fs::read_to_string(cluster.conf()).unwrap();
    let hosts = conf.lines().find_map(|line| line.trim().strip_prefix("mon host = ")).unwrap();
    let keyring = std::fs::read_to_string(cluster.layout().admin_keyring()).unwrap();
    let key = keyring.lines().find_map(|line| line.trim().strip_prefix("key = ")).unwrap();
    let bare = || Rados::builder().mon_host(hosts).modes([ConMode::Secure]);
    bare().keyring(&keyring).unwrap().connect().await.unwrap();
    bare().key(key).unwrap().connect().await.unwrap();
    bare().keyring_file(cluster.layout().admin_keyring()).connect().await.unwrap();
    let error = bare().id("nobody").keyring(&keyring).unwrap().connect().await.unwrap_err();
    assert!(error.to_string().contains("client.nobody"), "{error:?}");
}

/// Set for the process whose environment names the deadline.
const CONF: &str = "SEPIOLA_TEST_CONF";

#[tokio::test]
async fn deadlines_come_from_the_file_the_environment_and_setters() {
    if let Some(conf) = env::var_os(CONF) {
        let builder = Rados::builder().conf_file(conf).unwrap().environment();
        let io = builder.connect().await.unwrap().open_ioctx("pool").await.unwrap();
        let error = io.stat("obj").await.unwrap_err();
        assert!(error.to_string().ends_with("within 275ms"), "{error:?}");
        return;
    }
    let mut cluster = start().await;
    cluster.kill("osd.0");
    let file = builder(&cluster).conf_text("[client]\nrados osd op timeout = 0.25\n").unwrap();
    let setter = builder(&cluster).op_timeout(Duration::from_millis(300));
    let option = builder(&cluster).option("rados_osd_op_timeout", "0.35");
    for (builder, limit) in [(file, "250ms"), (setter, "300ms"), (option, "350ms")] {
        let io = builder.connect().await.unwrap().open_ioctx("pool").await.unwrap();
        let error = io.stat("obj").await.unwrap_err();
        let text = error.to_string();
        assert!(text.contains("osd.0") && text.ends_with(&format!("within {limit}")), "{error:?}");
        assert_eq!(error.errno(), Errno::ETIMEDOUT);
    }
    let conf = cluster.conf();
    let child = tokio::task::spawn_blocking(|| {
        Command::new(env::current_exe().unwrap())
            .args(["--exact", "deadlines_come_from_the_file_the_environment_and_setters"])
            .env(CONF, conf)
            .env("CEPH_ARGS", "--rados_osd_op_timeout=0.275 --id admin")
            .output()
            .unwrap()
    });
    let child = child.await.unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
}

#[tokio::test]
async fn requests_to_monitors_have_their_own_deadline() {
    let mut cluster = start().await;
    let rados = builder(&cluster).option("rados_mon_op_timeout", "0.2").connect().await.unwrap();
    cluster.kill("mon.a");
    let error = rados.mon_command(r#"{"prefix": "status"}"#, "").await.unwrap_err();
    assert!(error.to_string().starts_with("no answer to the command within 200ms"), "{error:?}");
    assert_eq!(error.errno(), Errno::ETIMEDOUT);
}

#[tokio::test]
async fn zero_is_never() {
    let mut cluster = start().await;
    let zero = builder(&cluster).option("rados_osd_op_timeout", "0").option("rados_mon_op_timeout", "0");
    let rados = zero.connect_timeout(Duration::ZERO).connect().await.unwrap();
    let io = rados.open_ioctx("pool").await.unwrap();
    cluster.kill("osd.0");
    let write = tokio::spawn(async move { io.write_full("obj", "x").await });
    cluster.kill("mon.a");
    let command = tokio::spawn(async move { rados.mon_command(r#"{"prefix": "fsid"}"#, "").await });
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert!(!write.is_finished() && !command.is_finished());
    cluster.restart_daemon("mon.a").await.unwrap();
    cluster.restart_daemon("osd.0").await.unwrap();
    command.await.unwrap().unwrap();
    write.await.unwrap().unwrap();
}

#[tokio::test]
async fn monitors_that_all_refuse_are_reported_before_the_time_to_connect_is_over() {
    let key = "AQBSHNlnAAAAABAAgP0bSbBf5y0DPsIOo/0Hyw==";
    // Nobody may listen on the port 1 here.
    let nowhere = Rados::builder().mon_host("127.0.0.1:1,127.0.0.2:1").key(key).unwrap();
    let connect = nowhere.connect_timeout(None).connect();
    let error =
        tokio::time::timeout(Duration::from_secs(60), connect).await.expect("it gives up").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("127.0.0.1:1: Connection refused") && text.contains("127.0.0.2:1"), "{text}");
    assert_eq!(error.errno(), Errno::ETIMEDOUT);
}
