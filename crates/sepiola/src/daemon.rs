//! What the daemons share: logging, signals, and ending with their parent.

use std::io::Read;

use sepiola_config::Config;
use sepiola_crypto::CryptoOptions;
use sepiola_messenger::Shutdown;
use sepiola_msgr2::{MethodOptions, ModeOptions, parse_methods, parse_modes};
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::Failure;

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

/// Runs a daemon until it fails or is asked to end; then it gets to finish what it does.
pub async fn until_asked<F, E>(args: &DaemonArgs, run: impl FnOnce(Shutdown) -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<(), E>>,
    Failure: From<E>,
{
    let (trigger, shutdown) = Shutdown::new();
    let mut running = std::pin::pin!(run(shutdown));
    tokio::select! {
        ended = &mut running => return Ok(ended?),
        asked = asked_to_end(args.exit_with_stdin) => asked?,
    }
    trigger.raise();
    Ok(running.await?)
}

/// The connection modes that ceph.conf sets.
pub fn modes(config: &Config) -> Result<ModeOptions, Failure> {
    let list = |option: &str| {
        let text = config.get(option).unwrap_or_default();
        parse_modes(&text).map_err(|e| Failure::new(format!("{option}: {e}")))
    };
    Ok(ModeOptions {
        cluster: list("ms_cluster_mode")?,
        service: list("ms_service_mode")?,
        client: list("ms_client_mode")?,
        mon_cluster: list("ms_mon_cluster_mode")?,
        mon_service: list("ms_mon_service_mode")?,
        mon_client: list("ms_mon_client_mode")?,
    })
}

/// The authentication methods that ceph.conf sets.
pub fn methods(config: &Config) -> Result<MethodOptions, Failure> {
    let list = |option: &str| {
        let text = config.get(option).unwrap_or_default();
        parse_methods(&text).map_err(|e| Failure::new(format!("{option}: {e}")))
    };
    Ok(MethodOptions {
        cluster: list("auth_cluster_required")?,
        service: list("auth_service_required")?,
        client: list("auth_client_required")?,
    })
}

/// The cipher engine and the context policy that ceph.conf sets.
pub fn crypto(config: &Config) -> Result<CryptoOptions, Failure> {
    let mut options = CryptoOptions::default();
    if let Some(engine) = config.text("crypto_engine") {
        options.engine = engine.parse().map_err(|e| Failure::new(format!("crypto_engine: {e}")))?;
    }
    if let Some(policy) = config.text("debug_crypto_context") {
        options.context = policy.parse().map_err(|e| Failure::new(format!("debug_crypto_context: {e}")))?;
    }
    Ok(options)
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
