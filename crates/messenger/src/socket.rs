//! Socket options, and reading without a zeroed scratch buffer.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use sepiola_msgr2::ReadBuffer;
use socket2::SockRef;
use tokio::{
    io::{AsyncRead, ReadBuf},
    net::TcpStream,
};
use tokio_util::io::poll_read_buf;

/// Replies leave in batches that are complete when they are written, so waiting for more only costs time.
pub(crate) fn configure(socket: &TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)
}

/// Reads once, straight into `input`. Ready with 0 at the end of the stream.
///
/// `poll_read`, unlike `try_read`, takes a short read as a sign that the socket is empty and saves the
/// system call that would find that out.
pub(crate) fn poll_read<R: AsyncRead + Unpin>(
    socket: &mut R,
    cx: &mut Context<'_>,
    input: &mut ReadBuffer,
) -> Poll<io::Result<usize>> {
    if let Some(mut body) = input.body_mut() {
        return poll_read_buf(Pin::new(socket), cx, &mut body);
    }
    let mut space = ReadBuf::new(input.spare_mut());
    ready!(Pin::new(socket).poll_read(cx, &mut space))?;
    let n = space.filled().len();
    input.commit(n);
    Poll::Ready(Ok(n))
}

/// Ends both directions, although others may still hold the socket.
pub(crate) fn shut(socket: &TcpStream) {
    // It fails only when the peer was faster.
    let _ = SockRef::from(socket).shutdown(std::net::Shutdown::Both);
}

/// True for errors that only say that the peer is gone.
pub(crate) fn is_peer_gone(e: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof};
    matches!(e.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected | UnexpectedEof)
}
