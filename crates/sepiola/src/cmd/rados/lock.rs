//! `lock list|info|get|break`: advisory locks on objects.

use std::{os::unix::ffi::OsStrExt, time::Duration};

use bytes::Bytes;
use sepiola_client::{EntityAddr, EntityNum, GlobalId, IoCtx, Lock, LockInfo, Locker};
use sepiola_wire::Errno;
use serde_json::{Value, json};

use super::{RadosArgs, args::LockArgs, text::plain, verbs};
use crate::{
    cli::Format,
    failure::{CmdResult, Failure},
};

/// Runs the words behind `lock`.
pub async fn run(io: &IoCtx, words: &[&[u8]], args: &RadosArgs) -> CmdResult {
    let format = match args.format {
        Format::Plain => Format::Json,
        json => json,
    };
    let doing = |what: &'static str| move |e| plain(e).context(format_args!("ERROR: {what}"));
    match *words {
        [b"list", oid] => {
            let names = io.list_locks(oid).await.map_err(doing("rados_list_locks()"))?;
            let locks: Vec<_> = names.iter().map(|name| json!({ "name": lossy(name) })).collect();
            format.print(&json!({ "objname": lossy(oid), "locks": locks }));
            Ok(())
        }
        [b"info", oid, name] => {
            let name = text(name)?;
            let info = io.lock_info(oid, name).await.map_err(doing("rados_lock_get_lock_info()"))?;
            format.print(&shown(name, &info));
            Ok(())
        }
        [b"get", oid, name] => {
            let lock = wanted(text(name)?, &args.lock)?;
            io.lock(oid, &lock).await.map_err(doing("failed locking"))
        }
        [b"break", oid, name, locker] => {
            let client = parse_locker(text(locker)?).ok_or_else(|| {
                Failure::errno(Errno::EINVAL, "a locker is written client.NUMBER; see `lock info`")
            })?;
            let cookie = args.lock.lock_cookie.as_deref().unwrap_or_default().as_bytes();
            // Who holds the lock is found by these two.
            let holder = Locker {
                client,
                cookie: Bytes::copy_from_slice(cookie),
                addr: EntityAddr::default(),
                description: Bytes::new(),
                expires: None,
            };
            io.break_lock(oid, text(name)?, &holder).await.map_err(doing("failed breaking lock"))
        }
        _ => Err(verbs::unknown("lock", true)),
    }
}

/// `client.4141`.
fn parse_locker(text: &str) -> Option<EntityNum> {
    let id = text.strip_prefix("client.")?.parse().ok()?;
    Some(EntityNum::client(GlobalId(id)))
}

/// Names of locks are text.
fn text(word: &[u8]) -> Result<&str, Failure> {
    std::str::from_utf8(word).map_err(|_| Failure::errno(Errno::EINVAL, "names of locks are UTF-8"))
}

fn lossy(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// The lock that the flags describe.
fn wanted(name: &str, flags: &LockArgs) -> Result<Lock, Failure> {
    let tag = flags.lock_tag.as_deref().unwrap_or_default();
    let lock = match flags.lock_type.as_str() {
        "exclusive" => Lock::exclusive(name),
        "shared" => Lock::shared(name, tag.as_bytes()),
        _ => {
            let why = "--lock-type is exclusive or shared";
            return Err(Failure::errno(Errno::EINVAL, why));
        }
    };
    Ok(lock
        .cookie(flags.lock_cookie.as_deref().unwrap_or_default().as_bytes())
        .description(flags.lock_description.as_deref().unwrap_or_default())
        .duration(Duration::from_secs(flags.lock_duration.into())))
}

fn shown(name: &str, info: &LockInfo) -> Value {
    let kind = match (info.shared, info.lockers.is_empty()) {
        (true, _) => "shared",
        (false, false) => "exclusive",
        (false, true) => "none",
    };
    let lockers: Vec<_> = info.lockers.iter().map(locker).collect();
    json!({ "name": name, "type": kind, "tag": lossy(&info.tag), "lockers": lockers })
}

fn locker(locker: &Locker) -> Value {
    // Without the messenger's version, as the stock tool shows it.
    let addr = locker.addr.socket.map_or_else(|| "-".to_owned(), |at| format!("{at}/{}", locker.addr.nonce));
    json!({
        "name": locker.client.to_string(), "cookie": lossy(&locker.cookie),
        "description": lossy(&locker.description),
        "expiration": locker.expires.unwrap_or_default().to_string(), "addr": addr,
    })
}
