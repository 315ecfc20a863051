//! cp, cppool and purge.
//!
//! Copies go through this client, piece by piece: they work between any two OSDs.

use std::os::unix::ffi::OsStrExt;

use bytes::Bytes;
use sepiola_client::{Create, IoCtx, ListedObject, Rados, ReadOp, WriteOp};
use sepiola_wire::Errno;

use super::{
    RadosArgs,
    text::{place, plain},
};
use crate::{
    failure::{CmdResult, Failure},
    progress::Progress,
};

/// Bytes, and omap entries, that a request takes at most.
const CHUNK: u64 = 4 << 20;
const OMAP_PAGE: u64 = 512;

/// `cp OBJECT [TARGET]`.
pub async fn object(io: &IoCtx, oid: &[u8], target: Option<&[u8]>, args: &RadosArgs) -> CmdResult {
    let pool = args.target_pool.as_deref().unwrap_or(io.pool_name());
    let Some(target) = target.or_else(|| (pool != io.pool_name()).then_some(oid)) else {
        return Err(Failure::errno(Errno::EINVAL, "a copy needs another name or another pool"));
    };
    let opened = io.rados().open_ioctx(pool).await;
    let mut to = opened.map_err(|e| {
        let errno = e.errno();
        Failure::errno(errno, format!("error opening target pool {pool}: {errno}"))
    })?;
    if let Some(key) = &args.target_locator {
        to.set_locator_key(key.as_bytes());
    }
    if let Some(namespace) = &args.target_nspace {
        to.set_namespace(namespace.as_bytes());
    }
    copy(io, oid, &to, target).await.map_err(|e| {
        plain(e).context(format_args!("error copying {} => {}", place(io, oid), place(&to, target)))
    })
}

/// `cppool POOL DEST_POOL`.
pub async fn pool(rados: &Rados, from: &str, to: &str) -> CmdResult {
    if from == to {
        return Err(Failure::errno(Errno::EINVAL, "this is one and the same pool"));
    }
    eprintln!("warning: the copies get versions of their own");
    let failed = |e| plain(e).context(format_args!("error copying pool {from} => {to}"));
    let open = async |pool: &str, which: &str| {
        rados.open_ioctx(pool).await.map_err(|e| {
            let errno = e.errno();
            Failure::errno(
                errno,
                format!("cannot open {which} pool: {pool}\nerror copying pool {from} => {to}: {errno}"),
            )
        })
    };
    let source = open(from, "source").await?;
    let target = open(to, "target").await?;
    let mut objects = source.list_all_namespaces();
    let progress = Progress::counting("objects copied");
    while let Some(object) = objects.next().await.map_err(failed)? {
        let name = match &object.namespace[..] {
            [] => String::from_utf8_lossy(&object.name).into_owned(),
            namespace => {
                format!("{}/{}", String::from_utf8_lossy(namespace), String::from_utf8_lossy(&object.name))
            }
        };
        let key = match &object.locator_key[..] {
            [] => String::new(),
            key => format!("(@{})", String::from_utf8_lossy(key)),
        };
        progress.println(format_args!("{from}:{name}{key} => {to}:{name}{key}"));
        let copied = copy(&at(&source, &object), &object.name, &at(&target, &object), &object.name).await;
        copied.map_err(failed)?;
        progress.add(1);
    }
    progress.finish();
    say!("successfully copied pool {from}");
    Ok(())
}

/// `purge POOL`: removes all objects of all namespaces.
pub async fn purge(rados: &Rados, pool: &str, args: &RadosArgs) -> CmdResult {
    if !args.yes_i_really_really_mean_it {
        let why =
            format!("every object in {pool} would be gone for good: --yes-i-really-really-mean-it does it");
        return Err(Failure::errno(Errno::EPERM, why));
    }
    let io = rados.open_ioctx(pool).await.map_err(|e| {
        let errno = e.errno();
        Failure::errno(errno, format!("error pool {pool}: {errno}"))
    })?;
    say!("Warning: using slow linear search");
    let objects = io.list_all_namespaces();
    let removed = crate::bench::remove_listed(&io, objects, b"", args.bench.concurrent).await?;
    say!("Removed {removed} objects");
    say!("successfully purged pool {pool}");
    Ok(())
}

/// The context in which a listed object is found.
pub(super) fn at(io: &IoCtx, object: &ListedObject) -> IoCtx {
    let mut io = io.clone();
    io.set_namespace(&object.namespace).set_locator_key(&object.locator_key);
    io
}

/// Copies one object with attributes and omap over whatever is there. The target is there as a whole only in
/// the end; if the source changes meanwhile the copy fails (ERANGE or EOVERFLOW) instead of mixing both.
async fn copy(from: &IoCtx, oid: &[u8], to: &IoCtx, target: &[u8]) -> sepiola_client::Result<()> {
    let first = ReadOp::new().stat().read(0..CHUNK)?.get_xattrs().omap_get_header();
    let read = from.operate_read(oid, first).await?;
    let version = read.version();
    let stat = read.stat(0)?;
    // As the stock tool does it, the copy is as old as the source.
    let change = || WriteOp::new().mtime(stat.mtime);
    let mut write = change().create(Create::Idempotent).omap_clear().write_full(read.bytes(1)?);
    for (name, value) in read.entries(2)? {
        write = write.set_xattr(name, value);
    }
    let header = read.bytes(3)?;
    if !header.is_empty() {
        write = write.omap_set_header(header);
    }
    // Attributes of an earlier object of that name would stay behind.
    match to.remove(target).await {
        Err(e) if !e.is_not_found() => return Err(e),
        _ => {}
    }
    to.operate(target, write).await?;
    let mut offset = CHUNK;
    while offset < stat.size {
        let op = ReadOp::new().assert_version(version).read(offset..offset + CHUNK)?;
        let chunk = from.operate_read(oid, op).await?.bytes(1)?;
        to.operate(target, change().write(offset, chunk)).await?;
        offset += CHUNK;
    }
    let mut last = Bytes::new();
    loop {
        let op = ReadOp::new().assert_version(version).omap_get_vals(&last, b"", OMAP_PAGE);
        let page = from.operate_read(oid, op).await?.omap_page(1)?;
        let Some((key, _)) = page.entries.last() else { return Ok(()) };
        last = key.clone();
        to.operate(target, change().omap_set(page.entries)).await?;
        if !page.more {
            return Ok(());
        }
    }
}
