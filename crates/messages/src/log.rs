//! LOG: lines of the cluster log, as `ceph -w` prints them.

use std::fmt;

use sepiola_wire::{
    Decode, DecodeError, Encode, EntityAddrVec, EntityName, EntityNum, Features, Put, Reader, UTime, Uuid,
};

use crate::{PRIORITY_HIGH, PaxosHeader, WireMessage, kind};

/// How much a line matters. Subscriptions name a level and get what is at or above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct LogLevel(pub u16);

impl LogLevel {
    /// Details for developers.
    pub const DEBUG: LogLevel = LogLevel(0);
    /// What happens in a healthy cluster.
    pub const INFO: LogLevel = LogLevel(1);
    /// Security.
    pub const SEC: LogLevel = LogLevel(2);
    /// Somebody should look.
    pub const WARN: LogLevel = LogLevel(3);
    /// Something is broken.
    pub const ERROR: LogLevel = LogLevel(4);

    /// The level of a subscription's or command's word: `debug`, `info`, `sec`, `warn`, `error`.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "debug" => Self::DEBUG,
            "info" => Self::INFO,
            "sec" => Self::SEC,
            "warn" => Self::WARN,
            "error" => Self::ERROR,
            _ => return None,
        })
    }
}

impl fmt::Display for LogLevel {
    /// In brackets, as lines have it: `[INF]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Self::DEBUG => "[DBG]",
            Self::INFO => "[INF]",
            Self::SEC => "[SEC]",
            Self::WARN => "[WRN]",
            Self::ERROR => "[ERR]",
            _ => "[???]",
        })
    }
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// Who wrote it, as it has authenticated.
    pub name: EntityName,
    /// The same by number: a daemon's rank, a client's global id.
    pub rank: EntityNum,
    /// Where it was.
    pub addrs: EntityAddrVec,
    /// When.
    pub stamp: UTime,
    /// Counts the writer's lines.
    pub seq: u64,
    /// How much it matters.
    pub level: LogLevel,
    /// The line.
    pub text: String,
    /// `cluster`, or `audit` for who did what.
    pub channel: String,
}

impl Encode for LogEntry {
    fn encode(&self, out: &mut Vec<u8>, f: Features) {
        out.put_versioned(5, 5, |out| {
            self.name.encode(out, f);
            self.rank.encode(out, f);
            self.addrs.encode(out, f);
            self.stamp.encode(out, f);
            out.put_u64(self.seq);
            out.put_u16(self.level.0);
            self.text.encode(out, f);
            self.channel.encode(out, f);
        });
    }
}

impl Decode for LogEntry {
    const MIN_SIZE: usize = 6;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("log entry", 5)?;
        // Earlier layouts are of releases before Nautilus.
        if s.version < 5 {
            return Err(DecodeError::Invalid("log entry of a release before Nautilus"));
        }
        let r = &mut s.body;
        Ok(LogEntry {
            name: Decode::decode(r)?,
            rank: Decode::decode(r)?,
            addrs: Decode::decode(r)?,
            stamp: Decode::decode(r)?,
            seq: r.u64()?,
            level: LogLevel(r.u16()?),
            text: Decode::decode(r)?,
            channel: Decode::decode(r)?,
        })
    }
}

/// Monitor to a subscriber of the cluster log: new lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Log {
    /// The log's version with these lines. Clients drop what is not newer than what they have.
    pub paxos: PaxosHeader,
    /// The cluster.
    pub fsid: Uuid,
    /// The lines, oldest first.
    pub entries: Vec<LogEntry>,
}

impl WireMessage for Log {
    const TYPE: u16 = kind::LOG;
    const VERSION: u16 = 1;
    const COMPAT: u16 = 1;
    const PRIORITY: u16 = PRIORITY_HIGH;

    fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        self.paxos.encode(out, features);
        self.fsid.encode(out, features);
        self.entries.encode(out, features);
    }

    fn decode(_: u16, front: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(front);
        Ok(Log { paxos: Decode::decode(r)?, fsid: Decode::decode(r)?, entries: Decode::decode(r)? })
    }
}
