//! One daemon as a child process.

use std::{
    fs::{self, File},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use sepiola_messenger::ReadyFile;

use crate::{ClusterError, Layout};

/// How often a ready file is looked for: far below what a start takes, far above what looking costs.
const READY_POLL: Duration = Duration::from_millis(1);

pub(crate) struct Daemon {
    name: String,
    child: Child,
    log: std::path::PathBuf,
}

impl Daemon {
    /// Runs `program KIND -c conf -i ID`. The child ends when its standard input does, so it cannot outlive
    /// a parent that was killed, unless it is started to stay.
    pub(crate) fn spawn(
        program: &Path,
        layout: &Layout,
        name: &str,
        extra: &[&str],
        stay: bool,
    ) -> Result<Self, ClusterError> {
        let (kind, id) = name.split_once('.').expect("daemon names are KIND.ID");
        let log = layout.log(name);
        let _ = fs::remove_file(layout.ready(name));
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
            .args(extra)
            .stdout(output)
            .stderr(errors)
            .env_remove("CEPH_ARGS")
            .env_remove("CEPH_KEYRING")
            .env_remove("CEPH_CONF");
        if stay {
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
        Ok(Daemon { name: name.to_owned(), child, log })
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
            if let Ok(Some(status)) = self.child.try_wait() {
                let reason = last_log_line(&self.log).unwrap_or_else(|| status.to_string());
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

    /// The error to report if the daemon has ended.
    pub(crate) fn ended(&mut self) -> Option<ClusterError> {
        match self.child.try_wait() {
            Ok(None) => None,
            _ => Some(ClusterError::DaemonEnded { daemon: self.name.clone(), log: self.log.clone() }),
        }
    }

    /// The process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to end, waits a little, then ends it.
    pub(crate) fn stop(&mut self, patience: Duration) {
        crate::running::terminate(self.child.id());
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(READY_POLL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Ends it without a word, as a crash would.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn last_log_line(log: &Path) -> Option<String> {
    let text = fs::read_to_string(log).ok()?;
    text.lines().rev().find(|l| !l.trim().is_empty()).map(|l| l.trim().to_owned())
}
