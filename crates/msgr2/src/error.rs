//! Why a connection ends, and whose fault that is.

use sepiola_cephx::{AuthError, AuthMethod, AuthRefused, ConMode};
use sepiola_crypto::{KeyError, SealError};
use sepiola_wire::{DecodeError, EntityAddr, EntityAddrVec, EntityName, EntityType, Errno, Features};
use thiserror::Error;

use crate::frame::Tag;

/// Ends a connection. One line that a user understands; the peer is told none of it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The peer broke the protocol, or somebody changed bytes on the way.
    #[error("the peer broke the protocol: {0}")]
    PeerMisbehaved(#[from] Misbehaviour),
    /// Both sides are in order, but they do not fit together.
    #[error(transparent)]
    PeerIncompatible(#[from] Incompatibility),
    /// Authentication failed.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// This side is at fault: its configuration, or how it uses this crate.
    #[error(transparent)]
    Local(#[from] LocalFault),
}

impl From<AuthError> for Error {
    fn from(error: AuthError) -> Self {
        Error::Denied(Denial::ByServer(error))
    }
}

/// What a peer did wrong.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Misbehaviour {
    /// It does not open like a Ceph messenger.
    #[error("its first bytes are no Ceph messenger banner")]
    NotCeph,
    /// Its banner is shorter than two feature sets, or absurdly long.
    #[error("its banner announces {0} bytes")]
    BannerLength(usize),
    /// A preamble's checksum is wrong.
    #[error("a frame preamble has a wrong checksum")]
    PreambleCrc,
    /// A segment's checksum is wrong.
    #[error("segment {segment} of a frame has a wrong checksum")]
    SegmentCrc {
        /// Which segment, from 0.
        segment: usize,
    },
    /// An encrypted frame does not verify.
    #[error("an encrypted frame does not verify")]
    Tampered,
    /// A frame has no segment, or more than four.
    #[error("a frame with {0} segments")]
    SegmentCount(u8),
    /// A frame counts a trailing segment that is empty.
    #[error("a frame whose last segment is empty")]
    EmptyLastSegment,
    /// A frame is compressed though compression was not negotiated.
    #[error("a compressed frame")]
    Compressed,
    /// A frame is neither complete nor aborted.
    #[error("a frame ends with status {0:#04x}")]
    LateStatus(u8),
    /// A segment is longer than this side takes.
    #[error("segment {segment} of a frame has {len} bytes, at most {limit} are taken")]
    TooLarge {
        /// Which segment, from 0.
        segment: usize,
        /// Its announced bytes.
        len: usize,
        /// The limit.
        limit: usize,
    },
    /// No frame has this tag.
    #[error("an unknown frame tag {0}")]
    UnknownTag(u8),
    /// A frame came where it may not.
    #[error("{tag} came while waiting for {expected}")]
    Unexpected {
        /// The frame.
        tag: Tag,
        /// What could have come.
        expected: &'static str,
    },
    /// A control frame has more than one segment, or a message has a header of the wrong length.
    #[error("{0} has a wrong shape")]
    Shape(Tag),
    /// A payload cannot be decoded.
    #[error("{tag} cannot be decoded: {source}")]
    Decode {
        /// The frame.
        tag: Tag,
        /// Why.
        source: DecodeError,
    },
    /// The handshake takes too many bytes or rounds.
    #[error("its handshake does not end")]
    HandshakeTooLong,
    /// The server chose a mode that was not offered.
    #[error("it chose connection mode {0}, which was not offered to it")]
    ModeNotOffered(u32),
    /// The signature over the handshake is wrong.
    #[error("its signature over the handshake is wrong, so bytes were changed on the way")]
    BadSignature,
    /// It gives no address of its own, or too many.
    #[error("it gives no usable address of its own")]
    NoAddress,
    /// It dialled an address that is not one of ours.
    #[error("it looks for {0}, which is not an address of this side")]
    WrongTarget(EntityAddr),
}

/// What does not fit between two peers in order.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Incompatibility {
    /// The peer speaks messenger v1.
    #[error("the peer speaks the legacy messenger v1 only (is this its v1 port?)")]
    LegacyMessenger,
    /// The peer does not speak frame revision 1.
    #[error("the peer speaks messenger v2.0 only, v2.1 is needed")]
    Revision0,
    /// The peer needs messenger features that this side lacks.
    #[error("the peer requires messenger features {0:#x}, which this side does not have")]
    MessengerFeatures(u64),
    /// The peer is not of the kind that was dialled.
    #[error("expected {expected}, but {found} answered")]
    WrongKind {
        /// Whom this side meant to dial.
        expected: EntityType,
        /// Who answered.
        found: EntityType,
    },
    /// The peer serves other addresses than the one that was dialled.
    #[error(
        "dialled {dialled}, but the process there is {found}: it was restarted, or another took its port"
    )]
    OtherProcess {
        /// The address that was dialled, with its nonce.
        dialled: EntityAddr,
        /// The addresses of the process that answered.
        found: EntityAddrVec,
    },
    /// The server allows none of the offered authentication methods.
    #[error("the server allows authentication by {}, this side offers {offered} only", words(.allowed, AuthMethod::from_u32, AuthMethod::as_str))]
    Methods {
        /// What this side offers.
        offered: AuthMethod,
        /// What the server allows, as numbers.
        allowed: Vec<u32>,
    },
    /// The server allows none of the offered connection modes.
    #[error("the server allows connection mode {}, this side offers {} only", words(.allowed, ConMode::from_u32, ConMode::as_str), list(.offered, ConMode::as_str))]
    Modes {
        /// What this side offers.
        offered: Vec<ConMode>,
        /// What the server allows, as numbers.
        allowed: Vec<u32>,
    },
    /// The client offers nothing that this server allows.
    #[error(
        "the client asked for authentication {method} with connection modes {modes:?}, which are not allowed here"
    )]
    ClientOffer {
        /// The client's method.
        method: u32,
        /// The client's modes.
        modes: Vec<u32>,
    },
    /// The peer lacks features that this side needs.
    #[error("the peer lacks features {:#x}, which this side requires", .0.bits())]
    PeerLacks(Features),
    /// This side lacks features that the peer needs.
    #[error("the peer requires features {:#x}, which this side does not have", .0.bits())]
    PeerRequires(Features),
}

