//! The accept loop: admits, places connections on workers, and waits for them at shutdown.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};
use tracing::{debug, warn};

use crate::{
    Dispatch, ServeOptions, Shutdown,
    admission::{Admission, AdmissionLimits, HandshakePermit},
    serve::connection,
    socket,
};

/// Accept failures such as running out of descriptors last a while; trying at once would only burn a core.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);
const BACKLOG: u32 = 1024;

/// Binds `addr` for [`serve`]; port 0 takes a free one.
///
/// # Errors
/// What the system says, with the address in it.
pub fn listen(addr: SocketAddr) -> io::Result<TcpListener> {
    let bind = || {
        let socket = if addr.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // A daemon that restarts takes its port again although old connections linger in TIME_WAIT.
        socket.set_reuseaddr(true)?;
        socket.bind(addr)?;
        socket.listen(BACKLOG)
    };
    bind().map_err(|e| io::Error::new(e.kind(), format!("cannot listen on {addr}: {e}")))
}

/// Accepts and serves connections until `shutdown`, then lets each finish what it is writing, for at most
/// [`ServeOptions::shutdown_grace`].
pub async fn serve<D: Dispatch>(
    listener: TcpListener,
    dispatch: Arc<D>,
    options: ServeOptions,
    shutdown: Shutdown,
) {
    let admission = Admission::new(AdmissionLimits {
        handshakes_per_address: options.max_handshakes_per_address,
        handshakes: options.max_handshakes,
    });
    let options = Arc::new(options);
    let mut connections = JoinSet::new();
    let mut stop = Box::pin(shutdown.clone().wait());
    loop {
        tokio::select! {
            () = &mut stop => break,
            Some(ended) = connections.join_next(), if !connections.is_empty() => report(ended),
            accepted = listener.accept() => match accepted {
                Err(e) if socket::is_peer_gone(&e) => {}
                Err(e) => {
                    warn!(error = %e, "cannot accept connections");
                    sleep(ACCEPT_RETRY).await;
                }
                Ok((_, peer)) if connections.len() >= options.max_connections => {
                    debug!(%peer, "connection dropped: too many connections");
                }
                Ok((stream, peer)) => match admission.admit(peer.ip()) {
                    None => debug!(%peer, "connection dropped: too many handshakes"),
                    Some(permit) => {
                        if let Err(e) = place(&mut connections, stream, peer, permit, &dispatch, &options, &shutdown) {
                            debug!(%peer, error = %e, "connection dropped");
                        }
                    }
                },
            }
        }
    }
    drop(listener);
    let drain = async {
        while let Some(ended) = connections.join_next().await {
            report(ended);
        }
    };
    if timeout(options.shutdown_grace, drain).await.is_err() {
        debug!(count = connections.len(), "connections did not drain in time");
        connections.shutdown().await;
    }
}

/// Moves the socket to the runtime that will own it: it must be registered with that one's event queue.
fn place<D: Dispatch>(
    connections: &mut JoinSet<()>,
    stream: TcpStream,
    peer: SocketAddr,
    permit: HandshakePermit,
    dispatch: &Arc<D>,
    options: &Arc<ServeOptions>,
    shutdown: &Shutdown,
) -> io::Result<()> {
    socket::configure(&stream)?;
    let (dispatch, options_, shutdown) = (dispatch.clone(), options.clone(), shutdown.clone());
    match &options.workers {
        None => {
            connections.spawn(connection::run(stream, peer, permit, dispatch, options_, shutdown));
        }
        Some(workers) => {
            let stream = stream.into_std()?;
            let task = async move {
                match TcpStream::from_std(stream) {
                    Ok(stream) => connection::run(stream, peer, permit, dispatch, options_, shutdown).await,
                    Err(e) => warn!(%peer, error = %e, "cannot register a connection"),
                }
            };
            connections.spawn_on(task, workers.next());
        }
    }
    Ok(())
}

fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(e) = ended
        && e.is_panic()
    {
        // The panic hook has printed where. It ends that peer only.
        warn!("a connection's task panicked");
    }
}
