//! Object classes: what a call is, and the classes themselves.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};

use common::{Client, Request};
use sepiola_messages::osd_op::{CmpOp, OpSpec};
use sepiola_osd::Osd;
use sepiola_wire::{Encode, EntityNum, Errno, Features, GlobalId, Put, UTime};

const READ: u32 = 0x400014;
const WRITE: u32 = 0x400024;
const RETURNVEC: u32 = 0x4000000;
const EXCLUSIVE: u8 = 1;
const SHARED: u8 = 2;
const EPHEMERAL: u8 = 3;

fn call(class: &'static str, method: &'static str, input: &[u8]) -> OpSpec {
    OpSpec::call(class, method, input)
}

fn client(id: u64) -> Client {
    let mut identity = common::identity(sepiola_cephx::PeerCaps::allow_all());
    identity.source = EntityNum::client(GlobalId(id));
    Client::new(identity)
}

fn argument(body: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_versioned(1, 1, body);
    out
}

struct Locking {
    name: &'static str,
    kind: u8,
    cookie: &'static str,
    tag: &'static str,
    seconds: u32,
    flags: u8,
}

const PLAIN: Locking = Locking { name: "l", kind: EXCLUSIVE, cookie: "c", tag: "", seconds: 0, flags: 0 };

impl Locking {
    fn op(&self) -> OpSpec {
        let input = argument(|out| {
            out.put_blob(self.name.as_bytes());
            out.put_u8(self.kind);
            out.put_blob(self.cookie.as_bytes());
            out.put_blob(self.tag.as_bytes());
            out.put_blob(b"why");
            UTime::from_secs(self.seconds).encode(out, Features::SUPPORTED);
            out.put_u8(self.flags);
        });
        call("lock", "lock", &input)
    }

    fn asserted(&self) -> OpSpec {
        let input = argument(|out| {
            out.put_blob(self.name.as_bytes());
            out.put_u8(self.kind);
            out.put_blob(self.cookie.as_bytes());
            out.put_blob(self.tag.as_bytes());
        });
        call("lock", "assert_locked", &input)
    }

    fn unlock(&self) -> OpSpec {
        let input = argument(|out| {
            out.put_blob(self.name.as_bytes());
            out.put_blob(self.cookie.as_bytes());
        });
        call("lock", "unlock", &input)
    }

    fn broken_for(&self, holder: u64) -> OpSpec {
        let input = argument(|out| {
            out.put_blob(self.name.as_bytes());
            EntityNum::client(GlobalId(holder)).encode(out, Features::SUPPORTED);
            out.put_blob(self.cookie.as_bytes());
        });
        call("lock", "break_lock", &input)
    }
}

fn result(client: &mut Client, osd: &Osd, op: OpSpec) -> i32 {
    client.call(osd, &Request::on("x", [op]).flags(WRITE)).result
}

fn code(errno: Errno) -> i32 {
    errno.to_wire()
}

#[test]
fn an_exclusive_lock_keeps_others_out_until_it_is_given_back() {
    let osd = common::osd();
    let (mut a, mut b) = (client(1), client(2));
    assert_eq!(result(&mut a, &osd, PLAIN.op()), 0, "creates the object");
    assert_eq!(result(&mut a, &osd, PLAIN.op()), code(Errno::EEXIST));
    assert_eq!(result(&mut b, &osd, PLAIN.op()), code(Errno::EBUSY));
    assert_eq!(result(&mut b, &osd, Locking { kind: SHARED, ..PLAIN }.op()), code(Errno::EBUSY));
    assert_eq!(result(&mut b, &osd, PLAIN.asserted()), code(Errno::EBUSY));
    assert_eq!(result(&mut a, &osd, PLAIN.asserted()), 0);
    assert_eq!(result(&mut b, &osd, PLAIN.unlock()), code(Errno::ENOENT));
    assert_eq!(result(&mut a, &osd, PLAIN.unlock()), 0);
    assert_eq!(result(&mut b, &osd, PLAIN.op()), 0);
    assert_eq!(result(&mut a, &osd, PLAIN.broken_for(1)), code(Errno::ENOENT));
    assert_eq!(result(&mut a, &osd, PLAIN.broken_for(2)), 0);
    assert_eq!(result(&mut b, &osd, PLAIN.asserted()), code(Errno::EBUSY));
}

