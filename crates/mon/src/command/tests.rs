//! Commands against what real monitors were recorded to answer.

use sepiola_config::Layer;
use sepiola_messages::proto::ObjectSums;
use sepiola_wire::{Errno, UTime};
use serde_json::{Map, Value, json};

use crate::testing::{START, TestMon, caller};

/// One OSD, pool `bench` with 32 pgs, 2 objects of 34 bytes in all: the recorded cluster.
pub(super) fn recorded() -> TestMon {
    let mut mon = TestMon::new();
    mon.boot(0);
    mon.output(json!({"prefix": "osd pool create", "pool": "bench", "pg_num": 32}));
    let sums = ObjectSums { bytes: 34, objects: 2, object_copies: 2, ..ObjectSums::default() };
    mon.report(0, 32, sums);
    mon
}

/// What a document consists of, whatever its values: keys in order, the kind of each leaf, the first item
/// of each list.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(k, v)| (k.clone(), shape(v))).collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.first().map(shape).into_iter().collect()),
        Value::String(_) => "text".into(),
        Value::Number(_) => "number".into(),
        other => other.clone(),
    }
}

pub(super) fn parsed(text: &str) -> Value {
    serde_json::from_str(text.trim()).unwrap()
}

/// A recorded document: after the tool's own newline, and before the status text.
fn recording(text: &str) -> Value {
    parsed(text.trim().lines().next().unwrap())
}

#[test]
fn json_documents_have_the_recorded_shape() {
    let mut mon = recorded();
    let cases = [
        (
            json!({"prefix": "osd dump", "format": "json"}),
            include_str!("../../tests/data/cli/osd_dump.json.txt"),
        ),
        (
            json!({"prefix": "mon dump", "format": "json"}),
            include_str!("../../tests/data/cli/mon_dump.json.txt"),
        ),
        (json!({"prefix": "status", "format": "json"}), include_str!("../../tests/data/cli/status.json.txt")),
        (json!({"prefix": "df", "format": "json"}), include_str!("../../tests/data/cli/df.json.txt")),
        (
            json!({"prefix": "osd map", "pool": "bench", "object": "obj1", "format": "json"}),
            include_str!("../../tests/data/cli/osd_map_bench_obj1.json.txt"),
        ),
    ];
    for (command, text) in cases {
        let (mut ours, mut theirs) = (shape(&parsed(&mon.output(command.clone()))), shape(&recording(text)));
        for document in [&mut ours, &mut theirs] {
            // What depends on the cluster, not on the form.
            for (object, field) in [
                ("health", "checks"),
                ("pgmap", "pgs_by_state"),
                ("mgrmap", "modules"),
                ("erasure_code_profiles", "default"),
                ("stats_by_class", "hdd"),
            ] {
                if let Some(object) = document.get_mut(object).and_then(Value::as_object_mut) {
                    object.remove(field);
                }
            }
        }
        assert_eq!(ours, theirs, "{command}");
        assert_eq!(
            ours.as_object().unwrap().keys().collect::<Vec<_>>(),
            theirs.as_object().unwrap().keys().collect::<Vec<_>>(),
            "{command}: order"
        );
    }
}

#[test]
fn status_in_text_is_as_recorded() {
    let mut mon = recorded();
    mon.now = UTime::from_secs(START.sec + 11);
    let recorded = include_str!("../../tests/data/cli/s.txt");
    let recorded = recorded
        .replace("718a92fa-9308-4487-82c9-653bd405b486", &mon.state.fsid().to_string())
        .replace("HEALTH_WARN", "HEALTH_OK")
        .replace("            mon a is low on available space\n", "")
        .replace("            1 pool(s) do not have an application enabled\n", "")
        .replace("            2 pool(s) have no replicas configured\n", "")
        .replace("x(active, since 1.53213s)", "no daemons active")
        .replace("since 7s", "since 11s");
    assert_eq!(mon.output(json!({"prefix": "status"})), recorded);
}

