//! copy-from, from the same pg and from others of the OSD.

mod common;

use common::{Client, POOL, Request};
use sepiola_messages::osd_op::{CopyFrom, OpSpec};
use sepiola_objectstore::MemStore;
use sepiola_osd::Osd;
use sepiola_wire::{Errno, ObjectLocator, SnapId};

fn copy(from: &str, version: u64) -> OpSpec {
    let args = CopyFrom { src_snap: SnapId::HEAD.0, src_version: version, flags: 0, src_fadvise_flags: 0 };
    OpSpec::copy_from(from.as_bytes(), &ObjectLocator::new(POOL), args)
}

/// An object with everything that an object can have; its user version.
fn make(client: &mut Client, osd: &Osd) -> u64 {
    let ops = [
        OpSpec::write_full("data"),
        OpSpec::setxattr(b"a", b"attribute"),
        OpSpec::omap_set([(b"k", b"value")].into_iter()),
        OpSpec::omap_set_header("header"),
    ];
    let request = Request::on("source", ops).with(|head| head.mtime = sepiola_wire::UTime::from_secs(77));
    client.call(osd, &request).user_version
}

#[test]
fn a_copy_has_all_that_its_source_has_and_nothing_of_before() {
    let osd = common::osd();
    let mut client = Client::admin();
    let version = make(&mut client, &osd);
    for name in ["one", "another", "a third"] {
        client.run(&osd, name, [OpSpec::write_full("much longer"), OpSpec::setxattr(b"old", b"x")]);
        let reply = client.run(&osd, name, [copy("source", version)]);
        assert_eq!((reply.result, reply.user_version), (0, version));
        let reads = || {
            [
                OpSpec::read(0, 0),
                OpSpec::getxattrs(),
                OpSpec::omap_get_vals(b"", 10, b""),
                OpSpec::omap_get_header(),
                OpSpec::stat(),
            ]
        };
        assert_eq!(client.run(&osd, name, reads()), client.run(&osd, "source", reads()), "{name}");
    }
    // Versions of the target go on from where they are.
    assert!(client.run(&osd, "one", [OpSpec::append("x")]).user_version > version);
}

#[test]
fn what_cannot_be_copied_leaves_the_target_as_it_was() {
    let osd = common::osd();
    let mut client = Client::admin();
    client.run(&osd, "source", [OpSpec::write_full("first")]);
    let version = make(&mut client, &osd);
    client.run(&osd, "target", [OpSpec::write_full("kept")]);
    let clone = CopyFrom { src_snap: 1, src_version: 0, flags: 0, src_fadvise_flags: 0 };
    for (op, errno) in [
        (copy("missing", 0), Errno::ENOENT),
        (copy("target", 0), Errno::EINVAL),
        (copy("source", version + 1), Errno::EOVERFLOW),
        (copy("source", version - 1), Errno::ERANGE),
        (OpSpec::copy_from(b"source", &ObjectLocator::new(POOL), clone), Errno::EOPNOTSUPP),
    ] {
        let reply = client.run(&osd, "target", [OpSpec::append("lost"), op]);
        assert_eq!(reply.result, errno.to_wire());
    }
    assert_eq!(client.run(&osd, "target", [OpSpec::read(0, 0)]).outputs, [b"kept"]);
}

#[test]
fn a_source_must_be_readable_for_the_client() {
    let osd = common::osd();
    make(&mut Client::admin(), &osd);
    let mut writer = Client::with_caps("allow rw object_prefix mine");
    assert_eq!(writer.run(&osd, "mine", [copy("source", 0)]).result, Errno::EPERM.to_wire());
    let mut reader = Client::with_caps("allow r, allow rw object_prefix mine");
    // Another request of the same client entity, so another number.
    let request = Request::on("mine", [copy("source", 0)]).tid(2);
    assert_eq!(reader.call(&osd, &request).result, 0);
}

#[test]
fn what_one_message_copies_is_limited() {
    let osd = common::osd_with(MemStore::new(), |config| config.limits.max_reply = 1000);
    osd.apply_map(common::map()).unwrap();
    let mut client = Client::admin();
    client.run(&osd, "source", [OpSpec::write_full(vec![7; 400])]);
    let copies = |n| std::iter::repeat_n(copy("source", 0), n);
    assert_eq!(client.run(&osd, "target", copies(2)).result, 0);
    assert_eq!(client.run(&osd, "target", copies(3)).result, Errno::EMSGSIZE.to_wire());
}
