//! What kind of cluster to start.

use std::{fmt, path::PathBuf, str::FromStr};

use sepiola_crypto::KeyType;

use crate::{Cluster, ClusterError, temporary::TemporaryFolder};

/// How connections are protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MsMode {
    /// Encrypted and authenticated, every byte.
    #[default]
    Secure,
    /// Checksums only: for trusted machines, and for measuring what encryption costs.
    Crc,
}

/// How entities prove who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Auth {
    /// cephx.
    #[default]
    Cephx,
    /// Not at all; anyone who reaches the ports is administrator.
    None,
}

/// Where an OSD keeps objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Store {
    /// In memory: gone when the OSD stops.
    #[default]
    Mem,
}

macro_rules! text_forms {
    ($ty:ident { $($variant:ident = $text:literal),* }) => {
        impl fmt::Display for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($ty::$variant => $text),* })
            }
        }
        impl FromStr for $ty {
            type Err = String;
            fn from_str(s: &str) -> Result<Self, String> {
                match s {
                    $($text => Ok($ty::$variant),)*
                    _ => Err(format!("`{s}` is none of: {}", [$($text),*].join(", "))),
                }
            }
        }
    };
}
text_forms!(MsMode { Secure = "secure", Crc = "crc" });
text_forms!(Auth { Cephx = "cephx", None = "none" });
text_forms!(Store { Mem = "mem" });

/// A pool to create at start: a name and perhaps a number of placement groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PoolSpec {
    pub(crate) name: String,
    pub(crate) pg_num: Option<u32>,
}

/// Settings of a cluster; [`ClusterOptions::start`] starts it.
#[derive(Debug)]
#[non_exhaustive]
pub struct ClusterOptions {
    pub(crate) dir: PathBuf,
    pub(crate) temporary: Option<TemporaryFolder>,
    pub(crate) osds: u32,
    pub(crate) store: Store,
    pub(crate) ms_mode: Option<MsMode>,
    pub(crate) auth: Auth,
    pub(crate) key_type: KeyType,
    pub(crate) port: u16,
    pub(crate) pools: Vec<PoolSpec>,
    pub(crate) program: Option<PathBuf>,
    pub(crate) in_process: bool,
    pub(crate) settings: Vec<(String, String)>,
}

impl ClusterOptions {
    /// A cluster in `dir`: a new one, or the one that was stopped there, which keeps the settings that it was
    /// made with. It outlives this process if it is started with [`Cluster::start_detached`].
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        ClusterOptions {
            dir: dir.into(),
            temporary: None,
            osds: 1,
            store: Store::default(),
            ms_mode: None,
            auth: Auth::default(),
            key_type: KeyType::Aes,
            port: 0,
            pools: Vec::new(),
            program: None,
            in_process: false,
            settings: Vec::new(),
        }
    }

    /// A cluster in a folder of its own that disappears with it. Should this process be killed, its daemons
    /// end with it and the monitor removes the folder; the next temporary cluster removes what is left even so.
    ///
    /// # Errors
    /// If no temporary folder can be made.
    pub fn temporary() -> Result<Self, ClusterError> {
        let folder = TemporaryFolder::new()?;
        Ok(ClusterOptions { dir: folder.path().to_owned(), temporary: Some(folder), ..Self::new("") })
    }

    /// How many OSDs, 1 by default. In memory they hold half of the machine's together, and 1 GiB each at least,
    /// unless [`ClusterOptions::setting`] gives a `memstore_device_bytes`.
    pub fn osds(mut self, osds: u32) -> Self {
        self.osds = osds;
        self
    }

    /// Where objects live.
    pub fn store(mut self, store: Store) -> Self {
        self.store = store;
        self
    }

    /// The connection mode of every connection; the daemons allow no other.
    pub fn ms_mode(mut self, mode: MsMode) -> Self {
        self.ms_mode = Some(mode);
        self
    }

    /// The authentication method.
    pub fn auth(mut self, auth: Auth) -> Self {
        self.auth = auth;
        self
    }

    /// The cipher of every key: `aes` works with all clients, `aes256k` with 19.2.6, 20.2.4 and newer.
    pub fn key_type(mut self, key_type: KeyType) -> Self {
        self.key_type = key_type;
        self
    }

    /// The monitor's port; 0, the default, lets the system choose.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Creates a pool at start.
    pub fn pool(mut self, name: impl Into<String>) -> Self {
        self.pools.push(PoolSpec { name: name.into(), pg_num: None });
        self
    }

    /// Creates a pool with this many placement groups at start.
    pub fn pool_with_pgs(mut self, name: impl Into<String>, pg_num: u32) -> Self {
        self.pools.push(PoolSpec { name: name.into(), pg_num: Some(pg_num) });
        self
    }

    /// The `sepiola` program to run; by default `SEPIOLA_BIN`, or the one beside the running program.
    pub fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = Some(program.into());
        self
    }

    /// Runs the daemons as threads of this process instead of processes of the `sepiola` program, which
    /// then need not be built: what unit tests and examples want. They have runtimes of their own, so they
    /// serve also while the caller blocks. [`Cluster::kill`] drops one where it stands.
    pub fn in_process(mut self) -> Self {
        self.in_process = true;
        self
    }

    /// One more line of ceph.conf's `[global]`.
    pub fn setting(mut self, option: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((option.into(), value.into()));
        self
    }

    /// Starts the cluster and waits until a first object can be written.
    ///
    /// # Errors
    /// If the settings contradict each other or a daemon does not come up; nothing is left running then.
    pub async fn start(self) -> Result<Cluster, ClusterError> {
        Cluster::start(self).await
    }

    /// The connection mode in force: method none can only carry crc.
    pub(crate) fn effective_mode(&self) -> Result<MsMode, ClusterError> {
        match (self.auth, self.ms_mode) {
            (Auth::None, Some(MsMode::Secure)) => Err(ClusterError::Unsupported(
                "--auth none has no keys to encrypt with: leave --ms-mode out, or use --auth cephx"
                    .to_owned(),
            )),
            (Auth::None, _) => Ok(MsMode::Crc),
            (Auth::Cephx, mode) => Ok(mode.unwrap_or_default()),
        }
    }
}
