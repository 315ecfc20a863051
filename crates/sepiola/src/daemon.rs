//! What the daemons share: their settings, signals, the admin socket, and ending with their parent.

use std::{io::Read, sync::Arc};

use sepiola_config::{Layer, SharedConfig};
use sepiola_messenger::Shutdown;
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    admin::{Admin, AdminSocket},
    failure::Failure,
    logging, metrics,
};

/// Flags that both daemons have.
#[derive(Debug, Clone, clap::Args)]
pub struct DaemonArgs {
    /// Write one line of JSON here once clients can connect.
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<std::path::PathBuf>,
    /// End when standard input does, so as not to outlive the parent.
    #[arg(long)]
    pub exit_with_stdin: bool,
}

/// Runs a daemon until it fails or is asked to end; then it gets to finish what it does. Meanwhile its admin
/// socket answers, if `config` has one.
pub async fn until_asked<F, E>(
    args: &DaemonArgs,
    config: &SharedConfig,
    admin: Arc<Admin>,
    run: impl FnOnce(Shutdown) -> F,
) -> Result<(), Failure>
where
    F: Future<Output = Result<(), E>>,
    Failure: From<E>,
{
    config.observe(logging::apply);
    let _admin = match config.read(|config| config.text("admin_socket")) {
        Some(path) => {
            bind_admin_socket(&path)?.map(|socket| AbortOnDrop(tokio::spawn(socket.serve(admin.clone()))))
        }
        None => None,
    };
    let _metrics = match config.read(|config| config.text("prometheus_addr")) {
        Some(addr) => Some(AbortOnDrop(start_metrics(&addr, config, admin).await?)),
        None => None,
    };
    let _upkeep = AbortOnDrop(tokio::spawn(logging::upkeep()?));
    let (trigger, shutdown) = Shutdown::new();
    let mut running = std::pin::pin!(run(shutdown));
    tokio::select! {
        ended = &mut running => return Ok(ended?),
        asked = asked_to_end(args.exit_with_stdin) => asked?,
    }
    trigger.raise();
    Ok(running.await?)
}

/// The admin socket. A daemon does without if the path is longer than the system takes, as in deep folders.
fn bind_admin_socket(path: &str) -> Result<Option<AdminSocket>, Failure> {
    match AdminSocket::bind(std::path::Path::new(path)) {
        Ok(socket) => Ok(Some(socket)),
        Err(e) if e.kind() == std::io::ErrorKind::InvalidInput => {
            tracing::warn!(path, error = %e, "no admin socket");
            Ok(None)
        }
        Err(e) if e.kind() == std::io::ErrorKind::AddrInUse => Err(Failure::new(format!(
            "this daemon is running already: it answers at its admin_socket {path}"
        ))),
        Err(e) => Err(Failure::new(format!("admin_socket {path}: {e}"))),
    }
}

/// Serves `/metrics`. The port that the system chose for 0 is what `config get prometheus_addr` shows then.
async fn start_metrics(
    addr: &str,
    config: &SharedConfig,
    admin: Arc<Admin>,
) -> Result<tokio::task::JoinHandle<()>, Failure> {
    let failed = |why: &dyn std::fmt::Display| Failure::new(format!("prometheus_addr {addr}: {why}"));
    let wanted = addr.parse().map_err(|e| failed(&e))?;
    let listener = metrics::bind(wanted).await.map_err(|e| failed(&e))?;
    let bound = listener.local_addr()?;
    config.update(|config| config.set(Layer::Runtime, "prometheus_addr", bound.to_string()));
    tracing::info!(%bound, "serving /metrics");
    Ok(tokio::spawn(metrics::serve(listener, admin)))
}

/// Ends a task with whoever started it.
struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Ends when the process is asked to: SIGTERM, SIGINT, or the end of standard input if `with_stdin`.
pub async fn asked_to_end(with_stdin: bool) -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        () = stdin_ended(), if with_stdin => {}
    }
    Ok(())
}

/// Ends at SIGINT, SIGTERM, or when the terminal is closed.
pub async fn interrupted() -> std::io::Result<()> {
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::select! {
        asked = asked_to_end(false) => asked,
        _ = hangup.recv() => Ok(()),
    }
}

/// A parent that dies cannot say so; its end of the pipe closes all the same.
async fn stdin_ended() {
    let (tx, rx) = tokio::sync::oneshot::channel();
    // A thread of its own: a blocking read on the runtime's pool would keep the process from ending.
    std::thread::spawn(move || {
        let mut byte = [0];
        while matches!(std::io::stdin().read(&mut byte), Ok(n) if n > 0) {}
        let _ = tx.send(());
    });
    let _ = rx.await;
}
