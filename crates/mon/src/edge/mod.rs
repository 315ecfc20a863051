//! Where messages come in: one [`Session`] a connection, and what each message is answered with.

mod dispatch;
mod session;

use bytes::Bytes;
use sepiola_messages::WireMessage;
use sepiola_messenger::{CloseReason, OutMessage};
use sepiola_msgr2::{FrameWriter, MessageHeader};
use sepiola_wire::{Features, Tid};

pub(crate) use session::{Session, SessionShared, Sessions};

fn header<M: WireMessage>(tid: Tid) -> MessageHeader {
    let mut header = MessageHeader::new(M::TYPE, M::VERSION, M::COMPAT);
    (header.tid, header.priority) = (tid, M::PRIORITY);
    header
}

/// A message for a connection's outbox.
pub(crate) fn outgoing<M: WireMessage>(message: &M, tid: Tid, features: Features) -> OutMessage {
    let mut front = Vec::new();
    message.encode_front(&mut front, features);
    OutMessage::new(header::<M>(tid), front).with_data(Bytes::copy_from_slice(message.data()))
}

/// Encodes a reply straight into the connection's output.
fn write<M: WireMessage>(
    writer: &mut FrameWriter,
    message: &M,
    tid: Tid,
    features: Features,
) -> Result<(), CloseReason> {
    let encode = |out: &mut Vec<u8>| message.encode_front(out, features);
    writer.message(&header::<M>(tid), encode, &[], &[message.data()]).map_err(CloseReason::Protocol)
}