#[test]
fn status_counts_unknown_pgs() {
    let mut mon = recorded();
    mon.output(json!({"prefix": "osd pool create", "pool": "p2", "pg_num": 8}));
    let text = mon.output(json!({"prefix": "status"}));
    let pgs = "    pgs:     20.000% pgs unknown\n             32 active+clean\n             8  unknown\n \n";
    assert!(text.ends_with(pgs), "{text}");
    let status = parsed(&mon.output(json!({"prefix": "status", "format": "json"})));
    assert_eq!(status["pgmap"]["unknown_pgs_ratio"], 0.2);
    assert_eq!(status["health"]["status"], "HEALTH_WARN");
    assert_eq!(
        mon.output(json!({"prefix": "health", "detail": "detail"})),
        "HEALTH_WARN Reduced data availability: 8 pgs inactive\n\
         [WRN] PG_AVAILABILITY: Reduced data availability: 8 pgs inactive\n    8 pgs are unknown\n"
    );
    assert_eq!(
        mon.output(json!({"prefix": "pg stat"})),
        "40 pgs: 8 unknown, 32 active+clean; 34 B data, 16 KiB used, 8.0 GiB / 8 GiB avail\n"
    );
}

#[test]
fn a_full_osd_is_an_error() {
    let mut mon = recorded();
    let report = sepiola_messages::proto::OsdStats {
        seq: 2,
        statfs: Some(sepiola_messages::proto::StoreStatfs { total: 100, available: 4, ..Default::default() }),
        ..Default::default()
    };
    mon.stats.accept(report, mon.now);
    assert_eq!(mon.output(json!({"prefix": "health"})), "HEALTH_ERR 1 full osd(s)\n");
}

#[test]
fn tables_are_as_recorded() {
    let mut mon = recorded();
    // There are no device classes, so no line and no cell for one.
    let df = include_str!("../../tests/data/cli/df.txt");
    let df: String = df.lines().filter(|l| !l.starts_with("hdd")).map(|l| format!("{l}\n")).collect();
    assert_eq!(mon.output(json!({"prefix": "df"})), df);
    let tree = include_str!("../../tests/data/cli/osd_tree.txt").replace("hdd", "   ");
    let ours = mon.output(json!({"prefix": "osd tree"})).replace("-2", "-3");
    assert_eq!(ours, tree);
    let df =
        include_str!("../../tests/data/cli/osd_df.txt").replace("hdd", "   ").replace("15 KiB", "16 KiB");
    assert_eq!(mon.output(json!({"prefix": "osd df"})), df);
    assert_eq!(
        TestMon::new().output(json!({"prefix": "df"})),
        include_str!("../../tests/data/cli/df_empty.txt")
    );
}

#[test]
fn pool_listings_are_as_recorded() {
    let mut mon = recorded();
    mon.output(json!({"prefix": "osd pool create", "pool": "p2", "pg_num": 8}));
    let recorded = include_str!("../../tests/data/cli/osd_pool_ls_detail.txt").replace(",creating", "");
    let ours = mon.output(json!({"prefix": "osd pool ls", "detail": "detail"}));
    assert_eq!(
        ours.replace("last_change 3", "last_change 9").replace("last_change 4", "last_change 9"),
        recorded
    );
    assert_eq!(mon.output(json!({"prefix": "osd pool ls"})), "bench\np2\n");
    assert_eq!(mon.output(json!({"prefix": "osd lspools"})), "1 bench\n2 p2\n");
    assert_eq!(
        mon.output(json!({"prefix": "osd lspools", "format": "json"})),
        "[{\"poolnum\":1,\"poolname\":\"bench\"},{\"poolnum\":2,\"poolname\":\"p2\"}]\n"
    );
    let all = include_str!("../../tests/data/cli/osd_pool_get_bench_all.txt").replace("size: 2", "size: 1");
    assert_eq!(mon.output(json!({"prefix": "osd pool get", "pool": "bench", "var": "all"})), all);
}

