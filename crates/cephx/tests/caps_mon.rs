//! Monitor capabilities: the texts a real monitor accepts, and what they allow.

mod support;

use std::collections::BTreeMap;

use sepiola_cephx::caps::{MonCaps, Rwx};
use sepiola_wire::EntityName;
use support::vectors::load;

#[test]
fn every_recorded_text_is_accepted_or_refused_with_the_same_words() {
    let recorded = load("caps_grammar.json");
    let mut checked = 0;
    for (text, result) in recorded.as_object().unwrap() {
        let Some(text) = text.strip_prefix("mon: ") else { continue };
        match MonCaps::parse(text) {
            Ok(_) => assert_eq!(result[0], 0, "{text}"),
            Err(error) => assert_eq!(result[1], error.to_string(), "{text}"),
        }
        checked += 1;
    }
    assert_eq!(checked, 30);
}

fn entity(name: &str) -> EntityName {
    name.parse().unwrap()
}

fn reaches(caps: &str, service: &str, need: Rwx) -> bool {
    MonCaps::parse(caps).unwrap().allows(&entity("client.x"), service, None, need)
}

/// Whether the command is allowed, though nothing gives rights to its service.
fn runs_as(name: &str, caps: &str, command: &str, arguments: &[(&str, &str)]) -> bool {
    let arguments: BTreeMap<String, String> =
        arguments.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let caps = MonCaps::parse(caps).unwrap();
    caps.allows(&entity(name), "nothing", Some((command, &arguments)), Rwx::RWX)
}

fn runs(caps: &str, command: &str, arguments: &[(&str, &str)]) -> bool {
    runs_as("client.x", caps, command, arguments)
}

#[test]
fn rights_at_services() {
    let cases = [
        ("allow r", "mon", Rwx::R, true),
        ("allow r", "osd", Rwx::W, false),
        ("allow rw", "osd", Rwx::RW, true),
        ("allow r, allow w", "osd", Rwx::RW, true),
        ("allow r; allow w", "osd", Rwx::RWX, false),
        ("allow *", "config-key", Rwx::RWX, true),
        ("allow all", "auth", Rwx::RWX, true),
        ("allow rwx", "config-key", Rwx::R, false),
        ("allow service config-key r", "config-key", Rwx::R, true),
        ("allow service=mon rw", "mon", Rwx::RW, true),
        ("allow service=mon rw", "osd", Rwx::R, false),
        ("allow service mon *", "mon", Rwx::RWX, true),
        ("allow rw", "auth", Rwx::R, false),
        ("allow rx", "auth", Rwx::R, true),
        ("allow wx", "auth", Rwx::W, true),
        ("profile nosuch", "mon", Rwx::R, false),
    ];
    for (caps, service, need, allowed) in cases {
        assert_eq!(reaches(caps, service, need), allowed, "{caps}: {service} {need:?}");
    }
}

#[test]
fn profiles() {
    let cases = [
        ("read-only", "osd", Rwx::R, true),
        ("read-only", "osd", Rwx::W, false),
        ("read-only", "config-key", Rwx::R, false),
        ("read-write", "mds", Rwx::RW, true),
        ("mon", "log", Rwx::RWX, true),
        ("osd", "osd", Rwx::RWX, true),
        ("osd", "pg", Rwx::RW, true),
        ("osd", "log", Rwx::R, false),
        ("osd", "mon", Rwx::W, false),
        ("osd", "auth", Rwx::R, false),
        ("mds", "mds", Rwx::RWX, true),
        ("mgr", "auth", Rwx::R, true),
        ("mgr", "auth", Rwx::W, false),
        ("mgr", "config-key", Rwx::RW, true),
        ("bootstrap-osd", "osd", Rwx::R, true),
        ("bootstrap-osd", "osd", Rwx::W, false),
        ("bootstrap-rbd", "mon", Rwx::R, true),
        ("bootstrap-rbd", "osd", Rwx::R, false),
        ("fs-client", "mds", Rwx::R, true),
        ("simple-rados-client", "pg", Rwx::R, true),
        ("simple-rados-client", "osd", Rwx::W, false),
        ("rbd", "osd", Rwx::R, true),
        ("rbd-read-only", "osd", Rwx::R, true),
        ("crash", "mon", Rwx::R, true),
        ("crash", "osd", Rwx::R, false),
        ("role-definer", "auth", Rwx::RWX, true),
        ("role-definer", "osd", Rwx::R, false),
    ];
    for (profile, service, need, allowed) in cases {
        for caps in [format!("profile {profile}"), format!("allow profile={profile}")] {
            assert_eq!(reaches(&caps, service, need), allowed, "{caps}: {service} {need:?}");
        }
    }
}

