//! The client library on a cluster of processes.

use std::{collections::BTreeSet, time::Duration};

use bytes::Bytes;
use futures_util::TryStreamExt;
use sepiola_client::{
    CmpOp, ConMode, Create, Errno, Error, Exclusive, HObject, IoCtx, Rados, RadosBuilder, ReadOp, WriteOp,
};
use sepiola_cluster::{Cluster, ClusterOptions, MsMode};
use sepiola_tests::sepiola_binary;

const POOL: &str = "pool";

async fn cluster(options: impl FnOnce(ClusterOptions) -> ClusterOptions) -> Cluster {
    let program = sepiola_binary().unwrap();
    let usual = ClusterOptions::temporary().unwrap().program(program).pool_with_pgs(POOL, 8);
    options(usual).start().await.unwrap()
}

async fn start() -> (Cluster, IoCtx) {
    let cluster = cluster(|options| options).await;
    let io = cluster.connect().await.unwrap().open_ioctx(POOL).await.unwrap();
    (cluster, io)
}

fn builder(cluster: &Cluster) -> RadosBuilder {
    Rados::builder().conf_file(cluster.conf()).unwrap()
}

fn errno<T: std::fmt::Debug>(result: Result<T, Error>) -> Errno {
    result.unwrap_err().errno()
}

#[tokio::test]
async fn data_is_written_at_any_offset_and_read_in_any_range() {
    let (_cluster, io) = start().await;
    io.write_full("obj", "hello").await.unwrap();
    io.append("obj", " world").await.unwrap();
    io.write("obj", 20, "x").await.unwrap();
    assert_eq!(io.read("obj", ..).await.unwrap(), &b"hello world\0\0\0\0\0\0\0\0\0x"[..]);
    assert_eq!(io.read("obj", 6..11).await.unwrap(), "world");
    assert_eq!(io.read("obj", 19..=4000).await.unwrap(), &b"\0x"[..]);
    assert_eq!(io.read("obj", 100..200).await.unwrap(), "");
    assert_eq!(io.read("obj", 6..6).await.unwrap(), "");
    assert_eq!(errno(io.read("none", 6..6).await), Errno::ENOENT);
    io.zero("obj", 0, 5).await.unwrap();
    io.truncate("obj", 8).await.unwrap();
    assert_eq!(io.read("obj", ..).await.unwrap(), &b"\0\0\0\0\0 wo"[..]);
    let stat = io.stat("obj").await.unwrap();
    assert_eq!(stat.size, 8);
    assert!(!stat.mtime.is_zero());

    assert_eq!(errno(io.create("obj", Exclusive).await), Errno::EEXIST);
    io.create("obj", Create::Idempotent).await.unwrap();
    io.remove("obj").await.unwrap();
    assert_eq!(errno(io.remove("obj").await), Errno::ENOENT);
    assert_eq!(errno(io.stat("obj").await), Errno::ENOENT);
    assert_eq!(errno(io.write_full("", "x").await), Errno::EINVAL);

    // Names are bytes.
    io.write_full(b"\xff\0/\n", "odd").await.unwrap();
    assert_eq!(io.read(b"\xff\0/\n", ..).await.unwrap(), "odd");
}

#[tokio::test]
async fn large_objects_pass_in_both_modes() {
    for mode in [MsMode::Crc, MsMode::Secure] {
        let cluster = cluster(|options| options.ms_mode(mode)).await;
        let io = cluster.connect().await.unwrap().open_ioctx(POOL).await.unwrap();
        let data: Bytes = (0..20_000_003_u32).map(|i| (i % 251) as u8).collect();
        io.write_full("big", data.clone()).await.unwrap();
        assert!(io.read("big", ..).await.unwrap() == data);
        assert!(io.read("big", 7_654_321..17_654_321).await.unwrap() == data[7_654_321..17_654_321]);
    }
}

#[tokio::test]
async fn xattrs_and_omap_keep_what_they_are_given() {
    let (_cluster, io) = start().await;
    io.set_xattr("obj", "k", "v").await.unwrap();
    io.set_xattr("obj", "k2", b"\xff").await.unwrap();
    assert_eq!(io.get_xattr("obj", "k").await.unwrap(), "v");
    assert_eq!(errno(io.get_xattr("obj", "none").await), Errno::ENODATA);
    assert_eq!(io.get_xattrs("obj").await.unwrap().len(), 2);
    io.rm_xattr("obj", "k").await.unwrap();
    assert_eq!(io.get_xattrs("obj").await.unwrap().into_keys().collect::<Vec<_>>(), ["k2"]);

    // More than one page, given in any order.
    let entries = (0..3000).rev().map(|i| (format!("key{i:05}"), format!("value {i}")));
    io.omap_set("obj", entries).await.unwrap();
    io.omap_set_header("obj", "header").await.unwrap();
    assert_eq!(io.omap_get_header("obj").await.unwrap(), "header");
    let keys = io.omap_get_keys("obj").await.unwrap();
    assert_eq!(keys.len(), 3000);
    assert!(keys.is_sorted());
    let values = io.omap_get_vals("obj").await.unwrap();
    assert_eq!(values.len(), 3000);
    assert_eq!(values[&b"key00042"[..]], "value 42");
    let some = io.omap_get_vals_by_keys("obj", ["key00001", "none", "key00000"]).await.unwrap();
    assert_eq!(some.into_keys().collect::<Vec<_>>(), ["key00000", "key00001"]);
    io.omap_rm_keys("obj", ["key00000"]).await.unwrap();
    let page = io.omap_get_page("obj", "", "key0000", 2).await.unwrap();
    assert_eq!((page.entries[0].0.clone(), page.entries.len(), page.more), ("key00001".into(), 2, true));
    io.omap_clear("obj").await.unwrap();
    assert!(io.omap_get_vals("obj").await.unwrap().is_empty());
}

