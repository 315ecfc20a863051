//! What single ops do to an object, beyond what was recorded.

mod common;

use common::{Client, Reply, Request, osd};
use sepiola_messages::osd_op::{Checksum, CmpOp, Extent, OpCode, OpSpec};
use sepiola_osd::Osd;
use sepiola_wire::{Errno, UTime};

struct Bench {
    osd: Osd,
    client: Client,
}

impl Bench {
    fn new() -> Self {
        Bench { osd: osd(), client: Client::admin() }
    }

    fn run(&mut self, ops: impl IntoIterator<Item = OpSpec>) -> Reply {
        self.client.run(&self.osd, "x", ops)
    }

    fn result(&mut self, op: OpSpec) -> i32 {
        self.run([op]).result
    }

    fn data(&mut self) -> Vec<u8> {
        let reply = self.run([OpSpec::read(0, 0)]);
        assert_eq!(reply.result, 0);
        reply.outputs[0].clone()
    }
}

#[test]
fn writes_extend_and_leave_zeros_in_gaps() {
    let mut x = Bench::new();
    x.run([OpSpec::write(3, "abc")]);
    assert_eq!(x.data(), b"\0\0\0abc");
    x.run([OpSpec::write(1, "Z")]);
    assert_eq!(x.data(), b"\0Z\0abc");
    x.run([OpSpec::write(8, "")]);
    assert_eq!(x.data(), b"\0Z\0abc\0\0");
    x.run([OpSpec::write(2, "")]);
    assert_eq!(x.data().len(), 8, "writing nothing inside changes nothing");
    x.run([OpSpec::write_full("q")]);
    assert_eq!(x.data(), b"q");
    x.run([OpSpec::append("rs"), OpSpec::append("")]);
    assert_eq!(x.data(), b"qrs");
    x.run([OpSpec::write_same(2, 4, "ab")]);
    assert_eq!(x.data(), b"qrabab");
    assert_eq!(x.result(OpSpec::write_same(0, 3, "ab")), Errno::EINVAL.to_wire());
    assert_eq!(x.result(OpSpec::write_same(0, 3, "")), Errno::EINVAL.to_wire());
}

#[test]
fn large_data_survives_whatever_is_done_to_its_middle() {
    let mut x = Bench::new();
    let mut wanted: Vec<u8> = (0..300_000u32).map(|i| (i % 251) as u8).collect();
    x.run([OpSpec::write_full(wanted.clone())]);
    let before = x.run([OpSpec::read(100_000, 100_000)]).outputs.remove(0);
    x.run([OpSpec::write(131_070, vec![7; 10]), OpSpec::zero(60_000, 70_000)]);
    wanted[131_070..131_080].fill(7);
    wanted[60_000..130_000].fill(0);
    assert_eq!(x.data(), wanted);
    assert_eq!(before.len(), 100_000);
    x.run([OpSpec::truncate(65_537), OpSpec::truncate(70_000)]);
    wanted.truncate(65_537);
    wanted.resize(70_000, 0);
    assert_eq!(x.data(), wanted);
}

#[test]
fn zero_and_truncate_leave_missing_objects_missing() {
    let mut x = Bench::new();
    for op in [OpSpec::zero(0, 5), OpSpec::truncate(5)] {
        let reply = x.run([op]);
        assert_eq!((reply.result, reply.user_version), (0, 0));
        assert_eq!(x.result(OpSpec::stat()), Errno::ENOENT.to_wire());
    }
    x.run([OpSpec::write_full("abc")]);
    let version = x.run([OpSpec::stat()]).user_version;
    assert_eq!(x.run([OpSpec::zero(3, 5)]).user_version, version, "behind the end there is nothing to do");
    assert_eq!(x.data(), b"abc");
    assert_eq!(x.result(OpSpec::zero(1, 0)), 0);
    assert_eq!(x.data(), b"abc");
}

#[test]
fn cmpext_counts_what_is_not_there_as_zeros() {
    let mut x = Bench::new();
    x.run([OpSpec::write_full("abc")]);
    assert_eq!(x.result(OpSpec::cmpext(0, "abc")), 0);
    assert_eq!(x.result(OpSpec::cmpext(1, "bc\0\0")), 0);
    assert_eq!(x.result(OpSpec::cmpext(2, "c\0x")), -4097);
    // With a write, a missing object compares as empty.
    let ops = |expected: &'static str| [OpSpec::cmpext(0, expected), OpSpec::write_full("new")];
    let on = |expected| Request::on("missing", ops(expected));
    assert_eq!(x.client.call(&x.osd, &on("\0x")).result, -4096);
    assert_eq!(x.client.call(&x.osd, &on("\0")).result, 0);
}

