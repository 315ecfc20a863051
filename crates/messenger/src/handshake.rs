//! Drives a handshake over a socket; the protocol itself is in `sepiola-msgr2`.

use std::{future::poll_fn, io};

use sepiola_msgr2::{Handshake, Progress, ReadBuffer};
use sepiola_wire::UTime;
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::socket;

/// What ended a handshake; the two sides word it differently.
pub(crate) enum Failure {
    Closed,
    Io(io::Error),
    Protocol(sepiola_msgr2::Error),
}

impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Self {
        if socket::is_peer_gone(&e) { Failure::Closed } else { Failure::Io(e) }
    }
}

/// Reads, advances and writes until the session is ready. Bytes behind the handshake stay in `input`.
pub(crate) async fn drive(
    stream: &mut TcpStream,
    handshake: &mut Handshake,
    input: &mut ReadBuffer,
) -> Result<(), Failure> {
    loop {
        let progress = handshake.advance(input, UTime::now(), &mut rand::rng());
        let output = handshake.output();
        let written = stream.write_all(output).await;
        output.clear();
        match progress {
            // A refusal was written first, because it tells the peer what to do about it; if that failed, the
            // refusal is still the better reason.
            Err(e) => return Err(Failure::Protocol(e)),
            Ok(_) => written?,
        }
        if matches!(progress, Ok(Progress::Ready)) {
            return Ok(());
        }
        if poll_fn(|cx| socket::poll_read(stream, cx, input)).await? == 0 {
            return Err(Failure::Closed);
        }
    }
}
