//! Where messages go: into the connection that is being served, or to one that others own.

use bytes::Bytes;
use sepiola_messages::WireMessage;
use sepiola_msgr2::{Error, FrameWriter, LocalFault, MessageHeader};
use sepiola_wire::{Features, Tid};
use thiserror::Error;

/// The connection cannot take the message.
#[derive(Debug, Error)]
#[error("cannot send: {0}")]
pub struct Refusal(#[from] pub Error);

/// Takes messages for the connection that is being served.
pub trait Outgoing {
    /// Appends a message. `front` appends the front segment to the output buffer itself.
    ///
    /// # Errors
    /// If the connection cannot go on.
    fn send(
        &mut self,
        header: &MessageHeader,
        front: impl FnOnce(&mut Vec<u8>),
        data: &[&[u8]],
    ) -> Result<(), Refusal>;

    /// Appends a typed message.
    ///
    /// # Errors
    /// If the connection cannot go on.
    fn send_typed<M: WireMessage>(
        &mut self,
        message: &M,
        tid: Tid,
        features: Features,
    ) -> Result<(), Refusal> {
        self.send(
            &sepiola_messenger::header_of::<M>(tid),
            |out| message.encode_front(out, features),
            &[message.data()],
        )
    }
}

impl Outgoing for FrameWriter {
    fn send(
        &mut self,
        header: &MessageHeader,
        front: impl FnOnce(&mut Vec<u8>),
        data: &[&[u8]],
    ) -> Result<(), Refusal> {
        match self.message(header, front, &[], data) {
            // The connection is as good as before. Limits on replies keep well below those of frames.
            Err(Error::Local(fault @ LocalFault::TooLarge { .. })) => {
                tracing::error!(%fault, kind = header.kind, "message dropped");
                Ok(())
            }
            result => Ok(result?),
        }
    }
}

/// Sends to a connection from outside of it.
pub trait Push: Send + Sync {
    /// Queues a message. A connection that has ended takes it silently.
    fn push(&self, header: MessageHeader, front: Bytes, data: Bytes);

    /// Ends the connection. Where there is none, nothing happens.
    fn close(&self) {}

    /// Counts a request of `bytes` bytes that is answered later against the connection's limits, until the
    /// token is dropped. Without limits there is nothing to count.
    fn begin(&self, bytes: u64) -> Box<dyn Send> {
        let _ = bytes;
        Box::new(())
    }
}

/// Writes to a connection of others.
pub(crate) struct Pushed<'a>(pub &'a dyn Push);

impl Outgoing for Pushed<'_> {
    fn send(
        &mut self,
        header: &MessageHeader,
        front: impl FnOnce(&mut Vec<u8>),
        data: &[&[u8]],
    ) -> Result<(), Refusal> {
        let mut bytes = Vec::new();
        front(&mut bytes);
        self.0.push(*header, bytes.into(), data.concat().into());
        Ok(())
    }
}
