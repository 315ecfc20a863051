//! What librados offers, group by group, through Sepiola's client: on Sepiola, and the same on real Ceph,
//! whose answers are the reference.

use std::{
    collections::BTreeSet,
    time::{Duration, SystemTime},
};

use futures_util::{StreamExt, TryStreamExt, stream};
use sepiola_client::{
    Advice, AllocHint, Checksum, CmpOp, Create, Errno, Error, Exclusive, IoCtx, Lock, OsdId, PgId, PoolInfo,
    Rados, ReadOp, UTime, WriteOp,
};
use sepiola_cluster::{Cluster, ClusterOptions};
use sepiola_tests::{Cluster as _, KeyType, MsMode, RealCeph, Release};

const POOL: &str = "pool";

async fn sepiola() -> (Cluster, Rados) {
    let options = ClusterOptions::temporary().unwrap().in_process().pool_with_pgs(POOL, 8);
    let cluster = options.start().await.unwrap();
    let rados = cluster.connect().await.unwrap();
    (cluster, rados)
}

fn errno<T: std::fmt::Debug>(result: Result<T, Error>) -> Errno {
    result.unwrap_err().errno()
}

/// Makes a test of each group on Sepiola, and one of all groups on real Ceph.
macro_rules! groups {
    ($($group:ident)*) => {
        $(
            #[tokio::test]
            async fn $group() {
                let (_cluster, rados) = sepiola().await;
                self::groups::$group(&rados).await;
            }
        )*

        #[test]
        fn every_group_on_real_ceph() {
            let ceph = RealCeph::start(Release::Installed, MsMode::Secure, KeyType::Aes).unwrap();
            ceph.create_pool(POOL).unwrap();
            tokio::runtime::Runtime::new().unwrap().block_on(async {
                let builder = Rados::builder().conf_file(ceph.conf()).unwrap();
                $(
                    println!("# {}", stringify!($group));
                    // A handle for each, as one of them is blocked in the end.
                    let rados = builder.clone().keyring_file(ceph.keyring()).connect().await.unwrap();
                    let io = rados.open_ioctx(POOL).await.unwrap();
                    for object in io.list_all_namespaces().into_stream().try_collect::<Vec<_>>().await.unwrap() {
                        let mut io = io.clone();
                        io.set_namespace(object.namespace).set_locator_key(object.locator_key);
                        io.remove(object.name).await.unwrap();
                    }
                    self::groups::$group(&rados).await;
                )*
            });
        }
    };
}

groups! {
    data_in_every_way
    xattr_comparisons_of_every_mode
    omaps_by_range_and_prefix
    results_of_single_operations
    locks_of_every_kind
    methods_of_classes
    listings_in_slices_and_from_cursors
    pools_and_their_applications
    commands_to_daemons
    order_of_what_one_task_has_in_flight
    what_is_not_there
    blocked_clients
}

mod groups {
    use super::*;

    async fn open(rados: &Rados) -> IoCtx {
        rados.open_ioctx(POOL).await.unwrap()
    }

