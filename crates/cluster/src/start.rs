//! Starting a cluster, and the handle that stops it.

use std::{fs, path::PathBuf, time::Duration};

use sepiola_client::Rados;
use sepiola_messenger::ReadyFile;

use crate::{
    ClusterError, ClusterOptions, Layout,
    daemon::{Daemon, Start},
    options::PoolSpec,
    program,
    provision::Provision,
    temporary::TemporaryFolder,
};

/// A daemon that needs longer than this is stuck.
const READY_LIMIT: Duration = Duration::from_secs(15);
/// How long a daemon gets to end by itself when the handle is dropped.
const STOP_PATIENCE: Duration = Duration::from_secs(2);

/// How often it is looked whether daemons are still there.
const ENDED_POLL: Duration = Duration::from_millis(200);

/// The one monitor's id.
const MON: &str = "mon.a";

/// A running cluster. Dropping it stops the daemons, also while a panic unwinds, and removes the folder if
/// it was temporary.
pub struct Cluster {
    layout: Layout,
    /// None runs daemons as threads.
    program: Option<PathBuf>,
    osds: Vec<Daemon>,
    mon: Option<Daemon>,
    // Last, so that the folder goes after the daemons.
    temporary: Option<TemporaryFolder>,
    stay: bool,
}

impl Cluster {
    pub(crate) async fn start(options: ClusterOptions) -> Result<Self, ClusterError> {
        Self::start_as(options, false).await
    }

    /// Starts daemons that stay when this process ends; stop them with [`crate::RunningCluster::stop`].
    ///
    /// # Errors
    /// As [`ClusterOptions::start`].
    pub async fn start_detached(options: ClusterOptions) -> Result<Layout, ClusterError> {
        let mut cluster = Self::start_as(options, true).await?;
        cluster.stay = true;
        if let Some(folder) = cluster.temporary.take() {
            folder.keep();
        }
        Ok(cluster.layout.clone())
    }

    async fn start_as(mut options: ClusterOptions, detached: bool) -> Result<Self, ClusterError> {
        if detached && options.in_process {
            let why = "daemons in this process cannot outlive it: leave in_process out";
            return Err(ClusterError::Unsupported(why.to_owned()));
        }
        let layout = Layout::new(&options.dir)?;
        if layout.is_cluster() {
            return Self::restart(options, layout, detached).await;
        }
        if layout.conf().exists() {
            return Err(ClusterError::Foreign(layout.dir().to_owned()));
        }
        let program = program_of(&options)?;
        let temporary = options.temporary.take();
        let provision = Provision::new(&options, &layout)?;
        let cluster =
            Cluster { layout: layout.clone(), program, osds: Vec::new(), mon: None, temporary, stay: false };
        // What is left of a start that fails, or whose future is dropped, would make the next one take it for
        // a cluster that was stopped. The daemons end first: they are the future's that is awaited here.
        let unfinished = Unfinished(&provision);
        let started = cluster.start_first(&options, unfinished.0, detached).await?;
        std::mem::forget(unfinished);
        Ok(started)
    }

    /// Starts the daemons for the first time. They are stopped again if one of them fails.
    async fn start_first(
        mut self,
        options: &ClusterOptions,
        provision: &Provision<'_>,
        detached: bool,
    ) -> Result<Self, ClusterError> {
        provision.write(None)?;
        let mon = self.start_mon(true, detached).await?;
        // The monitor chose its port: now the file can say where it is.
        provision.write(Some(&mon.addrs))?;
        self.start_osds(options.osds, detached).await?;
        self.create_pools(&options.pools).await?;
        Ok(self)
    }

    /// Starts the daemons of a cluster that was stopped before.
    async fn restart(options: ClusterOptions, layout: Layout, detached: bool) -> Result<Self, ClusterError> {
        if crate::RunningCluster::open(layout.dir())?.daemons().iter().any(|d| d.running) {
            return Err(ClusterError::Running(layout.dir().to_owned()));
        }
        let osds = (0..u32::MAX).take_while(|id| layout.data(&format!("osd.{id}")).exists()).count() as u32;
        let program = program_of(&options)?;
        let mut cluster = Cluster {
            layout,
            program,
            osds: Vec::new(),
            mon: None,
            temporary: options.temporary,
            stay: false,
        };
        cluster.start_mon(false, detached).await?;
        cluster.start_osds(osds, detached).await?;
        cluster.create_pools(&options.pools).await?;
        Ok(cluster)
    }

