//! Connects, shakes hands, and splits the session into its two halves.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicBool, Ordering},
};

use sepiola_cephx::ClientAuthenticator;
use sepiola_msgr2::{ClientConfig, Established, Handshake, ReadBuffer};
use tokio::{net::TcpStream, time::timeout};

use super::{DialOptions, Receiver, Sender, sender};
use crate::{
    Error,
    handshake::{self, Failure},
    socket,
};

/// A dialled connection; only a place for [`Connection::dial`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Connection;

impl Connection {
    /// Dials `addr` and authenticates. The receiver has to be run for anything to arrive; see
    /// [`Receiver::run`].
    ///
    /// # Errors
    /// An [`Error`] within the deadline of `options`, whatever the peer does or does not do.
    pub async fn dial(
        addr: SocketAddr,
        config: ClientConfig,
        auth: Box<dyn ClientAuthenticator>,
        options: impl Into<DialOptions>,
    ) -> Result<(Sender, Receiver), Error> {
        let options = options.into();
        // Atomic only so that the future can be sent between threads.
        let connected = AtomicBool::new(false);
        let dial = async {
            let mut stream =
                TcpStream::connect(addr).await.map_err(|source| Error::Connect { addr, source })?;
            connected.store(true, Ordering::Relaxed);
            socket::configure(&stream).map_err(|source| Error::Io { addr, source })?;
            let mut handshake = Handshake::client(config, auth);
            let mut input = ReadBuffer::new();
            handshake::drive(&mut stream, &mut handshake, &mut input).await.map_err(
                |failure| match failure {
                    Failure::Closed => Error::Closed { addr },
                    Failure::Io(source) => Error::Io { addr, source },
                    Failure::Protocol(source) => Error::Protocol { addr, source },
                },
            )?;
            Ok((stream, handshake, input))
        };
        let (stream, handshake, input) =
            timeout(options.deadline, dial).await.map_err(|_| Error::TimedOut {
                addr,
                after: options.deadline,
                stage: match connected.load(Ordering::Relaxed) {
                    true => "connected, but the peer does not finish the handshake",
                    false => "no TCP connection",
                },
            })??;
        let Established { reader, writer, peer, .. } = handshake.into_established();
        let (read_half, write_half) = stream.into_split();
        let sender = sender::new(addr, write_half, writer, peer, options.max_output);
        let receiver = Receiver::new(read_half, input, reader, sender.clone(), options);
        Ok((sender, receiver))
    }
}