#[test]
fn comparisons_put_the_operand_on_the_left() {
    let mut x = Bench::new();
    x.run([OpSpec::setxattr(b"n", b"10"), OpSpec::setxattr(b"s", b"m")]);
    let cancelled = Errno::ECANCELED.to_wire();
    for (op, less, equal, greater) in [
        (CmpOp::Eq, cancelled, 1, cancelled),
        (CmpOp::Ne, 1, cancelled, 1),
        (CmpOp::Gt, cancelled, cancelled, 1),
        (CmpOp::Gte, cancelled, 1, 1),
        (CmpOp::Lt, 1, cancelled, cancelled),
        (CmpOp::Lte, 1, 1, cancelled),
    ] {
        let numbers = [9, 10, 11].map(|n| x.result(OpSpec::cmpxattr_u64(b"n", op, n)));
        assert_eq!(numbers, [less, equal, greater], "{op:?}");
        let texts = [b"a", b"m", b"z"].map(|t| x.result(OpSpec::cmpxattr(b"s", op, t)));
        assert_eq!(texts, [less, equal, greater], "{op:?}");
    }
    for (op, wanted) in [(CmpOp::Lt, 1), (CmpOp::Gt, cancelled)] {
        // As numbers 9 is less than 10, as text it is not; a prefix is less than what it begins.
        assert_eq!(x.result(OpSpec::cmpxattr_u64(b"n", op, 9)), wanted);
        assert_ne!(x.result(OpSpec::cmpxattr(b"n", op, b"9")), wanted);
        assert_eq!(x.result(OpSpec::cmpxattr(b"n", op, b"1")), wanted);
    }
    let mut other_mode = OpSpec::cmpxattr(b"s", CmpOp::Eq, b"m");
    other_mode.args.0[9] = 3;
    assert_eq!(x.result(other_mode), Errno::EINVAL.to_wire());
    assert_eq!(x.result(OpSpec::cmpxattr_u64(b"s", CmpOp::Eq, 1)), Errno::EINVAL.to_wire());
    assert_eq!(x.result(OpSpec::cmpxattr_u64(b"absent", CmpOp::Eq, 0)), 1);
}

#[test]
fn omap_values_compare_the_other_way_round() {
    let mut x = Bench::new();
    x.run([OpSpec::omap_set([("k", "m")].into_iter())]);
    let mut compare = |op, operand: &str| x.result(OpSpec::omap_cmp([("k", op, operand)].into_iter()));
    assert_eq!(compare(CmpOp::Gt, "a"), 0);
    assert_eq!(compare(CmpOp::Gt, "z"), Errno::ECANCELED.to_wire());
    assert_eq!(compare(CmpOp::Lt, "z"), 0);
    assert_eq!(compare(CmpOp::Ne, "z"), Errno::EINVAL.to_wire());
    let absent = |operand: &'static str| OpSpec::omap_cmp([("absent", CmpOp::Eq, operand)].into_iter());
    assert_eq!(x.result(absent("")), 0, "a missing key compares as empty");
    assert_eq!(x.result(absent("m")), Errno::ECANCELED.to_wire());
    // All of them must hold, and a missing object has none, also where a write would make it.
    let both = [("k", CmpOp::Eq, "m"), ("l", CmpOp::Gt, "")];
    assert_eq!(x.result(OpSpec::omap_cmp(both.into_iter())), Errno::ECANCELED.to_wire());
    let guarded = [absent(""), OpSpec::create(false)];
    assert_eq!(x.client.run(&x.osd, "missing", guarded).result, Errno::ENOENT.to_wire());
}

