//! What every client has to be able to do, one function a cell. Each works on an object of its own.

use std::fs;

use sepiola_tests::{Failure, Result};

use crate::client::Session;

/// A cell's check.
pub type Verb = fn(&Session<'_>) -> Result<()>;

/// All cells, by name.
pub const ALL: [(&str, Verb); 18] = [
    ("status", status),
    ("put", put),
    ("get", get),
    ("put-large", put_large),
    ("put-empty", put_empty),
    ("stat", stat),
    ("ls", ls),
    ("rm", rm),
    ("missing", missing),
    ("append", append),
    ("truncate", truncate),
    ("create", create),
    ("namespace", namespace),
    ("xattr", xattr),
    ("omap", omap),
    ("omap-header", omap_header),
    ("exchange", exchange),
    ("bench", bench),
];

/// Bytes that repeat nowhere near.
fn payload(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let word = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut bytes: Vec<u8> =
        std::iter::repeat_with(word).take(len.div_ceil(8)).flat_map(u64::to_le_bytes).collect();
    bytes.truncate(len);
    bytes
}

fn same(found: &[u8], expected: &[u8], what: &str) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let at = found.iter().zip(expected).position(|(a, b)| a != b);
    Err(Failure::new(format!(
        "{what}: {} bytes, expected {}; first difference at {at:?}",
        found.len(),
        expected.len()
    )))
}

impl Session<'_> {
    fn put(&self, object: &str, bytes: &[u8]) -> Result<()> {
        let file = self.file(bytes)?;
        self.rados(&["put", object, &file.to_string_lossy()])?.success().map(drop)
    }

    fn get(&self, object: &str) -> Result<Vec<u8>> {
        let file = self.scratch_path("output");
        let _ = fs::remove_file(&file);
        self.rados(&["get", object, &file.to_string_lossy()])?.success()?;
        fs::read(&file).map_err(Failure::file(&file))
    }

    fn expect_stat(&self, object: &str, size: usize) -> Result<()> {
        self.rados(&["stat", object])?.success()?.prints(&format!("size {size}")).map(drop)
    }

    /// The lines that a listing prints, sorted.
    fn lines(&self, args: &[&str]) -> Result<Vec<String>> {
        let output = self.rados(args)?.success()?;
        let mut lines: Vec<String> = output.text().lines().map(|line| line.trim().to_owned()).collect();
        lines.sort();
        Ok(lines)
    }

    fn expect_lines(&self, args: &[&str], expected: &[&str]) -> Result<()> {
        let found = self.lines(args)?;
        if found == expected {
            Ok(())
        } else {
            Err(Failure::new(format!("{args:?} lists {found:?}, not {expected:?}")))
        }
    }
}

fn status(s: &Session<'_>) -> Result<()> {
    let status = s.ceph(&["-s"])?.success()?.prints("health:")?;
    status.prints("osd: 1 osds: 1 up")?;
    Ok(())
}

fn put(s: &Session<'_>) -> Result<()> {
    s.put("put", &payload(4096, 1))?;
    // Writing again replaces all of it.
    s.put("put", b"shorter")?;
    s.expect_stat("put", 7)
}

fn get(s: &Session<'_>) -> Result<()> {
    let bytes = payload(100_000, 2);
    s.put("get", &bytes)?;
    same(&s.get("get")?, &bytes, "get")
}

/// More than one operation in each direction.
fn put_large(s: &Session<'_>) -> Result<()> {
    let bytes = payload(9 << 20, 3);
    s.put("large", &bytes)?;
    s.expect_stat("large", bytes.len())?;
    same(&s.get("large")?, &bytes, "get")
}

fn put_empty(s: &Session<'_>) -> Result<()> {
    s.put("empty", b"")?;
    s.expect_stat("empty", 0)?;
    same(&s.get("empty")?, b"", "get")
}

fn stat(s: &Session<'_>) -> Result<()> {
    s.put("stat", &payload(12_345, 4))?;
    let stat = s.rados(&["stat", "stat"])?.success()?.prints("size 12345")?;
    stat.prints(&format!("{}/stat mtime ", s.pool))?;
    Ok(())
}

fn ls(s: &Session<'_>) -> Result<()> {
    let names: Vec<String> = (0..20).map(|i| format!("listed-{i:02}")).collect();
    for name in &names {
        s.rados(&["create", name])?.success()?;
    }
    let found: Vec<String> =
        s.lines(&["ls"])?.into_iter().filter(|name| name.starts_with("listed-")).collect();
    if found == names { Ok(()) } else { Err(Failure::new(format!("ls lists {found:?}"))) }
}

fn rm(s: &Session<'_>) -> Result<()> {
    s.put("rm", b"gone soon")?;
    s.rados(&["rm", "rm"])?.success()?;
    s.rados(&["stat", "rm"])?.refused()?;
    if s.lines(&["ls"])?.iter().any(|name| name == "rm") {
        return Err(Failure::new("a removed object is still listed"));
    }
    Ok(())
}

