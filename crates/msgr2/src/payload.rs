//! A message's data segment.

use std::ops::Deref;

use bytes::Bytes;

/// Received data: a view of the read buffer up to 64 KiB, a buffer of its own beyond that.
#[derive(Debug, Clone)]
pub enum Payload<'b> {
    /// Lies in the connection's read buffer.
    Borrowed(&'b [u8]),
    /// Lies in a buffer that was made for this message.
    Owned(Bytes),
}

impl Payload<'_> {
    /// Bytes to keep. A view is copied once, into an allocation of its size, so that a small object never
    /// pins a read buffer.
    pub fn into_bytes(self) -> Bytes {
        match self {
            Payload::Borrowed(view) => Bytes::copy_from_slice(view),
            Payload::Owned(bytes) => bytes,
        }
    }
}

impl Deref for Payload<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Payload::Borrowed(view) => view,
            Payload::Owned(bytes) => bytes,
        }
    }
}