    pub async fn data_in_every_way(rados: &Rados) {
        let io = open(rados).await;
        io.write_full("obj", "0123456789").await.unwrap();
        assert_eq!(io.sparse_read("obj", 2..6).await.unwrap(), [(2, "2345".into())]);
        assert_eq!(io.sparse_read("obj", 100..).await.unwrap(), []);
        assert_eq!(errno(io.sparse_read("none", ..).await), Errno::ENOENT);

        io.compare_extent("obj", 3, "345").await.unwrap();
        let error = io.compare_extent("obj", 3, "34x").await.unwrap_err();
        assert_eq!(error.mismatch_at(), Some(2), "{error}");
        io.compare_extent("obj", 9, "9\0\0").await.unwrap();
        let op = WriteOp::new().compare_extent(0, "x").write_full("lost");
        assert_eq!(io.operate("obj", op).await.unwrap_err().mismatch_at(), Some(0));

        io.write_same("same", 4, 8, "ab").await.unwrap();
        assert_eq!(io.read("same", ..).await.unwrap(), &b"\0\0\0\0abababab"[..]);
        assert_eq!(errno(io.write_same("same", 0, 3, "ab").await), Errno::EINVAL);

        // Known sums of "0123456789".
        let sum = async |kind, chunk| match chunk {
            0 => io.checksum("obj", kind, .., 0).await,
            chunk => io.checksum("obj", kind, 0..10, chunk).await,
        };
        assert_eq!(sum(Checksum::Crc32c(u32::MAX), 0).await.unwrap(), [0xd7f3_f961]);
        assert_eq!(sum(Checksum::XxHash32(0), 0).await.unwrap(), [0x950c_9c0a]);
        assert_eq!(sum(Checksum::XxHash64(0), 0).await.unwrap(), [0x3f5f_c178_a818_67e7]);
        assert_eq!(sum(Checksum::XxHash64(1), 5).await.unwrap().len(), 2);
        assert_eq!(sum(Checksum::Crc32c(0), 2).await.unwrap().len(), 5);
        assert_eq!(errno(sum(Checksum::Crc32c(0), 4).await), Errno::EINVAL);
        let open = io.checksum("obj", Checksum::Crc32c(0), .., 5).await;
        assert_eq!(errno(open), Errno::EINVAL, "chunks of a range without an end");

        io.set_alloc_hint("hinted", 1 << 20, 4096, AllocHint::APPEND_ONLY | AllocHint::IMMUTABLE)
            .await
            .unwrap();
        assert_eq!(io.stat("hinted").await.unwrap().size, 0);

        let then = UTime::from(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000));
        io.operate("dated", WriteOp::new().write_full("x").mtime(then)).await.unwrap();
        assert_eq!(io.stat("dated").await.unwrap().mtime, then);

        io.set_xattr("obj", "k", "v").await.unwrap();
        io.omap_set("obj", [("a", "1")]).await.unwrap();
        io.copy_from("copy", &io, "obj").await.unwrap();
        assert_eq!(io.read("copy", ..).await.unwrap(), "0123456789");
        assert_eq!(io.get_xattr("copy", "k").await.unwrap(), "v");
        assert_eq!(io.omap_get_vals("copy").await.unwrap().len(), 1);
        assert_eq!(errno(io.copy_from("copy", &io, "none").await), Errno::ENOENT);