#[test]
fn a_shared_lock_is_for_those_with_its_tag() {
    let osd = common::osd();
    let (mut a, mut b) = (client(1), client(2));
    let shared = Locking { kind: SHARED, tag: "t", ..PLAIN };
    assert_eq!(result(&mut a, &osd, shared.op()), 0);
    assert_eq!(result(&mut b, &osd, Locking { tag: "other", ..shared }.op()), code(Errno::EBUSY));
    assert_eq!(result(&mut b, &osd, Locking { kind: EXCLUSIVE, ..shared }.op()), code(Errno::EBUSY));
    assert_eq!(result(&mut b, &osd, shared.op()), 0);
    let info = call("lock", "get_info", &argument(|out| out.put_blob(b"l")));
    let info = a.call(&osd, &Request::on("x", [info]).flags(READ)).outputs.remove(0);
    assert_eq!(info[6..10], [2, 0, 0, 0], "two hold it");
    assert_eq!(info[info.len() - 6..], *b"\x02\x01\0\0\0t", "its kind and tag");
    let names = a.call(&osd, &Request::on("x", [call("lock", "list_locks", b"")]).flags(READ));
    assert_eq!(names.outputs, [b"\x01\x01\x09\0\0\0\x01\0\0\0\x01\0\0\0l"]);
}

#[test]
fn a_lock_with_a_duration_ends_by_the_clock_unless_it_is_renewed() {
    static NOW: AtomicU32 = AtomicU32::new(100);
    let osd = common::empty_osd().with_clock(|| UTime::from_secs(NOW.load(Ordering::Relaxed)));
    osd.apply_map(common::map()).unwrap();
    let (mut a, mut b) = (client(1), client(2));
    let timed = Locking { seconds: 10, ..PLAIN };
    let (may_renew, must_renew) = (Locking { flags: 1, ..timed }, Locking { flags: 2, ..timed });
    assert_eq!(result(&mut a, &osd, must_renew.op()), code(Errno::ENOENT));
    assert_eq!(result(&mut a, &osd, timed.op()), 0);
    NOW.store(109, Ordering::Relaxed);
    assert_eq!(result(&mut a, &osd, timed.op()), code(Errno::EEXIST));
    assert_eq!(result(&mut a, &osd, may_renew.op()), 0);
    NOW.store(118, Ordering::Relaxed);
    assert_eq!(result(&mut a, &osd, must_renew.op()), 0);
    assert_eq!(result(&mut a, &osd, Locking { flags: 3, ..timed }.op()), code(Errno::EINVAL));
    NOW.store(127, Ordering::Relaxed);
    assert_eq!(result(&mut b, &osd, timed.op()), code(Errno::EBUSY));
    NOW.store(128, Ordering::Relaxed);
    assert_eq!(result(&mut b, &osd, timed.op()), 0, "its time is over");
}

#[test]
fn an_ephemeral_lock_takes_its_object_along() {
    let osd = common::osd();
    let mut a = client(1);
    let ephemeral = Locking { kind: EPHEMERAL, ..PLAIN };
    assert_eq!(result(&mut a, &osd, ephemeral.op()), 0);
    assert_eq!(a.run(&osd, "x", [OpSpec::stat()]).result, 0);
    assert_eq!(result(&mut a, &osd, ephemeral.unlock()), 0);
    assert_eq!(a.run(&osd, "x", [OpSpec::stat()]).result, code(Errno::ENOENT));
}

