//! Typed messages: Ceph's, and Sepiola's own protobuf ones.
//!
//! A message is a *front* (its fields, without a length or a struct header: the version in the message
//! header selects the layout) and *data* (bulk bytes without framing). Both directions exist for every
//! message, because Sepiola is client and server.
//!
//! Most messages are owned structs that implement [`WireMessage`]. OSD requests and replies, which are the
//! hot path, have borrowed views and direct encoders instead: see [`osd_op`].
#![forbid(unsafe_code)]

mod auth;
mod backoff;
pub mod class_lock;
mod command;
mod config;
pub mod kind;
mod log;
mod mgr_map;
mod mon_map;
mod osd_map;
pub mod osd_op;
mod paxos;
pub mod pg_state;
mod ping;
mod pool_op;
mod private;
mod stats;
mod subscribe;
mod version;
mod watch_notify;

pub use auth::{Auth, AuthReply};
pub use backoff::{BackoffOp, OsdBackoff};
pub use command::{Command, CommandReply, MonCommand, MonCommandAck};
pub use config::Config;
pub use log::{Log, LogEntry, LogLevel};
pub use mgr_map::MgrMap;
pub use mon_map::{MonAuthCiphers, MonGetMap, MonInfo, MonMap, MonMapMessage, features as mon_features};
pub use osd_map::OsdMapMessage;
pub use paxos::PaxosHeader;
pub use ping::Ping;
pub use pool_op::{PoolOp, PoolOpCode, PoolOpReply};
pub use private::is_private;
pub use sepiola_proto as proto;
pub use stats::{GetPoolStats, GetPoolStatsReply, ObjectStatSum, PoolStat, Statfs, StatfsReply, StoreStatfs};
pub use subscribe::{MonSubscribe, MonSubscribeAck, SubscribeFlags, Subscription};
pub use version::{MonGetVersion, MonGetVersionReply};
pub use watch_notify::{NotifyAck, NotifyResult, WatchNotify, WatchNotifyOp};

use sepiola_wire::{DecodeError, Features};

/// Priority that messages have unless said otherwise. Advisory only.
pub const PRIORITY_DEFAULT: u16 = 127;
/// Priority of what monitors send.
pub const PRIORITY_HIGH: u16 = 196;
/// Priority of OSD operations from clients.
pub const PRIORITY_LOW: u16 = 63;

/// A message that can be sent and received as an owned value.
///
/// A receiver refuses a message only if its header's `compat_version` is above [`Self::VERSION`]; fields
/// that newer senders append to the front are ignored.
pub trait WireMessage: Sized {
    /// The header's `type`.
    const TYPE: u16;
    /// The newest layout known here, and the one sent.
    const VERSION: u16;
    /// The oldest decoder version that can read what is sent.
    const COMPAT: u16;
    /// The header's `priority`.
    const PRIORITY: u16 = PRIORITY_DEFAULT;

    /// Appends the front for a peer with these negotiated features.
    fn encode_front(&self, out: &mut Vec<u8>, features: Features);

    /// The data segment.
    fn data(&self) -> &[u8] {
        &[]
    }

    /// Reads a message whose header carries `version`.
    fn decode(version: u16, front: &[u8], data: &[u8]) -> Result<Self, DecodeError>;
}

/// Checks a received header against what this build can read of a message.
///
/// # Errors
/// [`DecodeError::Invalid`] if the sender says that only newer decoders understand the message.
pub fn check_compat<M: WireMessage>(compat_version: u16) -> Result<(), DecodeError> {
    if compat_version > M::VERSION {
        return Err(DecodeError::Invalid("message is for newer peers only"));
    }
    Ok(())
}
