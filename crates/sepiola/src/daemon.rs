//! What the daemons share: logging, signals, and ending with their parent.

use std::io::Read;

use sepiola_config::Config;
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::Failure;

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

/// Ends at SIGINT or SIGTERM.
pub async fn interrupted() -> std::io::Result<()> {
    asked_to_end(false).await
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

/// Sends the log to `log_file`, or to standard error. `RUST_LOG` chooses what is logged.
pub fn start_logging(config: &Config) -> Result<(), Failure> {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "info".into());
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_target(false);
    match config.text("log_file") {
        Some(path) => {
            let file = std::fs::File::options()
                .create(true)
                .append(true)
                .open(&path)
                .map_err(|e| Failure::new(format!("log_file {path}: {e}")))?;
            builder.with_ansi(false).with_writer(std::sync::Mutex::new(file)).init();
        }
        None => builder.with_ansi(false).with_writer(std::io::stderr).init(),
    }
    let unknown = config.unknown();
    if !unknown.is_empty() {
        tracing::info!("ignored options of ceph.conf: {}", unknown.join(", "));
    }
    Ok(())
}
