//! The frames that resume a session.

use sepiola_wire::{Cookie, Decode, DecodeError, Encode, EntityAddrVec, Features, Put, Reader};

use super::{Control, Tag};

/// SESSION_RECONNECT: the client asks to resume a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionReconnect {
    /// The client's addresses, by which the server finds the session.
    pub addrs: EntityAddrVec,
    /// The cookie that the client chose.
    pub client_cookie: Cookie,
    /// The cookie that the server chose.
    pub server_cookie: Cookie,
    /// The client's process-wide count of connection attempts.
    pub global_seq: u64,
    /// How often this session was resumed.
    pub connect_seq: u64,
    /// The last message that the client received.
    pub msg_seq: u64,
}

impl Control<'_> for SessionReconnect {
    const TAG: Tag = Tag::SessionReconnect;

    fn encode(&self, out: &mut Vec<u8>) {
        self.addrs.encode(out, Features::SUPPORTED);
        out.put_u64(self.client_cookie.0);
        out.put_u64(self.server_cookie.0);
        out.put_u64(self.global_seq);
        out.put_u64(self.connect_seq);
        out.put_u64(self.msg_seq);
    }

    fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(payload);
        Ok(SessionReconnect {
            addrs: EntityAddrVec::decode(&mut r)?,
            client_cookie: Cookie(r.u64()?),
            server_cookie: Cookie(r.u64()?),
            global_seq: r.u64()?,
            connect_seq: r.u64()?,
            msg_seq: r.u64()?,
        })
    }
}

/// SESSION_RESET: the server has no such session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionReset {
    /// The client must forget what it queued as well.
    pub full: bool,
}

impl Control<'_> for SessionReset {
    const TAG: Tag = Tag::SessionReset;

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_bool(self.full);
    }

    fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        Ok(SessionReset { full: Reader::new(payload).bool()? })
    }
}

macro_rules! seq_frame {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name(pub u64);

        impl Control<'_> for $name {
            const TAG: Tag = Tag::$name;

            fn encode(&self, out: &mut Vec<u8>) {
                out.put_u64(self.0);
            }

            fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
                Reader::new(payload).u64().map($name)
            }
        }
    };
}

seq_frame! {
    /// SESSION_RETRY: the server has seen this higher connect sequence.
    SessionRetry
}
seq_frame! {
    /// SESSION_RETRY_GLOBAL: the server has seen this higher global sequence.
    SessionRetryGlobal
}
seq_frame! {
    /// SESSION_RECONNECT_OK: the session goes on; the server has received messages up to this one.
    SessionReconnectOk
}

/// WAIT: the server's own attempt to connect to the client wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait;

impl Control<'_> for Wait {
    const TAG: Tag = Tag::Wait;

    fn encode(&self, _: &mut Vec<u8>) {}

    fn decode(_: &[u8]) -> Result<Self, DecodeError> {
        Ok(Wait)
    }
}