#[test]
fn a_holder_may_change_its_cookie() {
    let osd = common::osd();
    let mut a = client(1);
    let other = Locking { cookie: "other", ..PLAIN };
    let rename = |lock: &Locking, cookie: &str| {
        let input = argument(|out| {
            out.put_blob(lock.name.as_bytes());
            out.put_u8(lock.kind);
            out.put_blob(lock.cookie.as_bytes());
            out.put_blob(lock.tag.as_bytes());
            out.put_blob(cookie.as_bytes());
        });
        call("lock", "set_cookie", &input)
    };
    assert_eq!(result(&mut a, &osd, rename(&PLAIN, "other")), code(Errno::ENOENT), "there is no object");
    assert_eq!(result(&mut a, &osd, PLAIN.op()), 0);
    assert_eq!(result(&mut a, &osd, rename(&other, "new")), code(Errno::EBUSY));
    assert_eq!(result(&mut a, &osd, rename(&Locking { tag: "t", ..PLAIN }, "new")), code(Errno::EBUSY));
    assert_eq!(result(&mut a, &osd, rename(&PLAIN, "c")), code(Errno::EBUSY), "it is taken");
    assert_eq!(result(&mut a, &osd, rename(&PLAIN, "other")), 0);
    assert_eq!(result(&mut a, &osd, PLAIN.asserted()), code(Errno::EBUSY));
    assert_eq!(result(&mut a, &osd, other.asserted()), 0);
}

#[test]
fn malformed_arguments_change_nothing() {
    let osd = common::osd();
    let mut a = client(1);
    let nameless = Locking { name: "", ..PLAIN }.op();
    for op in [nameless, Locking { kind: 4, ..PLAIN }.op(), call("lock", "lock", b"\x01\x01\x04\0\0\0l")] {
        assert_eq!(result(&mut a, &osd, op), code(Errno::EINVAL));
    }
    assert_eq!(a.run(&osd, "x", [OpSpec::stat()]).result, code(Errno::ENOENT));
}

#[test]
fn a_call_is_atomic_with_the_ops_beside_it() {
    let osd = common::osd();
    let mut a = client(1);
    let ops = [call("hello", "record_hello", b"you"), OpSpec::cmpxattr(b"none", CmpOp::Eq, b"?")];
    assert_eq!(a.call(&osd, &Request::on("x", ops).flags(WRITE)).result, code(Errno::ECANCELED));
    assert_eq!(a.run(&osd, "x", [OpSpec::stat()]).result, code(Errno::ENOENT));
    assert_eq!(result(&mut a, &osd, call("hello", "record_hello", b"you")), 0);
    assert_eq!(a.run(&osd, "x", [OpSpec::read(0, 0)]).outputs, [b"Hello, you!"]);
    assert_eq!(result(&mut a, &osd, call("hello", "record_hello", b"me")), code(Errno::EEXIST));
}

#[test]
fn methods_that_do_what_they_do_not_declare_fail() {
    let osd = common::osd();
    let mut a = client(1);
    a.run(&osd, "x", [OpSpec::write_full("data")]);
    assert_eq!(result(&mut a, &osd, call("hello", "bad_reader", b"")), code(Errno::EIO));
    assert_eq!(result(&mut a, &osd, call("hello", "bad_writer", b"new")), code(Errno::EIO));
    assert_eq!(a.run(&osd, "x", [OpSpec::read(0, 0)]).outputs, [b"data"]);
}

#[test]
fn unknown_classes_and_methods_have_their_own_errors() {
    let osd = common::osd();
    let mut a = client(1);
    assert_eq!(result(&mut a, &osd, call("none", "say_hello", b"")), code(Errno::EPERM));
    assert_eq!(result(&mut a, &osd, call("hello", "none", b"")), code(Errno::EOPNOTSUPP));
    let read = Request::on("missing", [call("hello", "say_hello", b"")]).flags(READ);
    assert_eq!(a.call(&osd, &read).result, code(Errno::ENOENT), "a method that only reads needs an object");
}

#[test]
fn writing_methods_return_data_only_on_request_and_duplicates_get_the_same() {
    let osd = common::osd();
    let mut a = client(1);
    let request = |input: &'static [u8], flags, tid| {
        Request::on("x", [call("hello", "write_return_data", input)]).flags(WRITE | flags).tid(tid)
    };
    let plain = a.call(&osd, &request(b"", 0, 1));
    assert_eq!((plain.result, plain.outputs), (0, vec![vec![]]));
    for _ in 0..2 {
        let with_data = a.call(&osd, &request(b"", RETURNVEC, 2));
        assert_eq!((with_data.result, &with_data.outputs[..]), (42, &[b"you might see this".to_vec()][..]));
        assert_eq!(with_data.user_version, 2);
        let failed = a.call(&osd, &request(b"x", RETURNVEC, 3));
        assert_eq!((failed.result, failed.rvals), (code(Errno::EINVAL), vec![code(Errno::EINVAL)]));
        assert_eq!(failed.outputs, [b"too much input data!"]);
    }
    let ops = [call("hello", "write_too_much_return_data", b"")];
    let too_much = a.call(&osd, &Request::on("x", ops).flags(WRITE | RETURNVEC));
    assert_eq!((too_much.result, too_much.outputs), (code(Errno::EOVERFLOW), vec![vec![]]));
}