#[test]
fn pools_are_made_deleted_and_protected() {
    let mut mon = TestMon::new();
    let create = json!({"prefix": "osd pool create", "pool": "p"});
    assert_eq!(mon.run(create.clone()).status, "pool 'p' created");
    let epoch = mon.state.osdmap().epoch();
    let again = mon.run(create);
    assert_eq!((again.result, again.status.as_str()), (0, "pool 'p' already exists"));
    assert_eq!(mon.state.osdmap().epoch(), epoch, "nothing was published");
    assert_eq!(mon.output(json!({"prefix": "osd pool get", "pool": "p", "var": "pg_num"})), "pg_num: 32\n");

    for (arguments, errno) in [
        (json!({"size": 3}), Errno::EOPNOTSUPP),
        (json!({"size": 11}), Errno::EINVAL),
        (json!({"pool_type": "erasure"}), Errno::EOPNOTSUPP),
        (json!({"pg_num": 1 << 20}), Errno::ERANGE),
        (json!({"pg_num": 4, "pgp_num": 8}), Errno::ERANGE),
        (json!({"rule": "nowhere"}), Errno::ENOENT),
    ] {
        let mut command = json!({"prefix": "osd pool create", "pool": "other"});
        command.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        assert_eq!(mon.run(command).result, errno.to_wire(), "{arguments}");
    }
    for (var, val, errno) in [("size", "2", 95), ("pg_num", "64", 95), ("nonsense", "1", 22)] {
        let set = json!({"prefix": "osd pool set", "pool": "p", "var": var, "val": val});
        assert_eq!(mon.run(set).result, -errno, "{var}");
    }

    let delete = |pool2: &str, sure: bool| json!({"prefix": "osd pool rm", "pool": "p", "pool2": pool2, "yes_i_really_really_mean_it": sure});
    assert_eq!(mon.run(delete("q", true)).result, Errno::EPERM.to_wire());
    assert_eq!(mon.run(delete("p", false)).result, Errno::EPERM.to_wire());
    mon.options.config.update(|config| config.unset(Layer::File, "mon_allow_pool_delete"));
    assert_eq!(mon.run(delete("p", true)).result, Errno::EPERM.to_wire());
    mon.run(json!({"prefix": "config set", "who": "mon", "name": "mon_allow_pool_delete", "value": "true"}));
    mon.run(json!({"prefix": "osd pool set", "pool": "p", "var": "nodelete", "val": "true"}));
    assert_eq!(mon.run(delete("p", true)).result, Errno::EPERM.to_wire());
    mon.run(json!({"prefix": "osd pool set", "pool": "p", "var": "nodelete", "val": "0"}));
    assert_eq!(mon.run(delete("p", true)).status, "pool 'p' removed");
    assert_eq!(mon.run(delete("p", true)).status, "pool 'p' does not exist");
    mon.output(json!({"prefix": "osd pool create", "pool": "p"}));
    assert_eq!(mon.output(json!({"prefix": "osd lspools"})), "2 p\n", "ids are not used again");
}

#[test]
fn applications_are_enabled_once_and_a_second_only_if_meant() {
    let mut mon = TestMon::new();
    mon.output(json!({"prefix": "osd pool create", "pool": "p"}));
    let enable = |app: &str, sure: bool| json!({"prefix": "osd pool application enable", "pool": "p", "app": app, "yes_i_really_mean_it": sure});
    assert_eq!(mon.run(enable("rbd", false)).status, "enabled application 'rbd' on pool 'p'");
    assert_eq!(mon.run(enable("rgw", false)).result, Errno::EPERM.to_wire());
    assert_eq!(mon.run(enable("rgw", true)).result, 0);
    let get = json!({"prefix": "osd pool application get", "pool": "p", "format": "json"});
    assert_eq!(parsed(&mon.output(get)), json!({"rbd": {}, "rgw": {}}));
}

