//! The objects of a run, named as `rados bench` names them, so that either tool reads what the other wrote.

use sepiola_wire::{DecodeError, Put, Reader};

/// How the object names of every run start.
pub const ANY_RUN: &str = "benchmark_data";
/// The object that remembers the last run.
pub const DEFAULT_RUN_NAME: &str = "benchmark_last_metadata";

/// What a read or a clean-up needs to know of the write before it. 24 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunMetadata {
    /// Bytes of an object.
    pub object_size: u64,
    /// Operations that finished.
    pub finished: u32,
    /// The writer's process id, part of the object names.
    pub pid: u32,
    /// Bytes of an operation.
    pub op_size: u64,
}

impl RunMetadata {
    /// The bytes of the metadata object.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(24);
        out.put_u64(self.object_size);
        out.put_u32(self.finished);
        out.put_u32(self.pid);
        out.put_u64(self.op_size);
        out
    }

    /// Reads the metadata object.
    ///
    /// # Errors
    /// If it is shorter than it must be.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes);
        Ok(RunMetadata { object_size: r.u64()?, finished: r.u32()?, pid: r.u32()?, op_size: r.u64()? })
    }

    /// Operations that fit into one object.
    pub fn ops_per_object(&self) -> u64 {
        (self.object_size / self.op_size.max(1)).max(1)
    }

    /// Objects of the run.
    pub fn objects(&self) -> u64 {
        u64::from(self.finished).div_ceil(self.ops_per_object())
    }
}

/// `benchmark_data_HOST_PID`.
pub fn prefix(host: &str, pid: u32) -> String {
    format!("{ANY_RUN}_{host}_{pid}")
}

/// The short host name.
pub fn host() -> String {
    let config = sepiola_config::Config::new(sepiola_wire::EntityName::client("admin"));
    config.get("host").unwrap_or_else(|| "localhost".to_owned())
}

/// The prefix of a run that this process starts.
pub fn current_prefix() -> String {
    prefix(&host(), std::process::id())
}