#[tokio::test]
async fn a_compound_operation_happens_as_a_whole_or_not_at_all() {
    let (_cluster, io) = start().await;
    let op = WriteOp::new().create(Exclusive).set_xattr("k", "v").omap_set([("b", "2"), ("a", "1")]);
    let first = io.operate("obj", op.append("abc")).await.unwrap();
    let op = WriteOp::new().append("lost").set_xattr("k", "lost").compare_xattr("k", CmpOp::Eq, "other");
    assert_eq!(errno(io.operate("obj", op).await), Errno::ECANCELED);
    assert_eq!(io.read("obj", ..).await.unwrap(), "abc");

    let op = ReadOp::new().stat().read(1..).unwrap().get_xattr("k").get_xattr("none").allow_failure();
    let all = io.operate_read("obj", op.omap_get_vals("", "", 10)).await.unwrap();
    assert_eq!(all.stat(0).unwrap().size, 3);
    assert_eq!((all.bytes(1).unwrap(), all.bytes(2).unwrap()), ("bc".into(), "v".into()));
    assert_eq!(errno(all.bytes(3)), Errno::ENODATA);
    assert_eq!(all.omap_page(4).unwrap().entries, [("a".into(), "1".into()), ("b".into(), "2".into())]);
    assert_eq!(all.version(), first.version);
    assert!(matches!(all.bytes(5), Err(Error::PeerMisbehaved(_))));

    // A race is lost by whoever comes second.
    let stale = WriteOp::new().assert_version(first.version).append("1");
    io.operate("obj", stale.clone()).await.unwrap();
    assert_eq!(errno(io.operate("obj", stale).await), Errno::ERANGE);
}

#[tokio::test]
async fn listing_finds_each_object_once_in_its_namespace() {
    let (_cluster, io) = start().await;
    let mut other = io.clone();
    other.set_namespace("other");
    let mut placed = io.clone();
    placed.set_locator_key("key");
    let names: BTreeSet<String> = (0..300).map(|i| format!("obj{i}")).collect();
    for name in &names {
        io.write_full(name, "x").await.unwrap();
    }
    other.write_full("obj1", "not the same").await.unwrap();
    placed.write_full("placed", "by key").await.unwrap();

    let found: Vec<_> = io.list().into_stream().try_collect().await.unwrap();
    let found_names: BTreeSet<String> =
        found.iter().map(|object| String::from_utf8(object.name.to_vec()).unwrap()).collect();
    assert_eq!(found.len(), 301);
    assert!(found_names.is_superset(&names) && found_names.contains("placed"));
    let key = found.iter().find(|object| object.name == "placed").map(|object| &object.locator_key[..]);
    assert_eq!(key, Some(&b"key"[..]));

    let found: Vec<_> = other.list().into_stream().try_collect().await.unwrap();
    assert_eq!((found.len(), &found[0].namespace[..]), (1, &b"other"[..]));
    let all: Vec<_> = io.list_all_namespaces().into_stream().try_collect().await.unwrap();
    assert_eq!(all.len(), 302);

    // Page by page, going on from a cursor each time.
    let (mut cursor, mut count) = (HObject::min(), 0);
    while !cursor.max {
        let mut list = io.list_from(cursor);
        count += list.next_page().await.unwrap().len();
        cursor = list.cursor().clone();
    }
    assert_eq!(count, 301);

    // Each is found where it was put, and nowhere else.
    assert_eq!(io.read("obj1", ..).await.unwrap(), "x");
    assert_eq!(other.read("obj1", ..).await.unwrap(), "not the same");
    assert_eq!(placed.read("placed", ..).await.unwrap(), "by key");
    assert_eq!(errno(io.read("placed", ..).await), Errno::ENOENT);
}

