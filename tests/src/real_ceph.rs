//! A real Ceph cluster: one monitor and one OSD that keeps its data in memory.

use std::{
    fmt::Write as _,
    fs,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    Cluster, Daemon, Deadline, Failure, Invocation, KeyType, MsMode, Output, Programs, Release, Result,
    WorkDir, loopback,
};

/// `memstore_device_bytes` of the OSD: more than any test or measurement writes.
pub const OSD_CAPACITY: u64 = 16 << 30;

/// How long each step of the start may take.
const STEP: Duration = Duration::from_secs(60);

/// A running cluster of a real release, with cephx.
#[derive(Debug)]
pub struct RealCeph {
    // Dropped in this order: the OSD, the monitor, the files.
    osd: Option<Daemon>,
    mon: Option<Daemon>,
    dir: WorkDir,
    conf: PathBuf,
    keyring: PathBuf,
    programs: Programs,
}

impl RealCeph {
    /// Starts a cluster that allows only one connection mode and has keys of one type.
    ///
    /// # Errors
    /// If the release can't have such keys, or a step fails. Its files are kept then.
    pub fn start(release: Release, mode: MsMode, keys: KeyType) -> Result<Self> {
        Self::start_from(release.programs()?, release, mode, keys)
    }

    /// The same with programs of that release that are somewhere else.
    ///
    /// # Errors
    /// As [`RealCeph::start`].
    pub fn start_from(programs: Programs, release: Release, mode: MsMode, keys: KeyType) -> Result<Self> {
        if release == Release::Installed && keys == KeyType::Aes256k {
            return Err(Failure::new("16.2 knows no keys of type aes256k"));
        }
        let dir = WorkDir::new(&format!("ceph-{release}-{mode}-{keys}"))?;
        let (conf, keyring) = (dir.path().join("ceph.conf"), dir.path().join("keyring"));
        let mut ceph = RealCeph { osd: None, mon: None, dir, conf, keyring, programs };
        let started = ceph.start_daemons(release, mode, keys);
        started.map_err(|e| {
            e.context(format!("{release} {mode} {keys}, files kept in {}", ceph.keep_files().display()))
        })?;
        Ok(ceph)
    }

    fn start_daemons(&mut self, release: Release, mode: MsMode, keys: KeyType) -> Result<()> {
        let ip = loopback::own_address();
        let mon = format!("[v2:{ip}:{}]", loopback::free_port(ip)?);
        let fsid = fresh_uuid()?;
        self.write_conf(&fsid, &mon, ip, mode, release)?;
        self.make_keyring(release, keys)?;
        self.start_mon(&fsid, &mon, release, keys)?;
        self.start_osd()
    }

    fn write_conf(&self, fsid: &str, mon: &str, ip: Ipv4Addr, mode: MsMode, release: Release) -> Result<()> {
        let dir = self.dir.path().display();
        let mut conf = format!("[global]\nfsid = {fsid}\nmon host = {mon}\n");
        for part in ["cluster", "service", "client"] {
            let _ = writeln!(conf, "auth {part} required = cephx");
            let _ = writeln!(conf, "ms {part} mode = {mode}\nms mon {part} mode = {mode}");
        }
        let _ = write!(
            conf,
            "auth allow insecure global id reclaim = false\n\
             public addr = {ip}\ncluster addr = {ip}\n\
             osd pool default size = 1\nosd pool default min size = 1\nosd pool default pg autoscale mode = off\n\
             mon allow pool size one = true\nmon allow pool delete = true\nmon max pg per osd = 1000\n\
             osd crush chooseleaf type = 0\n\
             osd objectstore = memstore\nmemstore device bytes = {OSD_CAPACITY}\n\
             keyring = {}\nmon data = {dir}/mon\nosd data = {dir}/osd\nrun dir = {dir}\n\
             log file = {dir}/$name.log\nadmin socket = {dir}/$name.asok\npid file = {dir}/$name.pid\n",
            self.keyring.display()
        );
        if release == Release::Newest {
            // Keys of type 1 are refused by default since there is a better one.
            conf.push_str("mon auth allow insecure key = true\n");
        }
        fs::write(&self.conf, conf).map_err(Failure::file(&self.conf))
    }

    fn make_keyring(&self, release: Release, keys: KeyType) -> Result<()> {
        let mut key_type = Vec::new();
        if release == Release::Newest {
            key_type = vec!["--key-type".to_owned(), keys.to_string()];
        }
        let authtool = |args: &[&str]| {
            self.run(self.programs.program("ceph-authtool").arg(&self.keyring).args(&key_type).args(args))
        };
        authtool(&["--create-keyring", "--gen-key", "-n", "mon.", "--cap", "mon", "allow *"])?;
        let all = "allow *";
        authtool(&[
            "--gen-key",
            "-n",
            "client.admin",
            "--cap",
            "mon",
            all,
            "--cap",
            "osd",
            all,
            "--cap",
            "mgr",
            all,
        ])?;
        Ok(())
    }

