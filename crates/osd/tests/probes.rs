//! Probes whose answers were recorded with a real 16.2.15 OSD (`data/probes.txt`), sent anew.

mod common;

use std::collections::HashMap;

use bytes::Bytes;
use common::{Client, Reply, Request, blob, osd};
use sepiola_messages::osd_op::{Checksum, CmpOp, CopyFrom, OpCode, OpFlags, OpSpec};
use sepiola_osd::Osd;
use sepiola_wire::{ObjectLocator, SnapId, UTime};

/// Answers by the probe's name, in order of appearance.
struct Recorded(HashMap<String, Vec<String>>);

impl Recorded {
    fn load() -> Self {
        let mut lines: HashMap<_, Vec<_>> = HashMap::new();
        for line in String::from_utf8(blob("probes.txt")).unwrap().lines() {
            if let Some((name, answer)) = line.split_once(" res=") {
                lines.entry(name.trim().to_owned()).or_default().push(format!("res={answer}"));
            }
        }
        Recorded(lines)
    }

    fn next(&mut self, name: &str) -> String {
        let answers = self.0.get_mut(name).unwrap_or_else(|| panic!("no probe {name}"));
        assert!(!answers.is_empty(), "no further probe {name}");
        answers.remove(0)
    }
}

/// A reply in the notation of the recording; outputs are cut there after 75 bytes.
fn text(reply: &Reply) -> String {
    let pair = |v: sepiola_wire::EVersion| format!("({}, {})", v.epoch.0, v.version);
    let outputs: Vec<_> = reply
        .outputs
        .iter()
        .map(|output| format!("({}, '{}')", output.len(), hex::encode(&output[..output.len().min(75)])))
        .collect();
    format!(
        "res={} rv={:?} uv={} replay={} bad={} fl={:x} out=[{}]",
        reply.result,
        reply.rvals,
        reply.user_version,
        pair(reply.replay),
        pair(reply.bad_replay),
        reply.flags,
        outputs.join(", "),
    )
}

const WRITE: u32 = 0x40_0024;
const READ: u32 = 0x40_0014;

struct Prober {
    osd: Osd,
    client: Client,
    recorded: Recorded,
}

impl Prober {
    fn new() -> Self {
        Prober { osd: osd(), client: Client::admin(), recorded: Recorded::load() }
    }

    fn probe(&mut self, name: &str, request: Request) -> Reply {
        let reply = self.client.call(&self.osd, &request);
        assert_eq!(text(&reply), self.recorded.next(name).replace(" ep=8", ""), "probe {name}");
        reply
    }

    fn write(&mut self, name: &str, object: &str, ops: impl IntoIterator<Item = OpSpec>) {
        let stamp = UTime { sec: 1_700_000_000, nsec: 5 };
        self.probe(name, Request::on(object, ops).flags(WRITE).with(|head| head.mtime = stamp));
    }

    fn write_untimed(&mut self, name: &str, object: &str, ops: impl IntoIterator<Item = OpSpec>) {
        self.probe(name, Request::on(object, ops).flags(WRITE));
    }

    fn read(&mut self, name: &str, object: &str, ops: impl IntoIterator<Item = OpSpec>) {
        self.probe(name, Request::on(object, ops).flags(READ));
    }
}

fn checksum(length: u64, chunk_size: u32, kind: u8, init: &'static [u8]) -> OpSpec {
    OpSpec::checksum(Checksum { offset: 0, length, chunk_size, kind }, Bytes::from_static(init))
}

