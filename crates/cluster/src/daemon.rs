//! One daemon, as a child process or as a thread of this one.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use sepiola_config::Config;
use sepiola_messenger::ReadyFile;

use crate::{ClusterError, Layout, thread::DaemonThread};

/// How often a ready file is looked for: far below what a start takes, far above what looking costs.
const READY_POLL: Duration = Duration::from_millis(1);

pub(crate) struct Daemon {
    name: String,
    host: Host,
    /// Threads log to wherever the program does.
    log: Option<PathBuf>,
}

enum Host {
    Process(Child),
    Thread(DaemonThread),
}

/// How a daemon is to be started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    /// Make a monitor's store first.
    pub mkfs: bool,
    /// Outlive this process.
    pub stay: bool,
}

impl Daemon {
    /// Starts a daemon as a process of `program`, or as a thread if there is none.
    pub(crate) fn start(
        program: Option<&Path>,
        layout: &Layout,
        name: &str,
        how: Start,
    ) -> Result<Self, ClusterError> {
        let _ = fs::remove_file(layout.ready(name));
        match program {
            Some(program) => Self::spawn(program, layout, name, how),
            None => Self::run(layout, name, how),
        }
    }

    fn run(layout: &Layout, name: &str, how: Start) -> Result<Self, ClusterError> {
        let entity = name.parse().expect("daemon names are entity names");
        let mut config = Config::new(entity);
        config.load_file(&layout.conf())?;
        let thread = DaemonThread::start(config, layout.ready(name), how.mkfs)
            .map_err(ClusterError::file("a thread"))?;
        Ok(Daemon { name: name.to_owned(), host: Host::Thread(thread), log: None })
    }

    /// Runs `program KIND -c conf -i ID`. The child ends when its standard input does, so it cannot outlive
    /// a parent that was killed, unless it is started to stay.
    fn spawn(program: &Path, layout: &Layout, name: &str, how: Start) -> Result<Self, ClusterError> {
        let (kind, id) = name.split_once('.').expect("daemon names are KIND.ID");
        let log = layout.log(name);
        let output =
            File::options().create(true).append(true).open(&log).map_err(ClusterError::file(&log))?;
        let errors = output.try_clone().map_err(ClusterError::file(&log))?;
        let mut command = Command::new(program);
        command
            .arg(kind)
            .arg("-c")
            .arg(layout.conf())
            .args(["-i", id])
            .arg("--ready-file")
            .arg(layout.ready(name))
            .args(how.mkfs.then_some("--mkfs"))
            .stdout(output)
            .stderr(errors)
            .env_remove("CEPH_ARGS")
            .env_remove("CEPH_KEYRING")
            .env_remove("CEPH_CONF");
        if how.stay {
            command.stdin(Stdio::null());
            // Its own process group: an interrupt at the terminal is not meant for it.
            #[cfg(unix)]
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
        } else {
            command.stdin(Stdio::piped()).arg("--exit-with-stdin");
        }
        let child =
            command.spawn().map_err(|source| ClusterError::Spawn { program: program.to_owned(), source })?;
        let pid = layout.pid(name);
        fs::write(&pid, format!("{}\n", child.id())).map_err(ClusterError::file(&pid))?;
        Ok(Daemon { name: name.to_owned(), host: Host::Process(child), log: Some(log) })
    }

    /// Waits for the ready file.
    pub(crate) async fn ready(
        &mut self,
        layout: &Layout,
        limit: Duration,
    ) -> Result<ReadyFile, ClusterError> {
        let deadline = Instant::now() + limit;
        loop {
            // It appears in one step, so it is never half there.
            if let Ok(ready) = ReadyFile::read(&layout.ready(&self.name)) {
                return Ok(ready);
            }
            if let Some(reason) = self.end_reason() {
                return Err(ClusterError::DaemonFailed {
                    daemon: self.name.clone(),
                    reason,
                    log: self.log.clone(),
                });
            }
            if Instant::now() >= deadline {
                return Err(ClusterError::NotReady {
                    daemon: self.name.clone(),
                    limit,
                    log: self.log.clone(),
                });
            }
            tokio::time::sleep(READY_POLL).await;
        }
    }

    /// Why it has ended, if it has.
    fn end_reason(&mut self) -> Option<String> {
        match &mut self.host {
            Host::Process(child) => {
                let status = child.try_wait().ok()??;
                Some(self.log.as_deref().and_then(last_log_line).unwrap_or_else(|| status.to_string()))
            }
            Host::Thread(thread) => thread.has_ended().then(|| thread.reason()),
        }
    }

    /// The error to report if the daemon has ended.
    pub(crate) fn ended(&mut self) -> Option<ClusterError> {
        self.end_reason()?;
        Some(ClusterError::DaemonEnded { daemon: self.name.clone(), log: self.log.clone() })
    }

    /// The process that it is, or is in.
    pub(crate) fn pid(&self) -> u32 {
        match &self.host {
            Host::Process(child) => child.id(),
            Host::Thread(_) => std::process::id(),
        }
    }

    /// Asks it to end, waits a little, then ends it.
    pub(crate) fn stop(&mut self, patience: Duration) {
        let child = match &mut self.host {
            Host::Process(child) => child,
            Host::Thread(thread) => return thread.stop(patience),
        };
        crate::running::terminate(child.id());
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(READY_POLL);
        }
        self.kill();
    }

    /// Ends it without a word, as a crash would.
    pub(crate) fn kill(&mut self) {
        match &mut self.host {
            Host::Process(child) => {
                let _ = child.kill();
                let _ = child.wait();
            }
            Host::Thread(thread) => thread.kill(),
        }
    }
}

fn last_log_line(log: &Path) -> Option<String> {
    let text = fs::read_to_string(log).ok()?;
    text.lines().rev().find(|l| !l.trim().is_empty()).map(|l| l.trim().to_owned())
}
