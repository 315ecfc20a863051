//! What a frame is.

use std::fmt;

use crate::Misbehaviour;

macro_rules! tags {
    ($($(#[$doc:meta])* $variant:ident = $value:literal, $name:literal;)*) => {
        /// A frame's first byte. The compression frames (21, 22) are never negotiated here, so they are
        /// unknown tags.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Tag { $($(#[$doc])* $variant = $value,)* }

        impl Tag {
            /// The tag with this number.
            pub fn from_u8(value: u8) -> Result<Self, Misbehaviour> {
                match value { $($value => Ok(Tag::$variant),)* _ => Err(Misbehaviour::UnknownTag(value)) }
            }

            /// The name that Ceph's documentation gives the frame.
            pub const fn name(self) -> &'static str {
                match self { $(Tag::$variant => $name,)* }
            }
        }
    };
}

tags! {
    /// First frame of both sides.
    Hello = 1, "HELLO";
    /// Opens an authentication attempt.
    AuthRequest = 2, "AUTH_REQUEST";
    /// Refuses a method, a mode or the credentials.
    AuthBadMethod = 3, "AUTH_BAD_METHOD";
    /// The server wants another round.
    AuthReplyMore = 4, "AUTH_REPLY_MORE";
    /// The client's answer to that.
    AuthRequestMore = 5, "AUTH_REQUEST_MORE";
    /// Authentication succeeded.
    AuthDone = 6, "AUTH_DONE";
    /// Proof over all bytes so far.
    AuthSignature = 7, "AUTH_SIGNATURE";
    /// The client asks for a new session.
    ClientIdent = 8, "CLIENT_IDENT";
    /// The server grants it.
    ServerIdent = 9, "SERVER_IDENT";
    /// The client lacks features.
    IdentMissingFeatures = 10, "IDENT_MISSING_FEATURES";
    /// The client asks to resume a session.
    SessionReconnect = 11, "SESSION_RECONNECT";
    /// There is no such session.
    SessionReset = 12, "SESSION_RESET";
    /// The connect sequence is too old.
    SessionRetry = 13, "SESSION_RETRY";
    /// The global sequence is too old.
    SessionRetryGlobal = 14, "SESSION_RETRY_GLOBAL";
    /// The session goes on.
    SessionReconnectOk = 15, "SESSION_RECONNECT_OK";
    /// The server's own connection attempt wins.
    Wait = 16, "WAIT";
    /// A message.
    Message = 17, "MESSAGE";
    /// Are you there?
    Keepalive2 = 18, "KEEPALIVE2";
    /// Yes.
    Keepalive2Ack = 19, "KEEPALIVE2_ACK";
    /// Messages up to a sequence number have arrived.
    Ack = 20, "ACK";
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
