//! `config` against what monitors of 16.2.15 answered.

use sepiola_wire::Errno;
use serde_json::{Value, json};

use crate::testing::{TestMon, caller};

fn set(mon: &mut TestMon, who: &str, name: &str, value: &str) -> (i32, String) {
    let reply = mon.run(json!({"prefix": "config set", "who": who, "name": name, "value": value}));
    (reply.result, reply.status)
}

fn get(mon: &mut TestMon, who: &str, key: &str) -> String {
    mon.output(json!({"prefix": "config get", "who": who, "key": key}))
}

fn furnished() -> TestMon {
    let mut mon = TestMon::new();
    for (who, name, value) in [
        ("osd", "debug_osd", "10"),
        ("client.admin", "rados_osd_op_timeout", "12"),
        ("osd/host:foo", "osd_max_backfills", "3"),
        ("osd/class:ssd", "osd_max_backfills", "4"),
        ("mon.a", "mon_allow_pool_delete", "true"),
        ("global", "osd_memory_target", "1G"),
        ("global", "osd_objectstore", "memstore"),
    ] {
        assert_eq!(set(&mut mon, who, name, value), (0, String::new()), "{who} {name}");
    }
    mon
}

#[test]
fn a_dump_reads_as_cephs() {
    let mut mon = furnished();
    assert_eq!(
        mon.output(json!({"prefix": "config dump"})),
        "WHO               MASK       LEVEL     OPTION                 VALUE       RO\n\
         global                       basic     osd_memory_target      1073741824    \n\
         global                       advanced  osd_objectstore        memstore    * \n    \
             mon.a                    advanced  mon_allow_pool_delete  true          \n  \
           osd                        advanced  debug_osd              10/10         \n  \
           osd             class:ssd  advanced  osd_max_backfills      4             \n  \
           osd             host:foo   advanced  osd_max_backfills      3             \n    \
             client.admin             advanced  rados_osd_op_timeout   12            \n"
    );
    let dump: Value =
        serde_json::from_str(&mon.output(json!({"prefix": "config dump", "format": "json"}))).unwrap();
    assert_eq!(
        dump[5],
        json!({
            "section": "osd", "name": "osd_max_backfills", "value": "3", "level": "advanced",
            "can_update_at_runtime": true, "mask": "host:foo", "location_type": "host", "location_value": "foo",
        })
    );
}

#[test]
fn an_entity_is_shown_what_applies_to_it() {
    let mut mon = furnished();
    assert_eq!(
        mon.output(json!({"prefix": "config get", "who": "osd.0"})),
        "WHO     MASK  LEVEL     OPTION             VALUE       RO\n\
         osd           advanced  debug_osd          10/10         \n\
         global        basic     osd_memory_target  1073741824    \n\
         global        advanced  osd_objectstore    memstore    * \n"
    );
    let json: Value =
        serde_json::from_str(&mon.output(json!({"prefix": "config get", "who": "osd", "format": "json"})))
            .unwrap();
    assert_eq!(
        json["debug_osd"],
        json!({"value": "10/10", "section": "osd", "mask": {}, "can_update_at_runtime": true})
    );
    assert_eq!(get(&mut mon, "osd.0", "debug_osd"), "10/10\n");
    assert_eq!(get(&mut mon, "mon", "mon_allow_pool_delete"), "false\n");
    assert_eq!(get(&mut mon, "osd.0", "osd_recovery_sleep"), "0.000000\n");
    let fsid = mon.state.fsid().to_string() + "\n";
    assert_eq!(get(&mut mon, "osd.0", "fsid"), fsid);
    for (who, key, errno, said) in [
        ("osd.0", "nonsense", Errno::ENOENT, "unrecognized key 'nonsense'"),
        ("global", "debug_osd", Errno::EINVAL, "unrecognized entity 'global'"),
        ("osd", "mon_host", Errno::EINVAL, "mon_host is special and cannot be stored by the mon"),
    ] {
        let reply = mon.run(json!({"prefix": "config get", "who": who, "key": key}));
        assert_eq!((reply.result, reply.status.as_str()), (errno.to_wire(), said));
    }
}

#[test]
fn what_makes_no_sense_is_refused_unless_forced() {
    let mut mon = TestMon::new();
    for (who, name, value, errno, said) in [
        ("global", "nonsense", "1", Errno::EINVAL, "unrecognized config option 'nonsense'"),
        (
            "global",
            "osd-heartbeat-grace",
            "25",
            Errno::EINVAL,
            "unrecognized config option 'osd-heartbeat-grace'",
        ),
        ("foo.bar", "debug_osd", "1", Errno::EINVAL, "unrecognized config target 'foo.bar'"),
        (
            "global",
            "mon_host",
            "1.2.3.4",
            Errno::EINVAL,
            "mon_host is special and cannot be stored by the mon",
        ),
        ("global", "debug_ms", "-1", Errno::ERANGE, "error parsing value: value must be in range [0, 99]"),
    ] {
        assert_eq!(set(&mut mon, who, name, value), (errno.to_wire(), said.to_owned()));
    }
    assert_eq!(set(&mut mon, "global", "osd heartbeat grace", "25").0, 0);
    assert_eq!(get(&mut mon, "osd", "osd_heartbeat_grace"), "25\n");
    let forced =
        json!({"prefix": "config set", "who": "global", "name": "nonsense", "value": "1", "force": true});
    mon.output(forced);
    let dump = mon.output(json!({"prefix": "config dump"}));
    assert!(dump.contains("global        unknown   nonsense             1      * "), "{dump}");
}

