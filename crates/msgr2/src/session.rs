//! What survives a TCP connection.

use std::sync::atomic::{AtomicU64, Ordering};

use sepiola_wire::Cookie;

use crate::{FrameReader, FrameWriter};

/// Two peers' agreement on cookies and sequence numbers.
///
/// Keys, nonces, buffers and half-read frames belong to one TCP connection: [`FrameReader`] and
/// [`FrameWriter`]. They start from a session's numbers and give them back through [`Session::suspend`].
/// A lossy session ends with its connection; a lossless one is what a reconnect would resume.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Session {
    /// The session ends with its connection.
    pub lossy: bool,
    /// Chosen by the side that dialled; 0 for a lossy session.
    pub client_cookie: Cookie,
    /// Chosen by the side that accepted; 0 for a lossy session.
    pub server_cookie: Cookie,
    /// How often the session was resumed.
    pub connect_seq: u64,
    /// This side's count of connection attempts when the session's connection was made.
    pub global_seq: u64,
    /// The peer's.
    pub peer_global_seq: u64,
    /// The last message received, 0 for none.
    pub in_seq: u64,
    /// The last message sent, 0 for none.
    pub out_seq: u64,
}

impl Session {
    /// A session in which nothing was sent yet.
    pub(crate) fn new(lossy: bool, global_seq: u64, peer_global_seq: u64) -> Self {
        Session {
            lossy,
            client_cookie: Cookie(0),
            server_cookie: Cookie(0),
            connect_seq: 0,
            global_seq,
            peer_global_seq,
            in_seq: 0,
            out_seq: 0,
        }
    }

    /// Takes the sequence numbers back when a connection ends.
    pub fn suspend(&mut self, reader: &FrameReader, writer: &FrameWriter) {
        self.in_seq = reader.last_seq();
        self.out_seq = writer.last_seq();
    }
}

/// A process's count of connection attempts. Peers use it to tell a late attempt from the current one.
#[derive(Debug, Default)]
pub struct GlobalSeq(AtomicU64);

impl GlobalSeq {
    /// A counter whose first number is 1.
    pub const fn new() -> Self {
        GlobalSeq(AtomicU64::new(0))
    }

    /// The next number.
    pub fn next(&self) -> u64 {
        self.next_above(0)
    }

    /// The next number, above one that a peer has seen.
    pub fn next_above(&self, seen: u64) -> u64 {
        let next = |current: u64| current.max(seen).saturating_add(1);
        match self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |current| Some(next(current))) {
            Ok(previous) | Err(previous) => next(previous),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn global_sequence_numbers_pass_what_a_peer_has_seen() {
        let seq = GlobalSeq::new();
        assert_eq!(
            [seq.next(), seq.next(), seq.next_above(1002), seq.next(), seq.next_above(5)],
            [1, 2, 1003, 1004, 1005]
        );
    }
}
