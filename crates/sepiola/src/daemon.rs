//! What the daemons share: their settings, signals, the admin socket, and ending with their parent.

use std::{io::Read, sync::Arc};

use sepiola_config::Config;
use sepiola_crypto::CryptoOptions;
use sepiola_messenger::Shutdown;
use sepiola_msgr2::{MethodOptions, ModeOptions, parse_methods, parse_modes};
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    admin::{Admin, AdminSocket, PerfSource},
    failure::Failure,
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
    config: Config,
    perf: PerfSource,
    run: impl FnOnce(Shutdown) -> F,
) -> Result<(), Failure>
where
    F: Future<Output = Result<(), E>>,
    Failure: From<E>,
{
    let _admin = match config.text("admin_socket") {
        Some(path) => {
            let socket = AdminSocket::bind(std::path::Path::new(&path))
                .map_err(|e| Failure::new(format!("admin_socket {path}: {e}")))?;
            let admin = Arc::new(Admin::new(config, perf));
            Some(AbortOnDrop(tokio::spawn(socket.serve(admin))))
        }
        None => None,
    };
    let (trigger, shutdown) = Shutdown::new();
    let mut running = std::pin::pin!(run(shutdown));
    tokio::select! {
        ended = &mut running => return Ok(ended?),
        asked = asked_to_end(args.exit_with_stdin) => asked?,
    }
    trigger.raise();
    Ok(running.await?)
}

/// Ends a task with whoever started it.
struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
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
