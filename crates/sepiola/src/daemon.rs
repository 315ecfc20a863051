//! What the daemons share: their settings, signals, the admin socket, and ending with their parent.

use std::{io::Read, sync::Arc};

use sepiola_config::{Layer, SharedConfig};
use sepiola_messenger::Shutdown;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    sync::watch,
};

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
    let metrics = match config.read(|config| config.text("prometheus_addr")) {
        Some(addr) => Some(metrics_at(&addr, config).await.map_err(Failure::new)?),
        None => None,
    };
    let _metrics = AbortOnDrop(tokio::spawn(serve_metrics(metrics, config.clone(), admin)));
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

/// Serves `/metrics`: where it is told at the start, else as soon as the monitors say where.
async fn serve_metrics(at_start: Option<TcpListener>, config: SharedConfig, admin: Arc<Admin>) {
    let listener = match at_start {
        Some(listener) => listener,
        None => metrics_where_told(&config).await,
    };
    metrics::serve(listener, admin).await;
}

/// Waits for an address that works. Another one after that needs another start.
async fn metrics_where_told(config: &SharedConfig) -> TcpListener {
    let (tell, mut told) = watch::channel(None);
    config.observe(move |config| {
        let now = config.text("prometheus_addr");
        tell.send_if_modified(|before| std::mem::replace(before, now.clone()) != now);
    });
    loop {
        let addr = told.borrow_and_update().clone();
        if let Some(addr) = addr {
            match metrics_at(&addr, config).await {
                Ok(listener) => return listener,
                Err(why) => tracing::warn!(%why, "no metrics are served"),
            }
        }
        if told.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// The port that the system chose for 0 is what `config get prometheus_addr` shows then.
async fn metrics_at(addr: &str, config: &SharedConfig) -> Result<TcpListener, String> {
    let failed = |why: &dyn std::fmt::Display| format!("prometheus_addr {addr}: {why}");
    let wanted = addr.parse().map_err(|e| failed(&e))?;
    let listener = metrics::bind(wanted).await.map_err(|e| failed(&e))?;
    let bound = listener.local_addr().map_err(|e| failed(&e))?;
    config.update(|config| config.set(Layer::Runtime, "prometheus_addr", bound.to_string()));
    tracing::info!(%bound, "serving /metrics");
    Ok(listener)
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use sepiola_config::Config;
    use sepiola_wire::EntityName;

    use super::*;

    #[tokio::test]
    async fn metrics_are_served_where_the_monitors_say_later() {
        let config = SharedConfig::new(Config::new(EntityName::client("x")));
        let waiting = tokio::spawn({
            let config = config.clone();
            async move { metrics_where_told(&config).await }
        });
        for addr in ["nonsense", "127.0.0.1:0"] {
            tokio::task::yield_now().await;
            assert!(!waiting.is_finished());
            config.set_from_monitors(&BTreeMap::from([("prometheus_addr".to_owned(), addr.to_owned())]));
        }
        let bound = waiting.await.unwrap().local_addr().unwrap();
        assert_eq!(config.read(|c| c.text("prometheus_addr")), Some(bound.to_string()));
    }
}
