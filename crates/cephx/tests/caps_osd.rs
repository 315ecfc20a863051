//! OSD capabilities: the texts a real monitor accepts, and what they allow.

mod support;

use std::collections::BTreeMap;

use sepiola_cephx::caps::{ApplicationMetadata, ClassCall, MAX_CLASS_CALLS, OsdAccess, OsdCaps};
use support::vectors::load;

#[test]
fn every_recorded_text_is_accepted_or_refused_with_the_same_words() {
    let recorded = load("caps_grammar.json");
    let mut checked = 0;
    for (text, result) in recorded.as_object().unwrap() {
        let Some(text) = text.strip_prefix("osd: ") else { continue };
        match OsdCaps::parse(text) {
            Ok(_) => assert_eq!(result[0], 0, "{text}"),
            Err(error) => assert_eq!(result[1], error.to_string(), "{text}"),
        }
        checked += 1;
    }
    assert_eq!(checked, 62);
}

#[test]
fn an_error_points_at_its_column() {
    let error = OsdCaps::parse("allow r, allow rx wrong").unwrap_err();
    assert_eq!((error.offset(), error.column()), (18, 19));
    assert_eq!(error.caret(), "allow r, allow rx wrong\n                  ^");
    assert_eq!(OsdCaps::parse("allow r pool='ü' ?").unwrap_err().column(), 18);
}

/// An operation: `r`, `w` or both on POOL, NAMESPACE and OBJECT.
fn op<'a>(what: &str, pool: &'a str, nspace: &'a str, object: &'a str) -> OsdAccess<'a> {
    static NO_METADATA: ApplicationMetadata = BTreeMap::new();
    OsdAccess {
        pool_name: pool,
        application_metadata: &NO_METADATA,
        nspace: nspace.as_bytes(),
        object: object.as_bytes(),
        read: what.contains('r'),
        write: what.contains('w'),
        classes: &[],
        addr: None,
    }
}

fn allows(caps: &str, access: &OsdAccess<'_>) -> bool {
    OsdCaps::parse(caps).unwrap().allows(access)
}

fn call<'a>(class: &'a str, method: &'a str, flags: &str, allow_listed: bool) -> ClassCall<'a> {
    ClassCall { class, method, read: flags.contains('r'), write: flags.contains('w'), allow_listed }
}

#[test]
fn rights_and_where_they_hold() {
    let cases = [
        ("allow r", "r", "p", "", "o", true),
        ("allow r", "w", "p", "", "o", false),
        ("allow w", "r", "p", "", "o", false),
        ("allow rw", "rw", "p", "n", "o", true),
        ("allow x", "r", "p", "", "o", false),
        ("allow *", "rw", "p", "n", "o", true),
        ("allow all", "rw", "p", "n", "o", true),
        ("allow rw pool=foo", "r", "foo", "", "o", true),
        ("allow rw pool=foo", "r", "foobar", "", "o", false),
        ("allow pool foo rw", "w", "foo", "", "o", true),
        ("allow * pool=foo", "r", "bar", "", "o", false),
        ("allow rw namespace=n", "r", "p", "n", "o", true),
        ("allow rw namespace=n", "r", "p", "", "o", false),
        ("allow rw namespace=n", "r", "p", "n1", "o", false),
        ("allow rw namespace=n*", "r", "p", "n1", "o", true),
        ("allow rw namespace=\"\"", "r", "p", "", "o", true),
        ("allow rw namespace=\"\"", "r", "p", "n", "o", false),
        ("allow r object_prefix rbd_", "r", "p", "", "rbd_x", true),
        ("allow r object_prefix rbd_", "r", "p", "", "rb", false),
        ("allow r object_prefix rbd_", "r", "p", "", "", false),
        ("allow rw pool=foo namespace=n object_prefix p", "w", "foo", "n", "px", true),
        ("allow rw pool=foo namespace=n object_prefix p", "w", "foo", "m", "px", false),
        ("allow r, allow w pool=x", "rw", "x", "", "o", false),
        ("allow r, allow w pool=x", "w", "x", "", "o", true),
        ("allow r pool=a; allow r pool=b", "r", "b", "", "o", true),
        ("profile nosuch", "r", "p", "", "o", false),
        ("profile osd", "r", "p", "", "o", false),
        ("profile read-only", "r", "p", "", "o", true),
        ("profile read-only", "w", "p", "", "o", false),
        ("profile read-write pool=a", "rw", "a", "", "o", true),
        ("profile read-write pool=a", "rw", "b", "", "o", false),
        ("profile rbd", "rw", "p", "n", "rbd_data.1", true),
        ("profile rbd pool=foo", "rw", "foo", "", "o", true),
        ("profile rbd pool=foo", "w", "bar", "", "o", false),
        ("profile rbd pool=foo", "r", "bar", "", "rbd_info", true),
        ("profile rbd pool=foo namespace=n", "r", "foo", "", "o", false),
        ("profile rbd-read-only pool=foo", "r", "foo", "", "o", true),
        ("profile rbd-read-only pool=foo", "w", "foo", "", "o", false),
    ];
    for (caps, what, pool, nspace, object, allowed) in cases {
        let access = op(what, pool, nspace, object);
        assert_eq!(allows(caps, &access), allowed, "{caps}: {what} {pool}/{nspace}/{object}");
    }
}

