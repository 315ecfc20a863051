//! Where messages come in: one [`Session`] a connection, and what each message is answered with.

mod dispatch;

use std::sync::Arc;

use sepiola_cephx::ServerAuthenticator;
use sepiola_messages::WireMessage;
use sepiola_messenger::{CloseReason, header_of};
use sepiola_msgr2::FrameWriter;
use sepiola_wire::{Features, Tid};

use crate::service::sessions::SessionShared;

/// What a connection owns.
pub(crate) struct Session {
    pub shared: Arc<SessionShared>,
    /// Renews tickets on the open session.
    pub auth: Box<dyn ServerAuthenticator>,
}

/// Encodes a reply straight into the connection's output.
fn write<M: WireMessage>(
    writer: &mut FrameWriter,
    message: &M,
    tid: Tid,
    features: Features,
) -> Result<(), CloseReason> {
    let encode = |out: &mut Vec<u8>| message.encode_front(out, features);
    writer.message(&header_of::<M>(tid), encode, &[], &[message.data()]).map_err(CloseReason::Protocol)
}
