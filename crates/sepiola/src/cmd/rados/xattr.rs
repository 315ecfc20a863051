//! listxattr, getxattr, setxattr, rmxattr.

use std::io::Write;

use sepiola_client::IoCtx;

use super::object::failed;
use crate::{cli::Format, failure::CmdResult};

pub async fn list(io: &IoCtx, oid: &str, format: Format) -> CmdResult {
    let attrs = io.get_xattrs(oid).await.map_err(|e| failed(e, "getting xattr set", io, oid))?;
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

pub async fn get(io: &IoCtx, oid: &str, name: &str) -> CmdResult {
    let value = io.get_xattr(oid, name).await.map_err(|e| failed(e, "getting xattr of", io, oid))?;
    Ok(std::io::stdout().lock().write_all(&value)?)
}

pub async fn set(io: &IoCtx, oid: &str, name: &str, value: &[u8]) -> CmdResult {
    io.set_xattr(oid, name, value.to_vec()).await.map_err(|e| failed(e, "setting xattr of", io, oid))
}

pub async fn remove(io: &IoCtx, oid: &str, name: &str) -> CmdResult {
    io.rm_xattr(oid, name).await.map_err(|e| failed(e, "removing xattr of", io, oid))
}
