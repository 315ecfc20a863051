//! The two sides: their clusters and their clients.

use std::{
    fmt,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use sepiola_benches::{Pinning, process::resident};
use sepiola_cluster::{Cluster as SepiolaCluster, ClusterOptions, MsMode};
use sepiola_tests::{
    Cluster as _, Deadline, Failure, Invocation, KeyType, OSD_CAPACITY, Programs, RealCeph, Release, Result,
    WorkDir, sepiola_binary,
};
use serde::Serialize;

use crate::{ceph_place::CephPlace, results::Start};

/// The pool of every measurement.
pub const POOL: &str = "bench";
/// The object that is put first.
pub const FIRST_OBJECT: &str = "first";
/// The pool's placement groups.
pub const PG_NUM: u32 = 32;
/// How long daemons are left alone before their memory is looked at.
const IDLE: Duration = Duration::from_secs(1);

/// Whose client or whose OSD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Side {
    Sepiola,
    Ceph,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Sepiola => "Sepiola",
            Side::Ceph => "Ceph",
        })
    }
}

/// The programs of both sides and how they are run.
pub struct Sides {
    sepiola: PathBuf,
    ceph: Programs,
    release: Release,
    pinning: Option<Pinning>,
    scratch: WorkDir,
}

impl Sides {
    /// Finds the programs, and sets them up if need be.
    pub fn new(place: &CephPlace, pinning: Option<Pinning>) -> Result<Self> {
        let sides = Sides {
            sepiola: sepiola_binary()?,
            ceph: place.programs()?,
            release: place.release(),
            pinning,
            scratch: WorkDir::new("versus-ceph")?,
        };
        let file = sides.object_file();
        std::fs::write(&file, [0x5e; 4096]).map_err(Failure::file(&file))?;
        Ok(sides)
    }

    /// A version line of a side.
    pub fn version(&self, side: Side) -> Result<String> {
        if side == Side::Ceph {
            return Ok(self.ceph.version().to_owned());
        }
        let version = Invocation::new(&self.sepiola).arg("--version");
        Ok(version.run(self.scratch.path(), in_seconds(10))?.success()?.text().trim().to_owned())
    }

    /// The program of Sepiola.
    pub fn sepiola(&self) -> &Path {
        &self.sepiola
    }

    /// A program of Ceph.
    pub fn ceph_program(&self, name: &str) -> Invocation {
        self.ceph.program(name)
    }

    /// Where clients and daemons run.
    pub fn pinning(&self) -> Option<Pinning> {
        self.pinning
    }

    /// A folder for files, which programs of every release see.
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// A side's `rados` in the pool of a cluster, bound as clients are. Both take the same arguments.
    pub fn rados(&self, side: Side, conf: &Path, spin_us: u64) -> Invocation {
        let rados = match side {
            Side::Ceph => self.ceph.program("rados"),
            Side::Sepiola => {
                Invocation::new(&self.sepiola).arg("rados").args(["--spin-us", &spin_us.to_string()])
            }
        };
        let rados = rados.arg("-c").arg(conf).args(["-p", POOL]);
        match self.pinning {
            Some(pinning) => Pinning::pinned(pinning.client, rados),
            None => rados,
        }
    }

    fn object_file(&self) -> PathBuf {
        self.scratch.path().join("object")
    }

    /// Starts a side's cluster from nothing and writes a first object with its own client.
    pub fn start(&self, side: Side, mode: MsMode, spin_us: u64, round: usize) -> Result<(Running, Start)> {
        let begun = Instant::now();
        let mut running = match side {
            Side::Sepiola => self.start_sepiola(mode, spin_us)?,
            Side::Ceph => self.start_ceph(mode)?,
        };
        let put =
            self.rados(side, &running.conf(), spin_us).args(["put", FIRST_OBJECT]).arg(self.object_file());
        put.run(self.scratch.path(), in_seconds(60))?.success()?;
        let start_to_first_put_s = begun.elapsed().as_secs_f64();
        thread::sleep(IDLE);
        let (mon_rss, osd_rss) = (resident(running.mon_pid()?)?, resident(running.osd_pid()?)?);
        let start = Start { round, mode: mode.to_string(), side, start_to_first_put_s, mon_rss, osd_rss };
        Ok((running, start))
    }

    fn start_sepiola(&self, mode: MsMode, spin_us: u64) -> Result<Running> {
        let failed = |e: &dyn fmt::Display| Failure::new(format!("starting Sepiola: {e}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| failed(&e))?;
        // In the folder that programs of every release see.
        let dir = WorkDir::new("sepiola-versus-ceph")?;
        let options = ClusterOptions::new(dir.path()).program(&self.sepiola);
        let options = options.ms_mode(mode).setting("spin us", spin_us.to_string());
        let options = options.setting("memstore device bytes", OSD_CAPACITY.to_string());
        let started = runtime.block_on(options.pool_with_pgs(POOL, PG_NUM).start());
        let cluster = started.map_err(|e| failed(&e))?;
        Ok(Running::Sepiola(cluster, dir))
    }

    fn start_ceph(&self, mode: MsMode) -> Result<Running> {
        let mode = match mode {
            MsMode::Crc => sepiola_tests::MsMode::Crc,
            MsMode::Secure => sepiola_tests::MsMode::Secure,
        };
        let ceph = RealCeph::start_from(self.ceph.clone(), self.release, mode, KeyType::Aes)?;
        let pgs = PG_NUM.to_string();
        ceph.ceph(&["osd", "pool", "create", POOL, &pgs, &pgs, "replicated"])?;
        Ok(Running::Ceph(ceph))
    }
}

/// A running cluster: one monitor and one OSD that keeps objects in memory. It ends when dropped.
pub enum Running {
    /// The folder goes after the daemons.
    Sepiola(SepiolaCluster, #[allow(dead_code, reason = "it is removed when dropped")] WorkDir),
    /// Which has a folder of its own.
    Ceph(RealCeph),
}

impl Running {
    /// What clients read.
    pub fn conf(&self) -> PathBuf {
        match self {
            Running::Sepiola(cluster, _) => cluster.conf(),
            Running::Ceph(ceph) => ceph.conf().to_owned(),
        }
    }

    /// The monitor's process.
    pub fn mon_pid(&mut self) -> Result<u32> {
        match self {
            Running::Sepiola(cluster, _) => cluster.pid("mon.a"),
            Running::Ceph(ceph) => ceph.mon_pid(),
        }
        .ok_or_else(|| Failure::new("the cluster has no monitor"))
    }

    /// The OSD's process.
    pub fn osd_pid(&mut self) -> Result<u32> {
        match self {
            Running::Sepiola(cluster, _) => cluster.pid("osd.0"),
            Running::Ceph(ceph) => ceph.osd_pid(),
        }
        .ok_or_else(|| Failure::new("the cluster has no OSD"))
    }
}

/// A deadline from now on.
pub fn in_seconds(seconds: u64) -> Deadline {
    Deadline::after(Duration::from_secs(seconds))
}