#[test]
fn tags_ask_for_application_metadata() {
    let pairs = BTreeMap::from([("data".to_owned(), "a".to_owned())]);
    let metadata = BTreeMap::from([("cephfs".to_owned(), pairs), ("rgw".to_owned(), BTreeMap::new())]);
    let access = OsdAccess { application_metadata: &metadata, ..op("rw", "p", "", "o") };
    for (caps, allowed) in [
        ("allow rw tag cephfs data=a", true),
        ("allow rw tag cephfs data = a", true),
        ("allow rw tag cephfs data=b", false),
        ("allow rw tag cephfs metadata=a", false),
        ("allow rw tag cephfs data=*", true),
        ("allow rw tag cephfs *=a", true),
        ("allow rw tag cephfs all=b", false),
        ("allow rw tag cephfs *=*", true),
        ("allow rw tag rgw *=*", true),
        ("allow rw tag rbd *=*", false),
        ("allow rw namespace=n tag cephfs *=*", false),
    ] {
        assert_eq!(allows(caps, &access), allowed, "{caps}");
    }
    assert!(!allows("allow rw tag cephfs *=*", &op("r", "p", "", "o")));
}

#[test]
fn networks_restrict_grants() {
    let from = |addr: &str| OsdAccess { addr: addr.parse().ok(), ..op("r", "p", "", "o") };
    assert!(allows("allow r network 10.0.0.0/8", &from("10.1.1.1")));
    assert!(!allows("allow r network 10.0.0.0/8", &from("11.1.1.1")));
    assert!(!allows("allow r network bad", &from("10.1.1.1")));
    assert!(allows("profile read-only network fd00::/8", &from("fd01::1")));
    assert!(!allows("profile read-only network fd00::/8", &from("fe80::1")));
    assert!(!allows("allow r network 10.0.0.0/8", &from("unknown")));
}

#[test]
fn class_calls_need_the_class_or_a_listed_class_and_its_rights() {
    let cases: &[(&str, &str, ClassCall<'_>, bool)] = &[
        ("allow x", "", call("lock", "get_info", "r", true), true),
        ("allow x", "", call("lock", "lock", "rw", true), true),
        ("allow x", "", call("secret", "peek", "r", false), false),
        ("allow *", "", call("secret", "peek", "r", false), true),
        ("allow class-read", "", call("lock", "get_info", "r", true), true),
        ("allow class-read", "", call("lock", "lock", "rw", true), false),
        ("allow class-write", "", call("lock", "lock", "rw", true), false),
        ("allow class-read class-write", "", call("lock", "lock", "rw", true), true),
        ("allow rw", "", call("lock", "get_info", "r", true), false),
        ("allow class secret", "", call("secret", "peek", "rw", false), true),
        ("allow class secret peek", "", call("secret", "peek", "rw", false), true),
        ("allow class secret peek", "", call("secret", "poke", "rw", false), false),
        ("allow class other", "", call("secret", "peek", "r", false), false),
        ("allow class secret", "r", call("secret", "peek", "r", false), false),
        ("allow class secret, allow r", "r", call("secret", "peek", "r", false), false),
        ("allow rx", "r", call("lock", "get_info", "r", true), true),
        ("profile rbd", "", call("rbd", "dir_list", "r", true), true),
        ("profile rbd-read-only", "", call("rbd", "dir_list", "r", true), true),
        ("profile rbd-read-only", "", call("rbd", "set_size", "rw", true), false),
    ];
    for (caps, what, call, allowed) in cases {
        let classes = &[*call];
        let access = OsdAccess { classes, ..op(what, "p", "", "o") };
        assert_eq!(allows(caps, &access), *allowed, "{caps}: {what} {call:?}");
    }
    let attach = &[call("rbd", "child_attach", "rw", true)];
    let on = |object| OsdAccess { classes: attach, ..op("", "p", "", object) };
    assert!(allows("profile rbd-read-only", &on("rbd_header.1")));
    assert!(!allows("profile rbd-read-only", &on("rbd_data.1")));
}

#[test]
fn class_rights_add_up_over_grants_and_every_call_needs_them() {
    let classes = &[call("a", "m", "r", false), call("b", "m", "r", false)];
    let access = OsdAccess { classes, ..op("", "p", "", "o") };
    assert!(allows("allow class a, allow class b", &access));
    assert!(!allows("allow class a", &access));
    assert!(!allows("allow class a, allow class b m pool=q", &access));
}

#[test]
fn no_number_of_class_calls_slips_through() {
    let good = call("a", "m", "r", false);
    let bad = call("b", "m", "r", false);
    for len in [1, 63, MAX_CLASS_CALLS] {
        let mut classes = vec![good; len];
        let access = OsdAccess { classes: &classes, ..op("", "p", "", "o") };
        assert!(allows("allow class a", &access), "{len}");
        classes[len - 1] = bad;
        let access = OsdAccess { classes: &classes, ..op("", "p", "", "o") };
        assert!(!allows("allow class a", &access), "{len}");
    }
    let classes = vec![good; MAX_CLASS_CALLS + 1];
    let access = OsdAccess { classes: &classes, ..op("", "p", "", "o") };
    assert!(!allows("allow class a", &access));
}

proptest::proptest! {
    #[test]
    fn any_text_parses_or_is_refused_at_a_place_inside(text in "(allow |profile|rwx|class|pool|=|tag |\"|'|,|[ -~é]){0,12}") {
        if let Err(error) = OsdCaps::parse(&text) {
            proptest::prop_assert!(text.is_char_boundary(error.offset()));
            let _ = (error.to_string(), error.caret());
        }
    }
}