#[test]
fn entities_are_made_shown_changed_and_removed() {
    let mut mon = TestMon::new();
    let create = json!({"prefix": "auth get-or-create", "entity": "client.x",
                        "caps": ["mon", "allow r", "osd", "allow rw pool=bench"]});
    let text = mon.output(create.clone());
    let key = text.strip_prefix("[client.x]\n\tkey = ").unwrap().trim_end();
    assert!(key.starts_with("AQ"));
    assert_eq!(mon.output(create), text, "the same key again");
    let other = json!({"prefix": "auth get-or-create", "entity": "client.x", "caps": ["mon", "allow *"]});
    assert_eq!(mon.run(other).result, Errno::EINVAL.to_wire());

    let get = mon.run(json!({"prefix": "auth get", "entity": "client.x"}));
    assert_eq!(get.status, "exported keyring for client.x");
    let expected = format!(
        "[client.x]\n\tkey = {key}\n\tcaps mon = \"allow r\"\n\tcaps osd = \"allow rw pool=bench\"\n"
    );
    assert_eq!(get.output, expected);
    assert_eq!(
        mon.output(json!({"prefix": "auth get", "entity": "client.x", "format": "json"})),
        format!(
            "[{{\"entity\":\"client.x\",\"key\":\"{key}\",\"caps\":{{\"mon\":\"allow r\",\"osd\":\"allow rw pool=bench\"}}}}]"
        )
    );
    assert_eq!(mon.output(json!({"prefix": "auth get-key", "entity": "client.x"})), key);
    let ls = mon.run(json!({"prefix": "auth ls"}));
    assert_eq!(ls.status, "installed auth entries:\n");
    let listed =
        format!("client.x\n\tkey: {key}\n\tcaps: [mon] allow r\n\tcaps: [osd] allow rw pool=bench\n");
    assert!(String::from_utf8_lossy(&ls.output).ends_with(&listed));

    let caps = json!({"prefix": "auth caps", "entity": "client.x", "caps": ["mon", "allow rw"]});
    assert_eq!(mon.run(caps).status, "updated caps for client.x");
    assert_eq!(mon.caps("client.x").unwrap(), [("mon".to_owned(), "allow rw".to_owned())].into());
    assert_eq!(mon.output(json!({"prefix": "auth get-key", "entity": "client.x"})), key);
    assert_eq!(mon.run(json!({"prefix": "auth rm", "entity": "client.x"})).status, "updated");
    assert_eq!(mon.run(json!({"prefix": "auth get", "entity": "client.x"})).result, Errno::ENOENT.to_wire());
}

#[test]
fn keys_are_of_the_asked_type_and_caps_must_parse() {
    let mut mon = TestMon::new();
    let create = |kind: &str| json!({"prefix": "auth get-or-create-key", "entity": format!("client.{kind}"), "key_type": kind});
    assert!(mon.output(create("aes")).starts_with("AQ"));
    assert!(mon.output(create("aes256k")).starts_with("Ag"));
    assert_eq!(mon.run(create("des")).result, Errno::EINVAL.to_wire());

    let add = |caps: &[&str]| json!({"prefix": "auth add", "entity": "client.bad", "caps": caps});
    let reply = mon.run(add(&["osd", "allow rubbish"]));
    assert_eq!(reply.result, Errno::EINVAL.to_wire());
    assert!(reply.status.starts_with("osd capability parse failed, stopped at"), "{}", reply.status);
    for caps in [&["mon", "allow nonsense"][..], &["mon"], &["moon", "allow r"]] {
        assert_eq!(mon.run(add(caps)).result, Errno::EINVAL.to_wire(), "{caps:?}");
    }
    assert_eq!(mon.caps("client.bad"), None);
    for name in ["auth.x", "client.", "nobody", "mon."] {
        let add = json!({"prefix": "auth add", "entity": name});
        assert_eq!(mon.run(add).result, Errno::EINVAL.to_wire(), "{name}");
    }
}

#[test]
fn keyrings_are_imported_from_the_input() {
    let mut mon = TestMon::new();
    let keyring = b"[client.i]\n\tkey = AQAS0Q1rdONNCBAAtd1jLCJjFC94XXBT7HEnlQ==\n\tcaps mon = \"allow r\"\n";
    let admin = caller("client.admin", "allow *");
    let reply = mon.run_as(&admin, &json!({"prefix": "auth import"}), keyring);
    assert_eq!((reply.result, reply.status.as_str()), (0, "imported keyring"));
    assert_eq!(
        mon.output(json!({"prefix": "auth get-key", "entity": "client.i"})),
        "AQAS0Q1rdONNCBAAtd1jLCJjFC94XXBT7HEnlQ=="
    );
    let reply = mon.run_as(&admin, &json!({"prefix": "auth import"}), b"[client.i]\n\tkee = x\n");
    assert_eq!(reply.result, Errno::EINVAL.to_wire());
}

