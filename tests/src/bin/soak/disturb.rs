//! Restarts: the monitor is killed every minute, OSDs are asked to end and killed in turn, at random times
//! that may overlap; and what is looked at in between.

use std::{
    collections::BTreeMap,
    fs, thread,
    time::{Duration, Instant},
};

use rand::{RngExt, SeedableRng, rngs::StdRng};
use sepiola_cluster::Cluster;
use sepiola_tests::{Deadline, Failure, Result};
use tokio::runtime::Runtime;

use crate::{OSDS, load::LoadClient, memory::Memory, protocol::Order};

const MON: &str = "mon.a";
/// Between two kills of the monitor.
const MON_EVERY: Duration = Duration::from_secs(60);
/// How long it is away.
const MON_AWAY_MS: std::ops::Range<u64> = 200..3000;
/// Between an OSD's return and the next restart of one.
const OSD_EVERY_MS: std::ops::Range<u64> = 60_000..180_000;
/// How long it is away. Within 5 s it is marked down.
const OSD_AWAY_MS: std::ops::Range<u64> = 500..8000;
/// The first of them comes early, so that short runs have one.
const FIRST_OSD: Duration = Duration::from_secs(20);
const SAMPLE_EVERY: Duration = Duration::from_secs(10);
const PROGRESS_EVERY: Duration = Duration::from_secs(60);
/// How long an OSD may take to say good-bye.
const END_TIME: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy)]
enum Action {
    KillMonitor,
    StartMonitor,
    StopOsd,
    StartOsd(u32),
    Sample,
    Progress,
}

impl Action {
    fn is_return(self) -> bool {
        matches!(self, Action::StartMonitor | Action::StartOsd(_))
    }
}

/// How often each daemon was ended in which way, such as `osd.1 SIGTERM`.
pub type Restarts = BTreeMap<String, u64>;

/// Carries out the restarts.
pub struct Disturber<'a> {
    cluster: Cluster,
    runtime: &'a Runtime,
    clients: &'a mut [LoadClient],
    rng: StdRng,
    started: Instant,
    agenda: Vec<(Instant, Action)>,
    monitor_away: bool,
    gently: bool,
    restarts: Restarts,
    memory: Memory,
    births: BTreeMap<String, Instant>,
}

impl<'a> Disturber<'a> {
    pub fn new(cluster: Cluster, runtime: &'a Runtime, clients: &'a mut [LoadClient], seed: u64) -> Self {
        let started = Instant::now();
        let agenda = vec![
            (started + MON_EVERY / 2, Action::KillMonitor),
            (started + FIRST_OSD, Action::StopOsd),
            (started + SAMPLE_EVERY, Action::Sample),
            (started + PROGRESS_EVERY, Action::Progress),
        ];
        Disturber {
            cluster,
            runtime,
            clients,
            rng: StdRng::seed_from_u64(seed),
            started,
            agenda,
            monitor_away: false,
            gently: true,
            restarts: Restarts::new(),
            memory: Memory::default(),
            births: BTreeMap::new(),
        }
    }

    /// Goes on until `end`, and until everything is back.
    pub fn run_until(&mut self, end: Instant) -> Result<Restarts> {
        loop {
            self.agenda.retain(|(at, action)| *at <= end || action.is_return());
            self.agenda.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
            let Some((at, action)) = self.agenda.pop() else { break };
            thread::sleep(at.saturating_duration_since(Instant::now()));
            self.act(action)?;
        }
        thread::sleep(end.saturating_duration_since(Instant::now()));
        Ok(std::mem::take(&mut self.restarts))
    }

    /// What was seen, and the cluster.
    pub fn finish(self) -> (Memory, Cluster) {
        (self.memory, self.cluster)
    }

    fn plan(&mut self, after: Duration, action: Action) {
        self.agenda.push((Instant::now() + after, action));
    }

    fn some_ms(&mut self, range: std::ops::Range<u64>) -> Duration {
        Duration::from_millis(self.rng.random_range(range))
    }