/// Why authentication failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Denial {
    /// The server refused this client, or this client does not believe the server.
    #[error(transparent)]
    ByServer(#[from] AuthError),
    /// This server refused the client.
    #[error(transparent)]
    OfClient(#[from] AuthRefused),
    /// A client announced itself as what its credentials do not say.
    #[error("{name} announced itself as {announced}")]
    OtherIdentity {
        /// Whom the credentials belong to.
        name: EntityName,
        /// What HELLO said.
        announced: EntityType,
    },
}

impl Denial {
    /// The errno that goes with the denial.
    pub fn errno(&self) -> Errno {
        match self {
            Denial::OfClient(refused) => refused.errno,
            _ => Errno::EACCES,
        }
    }
}

/// What this side did wrong.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LocalFault {
    /// No connection mode is configured that goes with the authentication method.
    #[error(
        "authentication method {0} goes with connection mode crc only, which is not among the modes allowed here"
    )]
    NoModeForMethod(AuthMethod),
    /// No connection mode is configured at all.
    #[error("no connection mode is allowed here")]
    NoModes,
    /// This side has no address to give, and learned none from the peer.
    #[error("no address of its own is known")]
    NoAddress,
    /// The connection's keys cannot be made.
    #[error("cannot key the connection: {0}")]
    Keys(#[from] KeyError),
    /// An authenticator broke its contract.
    #[error("the authenticator {0}")]
    Authenticator(&'static str),
    /// A frame could not be sealed.
    #[error("cannot seal a frame: {0}")]
    Seal(#[from] SealError),
    /// A message has a segment that the wire cannot carry or the peer would not take.
    #[error("segment {segment} of a message has {len} bytes, at most {limit} can be sent")]
    TooLarge {
        /// Which segment, from 0.
        segment: usize,
        /// Its bytes.
        len: usize,
        /// The limit.
        limit: usize,
    },
    /// The connection failed before.
    #[error("the connection has failed before")]
    Failed,
}

fn list<T: Copy>(items: &[T], name: fn(T) -> &'static str) -> String {
    if items.is_empty() {
        return "nothing".to_owned();
    }
    items.iter().map(|&item| name(item)).collect::<Vec<_>>().join(" or ")
}

fn words<T>(numbers: &[u32], known: fn(u32) -> Option<T>, name: fn(T) -> &'static str) -> String {
    if numbers.is_empty() {
        return "nothing".to_owned();
    }
    let word = |&n: &u32| known(n).map_or_else(|| format!("#{n}"), |item| name(item).to_owned());
    numbers.iter().map(word).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_read_as_one_line() {
        let modes = Incompatibility::Modes { offered: vec![ConMode::Crc], allowed: vec![2] };
        assert_eq!(
            Error::from(modes).to_string(),
            "the server allows connection mode secure, this side offers crc only"
        );
        let methods = Incompatibility::Methods { offered: AuthMethod::None, allowed: vec![2, 4] };
        assert_eq!(
            methods.to_string(),
            "the server allows authentication by cephx or #4, this side offers none only"
        );
    }
}
