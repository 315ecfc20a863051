//! One daemon as a thread of this process.
//!
//! The thread has a runtime of its own, so that the daemon neither depends on the caller's runtime nor
//! ends with it, and so that a caller who blocks does not stop it.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use sepiola_config::Config;
use sepiola_messenger::{Shutdown, ShutdownTrigger};
use sepiola_wire::EntityType;

use crate::{
    ClusterError,
    daemon_options::{make_mon_store, mon_options, osd_options},
};

const STOP_POLL: Duration = Duration::from_millis(1);

/// A running daemon. Dropping it ends the thread as [`DaemonThread::kill`] does.
pub(crate) struct DaemonThread {
    stop: ShutdownTrigger,
    kill: ShutdownTrigger,
    thread: Option<JoinHandle<()>>,
    failure: Arc<Mutex<Option<String>>>,
}

impl DaemonThread {
    /// Starts the daemon that the configuration's name is.
    pub(crate) fn start(config: Config, ready_file: PathBuf, mkfs: bool) -> std::io::Result<Self> {
        let (stop, stopped) = Shutdown::new();
        let (kill, killed) = Shutdown::new();
        let failure = Arc::new(Mutex::new(None));
        let reason = failure.clone();
        let run = move || {
            if let Err(error) = run(&config, ready_file, mkfs, stopped, killed) {
                *reason.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
            }
        };
        let thread = thread::Builder::new().name("sepiola-daemon".to_owned()).spawn(run)?;
        Ok(DaemonThread { stop, kill, thread: Some(thread), failure })
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Why it has ended.
    pub(crate) fn reason(&self) -> String {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.clone().unwrap_or_else(|| "its thread ended".to_owned())
    }

    /// Asks it to end, waits a little, then ends it.
    pub(crate) fn stop(&mut self, patience: Duration) {
        self.stop.raise();
        let deadline = Instant::now() + patience;
        while !self.has_ended() && Instant::now() < deadline {
            thread::sleep(STOP_POLL);
        }
        self.kill();
    }

    /// Ends it without a word: connections break, and what it was doing is dropped.
    pub(crate) fn kill(&mut self) {
        self.kill.raise();
        if let Some(thread) = self.thread.take() {
            // A panic was reported by the thread itself.
            let _ = thread.join();
        }
    }
}

impl Drop for DaemonThread {
    fn drop(&mut self) {
        self.kill();
    }
}

fn run(
    config: &Config,
    ready_file: PathBuf,
    mkfs: bool,
    stopped: Shutdown,
    killed: Shutdown,
) -> Result<(), ClusterError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(ClusterError::file("a runtime"))?;
    if config.name().kind == EntityType::Mon {
        if mkfs {
            make_mon_store(config)?;
        }
        let mut mon = mon_options(config)?;
        mon.ready_file = Some(ready_file);
        runtime.block_on(async {
            tokio::select! {
                () = killed.wait() => Ok(()),
                ended = sepiola_mon::run(mon, stopped) => Ok(ended?),
            }
        })
    } else {
        let mut osd = osd_options(config)?;
        osd.ready_file = Some(ready_file);
        // Its connections share this thread: a test has little use for a thread a core.
        osd.threads = 0;
        runtime.block_on(async {
            tokio::select! {
                () = killed.wait() => Ok(()),
                ended = sepiola_osd::run(osd, stopped) => Ok(ended?),
            }
        })
    }
}
