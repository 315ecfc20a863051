//! A cluster that somebody started before: its state, and stopping it.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use sepiola_messenger::ReadyFile;

use crate::{ClusterError, Layout};

/// How long daemons get to end by themselves.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// One daemon of a running cluster.
#[derive(Debug, Clone, serde::Serialize)]
pub struct DaemonStatus {
    /// e.g. `osd.0`.
    pub name: String,
    /// Its process.
    pub pid: u32,
    /// Whether the process is there.
    pub running: bool,
    /// Where it listens, as it said when it became ready.
    pub addr: Option<String>,
}

/// The cluster in a folder.
#[derive(Debug)]
pub struct RunningCluster {
    layout: Layout,
}

impl RunningCluster {
    /// Finds the cluster in `dir`.
    ///
    /// # Errors
    /// [`ClusterError::NotFound`] if there is none.
    pub fn open(dir: &Path) -> Result<Self, ClusterError> {
        let layout = Layout::new(dir)?;
        if layout.is_cluster() {
            Ok(RunningCluster { layout })
        } else {
            Err(ClusterError::NotFound(dir.to_owned()))
        }
    }

    /// Its files.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Its daemons.
    pub fn daemons(&self) -> Vec<DaemonStatus> {
        let daemons = self.layout.daemons().into_iter();
        daemons
            .filter_map(|name| {
                let pid = fs::read_to_string(self.layout.pid(&name)).ok()?.trim().parse().ok()?;
                let ready = ReadyFile::read(&self.layout.ready(&name)).ok();
                let addr = ready.and_then(|ready| Some(ready.addrs.0.first()?.to_string()));
                Some(DaemonStatus { running: is_daemon(pid, &self.layout), name, pid, addr })
            })
            .collect()
    }

    /// Stops every daemon, OSDs first so that they can say good-bye. Returns how many were running.
    ///
    /// # Errors
    /// If a pid file cannot be removed.
    pub fn stop(&self) -> Result<usize, ClusterError> {
        let daemons = self.daemons();
        let mut stopped = 0;
        for group in ["osd.", "mon."] {
            let running: Vec<_> = daemons.iter().filter(|d| d.running && d.name.starts_with(group)).collect();
            for daemon in &running {
                terminate(daemon.pid);
            }
            let deadline = Instant::now() + STOP_PATIENCE;
            for daemon in &running {
                while is_daemon(daemon.pid, &self.layout) {
                    if Instant::now() >= deadline {
                        signal(daemon.pid, "KILL");
                        break;
                    }
                    std::thread::sleep(Duration::from_millis(2));
                }
                stopped += 1;
            }
        }
        for daemon in &daemons {
            for path in [self.layout.pid(&daemon.name), self.layout.ready(&daemon.name)] {
                match fs::remove_file(&path) {
                    Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                        return Err(ClusterError::File { path, source: e });
                    }
                    _ => {}
                }
            }
        }
        Ok(stopped)
    }
}

/// Whether `pid` is a daemon of this cluster: a number from a stale pid file may belong to anything by now.
fn is_daemon(pid: u32, layout: &Layout) -> bool {
    match fs::read(format!("/proc/{pid}/cmdline")) {
        Ok(cmdline) => {
            let conf = layout.conf();
            let conf = conf.to_string_lossy();
            cmdline.split(|b| *b == 0).any(|arg| arg == conf.as_bytes())
        }
        Err(_) => false,
    }
}

/// Asks a process to end.
pub(crate) fn terminate(pid: u32) {
    signal(pid, "TERM");
}

fn signal(pid: u32, name: &str) {
    // The `kill` program rather than the system call keeps this crate free of unsafe code; stopping is rare.
    let _ = std::process::Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).output();
}