#[test]
fn config_keys_are_stored() {
    let mut mon = TestMon::new();
    let set = mon.run(json!({"prefix": "config-key set", "key": "foo", "val": "bar"}));
    assert_eq!((set.status.as_str(), set.output.len()), ("set foo", 0));
    assert_eq!(mon.output(json!({"prefix": "config-key get", "key": "foo"})), "bar");
    assert_eq!(mon.run(json!({"prefix": "config-key exists", "key": "foo"})).result, 0);
    assert_eq!(mon.output(json!({"prefix": "config-key ls"})), "[\n    \"foo\"\n]\n");
    assert_eq!(mon.run(json!({"prefix": "config-key rm", "key": "foo"})).status, "key deleted");
    let missing = mon.run(json!({"prefix": "config-key get", "key": "foo"}));
    assert_eq!(
        (missing.result, missing.status.as_str()),
        (-2, "error obtaining 'foo': (2) No such file or directory")
    );
}

#[test]
fn osds_are_marked_and_the_blocklist_is_kept() {
    let mut mon = recorded();
    assert_eq!(mon.run(json!({"prefix": "osd out", "ids": ["0"]})).status, "marked out osd.0. ");
    assert_eq!(mon.run(json!({"prefix": "osd out", "ids": ["osd.0"]})).status, "osd.0 is already out. ");
    assert_eq!(mon.run(json!({"prefix": "osd in", "ids": ["0"]})).status, "marked in osd.0. ");
    assert_eq!(mon.run(json!({"prefix": "osd down", "ids": ["0"]})).status, "marked down osd.0. ");
    assert_eq!(
        mon.output(json!({"prefix": "osd stat"})),
        "1 osds: 0 up (since 0s), 1 in (since 0s); epoch: e6\n"
    );
    let mixed = mon.run(json!({"prefix": "osd down", "ids": ["7", "0"]}));
    assert_eq!((mixed.result, mixed.status.as_str()), (0, "osd.7 does not exist. osd.0 is already down. "));
    assert_eq!(mon.run(json!({"prefix": "osd set", "key": "noout"})).status, "noout is set");
    assert!(mon.output(json!({"prefix": "health"})).contains("noout flag(s) set"));
    assert_eq!(mon.output(json!({"prefix": "osd ls"})), "0\n");

    let add = json!({"prefix": "osd blocklist", "blocklistop": "add", "addr": "1.2.3.4", "expire": 100.0});
    let until = "2026-11-30T16:55:35.000000+0000";
    assert_eq!(mon.run(add).status, format!("blocklisting 1.2.3.4:0/0 until {until} (100 sec)"));
    let ls = mon.run(json!({"prefix": "osd blocklist ls"}));
    assert_eq!(
        (ls.status.as_str(), ls.output),
        ("listed 1 entries", format!("1.2.3.4:0/0 {until}\n").into())
    );
    let rm = json!({"prefix": "osd blacklist", "blocklistop": "rm", "addr": "1.2.3.4:0/0"});
    assert_eq!(mon.run(rm.clone()).status, "un-blocklisting 1.2.3.4:0/0");
    assert_eq!(mon.run(rm).status, "1.2.3.4:0/0 isn't blocklisted");
}

#[test]
fn an_object_is_found_where_clients_look_for_it() {
    let mut mon = recorded();
    let epoch = mon.state.osdmap().epoch();
    assert_eq!(
        mon.output(json!({"prefix": "osd map", "pool": "bench", "object": "obj1"})),
        format!(
            "osdmap e{epoch} pool 'bench' (1) object 'obj1' -> pg 1.6cf8deff (1.1f) -> up ([0], p0) acting ([0], p0)\n"
        )
    );
    assert_eq!(mon.run(json!({"prefix": "osd map", "pool": "no", "object": "o"})).result, -2);
}

#[test]
fn monitors_describe_themselves() {
    let mut mon = TestMon::new();
    let dump = mon.run(json!({"prefix": "mon dump"}));
    assert_eq!(dump.status, "dumped monmap epoch 1");
    assert!(String::from_utf8_lossy(&dump.output).ends_with("\n0: v2:127.0.0.1:3300/0 mon.a\n"));
    assert_eq!(
        mon.output(json!({"prefix": "mon stat"})),
        "e1: 1 mons at {a=v2:127.0.0.1:3300/0} removed_ranks: {}, election epoch 1, leader 0 a, quorum 0 a\n"
    );
    assert_eq!(parsed(&mon.output(json!({"prefix": "quorum_status"})))["quorum_names"], json!(["a"]));
    assert_eq!(mon.output(json!({"prefix": "fsid"})), "5d5d5d5d-5d5d-5d5d-5d5d-5d5d5d5d5d5d\n");
    assert!(mon.output(json!({"prefix": "versions"})).starts_with("{\n    \"mon\": {\n        \"sepiola"));
}

