//! put, get, append, truncate, create, rm, stat.

use std::io::{Read, Write};

use bytes::Bytes;
use sepiola_client::{AllocHint, Create, IoCtx, WriteOp};
use sepiola_wire::UTime;

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
    // The older verb knows whole seconds only.
    let whole_seconds = args.command.first().is_some_and(|verb| verb == "stat");
    let mtime = match whole_seconds {
        true => UTime { nsec: 0, ..stat.mtime },
        false => stat.mtime,
    };
    let mtime = mtime.to_string();
    if args.format.is_json() {
        args.format.print(&serde_json::json!({ "name": oid, "mtime": mtime, "size": stat.size }));
    } else {
        println!("{}/{oid} mtime {mtime}, size {}", io.pool_name(), stat.size);
    }
    Ok(())
}

pub async fn alloc_hint(io: &IoCtx, oid: &str, size: u64, write: u64) -> CmdResult {
    let hint = WriteOp::new().alloc_hint(size, write, AllocHint::NONE);
    io.operate(oid, hint).await.map(drop).map_err(|e| failed(e, "hinting", io, oid))
}

pub(super) fn failed(error: sepiola_client::Error, doing: &str, io: &IoCtx, oid: &str) -> Failure {
    let failure = match error {
        // The operation and its object are named already.
        sepiola_client::Error::Operation { errno, .. } => Failure::errno(errno, errno.to_string()),
        other => other.into(),
    };
    failure.context(format_args!("error {doing} {}/{oid}", io.pool_name()))
}