    fn start_mon(&mut self, fsid: &str, mon: &str, release: Release, keys: KeyType) -> Result<()> {
        let monmap = self.dir.path().join("monmap");
        let mut create =
            self.programs.program("monmaptool").args(["--create", "--fsid", fsid, "--addv", "a", mon]);
        if release == Release::Newest {
            let keys = keys.to_string();
            for option in ["--auth-service-cipher", "--auth-allowed-ciphers", "--auth-preferred-cipher"] {
                create = create.arg(option).arg(&keys);
            }
        }
        self.run(create.arg(&monmap))?;
        let data = self.dir.path().join("mon");
        fs::create_dir_all(&data).map_err(Failure::file(&data))?;
        let program = || self.daemon("ceph-mon", "a");
        self.run(program().arg("--mkfs").arg("--monmap").arg(&monmap).arg("--keyring").arg(&self.keyring))?;
        self.mon = Some(program().arg("-f").daemon(&self.dir.path().join("mon.a.out"))?);
        Ok(())
    }

    fn start_osd(&mut self) -> Result<()> {
        let uuid = fresh_uuid()?;
        let deadline = Deadline::after(STEP);
        // The monitor forms its quorum of one first.
        deadline.retry(|| {
            if let Some(mon) = &mut self.mon {
                mon.check()?;
            }
            self.ceph(&["osd", "new", &uuid])
        })?;
        let data = self.dir.path().join("osd");
        fs::create_dir_all(&data).map_err(Failure::file(&data))?;
        let caps = ["mon", "allow profile osd", "osd", "allow *", "mgr", "allow profile osd"];
        let key = self.ceph(&[&["auth", "get-or-create", "osd.0"], &caps[..]].concat())?;
        let mut keyring = fs::read(&self.keyring).map_err(Failure::file(&self.keyring))?;
        keyring.extend_from_slice(&key.stdout);
        fs::write(&self.keyring, keyring).map_err(Failure::file(&self.keyring))?;
        let program = || self.daemon("ceph-osd", "0");
        self.run(program().args(["--mkfs", "--osd-uuid", &uuid]))?;
        self.osd = Some(program().arg("-f").daemon(&self.dir.path().join("osd.0.out"))?);
        deadline.retry(|| {
            if let Some(osd) = &mut self.osd {
                osd.check()?;
            }
            self.ceph(&["osd", "stat", "-f", "json"])?.prints("\"num_up_osds\":1")
        })?;
        Ok(())
    }

    fn daemon(&self, program: &str, id: &str) -> Invocation {
        self.programs.program(program).args(["-i", id, "-c"]).arg(&self.conf)
    }

    fn run(&self, invocation: Invocation) -> Result<Output> {
        invocation.run(self.dir.path(), Deadline::after(STEP))?.success()
    }

    /// Runs the release's own `ceph` with these arguments.
    ///
    /// # Errors
    /// If it fails.
    pub fn ceph(&self, args: &[&str]) -> Result<Output> {
        let wait = ["--connect-timeout", "20", "-c"];
        self.run(self.programs.program("ceph").args(wait).arg(&self.conf).args(args))
    }

    /// Makes a pool.
    ///
    /// # Errors
    /// If the cluster does not.
    pub fn create_pool(&self, name: &str) -> Result<()> {
        self.ceph(&["osd", "pool", "create", name, "8", "8", "replicated"])?;
        self.ceph(&["osd", "pool", "application", "enable", name, "rados"])?;
        Ok(())
    }

    /// The monitor's process.
    pub fn mon_pid(&self) -> Option<u32> {
        self.mon.as_ref().map(Daemon::pid)
    }

    /// The OSD's process.
    pub fn osd_pid(&self) -> Option<u32> {
        self.osd.as_ref().map(Daemon::pid)
    }

    /// The release's programs.
    pub fn programs(&self) -> &Programs {
        &self.programs
    }
}

impl Cluster for RealCeph {
    fn conf(&self) -> &Path {
        &self.conf
    }
    fn keyring(&self) -> &Path {
        &self.keyring
    }
    fn scratch(&self) -> &Path {
        self.dir.path()
    }
    fn keep_files(&self) -> PathBuf {
        self.dir.keep()
    }
}

fn fresh_uuid() -> Result<String> {
    let source = Path::new("/proc/sys/kernel/random/uuid");
    Ok(fs::read_to_string(source).map_err(Failure::file(source))?.trim().to_owned())
}