#[test]
fn versions_are_asserted_exactly() {
    let mut x = Bench::new();
    let version = x.run([OpSpec::create(true)]).user_version;
    assert_eq!(x.result(OpSpec::assert_version(version)), 0);
    assert_eq!(x.result(OpSpec::assert_version(0)), Errno::EINVAL.to_wire());
    let guarded = |version| [OpSpec::assert_version(version), OpSpec::append("x")];
    assert_eq!(x.run(guarded(version + 1)).result, Errno::EOVERFLOW.to_wire());
    assert_eq!(x.run(guarded(version)).result, 0);
    assert_eq!(x.run(guarded(version)).result, Errno::ERANGE.to_wire());
    assert_eq!(x.data(), b"x");
}

#[test]
fn omap_pages_removal_and_headers() {
    let mut x = Bench::new();
    let many: Vec<_> = (0..1100).map(|i| (format!("key{i:04}"), "v")).collect();
    x.run([OpSpec::omap_set(many.iter().map(|(k, v)| (k, v))), OpSpec::omap_set_header("H")]);
    let page = x.run([OpSpec::omap_get_keys(b"", 5000)]).outputs.remove(0);
    assert_eq!((&page[..4], page.last()), (&1024u32.to_le_bytes()[..], Some(&1)), "a page has a limit");
    let page = x.run([OpSpec::omap_get_keys(b"key1023", 5000)]).outputs.remove(0);
    assert_eq!((&page[..4], page.last()), (&76u32.to_le_bytes()[..], Some(&0)));
    x.run([OpSpec::omap_rm_range(b"key0001", b"key1099"), OpSpec::omap_rm_keys(["absent"].into_iter())]);
    let values = x.run([OpSpec::omap_get_vals_by_keys(["key1099", "key0000", "key0001"].into_iter())]);
    let expected = [&[2, 0, 0, 0][..], &entry("key0000"), &entry("key1099")].concat();
    assert_eq!(values.outputs[0], expected);
    assert_eq!(x.run([OpSpec::omap_get_header()]).outputs[0], b"H");
    x.run([OpSpec::omap_clear()]);
    let reply = x.run([OpSpec::omap_get_header(), OpSpec::omap_get_keys(b"", 5)]);
    assert_eq!(reply.outputs, [&b""[..], &[0, 0, 0, 0, 0]]);
    assert_eq!(x.client.run(&x.osd, "missing", [OpSpec::omap_clear()]).result, Errno::ENOENT.to_wire());
}

fn entry(key: &str) -> Vec<u8> {
    [&(key.len() as u32).to_le_bytes()[..], key.as_bytes(), &1u32.to_le_bytes(), b"v"].concat()
}

#[test]
fn checksums_cover_chunks() {
    let mut x = Bench::new();
    x.run([OpSpec::write_full("foo bar baz")]);
    let mut sum = |length, chunk_size, kind, init: &[u8]| {
        let args = Checksum { offset: 0, length, chunk_size, kind };
        let reply = x.run([OpSpec::checksum(args, init.to_vec())]);
        (reply.result, reply.outputs[0].clone())
    };
    // The published value of this text under the raw CRC-32C with seed 0.
    let crc = [&1u32.to_le_bytes()[..], &0xf58c_78acu32.to_le_bytes()].concat();
    assert_eq!(sum(0, 0, 2, &[0; 4]), (0, crc.clone()), "length 0 is all");
    assert_eq!(sum(99, 0, 2, &[0; 4]), (0, crc), "cut at the end");
    assert_eq!(sum(9, 3, 0, &[0; 4]).1.len(), 4 + 3 * 4);
    assert_eq!(sum(9, 3, 1, &[0; 8]).1.len(), 4 + 3 * 8);
    let invalid = (Errno::EINVAL.to_wire(), Vec::new());
    assert_eq!(sum(9, 2, 2, &[0; 4]), invalid);
    assert_eq!(sum(9, 3, 3, &[0; 4]), invalid);
    assert_eq!(sum(9, 3, 1, &[0; 4]), invalid, "the initial value is too short");
}

