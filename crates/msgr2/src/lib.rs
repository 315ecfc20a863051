//! The messenger v2.1 protocol as state machines without I/O.
//!
//! Two lives are kept apart. A **transport** is one TCP connection: a [`Handshake`] that ends in a
//! [`FrameReader`] and a [`FrameWriter`] with that connection's keys and nonces, which no other connection
//! ever uses. A [`Session`] is what two peers agree on beyond it. Time, randomness and sockets are the
//! caller's.
//!
//! ```text
//! socket -> ReadBuffer -> Handshake::advance -> Handshake::output -> socket       until Progress::Ready
//! socket -> ReadBuffer -> FrameReader::next  -> Event                             frames opened in place
//!           FrameWriter::message -> FrameWriter::pending -> socket                frames sealed in place
//! ```
//!
//! Spoken is frame revision 1, in modes crc and secure, on both sides. Facts about the wire come from
//! Ceph's protocol documentation and from exchanges recorded with 16.2.15 and 20.2.4.
#![forbid(unsafe_code)]

mod banner;
mod error;
pub mod frame;
mod handshake;
mod limits;
mod payload;
mod peer;
mod read_buffer;
mod reader;
mod session;
mod writer;

pub use error::{Denial, Error, Incompatibility, LocalFault, Misbehaviour};
pub use frame::MessageHeader;
pub use handshake::{
    Authenticator, ClientConfig, Established, Handshake, MethodOptions, ModeOptions, Progress, ServerConfig,
    parse_methods, parse_modes,
};
pub use limits::{Limits, SegmentLimits};
pub use payload::Payload;
pub use peer::PeerInfo;
pub use read_buffer::ReadBuffer;
pub use reader::{Event, FrameReader, Message};
pub use session::{GlobalSeq, Session};
pub use writer::FrameWriter;

// What a handshake is driven with, so that users of this crate need not name the ones below it.
pub use sepiola_cephx::{AuthMethod, ClientAuthenticator, ConMode, ServerAuthenticator};
