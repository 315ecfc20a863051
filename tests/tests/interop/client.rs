//! Command line clients: the stock ones of each release, and Sepiola's.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

use sepiola_tests::{Cluster, Deadline, Failure, Invocation, Output, Release, Result, sepiola_binary};

/// Whose client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    Stock(Release),
    Sepiola,
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Client::Stock(release) => release.fmt(f),
            Client::Sepiola => f.write_str("sepiola"),
        }
    }
}

impl Client {
    /// One of the tools that both kinds have by the same name, with its configuration.
    fn tool(self, name: &str, conf: &Path) -> Result<Invocation> {
        let invocation = match self {
            Client::Stock(release) => release.programs()?.program(name),
            Client::Sepiola => Invocation::new(sepiola_binary()?).arg(name),
        };
        Ok(invocation.arg("-c").arg(conf))
    }
}

/// A client at work in its pool of a cluster.
pub struct Session<'a> {
    pub client: Client,
    pub native: Client,
    pub cluster: &'a dyn Cluster,
    pub pool: String,
    pub deadline: Deadline,
}

impl Session<'_> {
    /// Runs `rados -p POOL` with these arguments.
    pub fn rados(&self, args: &[&str]) -> Result<Output> {
        self.rados_of(self.client, args)
    }

    /// Runs the cluster's own `rados -p POOL` with these arguments.
    pub fn native_rados(&self, args: &[&str]) -> Result<Output> {
        self.rados_of(self.native, args)
    }

    fn rados_of(&self, client: Client, args: &[&str]) -> Result<Output> {
        self.run(client.tool("rados", self.cluster.conf())?.args(["-p", &self.pool]).args(args))
    }

    /// Runs a benchmark for a second.
    pub fn bench(&self, args: &[&str]) -> Result<Output> {
        let seconds = "1";
        match self.client {
            Client::Stock(_) => self.rados(&[&["bench", seconds], args].concat()),
            Client::Sepiola => {
                let bench = self.client.tool("bench", self.cluster.conf())?;
                self.run(bench.args(["-p", &self.pool, seconds]).args(args))
            }
        }
    }

    /// Runs `ceph` with these arguments.
    pub fn ceph(&self, args: &[&str]) -> Result<Output> {
        self.run(self.client.tool("ceph", self.cluster.conf())?.args(args))
    }

    fn run(&self, invocation: Invocation) -> Result<Output> {
        invocation.run(self.cluster.scratch(), self.deadline)
    }

    /// A file with these bytes.
    pub fn file(&self, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.scratch_path("input");
        fs::write(&path, bytes).map_err(Failure::file(&path))?;
        Ok(path)
    }

    /// A path for a program to write to.
    pub fn scratch_path(&self, name: &str) -> PathBuf {
        self.cluster.scratch().join(name)
    }
}