#[tokio::test]
async fn pools_come_and_go_under_a_running_client() {
    let (cluster, _) = start().await;
    let rados = cluster.connect().await.unwrap();
    let other = cluster.connect().await.unwrap();
    assert!(matches!(rados.open_ioctx("new").await, Err(Error::NoSuchPool(_))));
    let id = rados.create_pool("new").await.unwrap();
    assert_eq!(errno(rados.create_pool("new").await), Errno::EEXIST);
    // Another client has not heard of it yet, and finds it all the same.
    let io = other.open_ioctx("new").await.unwrap();
    assert_eq!(io.pool_id(), id);
    io.write_full("obj", "x").await.unwrap();
    let pools = rados.list_pools().await.unwrap();
    assert_eq!(pools.iter().map(|pool| &*pool.name).collect::<Vec<_>>(), [POOL, "new"]);
    rados.delete_pool("new").await.unwrap();
    // An OSD that has not heard of it yet would still answer who has not either.
    other.wait_for_latest_osdmap().await.unwrap();
    assert_eq!(errno(io.read("obj", ..).await), Errno::ENOENT);
    assert!(rados.cluster_stat().await.unwrap().kb > 0);
    let output = rados.mon_command(r#"{"prefix": "osd pool ls", "format": "json"}"#, "").await.unwrap();
    assert_eq!(output.output, "[\"pool\"]");
    let refused = rados.mon_command(r#"{"prefix": "no such thing"}"#, "").await;
    assert!(matches!(refused, Err(Error::Command { errno: Errno::EINVAL, .. })));
}

#[tokio::test]
async fn many_tasks_on_several_osds_read_what_they_wrote() {
    let cluster = cluster(|options| options.osds(3)).await;
    let io = cluster.connect().await.unwrap().open_ioctx(POOL).await.unwrap();
    let tasks: Vec<_> = (0..16_u8)
        .map(|task| {
            let io = io.clone();
            tokio::spawn(async move {
                for round in 0..50_u8 {
                    let name = format!("obj-{task}-{}", round % 8);
                    io.write_full(&name, vec![task ^ round; 4096]).await.unwrap();
                    assert_eq!(io.read(&name, ..).await.unwrap(), vec![task ^ round; 4096]);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

#[tokio::test]
async fn an_osd_that_dies_and_comes_back_is_used_again() {
    let (mut cluster, io) = start().await;
    io.write_full("obj", "before").await.unwrap();
    cluster.kill("osd.0");
    let waiting = tokio::spawn({
        let io = io.clone();
        async move { io.write_full("obj", "after").await }
    });
    cluster.restart_daemon("osd.0").await.unwrap();
    waiting.await.unwrap().unwrap();
    assert_eq!(io.read("obj", ..).await.unwrap(), "after");
}

#[tokio::test]
async fn a_dead_monitor_stops_nobody_who_has_a_map_and_is_an_error_for_the_rest() {
    let (mut cluster, _) = start().await;
    let second = Duration::from_secs(1);
    let quick = || builder(&cluster).mon_timeout(second).connect_timeout(second);
    let rados = quick().connect().await.unwrap();
    let io = rados.open_ioctx(POOL).await.unwrap();
    let late = quick();
    cluster.kill("mon.a");
    io.write_full("obj", "x").await.unwrap();
    assert_eq!(io.read("obj", ..).await.unwrap(), "x");
    assert_eq!(errno(rados.mon_command(r#"{"prefix": "status"}"#, "").await), Errno::ETIMEDOUT);
    assert_eq!(errno(rados.open_ioctx("other").await), Errno::ETIMEDOUT);
    let error = late.connect().await.unwrap_err();
    assert!(matches!(error, Error::Monitor(_)), "{error}");
    cluster.restart_daemon("mon.a").await.unwrap();
    while rados.mon_command(r#"{"prefix": "status"}"#, "").await.is_err() {}
    io.write_full("obj", "y").await.unwrap();
}

#[tokio::test]
async fn a_client_that_cannot_get_in_says_why() {
    let (cluster, _) = start().await;
    // Somebody else's key.
    let wrong = "AQBSHNlnAAAAABAAgP0bSbBf5y0DPsIOo/0Hyw==";
    let error = builder(&cluster).key(wrong).unwrap().connect().await.unwrap_err();
    assert_eq!(error.errno(), Errno::EACCES, "{error}");
    // Nobody that the cluster knows.
    let error = builder(&cluster).name("client.nobody").key(wrong).unwrap().connect().await.unwrap_err();
    assert_eq!(error.errno(), Errno::EACCES, "{error}");
    // A mode that the cluster does not allow.
    let error = builder(&cluster).modes([ConMode::Crc]).connect().await.unwrap_err();
    assert!(error.to_string().contains("secure"), "{error}");
    // No key at all.
    let error = builder(&cluster).name("client.nobody").connect().await.unwrap_err();
    assert!(error.to_string().contains("client.nobody"), "{error}");
    // A monitor that is not there.
    let nowhere = Rados::builder().mon_host("127.0.0.1:1").key(wrong).unwrap();
    let error = nowhere.connect_timeout(Duration::from_secs(1)).connect().await.unwrap_err();
    assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
}
