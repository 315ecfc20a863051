//! Which objects a client works on, and where they are: a restarted OSD has forgotten its own.

use std::{fs, path::Path, path::PathBuf, time::Duration};

use sepiola_client::Rados;
use sepiola_cluster::Cluster;
use sepiola_tests::{Failure, Result};
use serde::{Deserialize, Serialize};

use crate::OSDS;

/// The pool that both clients share.
pub const POOL: &str = "soak";
/// Its placement groups, enough for every OSD to have some.
pub const PGS: u32 = 24;
/// Objects of a worker. Their number and sizes are bounded, so memory that grows is a leak.
const OBJECTS: usize = 16;
const COMMANDS: [&str; 6] = ["osd pool ls", "osd dump", "df", "osd tree", "status", "auth ls"];

/// What a client works on.
#[derive(Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The client's name, which starts those of its objects and pools.
    pub name: String,
    /// The cluster's ceph.conf.
    pub conf: PathBuf,
    /// Where the objects are.
    pub pool: String,
    /// How many OSDs there are.
    pub osds: u32,
    /// After this time, in seconds, an operation counts as hung. What waits for a daemon to come back has
    /// seconds to wait.
    pub deadline_s: u64,
    /// Seconds between two listings of a worker.
    pub list_every_s: u64,
    /// Milliseconds between two commands.
    pub command_every_ms: u64,
    /// What is asked of the monitor, in turn.
    pub commands: Vec<String>,
    /// Seconds from a pool that is deleted to the next one that is made.
    pub pool_every_s: u64,
    /// For its random choices.
    pub seed: u64,
    /// The objects of each worker. Nobody else touches them.
    pub workers: Vec<Vec<PlannedObject>>,
}

/// An object that a worker may create.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PlannedObject {
    /// Its name.
    pub name: String,
    /// Its namespace; empty is the default one.
    pub nspace: String,
    /// The OSD that keeps it.
    pub osd: u32,
}

impl Plan {
    /// Plans for one client, on a cluster whose OSDs are all up.
    pub async fn make(cluster: &Cluster, name: &str, workers: usize, seed: u64) -> Result<Self> {
        let rados = connect(cluster).await?;
        let io = rados.open_ioctx(POOL).await.map_err(|e| Failure::new(e.to_string()))?;
        let map = rados.osdmap();
        let mut plan = Vec::new();
        for worker in 0..workers {
            let nspace = if worker % 2 == 0 { String::new() } else { format!("{name}-{worker}") };
            let objects = (0..OBJECTS).map(|number| {
                let object = format!("{name}-{worker}-{number}");
                let pg = map.object_to_pg(io.pool_id(), object.as_bytes(), b"", nspace.as_bytes())?;
                let osd = map.pg_to_up_acting(pg).acting_primary?;
                Some(PlannedObject { name: object, nspace: nspace.clone(), osd: u32::try_from(osd.0).ok()? })
            });
            let objects: Option<Vec<_>> = objects.collect();
            plan.push(objects.ok_or_else(|| Failure::new("an object has no place"))?);
        }
        Ok(Plan {
            name: name.to_owned(),
            conf: cluster.conf(),
            pool: POOL.to_owned(),
            osds: OSDS,
            deadline_s: 30,
            list_every_s: 5,
            command_every_ms: 500,
            commands: COMMANDS.map(str::to_owned).to_vec(),
            pool_every_s: 10,
            seed,
            workers: plan,
        })
    }

    /// Writes it for the client.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string(self).expect("plain data");
        fs::write(path, text).map_err(Failure::file(path))
    }

    /// Reads it.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(Failure::file(path))?;
        serde_json::from_str(&text).map_err(|e| Failure::new(format!("{}: {e}", path.display())))
    }
}

/// Checks that a newcomer finds all OSDs up, within a few seconds.
pub async fn all_up(cluster: &Cluster) -> Result<()> {
    let rados = connect(cluster).await?;
    for _ in 0..100 {
        let stat = rados.mon_command(r#"{"prefix": "osd stat", "format": "json"}"#, "").await;
        let stat = stat.map_err(|e| Failure::new(format!("osd stat: {e}")))?;
        let stat: serde_json::Value = serde_json::from_slice(&stat.output).unwrap_or_default();
        if stat["num_up_osds"] == OSDS {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err(Failure::new("not all OSDs are up at the end"))
}

async fn connect(cluster: &Cluster) -> Result<Rados> {
    cluster.connect().await.map_err(|e| Failure::new(e.to_string()))
}
