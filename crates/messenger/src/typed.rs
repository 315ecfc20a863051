//! Typed messages on connections: what their headers say, and how they are read.

use bytes::Bytes;
use sepiola_messages::{WireMessage, check_compat, kind};
use sepiola_msgr2::{Message, MessageHeader};
use sepiola_wire::{Features, Tid};

use crate::{CloseReason, OutMessage, SendError, Sender};

/// The header of a typed message.
pub fn header_of<M: WireMessage>(tid: Tid) -> MessageHeader {
    MessageHeader::new(M::TYPE, M::VERSION, M::COMPAT).with_tid(tid).with_priority(M::PRIORITY)
}

/// Reads a message whose header says that it is an `M`.
///
/// # Errors
/// A reason to close the connection, if it does not decode or is for newer peers only.
pub fn decode<M: WireMessage>(message: &Message<'_>) -> Result<M, CloseReason> {
    check_compat::<M>(message.header.compat_version)
        .and_then(|()| M::decode(message.header.version, message.front, &message.data))
        .map_err(|e| CloseReason::dispatch(format!("malformed {}: {e}", kind::name(M::TYPE))))
}

impl OutMessage {
    /// A typed message for a peer with these features.
    pub fn typed<M: WireMessage>(message: &M, tid: Tid, features: Features) -> Self {
        let mut front = Vec::new();
        message.encode_front(&mut front, features);
        OutMessage::new(header_of::<M>(tid), front).with_data(Bytes::copy_from_slice(message.data()))
    }
}

impl Sender {
    /// [`Sender::send`] for a typed message.
    ///
    /// # Errors
    /// As [`Sender::send`].
    pub fn send_typed<M: WireMessage>(&self, message: &M, tid: Tid) -> Result<(), SendError> {
        let features = self.peer().features;
        self.send(&header_of::<M>(tid), |out| message.encode_front(out, features), &[message.data()])
    }
}
