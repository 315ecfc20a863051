//! put, get, append, truncate, create, rm, stat.

use std::io::{Read, Write};

use bytes::Bytes;
use sepiola_client::{Create, IoCtx, WriteOp};

use super::{RadosArgs, open_input, open_output};
use crate::failure::{CmdResult, Failure};

/// Reads until `size` bytes are there or the input ends.
fn read_chunk(input: &mut dyn Read, size: u64) -> std::io::Result<Bytes> {
    let mut chunk = Vec::new();
    input.take(size).read_to_end(&mut chunk)?;
    Ok(chunk.into())
}

/// The first chunk replaces the object, the others follow it; an empty file makes an empty object.
pub async fn put(io: &IoCtx, oid: &str, file: &str, args: &RadosArgs) -> CmdResult {
    let mut input = open_input(file)?;
    let mut offset = args.offset;
    loop {
        let chunk = read_chunk(&mut *input, args.op_size)?;
        let (len, first) = (chunk.len() as u64, offset == args.offset);
        let result = match (first && args.offset == 0, len) {
            (true, 0) => io.create(oid, Create::Idempotent).await,
            (true, _) => io.write_full(oid, chunk).await,
            (false, 0) => Ok(()),
            (false, _) => io.write(oid, offset, chunk).await,
        };
        result.map_err(|e| failed(e, "putting", io, oid))?;
        offset += len;
        if len < args.op_size {
            return Ok(());
        }
    }
}

/// Reads chunks until a short one.
pub async fn get(io: &IoCtx, oid: &str, file: &str, op_size: u64) -> CmdResult {
    let mut output = None;
    let mut offset = 0;
    loop {
        let chunk =
            io.read(oid, offset..offset + op_size).await.map_err(|e| failed(e, "getting", io, oid))?;
        // The file is made once the object is known to exist.
        let output = match &mut output {
            Some(output) => output,
            none => none.insert(open_output(file)?),
        };
        output.write_all(&chunk)?;
        offset += chunk.len() as u64;
        if (chunk.len() as u64) < op_size {
            return Ok(output.flush()?);
        }
    }
}

pub async fn append(io: &IoCtx, oid: &str, file: &str, op_size: u64) -> CmdResult {
    let mut input = open_input(file)?;
    loop {
        let chunk = read_chunk(&mut *input, op_size)?;
        let len = chunk.len() as u64;
        if len > 0 {
            io.append(oid, chunk).await.map_err(|e| failed(e, "appending to", io, oid))?;
        }
        if len < op_size {
            return Ok(());
        }
    }
}

pub async fn truncate(io: &IoCtx, oid: &str, length: u64) -> CmdResult {
    io.truncate(oid, length).await.map_err(|e| failed(e, "truncating", io, oid))
}

pub async fn create(io: &IoCtx, oid: &str) -> CmdResult {
    io.create(oid, Create::Exclusive).await.map_err(|e| failed(e, "creating", io, oid))
}

pub async fn remove(io: &IoCtx, oids: &[&str]) -> CmdResult {
    for oid in oids {
        io.remove(*oid).await.map_err(|e| failed(e, "removing", io, oid))?;
    }
    Ok(())
}

pub async fn stat(io: &IoCtx, oid: &str, args: &RadosArgs) -> CmdResult {
    let stat = io.stat(oid).await.map_err(|e| failed(e, "stat-ing", io, oid))?;
    let mtime = timestamp(stat.mtime);
    if args.format.is_json() {
        args.format.print(&serde_json::json!({ "name": oid, "mtime": mtime, "size": stat.size }));
    } else {
        println!("{}/{oid} mtime {mtime}, size {}", io.pool_name(), stat.size);
    }
    Ok(())
}

pub async fn alloc_hint(io: &IoCtx, oid: &str, size: u64, write: u64) -> CmdResult {
    let hint = WriteOp::new().alloc_hint(size, write, 0);
    io.operate(oid, hint).await.map(drop).map_err(|e| failed(e, "hinting", io, oid))
}

pub(super) fn failed(error: sepiola_client::Error, doing: &str, io: &IoCtx, oid: &str) -> Failure {
    Failure::from(error).context(format_args!("error {doing} {}/{oid}", io.pool_name()))
}

/// A stamp as `rados stat` prints it, in UTC.
fn timestamp(t: sepiola_wire::UTime) -> String {
    let (days, second) = (i64::from(t.sec) / 86400, t.sec % 86400);
    let (year, month, day) = civil_from_days(days);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:06}+0000",
        second / 3600,
        second / 60 % 60,
        second % 60,
        t.nsec / 1000
    )
}

/// The Gregorian date of a day counted from 1970-01-01, by eras of 400 years that start in March.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        let at = |sec| timestamp(sepiola_wire::UTime { sec, nsec: 5_000 });
        assert_eq!(at(0), "1970-01-01T00:00:00.000005+0000");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00.000005+0000");
        assert_eq!(at(1_796_057_650), "2026-11-30T16:54:10.000005+0000");
    }
}
