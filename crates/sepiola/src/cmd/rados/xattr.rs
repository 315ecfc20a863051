//! listxattr, getxattr, setxattr, rmxattr.

use std::io::Write;

use sepiola_client::IoCtx;

use super::text::{failed, failed_part};
use crate::{cli::Format, failure::CmdResult};

pub async fn list(io: &IoCtx, oid: &[u8], format: Format) -> CmdResult {
    let attrs = io.get_xattrs(oid).await.map_err(failed("getting xattr set", io, oid))?;
    if format.is_json() {
        let names: Vec<_> =
            attrs.keys().map(|n| serde_json::json!({ "name": String::from_utf8_lossy(n) })).collect();
        format.print(&names.into());
        return Ok(());
    }
    let mut out = std::io::stdout().lock();
    for name in attrs.keys() {
        out.write_all(name)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

pub async fn get(io: &IoCtx, oid: &[u8], name: &[u8]) -> CmdResult {
    let value = io.get_xattr(oid, name).await.map_err(failed_part("getting xattr", io, oid, name))?;
    Ok(std::io::stdout().lock().write_all(&value)?)
}

pub async fn set(io: &IoCtx, oid: &[u8], name: &[u8], value: &[u8]) -> CmdResult {
    io.set_xattr(oid, name, value.to_vec()).await.map_err(failed_part("setting xattr", io, oid, name))
}

pub async fn remove(io: &IoCtx, oid: &[u8], name: &[u8]) -> CmdResult {
    io.rm_xattr(oid, name).await.map_err(failed_part("removing xattr", io, oid, name))
}
