//! The dialling side.

mod connect;
mod options;
mod receiver;
mod sender;

pub use connect::Connection;
pub use options::{DialOptions, Keepalive};
pub use receiver::{MessageHandler, Receiver};
pub use sender::{SendError, Sender};