#[test]
fn checksums_start_from_the_value_that_the_client_gives() {
    let mut x = Bench::new();
    x.run([OpSpec::write_full("a123456789")]);
    let mut sum = |offset, length, kind, init: &[u8]| {
        let args = Checksum { offset, length, chunk_size: 0, kind };
        let output = x.run([OpSpec::checksum(args, init.to_vec())]).outputs.remove(0);
        output[4..].iter().rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte))
    };
    // Published values of the text `a`, for the seeds 0 and 1.
    assert_eq!(sum(0, 1, 0, &[0; 4]), 1_426_945_110);
    assert_eq!(sum(0, 1, 0, &[1, 0, 0, 0]), 4_111_757_423);
    assert_eq!(sum(0, 1, 1, &[0; 8]), 15_154_266_338_359_012_955);
    assert_eq!(sum(0, 1, 1, &[1, 0, 0, 0, 0, 0, 0, 0]), 16_051_599_287_423_682_246);
    // The check value of CRC-32C, without the final inversion; and a sum that goes on from another one.
    assert_eq!(sum(1, 9, 2, &[0xff; 4]) as u32, !0xe306_9283_u32);
    let half = sum(1, 4, 2, &[0xff; 4]) as u32;
    assert_eq!(sum(5, 5, 2, &half.to_le_bytes()) as u32, !0xe306_9283_u32);
}

#[test]
fn sparse_reads_are_cut_at_the_end_and_at_truncations() {
    let mut x = Bench::new();
    x.run([OpSpec::write_full("0123456789")]);
    let encoded = |extents: &[(u64, u64)], data: &[u8]| {
        let mut out = Vec::new();
        sepiola_messages::osd_op::output::put_sparse_read(&mut out, extents, data);
        out
    };
    let mut read = |offset, length| x.run([OpSpec::sparse_read(offset, length)]).outputs.remove(0);
    assert_eq!(read(8, 5), encoded(&[(8, 2)], b"89"));
    assert_eq!(read(0, 0), encoded(&[(0, 10)], b"0123456789"));
    assert_eq!(read(10, 5), encoded(&[], b""));
    let truncated = Extent { offset: 0, length: 5, truncate_size: 3, truncate_seq: 1 };
    // As 20.2 does; 16.2 refuses.
    let op = OpSpec::new(OpCode::SPARSE_READ, truncated, "");
    assert_eq!(x.run([op]).outputs, [encoded(&[(0, 3)], b"012")]);
}

#[test]
fn an_attribute_that_is_asked_for_may_have_any_name() {
    let mut x = Bench::new();
    x.run([OpSpec::create(true)]);
    let name = [b'n'; 200];
    assert_eq!(x.result(OpSpec::getxattr(&name)), Errno::ENODATA.to_wire());
    assert_eq!(x.result(OpSpec::cmpxattr(&name, CmpOp::Eq, b"")), 1);
    assert_eq!(x.result(OpSpec::setxattr(&name, b"")), Errno::ENAMETOOLONG.to_wire());
}

#[test]
fn the_time_of_an_object_is_the_last_one_given() {
    let mut x = Bench::new();
    let stamped =
        |sec| Request::on("x", [OpSpec::append("a")]).with(|head| head.mtime = UTime::from_secs(sec));
    let time = |x: &mut Bench| {
        let reply = x.run([OpSpec::stat()]);
        u32::from_le_bytes(reply.outputs[0][8..12].try_into().unwrap())
    };
    x.run([OpSpec::create(true)]);
    assert_eq!(time(&mut x), 0);
    x.client.call(&x.osd, &stamped(1000));
    x.run([OpSpec::append("b")]);
    assert_eq!(time(&mut x), 1000);
}

#[test]
fn truncations_of_file_systems_apply_once_and_in_order() {
    let mut x = Bench::new();
    x.run([OpSpec::write_full("0123456789")]);
    let extent =
        |offset, length, truncate_size, truncate_seq| Extent { offset, length, truncate_size, truncate_seq };
    // A reader that knows of a newer truncation does not see what lies behind it.
    let read = OpSpec::new(OpCode::READ, extent(0, 0, 4, 2), "");
    assert_eq!(x.run([read]).outputs, [b"0123"]);
    x.run([OpSpec::new(OpCode::TRUNCATE, extent(6, 0, 6, 3), "")]);
    assert_eq!(x.data(), b"012345");
    // A write from before it must not bring the end back.
    x.run([OpSpec::new(OpCode::WRITE, extent(4, 4, 10, 2), "abcd")]);
    assert_eq!(x.data(), b"0123ab");
    // A write from behind another one cuts first.
    x.run([OpSpec::new(OpCode::WRITE, extent(4, 1, 2, 4), "Z")]);
    assert_eq!(x.data(), b"01\0\0Z");
}