#[test]
fn data_xattrs_versions_and_omap() {
    let mut p = Prober::new();
    p.write("writefull", "a", [OpSpec::write_full("0123456789")]);
    p.write("write hole", "a", [OpSpec::write(20_000, "tail")]);
    let sparse = OpSpec::sparse_read(0, 30_000);
    // The recording shows the first 75 bytes of 20028.
    p.read("sparse_read", "a", [sparse]);
    p.read("checksum crc32c", "a", [checksum(10, 0, 2, &[0xff; 4])]);
    p.read("checksum chunks", "a", [checksum(8, 4, 2, &[0xff; 4])]);
    p.read("checksum xx64", "a", [checksum(8, 4, 1, &[0; 8])]);
    p.read("checksum badlen", "a", [checksum(7, 4, 2, &[0xff; 4])]);
    p.write("setxattr", "a", [OpSpec::setxattr(b"x", b"vv")]);
    p.read("cmpxattr eq ok", "a", [OpSpec::cmpxattr(b"x", CmpOp::Eq, b"vv")]);
    p.read("cmpxattr eq bad", "a", [OpSpec::cmpxattr(b"x", CmpOp::Eq, b"ww")]);
    p.read("cmpxattr gt (w > vv?)", "a", [OpSpec::cmpxattr(b"x", CmpOp::Gt, b"w")]);
    p.write("setxattr num", "a", [OpSpec::setxattr(b"n", b"10")]);
    p.read("cmpxattr u64 gt 9", "a", [OpSpec::cmpxattr_u64(b"n", CmpOp::Gt, 9)]);
    p.read("cmpxattr u64 gt 11", "a", [OpSpec::cmpxattr_u64(b"n", CmpOp::Gt, 11)]);
    p.read("cmpxattr missing eq \"\"", "a", [OpSpec::cmpxattr(b"missing", CmpOp::Eq, b"")]);
    p.read("assert_ver right", "a", [OpSpec::assert_version(4), OpSpec::stat()]);
    p.read("assert_ver low", "a", [OpSpec::assert_version(1), OpSpec::stat()]);
    p.read("assert_ver high", "a", [OpSpec::assert_version(99), OpSpec::stat()]);

    let entries = [("k1", "v1"), ("k2", "v2"), ("l", "w")];
    p.write("omap set+hdr", "om", [OpSpec::omap_set(entries.into_iter()), OpSpec::omap_set_header("HDR")]);
    p.read("omap gethdr", "om", [OpSpec::omap_get_header()]);
    p.read("omap getvals after/prefix", "om", [OpSpec::omap_get_vals(b"k0", 1, b"k")]);
    p.read("omap cmp eq ok", "om", [OpSpec::omap_cmp([("k1", CmpOp::Eq, "v1")].into_iter())]);
    p.read("omap cmp bad", "om", [OpSpec::omap_cmp([("k1", CmpOp::Eq, "v2")].into_iter())]);

    let args = CopyFrom { src_snap: SnapId::HEAD.0, src_version: 0, flags: 0, src_fadvise_flags: 0 };
    p.write("copy_from2", "cp", [OpSpec::copy_from(b"a", &ObjectLocator::new(common::POOL), args)]);
    p.read("stat cp", "cp", [OpSpec::stat()]);
    let missing = OpSpec::getxattr(b"none").with_flags(OpFlags::FAILOK);
    p.read("failok", "a", [missing, OpSpec::stat()]);
    p.read("unknown op", "a", [OpSpec::new(OpCode(0x12ff), sepiola_messages::osd_op::OpArgs::NONE, "")]);
    p.read("unknown cls", "a", [OpSpec::call("none", "none", b"")]);
    p.read("unknown method", "a", [OpSpec::call("lock", "none", b"")]);
    p.read("read off>size", "a", [OpSpec::read(30_000, 10)]);
    p.read("read len0", "a", [OpSpec::read(0, 0)]);
    p.write("zero inside", "a", [OpSpec::zero(2, 3)]);
    p.read("read", "a", [OpSpec::read(0, 10)]);
    p.write("zero to end", "a", [OpSpec::zero(5, 99_999)]);
    p.read("stat", "a", [OpSpec::stat()]);
    p.write("truncate up", "a", [OpSpec::truncate(30)]);
    p.read("stat", "a", [OpSpec::stat()]);
    p.write("truncate noent", "nn", [OpSpec::truncate(5)]);
    p.read("stat nn", "nn", [OpSpec::stat()]);
    p.write("zero noent", "nn2", [OpSpec::zero(0, 5)]);
    p.read("stat nn2", "nn2", [OpSpec::stat()]);
}