    fn act(&mut self, action: Action) -> Result<()> {
        match action {
            Action::KillMonitor => {
                self.cluster.kill(MON);
                self.monitor_away = true;
                self.count(MON, "SIGKILL");
                let away = self.some_ms(MON_AWAY_MS);
                self.plan(away, Action::StartMonitor);
                self.plan(MON_EVERY, Action::KillMonitor);
            }
            Action::StartMonitor => {
                self.start(MON)?;
                self.monitor_away = false;
            }
            Action::StopOsd => {
                let id = self.rng.random_range(1..OSDS);
                self.clients.iter_mut().for_each(|client| client.order(Order::Disturb(id)));
                self.stop_osd(id)?;
                let away = self.some_ms(OSD_AWAY_MS);
                self.plan(away, Action::StartOsd(id));
            }
            // It would wait for the monitor, and the monitor's return for it.
            Action::StartOsd(id) if self.monitor_away => {
                self.plan(Duration::from_millis(100), Action::StartOsd(id));
            }
            Action::StartOsd(id) => {
                self.start(&format!("osd.{id}"))?;
                self.clients.iter_mut().for_each(|client| client.order(Order::Settled(id)));
                let next = self.some_ms(OSD_EVERY_MS);
                self.plan(next, Action::StopOsd);
            }
            Action::Sample => {
                self.sample();
                self.plan(SAMPLE_EVERY, Action::Sample);
            }
            Action::Progress => {
                self.progress();
                self.plan(PROGRESS_EVERY, Action::Progress);
            }
        }
        Ok(())
    }

    fn start(&mut self, daemon: &str) -> Result<()> {
        let started = self.runtime.block_on(self.cluster.restart_daemon(daemon));
        self.births.insert(daemon.to_owned(), Instant::now());
        started.map_err(|e| Failure::new(format!("{daemon} does not come back: {e}")))
    }

    /// SIGTERM and SIGKILL in turn.
    fn stop_osd(&mut self, id: u32) -> Result<()> {
        let name = format!("osd.{id}");
        let pid = self.cluster.pid(&name).ok_or_else(|| Failure::new(format!("no {name}")))?;
        self.gently = !self.gently;
        self.count(&name, if self.gently { "SIGTERM" } else { "SIGKILL" });
        if self.gently {
            sepiola_tests::signal(pid, "TERM");
            let ended = Deadline::after(END_TIME).retry(|| match has_ended(pid) {
                true => Ok(()),
                false => Err(Failure::new(format!("{name} does not end on SIGTERM"))),
            });
            ended?;
        }
        self.cluster.kill(&name);
        Ok(())
    }

    fn count(&mut self, daemon: &str, how: &str) {
        *self.restarts.entry(format!("{daemon} {how}")).or_default() += 1;
    }

    fn sample(&mut self) {
        let now = self.started.elapsed();
        let daemons = std::iter::once(MON.to_owned()).chain((0..OSDS).map(|id| format!("osd.{id}")));
        for daemon in daemons {
            let age = self.births.get(&daemon).map_or(now, Instant::elapsed);
            if let Some(pid) = self.cluster.pid(&daemon) {
                self.memory.look(&daemon, pid, now, age);
            }
        }
        for client in self.clients.iter_mut() {
            client.check();
            self.memory.look(&format!("client {}", client.name), client.pid(), now, now);
        }
    }

    fn progress(&self) {
        let minutes = self.started.elapsed().as_secs() / 60;
        let mut line = format!("# {minutes} min:");
        for client in self.clients.iter() {
            let ops: u64 = client.ops().values().map(|op| op.checked + op.unchecked).sum();
            line += &format!(" {} {ops} operations, {} problems;", client.name, client.problems().len());
        }
        let restarts: u64 = self.restarts.values().sum();
        eprintln!("{line} {restarts} restarts; resident KiB: {}", self.memory.now());
    }
}

/// Whether a child has ended that nobody has waited for yet.
fn has_ended(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('Z'))
}