    fn start_daemon(&self, name: &str, how: Start) -> Result<Daemon, ClusterError> {
        Daemon::start(self.program.as_deref(), &self.layout, name, how)
    }

    async fn start_mon(&mut self, mkfs: bool, stay: bool) -> Result<ReadyFile, ClusterError> {
        let mon = self.start_daemon(MON, Start { mkfs, stay })?;
        let mon = self.mon.insert(mon);
        mon.ready(&self.layout, READY_LIMIT).await
    }

    async fn start_osds(&mut self, count: u32, stay: bool) -> Result<(), ClusterError> {
        for id in 0..count {
            self.osds.push(self.start_daemon(&format!("osd.{id}"), Start { mkfs: false, stay })?);
        }
        for osd in &mut self.osds {
            osd.ready(&self.layout, READY_LIMIT).await?;
        }
        Ok(())
    }

    async fn create_pools(&self, pools: &[PoolSpec]) -> Result<(), ClusterError> {
        if pools.is_empty() {
            return Ok(());
        }
        let rados = self.connect().await?;
        for pool in pools {
            let mut command = serde_json::json!({ "prefix": "osd pool create", "pool": pool.name });
            if let Some(pg_num) = pool.pg_num {
                command["pg_num"] = pg_num.into();
            }
            rados.mon_command(command.to_string(), "").await?;
        }
        Ok(())
    }

    /// Returns when a daemon has ended by itself, with what to tell about it.
    pub async fn daemon_ended(&mut self) -> ClusterError {
        loop {
            if let Some(ended) = self.osds.iter_mut().chain(&mut self.mon).find_map(Daemon::ended) {
                return ended;
            }
            tokio::time::sleep(ENDED_POLL).await;
        }
    }

    /// The cluster's files.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The ceph.conf that clients of any kind can be pointed at.
    pub fn conf(&self) -> PathBuf {
        self.layout.conf()
    }

    /// A client as `client.admin`.
    ///
    /// # Errors
    /// If the cluster does not answer.
    pub async fn connect(&self) -> Result<Rados, ClusterError> {
        Ok(Rados::builder().conf_file(self.layout.conf())?.name("client.admin").connect().await?)
    }

    /// Kills a daemon, e.g. `osd.0`, as a crash would.
    pub fn kill(&mut self, daemon: &str) {
        if let Some(daemon) = self.daemon(daemon) {
            daemon.kill();
        }
    }

    /// A daemon's process id.
    pub fn pid(&mut self, daemon: &str) -> Option<u32> {
        self.daemon(daemon).map(|d| d.pid())
    }

    /// Starts a killed daemon again and waits until it is ready.
    ///
    /// # Errors
    /// [`ClusterError::NoSuchDaemon`] for a name that is none, and what keeps it from coming up.
    pub async fn restart_daemon(&mut self, name: &str) -> Result<(), ClusterError> {
        if self.daemon(name).is_none() {
            return Err(ClusterError::NoSuchDaemon(name.to_owned()));
        }
        let mut started = self.start_daemon(name, Start { mkfs: false, stay: false })?;
        started.ready(&self.layout, READY_LIMIT).await?;
        if let Some(daemon) = self.daemon(name) {
            *daemon = started;
        }
        Ok(())
    }

    fn daemon(&mut self, name: &str) -> Option<&mut Daemon> {
        match name.strip_prefix("osd.") {
            Some(id) => self.osds.get_mut(id.parse::<usize>().ok()?),
            None if name == MON => self.mon.as_mut(),
            None => None,
        }
    }
}

fn program_of(options: &ClusterOptions) -> Result<Option<PathBuf>, ClusterError> {
    if options.in_process { Ok(None) } else { program::find(options.program.clone()).map(Some) }
}

/// Undoes what was provided for a cluster, when dropped.
struct Unfinished<'a>(&'a Provision<'a>);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.undo();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.stay {
            return;
        }
        for daemon in self.osds.iter_mut().chain(&mut self.mon) {
            daemon.stop(STOP_PATIENCE);
        }
        for name in self.layout.daemons() {
            let _ = fs::remove_file(self.layout.pid(&name));
        }
    }
}
