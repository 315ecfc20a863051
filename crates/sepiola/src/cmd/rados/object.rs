//! put, get, append, truncate, create, touch, rm, stat, set-alloc-hint.

use std::io::Read;

use bytes::Bytes;
use sepiola_client::{AllocHint, Create, IoCtx, WriteOp};
use sepiola_wire::{Errno, UTime};

use super::{
    RadosArgs, number, open_input, open_output,
    text::{failed, place, plain, shown},
};
use crate::{
    cli::Format,
    failure::{CmdResult, Failure},
};

/// Reads until `size` bytes are there or the input ends.
fn read_chunk(input: &mut dyn Read, size: u64) -> std::io::Result<Bytes> {
    let mut chunk = Vec::new();
    input.take(size).read_to_end(&mut chunk)?;
    Ok(chunk.into())
}

/// The first chunk replaces the object, the others follow it; an empty file makes an empty object. With
/// `--offset` nothing is replaced.
pub async fn put(io: &IoCtx, oid: &[u8], file: &[u8], args: &RadosArgs) -> CmdResult {
    let mut input = open_input(file)?;
    let mut offset = args.offset.unwrap_or(0);
    let mut replace = args.offset.is_none();
    loop {
        let chunk = read_chunk(&mut *input, args.op_size())?;
        let len = chunk.len() as u64;
        let result = match (std::mem::take(&mut replace), len) {
            (true, 0) => io.create(oid, Create::Idempotent).await,
            (true, _) => io.write_full(oid, chunk).await,
            (false, 0) => Ok(()),
            (false, _) => io.write(oid, offset, chunk).await,
        };
        result.map_err(failed("putting", io, oid))?;
        offset += len;
        if len < args.op_size() {
            return Ok(());
        }
    }
}

/// Reads chunks until a short one.
pub async fn get(io: &IoCtx, oid: &[u8], file: &[u8], op_size: u64) -> CmdResult {
    let mut output = None;
    let mut offset = 0;
    loop {
        let chunk = io.read(oid, offset..offset + op_size).await.map_err(failed("getting", io, oid))?;
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

pub async fn append(io: &IoCtx, oid: &[u8], file: &[u8], op_size: u64) -> CmdResult {
    let mut input = open_input(file)?;
    loop {
        let chunk = read_chunk(&mut *input, op_size)?;
        let len = chunk.len() as u64;
        if len > 0 {
            io.append(oid, chunk).await.map_err(failed("appending", io, oid))?;
        }
        if len < op_size {
            return Ok(());
        }
    }
}

pub async fn truncate(io: &IoCtx, oid: &[u8], length: &[u8]) -> CmdResult {
    let length: i64 = number(length, "size")?;
    let Ok(size) = u64::try_from(length) else {
        return Err(Failure::errno(Errno::EINVAL, "no object is shorter than 0 bytes"));
    };
    io.truncate(oid, size)
        .await
        .map_err(|e| plain(e).context(format_args!("error truncating oid {} to {size}", shown(oid))))
}

pub async fn create(io: &IoCtx, oid: &[u8]) -> CmdResult {
    io.create(oid, Create::Exclusive).await.map_err(failed("creating", io, oid))
}

/// Sets the time of the last change, to now if none is given; makes the object if there is none.
pub async fn touch(io: &IoCtx, oid: &[u8], seconds: Option<u32>) -> CmdResult {
    let mtime = UTime { sec: seconds.unwrap_or_else(|| UTime::now().sec), nsec: 0 };
    let op = WriteOp::new().create(Create::Idempotent).mtime(mtime);
    io.operate(oid, op).await.map(drop).map_err(failed("touch-ing", io, oid))
}

pub async fn remove(io: &IoCtx, oids: &[&[u8]]) -> CmdResult {
    for oid in oids {
        io.remove(*oid).await.map_err(|e| {
            let namespace = match io.namespace() {
                [] => String::new(),
                namespace => format!("{}/", String::from_utf8_lossy(namespace)),
            };
            let oid = shown(oid);
            plain(e).context(format_args!("error removing {}>{namespace}{oid}", io.pool_name()))
        })?;
    }
    Ok(())
}

pub async fn stat(io: &IoCtx, oid: &[u8], whole_seconds: bool, format: Format) -> CmdResult {
    let stat = io.stat(oid).await.map_err(failed("stat-ing", io, oid))?;
    // The older verb knows whole seconds only.
    let mtime = match whole_seconds {
        true => UTime { nsec: 0, ..stat.mtime },
        false => stat.mtime,
    };
    let mtime = mtime.to_string();
    if format.is_json() {
        let name = String::from_utf8_lossy(oid);
        format.print(&serde_json::json!({ "name": name, "mtime": mtime, "size": stat.size }));
        return Ok(());
    }
    say!("{} mtime {mtime}, size {}", place(io, oid), stat.size);
    Ok(())
}

pub async fn alloc_hint(io: &IoCtx, oid: &[u8], size: u64, write: u64) -> CmdResult {
    let hint = WriteOp::new().alloc_hint(size, write, AllocHint::NONE);
    io.operate(oid, hint).await.map(drop).map_err(failed("setting alloc-hint", io, oid))
}
