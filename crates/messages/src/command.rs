//! Commands: to the monitors (MON_COMMAND) and to one daemon (COMMAND, `ceph tell`).

use std::fmt;

use bytes::Bytes;
use sepiola_wire::{Decode, DecodeError, Encode, Features, Put, Reader, Uuid};

use crate::{PRIORITY_HIGH, PaxosHeader, WireMessage, kind};

/// A command is text from people: bytes that are not UTF-8 become replacement characters, so that it is
/// answered with an error rather than by a closed session.
fn decode_words(r: &mut Reader<'_>) -> Result<Vec<String>, DecodeError> {
    let n = r.count(4)?;
    (0..n).map(|_| text(r)).collect()
}

fn text(r: &mut Reader<'_>) -> Result<String, DecodeError> {
    Ok(String::from_utf8_lossy(r.blob()?).into_owned())
}

/// Client to monitor: a command.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct MonCommand {
    /// Version 0 is normal.
    pub paxos: PaxosHeader,
    /// The cluster; a monitor refuses another's.
    pub fsid: Uuid,
    /// Usually one JSON object; several strings are concatenated before they are parsed.
    pub cmd: Vec<String>,
    /// Input data (`-i FILE`).
    pub input: Bytes,
}

impl WireMessage for MonCommand {
    const TYPE: u16 = kind::MON_COMMAND;
    const VERSION: u16 = 1;
    const COMPAT: u16 = 1;

    fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        self.paxos.encode(out, features);
        self.fsid.encode(out, features);
        self.cmd.encode(out, features);
    }

    fn data(&self) -> &[u8] {
        &self.input
    }

    fn decode(_: u16, front: &[u8], data: &[u8]) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(front);
        Ok(MonCommand {
            paxos: PaxosHeader::decode(r)?,
            fsid: Uuid::decode(r)?,
            cmd: decode_words(r)?,
            input: Bytes::copy_from_slice(data),
        })
    }
}

/// Monitor to client: a command's result.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct MonCommandAck {
    /// The service's epoch after the command.
    pub paxos: PaxosHeader,
    /// 0, or a negative errno.
    pub result: i32,
    /// Status text, which tools print to stderr.
    pub status: String,
    /// The command, echoed.
    pub cmd: Vec<String>,
    /// What tools print to stdout.
    pub output: Bytes,
}

impl WireMessage for MonCommandAck {
    const TYPE: u16 = kind::MON_COMMAND_ACK;
    const VERSION: u16 = 1;
    const COMPAT: u16 = 1;
    const PRIORITY: u16 = PRIORITY_HIGH;

    fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        self.paxos.encode(out, features);
        out.put_i32(self.result);
        self.status.encode(out, features);
        self.cmd.encode(out, features);
    }

    fn data(&self) -> &[u8] {
        &self.output
    }

    fn decode(_: u16, front: &[u8], data: &[u8]) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(front);
        Ok(MonCommandAck {
            paxos: PaxosHeader::decode(r)?,
            result: r.i32()?,
            status: text(r)?,
            cmd: decode_words(r)?,
            output: Bytes::copy_from_slice(data),
        })
    }
}

/// Client to a daemon: a command for just this daemon.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Command {
    /// The cluster.
    pub fsid: Uuid,
    /// As in [`MonCommand::cmd`].
    pub cmd: Vec<String>,
    /// Input data.
    pub input: Bytes,
}

impl WireMessage for Command {
    const TYPE: u16 = kind::COMMAND;
    const VERSION: u16 = 1;
    const COMPAT: u16 = 1;

    fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        self.fsid.encode(out, features);
        self.cmd.encode(out, features);
    }

    fn data(&self) -> &[u8] {
        &self.input
    }

    fn decode(_: u16, front: &[u8], data: &[u8]) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(front);
        Ok(Command { fsid: Uuid::decode(r)?, cmd: decode_words(r)?, input: Bytes::copy_from_slice(data) })
    }
}

/// Daemon to client: a command's result.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct CommandReply {
    /// 0, or a negative errno.
    pub result: i32,
    /// Status text.
    pub status: String,
    /// Output.
    pub output: Bytes,
}

impl WireMessage for CommandReply {
    const TYPE: u16 = kind::COMMAND_REPLY;
    const VERSION: u16 = 1;
    const COMPAT: u16 = 1;

    fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        out.put_i32(self.result);
        self.status.encode(out, features);
    }

    fn data(&self) -> &[u8] {
        &self.output
    }

    fn decode(_: u16, front: &[u8], data: &[u8]) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(front);
        Ok(CommandReply { result: r.i32()?, status: text(r)?, output: Bytes::copy_from_slice(data) })
    }
}

/// Commands and their answers carry keys (`auth get`, `config-key set`): `Debug` shows how much there is of
/// them, not what.
macro_rules! debug_without_content {
    ($($ty:ident { $($shown:ident),* } { $($bytes:ident),* })*) => {$(
        impl fmt::Debug for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($ty))
                    $(.field(stringify!($shown), &self.$shown))*
                    $(.field(concat!(stringify!($bytes), "_len"), &self.$bytes.len()))*
                    .finish_non_exhaustive()
            }
        }
    )*};
}
debug_without_content! {
    MonCommand { fsid } { input }
    MonCommandAck { result, status } { output }
    Command { fsid } { input }
    CommandReply { result, status } { output }
}