#[test]
fn what_is_not_understood_is_refused() {
    let mut mon = TestMon::new();
    let unknown = mon.run(json!({"prefix": "make coffee"}));
    assert_eq!((unknown.result, unknown.status.as_str()), (-22, "command not known"));
    for command in
        [json!([]), json!(7), json!({}), json!({"prefix": 5}), json!({"prefix": "osd tree", "format": "xml"})]
    {
        assert_eq!(mon.run(command.clone()).result, Errno::EINVAL.to_wire(), "{command}");
    }
    assert_eq!(mon.run(json!({"prefix": "osd pool create"})).status, "missing required parameter pool");
}

#[test]
fn rights_are_checked_before_anything_else() {
    let mut mon = recorded();
    let cases = [
        ("allow r", json!({"prefix": "status"}), 0),
        ("allow r", json!({"prefix": "osd pool create", "pool": "x"}), -13),
        ("allow r", json!({"prefix": "osd pool create"}), -13),
        ("allow rw", json!({"prefix": "osd pool create", "pool": "x"}), 0),
        ("allow rw", json!({"prefix": "auth ls"}), -13),
        ("allow rx", json!({"prefix": "auth ls"}), 0),
        ("allow rx", json!({"prefix": "auth get-or-create", "entity": "client.z"}), -13),
        ("allow rwx", json!({"prefix": "config-key get", "key": "k"}), -13),
        ("allow *", json!({"prefix": "config-key get", "key": "k"}), -2),
        ("profile rbd", json!({"prefix": "osd dump"}), 0),
        ("profile rbd", json!({"prefix": "osd pool rm", "pool": "bench"}), -13),
        ("allow command \"osd pool ls\"", json!({"prefix": "osd pool ls"}), 0),
        ("allow command \"osd pool ls\"", json!({"prefix": "osd dump"}), -13),
        ("profile rbd", json!({"prefix": "osd blocklist", "blocklistop": "add", "addr": "1.2.3.4:0/7"}), 0),
        ("profile rbd", json!({"prefix": "osd blocklist", "blocklistop": "rm", "addr": "1.2.3.4:0/7"}), -13),
    ];
    for (caps, command, result) in cases {
        let reply = mon.run_as(&caller("client.x", caps), &command, b"");
        assert_eq!(reply.result, result, "{caps}: {command}: {}", reply.status);
    }
}

#[test]
fn descriptions_cover_every_command_and_send_nothing_to_a_manager() {
    let mut mon = TestMon::new();
    let nobody = caller("client.x", "allow service nothing r");
    let reply = mon.run_as(&nobody, &json!({"prefix": "get_command_descriptions"}), b"");
    let all: Value = serde_json::from_slice(&reply.output).unwrap();
    let all = all.as_object().unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for (id, command) in all {
        assert!(id.starts_with("cmd"));
        assert_eq!(command["flags"], 0, "{command}");
        let words =
            command["sig"].as_array().unwrap().iter().map_while(Value::as_str).collect::<Vec<_>>().join(" ");
        assert!(super::find(&words).is_some(), "{words}");
        assert!(seen.insert(words.clone()), "{words} is described twice");
        for attribute in command["sig"].as_array().unwrap().iter().filter_map(Value::as_object) {
            assert!(attribute.values().all(Value::is_string), "{words}");
        }
    }
    for words in ["osd df", "pg stat", "osd pool rm", "auth rm", "status"] {
        assert!(seen.contains(words), "{words}");
    }
}

#[test]
fn several_strings_are_one_command() {
    let words = vec!["{\"prefix\": \"fs".to_owned(), "id\"}".to_owned()];
    let request = super::Request { words, input: Default::default() };
    assert!(super::check(request, &caller("client.admin", "allow *")).is_ok());
}
