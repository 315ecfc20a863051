//! Commands that whoever runs a daemon answers for it: those of its admin socket, over the network.

use std::fmt;

use sepiola_wire::Errno;
use serde_json::Value;

/// What `ceph tell` can ask besides what a daemon itself knows.
pub trait DaemonCommands: fmt::Debug + Send + Sync {
    /// Whether there is a command with these words.
    fn knows(&self, prefix: &str) -> bool;

    /// Runs a command; `None` if there is no such one.
    fn run(&self, command: &Value) -> Option<Result<Value, (Errno, String)>>;

    /// The commands in the form that tools read: `{"cmd000": {"sig": [..], ..}, ..}`.
    fn descriptions(&self) -> Value;
}