/// Errors reach the user, as errors.
fn missing(s: &Session<'_>) -> Result<()> {
    let file = s.scratch_path("output");
    for args in [
        &["stat", "missing"][..],
        &["get", "missing", &file.to_string_lossy()],
        &["rm", "missing"],
        &["getxattr", "missing", "name"],
        &["getomapval", "missing", "key"],
    ] {
        let refused = s.rados(args)?.refused()?;
        let said = [refused.text(), String::from_utf8_lossy(&refused.stderr).into_owned()].concat();
        if !said.contains("(2) No such file or directory") {
            return Err(refused.failure("should have named the error"));
        }
    }
    Ok(())
}

fn append(s: &Session<'_>) -> Result<()> {
    let file = s.file(b"twice ")?;
    for _ in 0..2 {
        s.rados(&["append", "append", &file.to_string_lossy()])?.success()?;
    }
    same(&s.get("append")?, b"twice twice ", "append")
}

fn truncate(s: &Session<'_>) -> Result<()> {
    s.put("truncate", b"0123456789")?;
    s.rados(&["truncate", "truncate", "4"])?.success()?;
    same(&s.get("truncate")?, b"0123", "shorter")?;
    s.rados(&["truncate", "truncate", "6"])?.success()?;
    same(&s.get("truncate")?, b"0123\0\0", "longer")
}

fn create(s: &Session<'_>) -> Result<()> {
    s.rados(&["create", "create"])?.success()?;
    s.expect_stat("create", 0)?;
    // Only the first can be exclusive.
    s.rados(&["create", "create"])?.refused()?;
    Ok(())
}

fn namespace(s: &Session<'_>) -> Result<()> {
    let file = s.file(b"inside")?;
    s.rados(&["-N", "space", "put", "inside", &file.to_string_lossy()])?.success()?;
    s.rados(&["stat", "inside"])?.refused()?;
    s.expect_lines(&["-N", "space", "ls"], &["inside"])?;
    s.rados(&["-N", "space", "rm", "inside"])?.success()?;
    s.expect_lines(&["-N", "space", "ls"], &[])
}

fn xattr(s: &Session<'_>) -> Result<()> {
    s.put("xattr", b"data")?;
    s.rados(&["setxattr", "xattr", "colour", "sepia"])?.success()?;
    s.rados(&["setxattr", "xattr", "arms", "ten"])?.success()?;
    same(&s.rados(&["getxattr", "xattr", "colour"])?.success()?.stdout, b"sepia", "getxattr")?;
    s.expect_lines(&["listxattr", "xattr"], &["arms", "colour"])?;
    s.rados(&["rmxattr", "xattr", "arms"])?.success()?;
    s.expect_lines(&["listxattr", "xattr"], &["colour"])?;
    s.rados(&["getxattr", "xattr", "arms"])?.refused()?;
    same(&s.get("xattr")?, b"data", "the data beside it")
}

fn omap(s: &Session<'_>) -> Result<()> {
    for (key, value) in [("b", "second"), ("a", "first"), ("c", "third")] {
        s.rados(&["setomapval", "omap", key, value])?.success()?;
    }
    s.expect_lines(&["listomapkeys", "omap"], &["a", "b", "c"])?;
    let file = s.scratch_path("output");
    s.rados(&["getomapval", "omap", "b", &file.to_string_lossy()])?.success()?;
    same(&fs::read(&file).map_err(Failure::file(&file))?, b"second", "getomapval")?;
    let values = s.rados(&["listomapvals", "omap"])?.success()?.prints("value (5 bytes)")?;
    values.prints("third")?;
    s.rados(&["rmomapkey", "omap", "b"])?.success()?;
    s.expect_lines(&["listomapkeys", "omap"], &["a", "c"])?;
    s.rados(&["getomapval", "omap", "b"])?.refused()?;
    Ok(())
}

fn omap_header(s: &Session<'_>) -> Result<()> {
    s.rados(&["setomapheader", "header", "of the map"])?.success()?;
    let file = s.scratch_path("output");
    s.rados(&["getomapheader", "header", &file.to_string_lossy()])?.success()?;
    same(&fs::read(&file).map_err(Failure::file(&file))?, b"of the map", "getomapheader")
}

/// The cluster's own client sees the same objects, in both directions.
fn exchange(s: &Session<'_>) -> Result<()> {
    let bytes = payload(70_000, 5);
    s.put("exchange", &bytes)?;
    let file = s.scratch_path("output");
    let path = file.to_string_lossy();
    s.native_rados(&["get", "exchange", &path])?.success()?;
    same(&fs::read(&file).map_err(Failure::file(&file))?, &bytes, "what the native client read")?;
    let bytes = payload(50_000, 6);
    let input = s.file(&bytes)?;
    s.native_rados(&["put", "exchange", &input.to_string_lossy()])?.success()?;
    s.native_rados(&["setxattr", "exchange", "by", "native"])?.success()?;
    same(&s.get("exchange")?, &bytes, "what the native client wrote")?;
    same(&s.rados(&["getxattr", "exchange", "by"])?.success()?.stdout, b"native", "its attribute")
}

fn bench(s: &Session<'_>) -> Result<()> {
    let size = ["-b", "4096", "-t", "16", "--no-cleanup"];
    s.bench(&[&["write"], &size[..]].concat())?.success()?.prints("Average IOPS:")?;
    for kind in ["seq", "rand"] {
        s.bench(&[kind, "-t", "16"])?.success()?.prints("Average IOPS:")?;
    }
    Ok(())
}
