//! Commands of administrators: adding and removing OSDs, flags, the cluster log, lists of pgs.

use sepiola_wire::Errno;
use serde_json::json;

use super::tests::{parsed, recorded};
use crate::testing::{TestMon, caller};

#[test]
fn an_osd_is_announced_once_and_removed_only_when_it_is_down() {
    let mut mon = recorded();
    let uuid = "6d1b5b1c-0000-4000-8000-000000000001";
    let new = json!({"prefix": "osd new", "uuid": uuid, "format": "json"});
    assert_eq!(parsed(&mon.output(new.clone())), json!({"osdid": 1}));
    assert_eq!(parsed(&mon.output(new)), json!({"osdid": 1}), "the same store again");
    let other = mon.run(json!({"prefix": "osd new", "uuid": uuid, "id": 3}));
    assert_eq!(other.result, Errno::EEXIST.to_wire());
    let announced = mon.state.osdmap().osd(sepiola_wire::OsdId(1)).unwrap().clone();
    assert!(announced.exists() && !announced.is_up() && !announced.is_in());
    assert_eq!(mon.run(json!({"prefix": "osd rm", "ids": ["0"]})).result, Errno::EBUSY.to_wire());
    assert_eq!(mon.run(json!({"prefix": "osd rm", "ids": ["1"]})).status, "removed osd.1");
    assert_eq!(mon.output(json!({"prefix": "osd ls"})), "0\n");
    let input = br#"{"cephx_secret": "AQAE0Q1rmTTaBBAA227/EuwzXMJYQ4qyTX35HA=="}"#;
    let admin = caller("client.admin", "allow *");
    let command = json!({"prefix": "osd new", "uuid": uuid});
    assert_eq!(mon.run_as(&admin, &command, input).result, 0);
    assert_eq!(mon.caps("osd.1").unwrap()["mon"], "allow profile osd");
    let purge = json!({"prefix": "osd purge", "id": 1, "yes_i_really_mean_it": true});
    assert_eq!(mon.run(purge).status, "purged osd.1");
    assert_eq!(mon.caps("osd.1"), None);
}

#[test]
fn flags_of_single_osds_are_set_and_unset() {
    let mut mon = recorded();
    let group = |word: &str, flags: &str| json!({"prefix": format!("osd {word}-group"), "flags": flags, "who": ["0"]});
    let state = |mon: &TestMon| mon.state.osdmap().osd(sepiola_wire::OsdId(0)).unwrap().state.to_string();
    mon.output(group("set", "noup,noout"));
    assert_eq!(state(&mon), "exists,up,noup,noout");
    mon.output(group("set", "noup"));
    mon.output(group("unset", "noup"));
    assert_eq!(state(&mon), "exists,up,noout");
    assert_eq!(mon.run(group("set", "up")).result, Errno::EINVAL.to_wire());
}

#[test]
fn stopping_the_only_copy_is_not_ok() {
    let mut mon = recorded();
    let reply = mon.run(json!({"prefix": "osd ok-to-stop", "ids": ["0"]}));
    assert_eq!(reply.result, Errno::EBUSY.to_wire());
    assert_eq!(parsed(std::str::from_utf8(&reply.output).unwrap())["num_not_ok_pgs"], 32);
    assert_eq!(mon.run(json!({"prefix": "osd ok-to-stop", "ids": ["5"]})).result, 0);
    assert_eq!(
        mon.run(json!({"prefix": "osd safe-to-destroy", "ids": ["0"]})).result,
        Errno::EBUSY.to_wire()
    );
}

#[test]
fn the_log_is_read_by_level_and_number() {
    let mut mon = recorded();
    for text in ["first", "second"] {
        mon.output(json!({"prefix": "log", "logtext": [text, "line"]}));
    }
    let last = mon.output(json!({"prefix": "log last", "num": 1}));
    assert!(last.ends_with(" client.admin (client.4100) 3 : cluster [INF] second line\n"), "{last}");
    let all = parsed(&mon.output(json!({"prefix": "log last", "format": "json"})));
    assert_eq!(all.as_array().unwrap().len(), 3, "{all}");
    assert_eq!((&all[0]["priority"], &all[1]["message"]), (&json!("[INF]"), &json!("first line")));
    assert_eq!(mon.output(json!({"prefix": "log last", "level": "warn"})), "");
    let reader = caller("client.x", "allow r");
    assert_eq!(mon.run_as(&reader, &json!({"prefix": "log", "logtext": ["x"]}), b"").result, -13);
}

#[test]
fn pgs_are_listed_with_what_was_reported_of_them() {
    let mut mon = recorded();
    let pgs = parsed(&mon.output(json!({"prefix": "pg dump", "dumpcontents": ["pgs"], "format": "json"})));
    assert_eq!(pgs["pg_stats"].as_array().unwrap().len(), 32);
    assert_eq!(pgs["pg_stats"][0]["stat_sum"]["num_objects"], 2);
    assert_eq!(pgs["pg_stats"][0]["state"], "active+clean");
    let clean = parsed(&mon.output(json!({"prefix": "pg ls", "states": ["clean"], "format": "json"})));
    assert_eq!(clean["pg_stats"].as_array().unwrap().len(), 32);
    let down = parsed(&mon.output(json!({"prefix": "pg ls", "states": ["down"], "format": "json"})));
    assert_eq!(down["pg_stats"], json!([]));
    assert!(
        mon.output(json!({"prefix": "pg map", "pgid": "1.0"})).contains("pg 1.0 (1.0) -> up [0] acting [0]")
    );
    assert_eq!(mon.run(json!({"prefix": "pg map", "pgid": "9.0"})).result, Errno::ENOENT.to_wire());
}