#[test]
fn commands_and_their_arguments() {
    let any: &[(&str, &str)] = &[];
    assert!(runs("allow command \"osd blocklist\"", "osd blocklist", any));
    assert!(runs("allow command \"osd blacklist\"", "osd blocklist", any), "the word of older releases");
    assert!(!runs("allow command \"osd blocklist\"", "osd blocklist ls", any));
    let get = "allow command \"auth get\" with entity=client.x";
    assert!(runs(get, "auth get", &[("entity", "client.x"), ("more", "y")]));
    assert!(!runs(get, "auth get", &[("entity", "client.y")]));
    assert!(!runs(get, "auth get", any), "an argument that is not there does not match");
    let two = "allow command foo with a prefix b c=\"d e\"";
    assert!(runs(two, "foo", &[("a", "bbb"), ("c", "d e")]));
    assert!(!runs(two, "foo", &[("a", "bbb")]));
    assert!(!runs(two, "foo", &[("a", "ab"), ("c", "d e")]));
    let pattern = "allow command x with a regex \"[0-9]+|none\"";
    assert!(runs(pattern, "x", &[("a", "12")]));
    assert!(runs(pattern, "x", &[("a", "none")]));
    assert!(!runs(pattern, "x", &[("a", "12 or so")]), "the whole argument has to match");
    assert!(!runs("allow command x with a regex \"[\"", "x", &[("a", "[")]), "no pattern matches nothing");
}

#[test]
fn commands_of_profiles() {
    let blocklist = |addr| [("blocklistop", "add"), ("addr", addr)];
    assert!(runs("profile rbd", "osd blocklist", &blocklist("10.0.0.1:0/123")));
    assert!(!runs("profile rbd", "osd blocklist", &blocklist("10.0.0.1:0")));
    assert!(!runs("profile rbd", "osd blocklist", &[("blocklistop", "rm"), ("addr", "1:0/1")]));
    assert!(!runs("profile rbd-read-only", "osd blocklist", &blocklist("10.0.0.1:0/123")));
    assert!(runs("profile bootstrap-osd", "osd new", &[]));
    assert!(!runs("profile bootstrap-osd", "osd rm", &[]));

    let mgr = [("entity", "mgr.a"), ("caps_mon", "allow profile mgr"), ("caps_osd", "allow *")];
    let with_mds = |text| [mgr.as_slice(), &[("caps_mds", text)]].concat();
    assert!(runs("profile bootstrap-mgr", "auth get-or-create", &with_mds("allow *")));
    assert!(!runs("profile bootstrap-mgr", "auth get-or-create", &with_mds("allow")));
    assert!(!runs("profile bootstrap-mgr", "auth get-or-create", &mgr));

    let rbd = |mon, osd| [("entity", "client.vm"), ("caps_mon", mon), ("caps_osd", osd)];
    let creates = |mon, osd| runs("profile bootstrap-rbd", "auth get-or-create", &rbd(mon, osd));
    assert!(creates("profile rbd", "profile rbd pool=vms, profile rbd-read-only pool=\"images\""));
    assert!(!creates("profile rbd", "profile rbd pool=vms, allow *"));
    assert!(!creates("allow *", "profile rbd"));
}

#[test]
fn daemons_reach_their_own_secrets_only() {
    let key = |key| [("key", key)];
    let own = "daemon-private/osd.1/x";
    assert!(runs_as("osd.1", "allow profile osd", "config-key get", &key(own)));
    assert!(!runs_as("osd.1", "allow profile osd", "config-key get", &key("daemon-private/osd.10/x")));
    assert!(!runs_as("osd.1", "allow profile osd", "config-key get", &key("daemon-private/osd.1")));
    assert!(!runs_as("osd.1", "allow profile osd", "config-key ls", &key(own)));
    assert!(!runs_as("osd.1", "profile rbd", "config-key get", &key(own)));
}

#[test]
fn networks_restrict_grants() {
    let caps = MonCaps::parse("allow rw network 10.0.0.0/8, allow r").unwrap();
    let writes = |addr: &str| caps.allows_from(addr.parse().ok(), &entity("client.x"), "osd", None, Rwx::RW);
    assert!(writes("10.1.1.1"));
    assert!(!writes("192.168.0.1"));
    assert!(!caps.allows(&entity("client.x"), "osd", None, Rwx::RW), "an unknown address is nowhere");
    assert!(caps.allows(&entity("client.x"), "osd", None, Rwx::R));
}

#[test]
fn an_administrator_is_one_without_conditions() {
    assert!(MonCaps::parse("allow r, allow *").unwrap().is_allow_all());
    assert!(!MonCaps::parse("allow rwx").unwrap().is_allow_all());
    assert!(!MonCaps::parse("allow * network 10.0.0.0/8").unwrap().is_allow_all());
}