#[test]
fn capabilities_follow_what_methods_declare() {
    let osd = common::osd();
    client(1).run(&osd, "x", [OpSpec::write_full("data")]);
    let say = || Request::on("x", [call("hello", "say_hello", b"")]).flags(READ);
    let lock = || Request::on("x", [PLAIN.op()]).flags(WRITE);
    let denied = code(Errno::EPERM);
    for (caps, said, locked) in [
        ("allow rw", denied, denied),
        ("allow rw class-read", 0, denied),
        ("allow rwx", 0, 0),
        ("allow class lock", denied, 0),
        ("allow class hello say_hello", 0, denied),
    ] {
        let mut client = Client::with_caps(caps);
        assert_eq!(client.call(&osd, &say()).result, said, "{caps}");
        assert_eq!(client.call(&osd, &lock()).result, locked, "{caps}");
        result(&mut client, &osd, PLAIN.unlock());
    }
}

#[test]
fn numbers_in_omap_values_are_added_to_and_multiplied() {
    let osd = common::osd();
    let mut a = client(1);
    let op = |method, key: &str, operand: &str| {
        let mut input = Vec::new();
        input.put_blob(key.as_bytes());
        input.put_blob(operand.as_bytes());
        call("numops", method, &input)
    };
    assert_eq!(result(&mut a, &osd, op("add", "k", "2.5")), 0);
    assert_eq!(result(&mut a, &osd, op("mul", "k", "-4")), 0);
    assert_eq!(result(&mut a, &osd, op("add", "k", "much")), code(Errno::EINVAL));
    a.run(&osd, "x", [OpSpec::omap_set([(b"text", b"no")].into_iter())]);
    assert_eq!(result(&mut a, &osd, op("add", "text", "1")), code(Errno::EBADMSG));
    assert_eq!(result(&mut a, &osd, op("mul", "k", "1e308")), code(Errno::EOVERFLOW));
    let stored = a.run(&osd, "x", [OpSpec::omap_get_vals_by_keys([b"k"].into_iter())]);
    assert_eq!(stored.outputs, [b"\x01\0\0\0\x01\0\0\0k\x03\0\0\0-10"]);
}

#[test]
fn an_object_goes_with_its_last_reference() {
    let osd = common::osd();
    let mut a = client(1);
    let op = |method, tag: &str| {
        let input = argument(|out| {
            out.put_blob(tag.as_bytes());
            out.put_bool(true);
        });
        call("refcount", method, &input)
    };
    let exists = |a: &mut Client| a.run(&osd, "x", [OpSpec::stat()]).result == 0;
    assert_eq!(result(&mut a, &osd, op("get", "a")), code(Errno::ENOENT));
    a.run(&osd, "x", [OpSpec::write_full("data")]);
    assert_eq!(result(&mut a, &osd, op("get", "a")), 0);
    let read = call("refcount", "read", &argument(|out| out.put_bool(true)));
    let tags = a.call(&osd, &Request::on("x", [read]).flags(READ)).outputs;
    assert_eq!(tags, [b"\x01\x01\x0d\0\0\0\x02\0\0\0\0\0\0\0\x01\0\0\0a"], "the implicit one and `a`");
    assert_eq!(result(&mut a, &osd, op("put", "a")), 0);
    assert_eq!(result(&mut a, &osd, op("put", "a")), 0);
    assert!(exists(&mut a), "a tag counts once");
    assert_eq!(result(&mut a, &osd, op("put", "b")), 0);
    assert!(!exists(&mut a), "the implicit reference stood for `b`");
}