        // Advice changes nothing.
        let op = ReadOp::new().read(0..3).unwrap().advise(Advice::WillNeed).order_reads_writes();
        assert_eq!(io.operate_read("obj", op).await.unwrap().bytes(0).unwrap(), "012");
        let op = WriteOp::new().append("x").advise(Advice::DontNeed).full_try();
        io.operate("obj", op).await.unwrap();
    }

    pub async fn xattr_comparisons_of_every_mode(rados: &Rados) {
        let io = open(rados).await;
        io.set_xattr("obj", "text", "m").await.unwrap();
        io.set_xattr("obj", "number", "10").await.unwrap();
        // Whether "given OP stored" holds for a given value that is less, equal and greater.
        let table = [
            (CmpOp::Eq, [false, true, false]),
            (CmpOp::Ne, [true, false, true]),
            (CmpOp::Gt, [false, false, true]),
            (CmpOp::Gte, [false, true, true]),
            (CmpOp::Lt, [true, false, false]),
            (CmpOp::Lte, [true, true, false]),
        ];
        for (op, holds) in table {
            for ((text, number), holds) in [("l", 9), ("m", 10), ("n", 11)].into_iter().zip(holds) {
                let by_text = io.operate_read("obj", ReadOp::new().compare_xattr("text", op, text)).await;
                let by_number =
                    io.operate_read("obj", ReadOp::new().compare_xattr_u64("number", op, number)).await;
                let write = WriteOp::new().compare_xattr("text", op, text).set_xattr("last", text);
                let write = io.operate("obj", write).await.map(drop);
                for result in [by_text.map(drop), by_number.map(drop), write] {
                    match result {
                        Ok(()) => assert!(holds, "{op:?} {text} {number}"),
                        Err(error) => {
                            assert!(!holds, "{op:?} {text} {number}: {error}");
                            assert_eq!(error.errno(), Errno::ECANCELED);
                        }
                    }
                }
            }
        }
    }

    pub async fn omaps_by_range_and_prefix(rados: &Rados) {
        let io = open(rados).await;
        let key = |i: u32| format!("key{i:05}");
        io.omap_set("obj", (0..3000).map(|i| (key(i), i.to_string()))).await.unwrap();
        io.omap_set("obj", [("other", "x")]).await.unwrap();
        let walk = || io.omap_list("obj");
        let keys = async |list: sepiola_client::OmapList| -> Vec<String> {
            let found: Vec<_> = list.into_stream().try_collect().await.unwrap();
            found.into_iter().map(|(key, _)| String::from_utf8(key.to_vec()).unwrap()).collect()
        };
        assert_eq!(keys(walk()).await.len(), 3001);
        assert_eq!(keys(walk().prefix("key").page_size(700)).await.len(), 3000);
        assert_eq!(keys(walk().start_after(key(9)).until(key(12))).await, [key(10), key(11)]);
        assert_eq!(keys(walk().start_after("key02999")).await, ["other"]);
        assert_eq!(keys(walk().prefix("none")).await.len(), 0);
        assert_eq!(errno(io.omap_list("none").next().await), Errno::ENOENT);

        let mut pages = walk().page_size(1000);
        let first = pages.next_page().await.unwrap();
        assert_eq!((first.len(), &first[0].1[..]), (1000, &b"0"[..]));
        assert_eq!(pages.next().await.unwrap().unwrap().0, key(1000));
        assert_eq!(pages.next_page().await.unwrap().len(), 999, "what is left of the page");

        let op = ReadOp::new().omap_get_keys(key(1), 2).omap_get_header().omap_get_vals_by_keys([key(7)]);
        let result = io.operate_read("obj", op).await.unwrap();
        assert_eq!(result.omap_keys(0).unwrap(), (vec![key(2).into(), key(3).into()], true));
        assert_eq!(result.bytes(1).unwrap(), "");
        assert_eq!(result.entries(2).unwrap()[key(7).as_bytes()], "7");
        io.omap_set_header("obj", "header").await.unwrap();
        assert_eq!(io.omap_get_header("obj").await.unwrap(), "header");

        for (op, value, holds) in [
            (CmpOp::Eq, "7", true),
            (CmpOp::Eq, "8", false),
            (CmpOp::Lt, "8", true),
            (CmpOp::Lt, "7", false),
            (CmpOp::Gt, "6", true),
            (CmpOp::Gt, "7", false),
        ] {
            let compared = io.operate_read("obj", ReadOp::new().omap_compare([(key(7), op, value)])).await;
            match compared {
                Ok(_) => assert!(holds, "{op:?} {value}"),
                Err(error) => assert!(!holds && error.errno() == Errno::ECANCELED, "{op:?} {value}: {error}"),
            }
        }

        io.omap_rm_range("obj", key(10), key(2990)).await.unwrap();
        assert_eq!(io.omap_get_keys("obj").await.unwrap().len(), 21);
        io.operate("obj", WriteOp::new().omap_clear().omap_set([("k", "v")])).await.unwrap();
        assert_eq!(io.omap_get_header("obj").await.unwrap(), "");
        assert_eq!(keys(walk()).await, ["k"]);
    }

    pub async fn results_of_single_operations(rados: &Rados) {
        let io = open(rados).await;
        let created = io.operate("obj", WriteOp::new().create(Exclusive).append("abc")).await.unwrap();
        assert_eq!(errno(io.operate("obj", WriteOp::new().create(Exclusive)).await), Errno::EEXIST);
        io.operate("obj", WriteOp::new().create(Create::Idempotent)).await.unwrap();

        // One that may fail leaves its error in its place, and the others go on.
        let op = ReadOp::new().get_xattr("none").allow_failure().compare_extent(0, "abx").allow_failure();
        let result = io.operate_read("obj", op.read(..).unwrap()).await.unwrap();
        assert_eq!(errno(result.bytes(0)), Errno::ENODATA);
        assert_eq!(result.value(1).unwrap_err().mismatch_at(), Some(2));
        assert_eq!(result.bytes(2).unwrap(), "abc");
        assert_eq!(result.value(2).unwrap(), 0);

        let op = WriteOp::new().compare_xattr("none", CmpOp::Eq, "x").allow_failure().append("d");
        let result = io.operate("obj", op.return_results()).await.unwrap();
        assert_eq!(errno(result.value(0)), Errno::ECANCELED);
        assert_eq!(result.value(1).unwrap(), 0);
        assert!(result.version > created.version);
        assert_eq!(io.read("obj", ..).await.unwrap(), "abcd");

        let op = |version| WriteOp::new().assert_version(version).append("e");
        assert_eq!(errno(io.operate("obj", op(created.version)).await), Errno::ERANGE);
        assert_eq!(errno(io.operate("obj", op(result.version + 100)).await), Errno::EOVERFLOW);
        io.operate("obj", op(result.version)).await.unwrap();
        assert_eq!(errno(io.operate_read("none", ReadOp::new().assert_exists()).await), Errno::ENOENT);
        assert_eq!(
            errno(io.operate("none", WriteOp::new().assert_exists().append("x")).await),
            Errno::ENOENT
        );
        // In order.
        let op = WriteOp::new().write_full("abcde").zero(0, 1).truncate(2);
        io.operate("obj", op).await.unwrap();
        assert_eq!(io.read("obj", ..).await.unwrap(), &b"\0b"[..]);
    }

    pub async fn locks_of_every_kind(rados: &Rados) {
        let io = open(rados).await;
        let mine = Lock::exclusive("l").cookie("mine").description("for a test");
        io.lock("obj", &mine).await.unwrap();
        assert_eq!(errno(io.lock("obj", &mine).await), Errno::EEXIST);
        io.lock("obj", &mine.clone().may_renew()).await.unwrap();
        io.lock("obj", &mine.clone().must_renew()).await.unwrap();
        let other = Lock::exclusive("l").cookie("other");
        assert_eq!(errno(io.lock("obj", &other).await), Errno::EBUSY);
        assert_eq!(errno(io.lock("obj", &other.clone().must_renew()).await), Errno::ENOENT);

        let info = io.lock_info("obj", "l").await.unwrap();
        let [holder] = info.lockers.as_slice() else { panic!("{info:?}") };
        assert!(!info.shared && holder.expires.is_none());
        assert_eq!((&holder.cookie[..], &holder.description[..]), (&b"mine"[..], &b"for a test"[..]));
        assert_eq!(holder.client.num, rados.instance_id().0 as i64);
        assert_eq!(io.list_locks("obj").await.unwrap(), ["l"]);

        io.operate("obj", WriteOp::new().assert_locked(&mine).append("x")).await.unwrap();
        assert_eq!(errno(io.operate("obj", WriteOp::new().assert_locked(&other)).await), Errno::EBUSY);
        io.operate_read("obj", ReadOp::new().assert_locked(&mine)).await.unwrap();

        assert_eq!(errno(io.unlock("obj", "l", "other").await), Errno::ENOENT);
        io.break_lock("obj", "l", holder).await.unwrap();
        io.lock("obj", &other).await.unwrap();
        io.unlock("obj", "l", "other").await.unwrap();
        assert!(io.lock_info("obj", "l").await.unwrap().lockers.is_empty());

        let shared = |cookie: &str| Lock::shared("s", "tag").cookie(cookie);
        io.lock("obj", &shared("1")).await.unwrap();
        io.lock("obj", &shared("2").duration(Duration::from_secs(1000))).await.unwrap();
        assert_eq!(errno(io.lock("obj", &Lock::shared("s", "another").cookie("3")).await), Errno::EBUSY);
        assert_eq!(errno(io.lock("obj", &Lock::exclusive("s").cookie("3")).await), Errno::EBUSY);
        let info = io.lock_info("obj", "s").await.unwrap();
        assert!(info.shared && info.tag == "tag" && info.lockers.len() == 2, "{info:?}");
        assert!(info.lockers[1].expires.is_some());
    }

    pub async fn methods_of_classes(rados: &Rados) {
        let io = open(rados).await;
        io.write_full("obj", "x").await.unwrap();
        assert_eq!(io.exec("obj", "hello", "say_hello", "World").await.unwrap(), "Hello, World!");
        let read = ReadOp::new().call("hello", "say_hello", "");
        assert_eq!(io.operate_read("obj", read).await.unwrap().bytes(0).unwrap(), "Hello, world!");
        // One that writes, and one that returns something while it does.
        io.exec("greeting", "hello", "record_hello", "World").await.unwrap();
        assert_eq!(io.read("greeting", ..).await.unwrap(), "Hello, World!");
        assert_eq!(errno(io.exec("obj", "hello", "none", "").await), Errno::EOPNOTSUPP);
        assert!(matches!(errno(io.exec("obj", "none", "none", "").await), Errno::EPERM | Errno::EOPNOTSUPP));
    }

    pub async fn listings_in_slices_and_from_cursors(rados: &Rados) {
        let io = open(rados).await;
        let mut other = io.clone();
        other.set_namespace("other");
        stream::iter(0..400)
            .map(|i| io.write_full(format!("obj{i}"), "x"))
            .buffered(32)
            .try_collect::<Vec<_>>()
            .await
            .unwrap();
        other.write_full("obj", "x").await.unwrap();
        let mut placed = io.clone();
        placed.set_locator_key("key");
        placed.write_full("placed", "x").await.unwrap();
        let names = |objects: Vec<sepiola_client::ListedObject>| objects.into_iter().map(|o| o.name);
        for count in [1, 2, 3, 7, 64] {
            let mut all = BTreeSet::new();
            let mut total = 0;
            for slice in io.list_slices(count).unwrap() {
                let found: Vec<_> = slice.into_stream().try_collect().await.unwrap();
                assert!(count != 2 || found.len() > 100, "slices are of about one size");
                total += found.len();
                all.extend(names(found));
            }
            assert_eq!((all.len(), total), (401, 401), "{count} slices");
        }
        assert_eq!(errno(io.list_slices(0)), Errno::EINVAL);
        assert_eq!(other.list().into_stream().count().await, 1);
        assert_eq!(io.list_all_namespaces().into_stream().count().await, 402);

        // Two parts, divided where the first page ended.
        let mut first = io.list();
        let head = first.next_page().await.unwrap().len();
        let again = io.list().until(first.cursor().clone()).into_stream().count().await;
        let rest = io.list_from(first.cursor().clone()).into_stream().count().await;
        assert_eq!((again, head + rest), (head, 401));
    }

    pub async fn pools_and_their_applications(rados: &Rados) {
        let id = rados.create_pool("first").await.unwrap();
        assert_eq!(errno(rados.create_pool("first").await), Errno::EEXIST);
        let io = rados.open_ioctx("first").await.unwrap();
        assert_eq!(io.pool_id(), id);
        rados.rename_pool("first", "second").await.unwrap();
        assert_eq!(io.current_pool_name().unwrap(), "second");
        io.write_full("obj", "x").await.unwrap();
        assert_eq!(errno(rados.rename_pool("first", "third").await), Errno::ENOENT);
        let pools: Vec<PoolInfo> = rados.pools().try_collect().await.unwrap();
        assert!(pools.contains(&PoolInfo { id, name: "second".to_owned() }), "{pools:?}");

        rados.enable_application("second", "app", false).await.unwrap();
        assert_eq!(errno(rados.enable_application("second", "more", false).await), Errno::EPERM);
        rados.enable_application("second", "more", true).await.unwrap();
        rados.set_application_value("second", "app", "k", "v").await.unwrap();
        let applications = rados.applications("second").await.unwrap();
        assert_eq!(applications.keys().collect::<Vec<_>>(), ["app", "more"]);
        assert_eq!(applications["app"]["k"], "v");
        rados.remove_application_value("second", "app", "k").await.unwrap();
        assert!(rados.applications("second").await.unwrap()["app"].is_empty());

        // Without a manager, monitors of Ceph know no statistics.
        rados.cluster_stat().await.unwrap();
        io.pool_stat().await.unwrap();
        rados.delete_pool("second").await.unwrap();
        assert!(matches!(rados.open_ioctx("second").await, Err(Error::NoSuchPool(_))));
        assert!(matches!(io.current_pool_name(), Err(Error::NoSuchPool(_))));
    }

    pub async fn commands_to_daemons(rados: &Rados) {
        let io = open(rados).await;
        let version = rados.osd_command(OsdId(0), r#"{"prefix": "version"}"#, "").await.unwrap();
        assert!(version.output.windows(7).any(|w| w == b"version"), "{version:?}");
        assert_eq!(errno(rados.osd_command(OsdId(7), r#"{"prefix": "version"}"#, "").await), Errno::ENOENT);
        assert_eq!(errno(rados.osd_command(OsdId(0), r#"{"prefix": "no such"}"#, "").await), Errno::EINVAL);
        let pg = PgId::new(io.pool_id(), 0);
        let query = format!(r#"{{"prefix": "pg", "pgid": "{pg}", "cmd": "query"}}"#);
        let output = rados.pg_command(pg, query, "").await.unwrap().output;
        assert!(output.windows(5).any(|w| w == b"state"), "{output:?}");
        assert_eq!(errno(rados.pg_command(PgId::new(io.pool_id(), 999), "{}", "").await), Errno::ENOENT);

        let monitor = rados.mon_command(r#"{"prefix": "mon dump", "format": "json"}"#, "").await.unwrap();
        let name = String::from_utf8_lossy(&monitor.output);
        let name = name.split(r#""name":""#).nth(1).unwrap().split('"').next().unwrap().to_owned();
        let ping = rados.ping_monitor(&name).await.unwrap();
        assert!(ping.contains("mon_status"), "{ping}");
        assert_eq!(errno(rados.ping_monitor("nobody").await), Errno::ENOENT);
        assert!(!rados.fsid().is_nil());
        assert!(rados.min_compatible_client() >= sepiola_client::Release::JEWEL);
        assert!(rados.min_compatible_osd() >= sepiola_client::Release::PACIFIC);
    }

    pub async fn order_of_what_one_task_has_in_flight(rados: &Rados) {
        let io = open(rados).await;
        let appends = stream::iter(0..500).map(|i| io.append("log", format!("{i},")));
        appends.buffered(64).try_collect::<Vec<_>>().await.unwrap();
        let wanted: String = (0..500).map(|i| format!("{i},")).collect();
        assert_eq!(io.read("log", ..).await.unwrap(), wanted);
        // Writes and reads of one object, too.
        let mixed = stream::iter(0..100_u32).map(|i| {
            let io = &io;
            async move {
                if i % 2 == 0 {
                    io.write_full("obj", i.to_string()).await.unwrap();
                } else {
                    assert_eq!(io.read("obj", ..).await.unwrap(), (i - 1).to_string());
                }
            }
        });
        mixed.buffered(16).collect::<Vec<()>>().await;
    }

    pub async fn what_is_not_there(rados: &Rados) {
        let io = open(rados).await;
        assert_eq!(errno(io.watch("obj").await), Errno::EOPNOTSUPP);
        assert_eq!(errno(io.notify("obj", "x", Duration::from_secs(1)).await), Errno::EOPNOTSUPP);
        let error = io.create_snapshot("snap").await.unwrap_err();
        assert_eq!(error.to_string(), "snapshots: not supported by this client");
    }

    /// The last, as it ends the handle's use.
    pub async fn blocked_clients(rados: &Rados) {
        let io = open(rados).await;
        io.write_full("obj", "x").await.unwrap();
        let address = rados.address().unwrap();
        rados.blocklist_add(address, Some(Duration::from_secs(600))).await.unwrap();
        assert_eq!(io.write_full("obj", "y").await.unwrap_err().errno(), Errno::ESHUTDOWN);
    }
}