#[test]
fn duplicates_compound_ops_and_failures() {
    let mut p = Prober::new();
    // The first recorded `stat`s belong to other objects.
    p.recorded.next("stat");
    p.recorded.next("stat");
    let append = |text: &'static str| Request::on("dup", [OpSpec::append(text)]).flags(WRITE);
    p.probe("append t900", append("abc").tid(900));
    p.probe("append t900 again RETRY", append("abc").tid(900).flags(WRITE | 8));
    p.probe("append t901", append("def").tid(901));
    p.read("stat", "dup", [OpSpec::stat()]);
    p.probe("excl exists t902", Request::on("dup", [OpSpec::create(true)]).flags(WRITE).tid(902));
    let again = Request::on("dup", [OpSpec::create(true)]).flags(WRITE | 8).tid(902);
    let reply = p.client.call(&p.osd, &again);
    // The op's value is repeated, as 20.2.4 does and 16.2.15 does not.
    let recorded = p.recorded.next("excl dup t902").replace("rv=[0]", "rv=[-17]");
    assert_eq!(text(&reply), recorded);
    p.read("cmpext mismatch idx2", "dup", [OpSpec::cmpext(0, "abX")]);

    let both = |first: &'static str| [OpSpec::write(0, first), OpSpec::read(0, 3)];
    p.probe("write+read (no returnvec)", Request::on("dup", both("X")).flags(WRITE | 0x10));
    p.probe("write+read RETURNVEC", Request::on("dup", both("Y")).flags(WRITE | 0x10 | 0x200_0000));
    p.write_untimed("read as write-flag only", "dup", [OpSpec::read(0, 3)]);
    let snap = Request::on("dup", [OpSpec::read(0, 3)]).flags(READ).with(|head| head.snap = SnapId(3));
    p.probe("snapid read none", snap);
    let mut short = OpSpec::write(0, "abc");
    short.input = Bytes::from_static(b"ab");
    p.write("write len mismatch", "dup", [short]);
    let context = Request::on("dup", [OpSpec::write(0, "abc")])
        .flags(WRITE)
        .with(|head| (head.snap_seq, head.snaps) = (SnapId(1), vec![SnapId(5)]));
    p.probe("bad snapc", context);
}

#[test]
fn outputs_of_writes_on_demand() {
    let mut p = Prober::new();
    p.recorded.next("writefull");
    p.recorded.next("write+read RETURNVEC");
    const RETURNVEC: u32 = 0x400_0000;
    let stamp = UTime { sec: 1_700_000_000, nsec: 5 };
    let timed = |ops: Vec<OpSpec>, flags| Request::on("a", ops).flags(flags).with(|head| head.mtime = stamp);
    p.probe("writefull", timed(vec![OpSpec::write_full("0123456789")], WRITE));
    let ops = vec![OpSpec::write(0, "X"), OpSpec::read(0, 3)];
    p.probe("write+read RETURNVEC", timed(ops, WRITE | 0x10 | RETURNVEC));
    let ops = vec![OpSpec::write(0, "Y"), OpSpec::stat()];
    p.probe("write+stat RETURNVEC", timed(ops, WRITE | 0x10 | RETURNVEC));
}

#[test]
fn a_missing_object_cannot_be_deleted_and_the_attempt_is_logged() {
    let osd = osd();
    let mut client = Client::admin();
    client.run(&osd, "dup", [OpSpec::append("abc")]);
    let reply = client.call(&osd, &Request::on("dup", [OpSpec::delete()]).flags(WRITE));
    assert_eq!((reply.result, reply.user_version, reply.replay.version), (0, 2, 2));
    let reply = client.call(&osd, &Request::on("dup", [OpSpec::delete()]).flags(WRITE));
    // As recorded: the pg's newest object version, its log position before and after.
    assert_eq!((reply.result, reply.user_version), (-2, 2));
    assert_eq!((reply.bad_replay.version, reply.replay.version), (2, 3));
}
