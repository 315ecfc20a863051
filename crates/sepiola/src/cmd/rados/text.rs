//! Words of the verbs' errors.

use std::borrow::Cow;

use sepiola_client::{Error, IoCtx};
use sepiola_wire::Errno;

use crate::failure::Failure;

/// `POOL/OBJECT`.
pub fn place(io: &IoCtx, oid: &[u8]) -> String {
    format!("{}/{}", io.pool_name(), shown(oid))
}

/// Whether bytes can go to a terminal as they are.
pub fn is_printable(bytes: &[u8]) -> bool {
    bytes.iter().all(|b| b.is_ascii_graphic() || *b == b' ')
}

/// A name or key within a line of text.
pub fn shown(bytes: &[u8]) -> Cow<'_, str> {
    if is_printable(bytes) { String::from_utf8_lossy(bytes) } else { "(binary key)".into() }
}

/// An error whose operation and object the caller names: only its errno then.
pub fn plain(error: Error) -> Failure {
    match error {
        Error::Operation { errno, .. } => Failure::errno(errno, errno.to_string()),
        other => other.into(),
    }
}

/// The system's error as the stock tools word it.
pub fn io_error(error: &std::io::Error) -> Failure {
    match error.raw_os_error() {
        Some(code) => Failure::errno(Errno::new(code), Errno::new(code).to_string()),
        None => Failure::new(error.to_string()),
    }
}

/// What was being done to an object, in front of its error: `error getting POOL/OBJECT: ...`.
pub fn failed<'a>(doing: &'a str, io: &'a IoCtx, oid: &'a [u8]) -> impl Fn(Error) -> Failure + 'a {
    move |error| plain(error).context(format_args!("error {doing} {}", place(io, oid)))
}

/// The same for a part of an object: `error getting xattr POOL/OBJECT/NAME: ...`.
pub fn failed_part<'a>(
    doing: &'a str,
    io: &'a IoCtx,
    oid: &'a [u8],
    part: &'a [u8],
) -> impl Fn(Error) -> Failure + 'a {
    move |error| plain(error).context(format_args!("error {doing} {}/{}", place(io, oid), shown(part)))
}