#[test]
fn what_is_removed_is_gone_and_can_be_removed_again() {
    let mut mon = furnished();
    let rm = json!({"prefix": "config rm", "who": "osd/class:ssd", "name": "osd_max_backfills"});
    for _ in 0..2 {
        assert_eq!(mon.run(rm.clone()).result, 0);
    }
    assert!(!mon.output(json!({"prefix": "config dump"})).contains("class:ssd"));
    let nobody = mon.run(json!({"prefix": "config rm", "who": "badwho", "name": "x"}));
    assert_eq!(nobody.status, "unrecognized config target 'badwho'");
}

#[test]
fn a_conf_file_is_taken_over_as_far_as_it_can_be() {
    let mut mon = TestMon::new();
    let conf = b"[global]\nfsid = 1\ndebug osd = 3\nfoo_bar = 7\nmon host = 1.2.3.4\n\
                 [osd.3]\nosd_max_backfills = 2\nkeyring=/x\n";
    let admin = caller("client.admin", "allow *");
    let reply = mon.run_as(&admin, &json!({"prefix": "config assimilate-conf"}), conf);
    assert_eq!(
        String::from_utf8_lossy(&reply.output),
        "\n[global]\n\tfoo_bar = 7\n\tfsid = 1\n\tmon_host = 1.2.3.4\n\n[osd.3]\n\tkeyring = /x\n"
    );
    assert_eq!(get(&mut mon, "osd.3", "osd_max_backfills"), "2\n");
    assert_eq!(get(&mut mon, "mon", "debug_osd"), "3/3\n");
    let minimal = mon.output(json!({"prefix": "config generate-minimal-conf"}));
    assert!(minimal.ends_with("\tmon_host = v2:127.0.0.1:3300/0\n"), "{minimal}");
}

#[test]
fn nothing_makes_the_database_too_large_to_be_handed_out() {
    let mut mon = TestMon::new();
    let mut force = |who: &str, name: &str, value: &str| {
        let command =
            json!({"prefix": "config set", "who": who, "name": name, "value": value, "force": true});
        let reply = mon.run(command);
        assert!(reply.status.len() < 1000, "{}", reply.status);
        reply.result
    };
    let (name, value) = ("x".repeat(256), "x".repeat(64 << 10));
    assert_eq!(force("global", &name, "1"), 0);
    for wrong in
        [name.clone() + "x", "a b\n".to_owned(), "\u{1b}[2J".to_owned(), "ü".to_owned(), String::new()]
    {
        assert_eq!(force("global", &wrong, "1"), Errno::EINVAL.to_wire(), "{wrong:?}");
    }
    for wrong in [format!("client.{name}"), "osd/host:a/host:b".to_owned(), "osd/rack:a/host:b".to_owned()] {
        assert_eq!(force(&wrong, "x", "1"), Errno::EINVAL.to_wire(), "{wrong}");
    }
    assert_eq!(force("global", "x", &(value.clone() + "x")), Errno::EFBIG.to_wire());
    for n in 0..15 {
        assert_eq!(force("global", &format!("x{n}"), &value), 0);
    }
    assert_eq!(force("osd", "x15", &value), Errno::ENOSPC.to_wire());
    assert_eq!(force("global", "x14", &value), 0, "it takes the place of the old value");
    let conf = format!("[global]\nosd_class_dir = {value}\nosd_max_backfills = 2\n");
    let admin = caller("client.admin", "allow *");
    let reply = mon.run_as(&admin, &json!({"prefix": "config assimilate-conf"}), conf.as_bytes());
    assert!(String::from_utf8_lossy(&reply.output).contains("osd_class_dir = xx"), "it is given back");
    assert_eq!(get(&mut mon, "osd.3", "osd_max_backfills"), "2\n");
    mon.output(json!({"prefix": "config rm", "who": "global", "name": "x0"}));
    assert_eq!(set(&mut mon, "osd", "osd_class_dir", &value).0, 0, "there is room again");
}

#[test]
fn secrets_are_not_shown() {
    let mut mon = TestMon::new();
    for name in ["rgw_ldap_secret", "rgw_crypt_default_encryption_key", "rgw_keystone_admin_password"] {
        assert_eq!(set(&mut mon, "client", name, "hush").0, 0);
        assert_eq!(get(&mut mon, "client.a", name), "******\n");
    }
    assert_eq!(set(&mut mon, "client", "rgw_keystone_admin_password_path", "/shown").0, 0);
    for command in [json!({"prefix": "config dump"}), json!({"prefix": "config get", "who": "client.a"})] {
        for format in ["plain", "json"] {
            let mut command = command.clone();
            command["format"] = format.into();
            let shown = mon.output(command);
            assert!(!shown.contains("hush") && shown.contains("/shown"), "{shown}");
        }
    }
}

#[test]
fn help_says_what_is_unknown() {
    let reply = TestMon::new().run(json!({"prefix": "config help", "key": "nosuch"}));
    let expected = (Errno::ENOENT.to_wire(), "unrecognized config option 'nosuch'");
    assert_eq!((reply.result, reply.status.as_str()), expected);
}
