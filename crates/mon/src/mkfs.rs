//! Making a new monitor's store.

use std::path::PathBuf;

use sepiola_cephx::{EntityAuth, Keyring};
use sepiola_messages::MonMap;
use sepiola_osdmap::{CANONICAL_FEATURES, OsdMap};
use sepiola_proto::MonEntry;
use sepiola_wire::UTime;
use thiserror::Error;

use crate::{
    log::{LogError, RedbLog},
    state::{ApplyError, MonState, change},
};

/// What a new cluster starts with.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MkfsOptions {
    /// The monitor's directory; made if it is missing.
    pub data_dir: PathBuf,
    /// The cluster's id and its monitors. An address with port 0 gets its port at the first start.
    pub monmap: MonMap,
    /// The first entities. `client.admin` and the daemons' keys belong here.
    pub keyring: Keyring,
    /// When the cluster was made.
    pub created: UTime,
}

impl MkfsOptions {
    /// From what has no default; the time is the monmap's.
    pub fn new(data_dir: impl Into<PathBuf>, monmap: MonMap, keyring: Keyring) -> Self {
        let created = monmap.created;
        MkfsOptions { data_dir: data_dir.into(), monmap, keyring, created }
    }
}

/// Why no store was made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MkfsError {
    /// The directory cannot be made.
    #[error("cannot create {path}: {source}")]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// There is one already.
    #[error("{0} holds a monitor already")]
    Exists(PathBuf),
    /// The monmap is not a cluster's.
    #[error("the monmap needs an fsid and at least one monitor")]
    Monmap,
    /// The store failed.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The options cannot be a state.
    #[error(transparent)]
    State(#[from] ApplyError),
}

/// Makes the store of a new cluster's monitor: one log entry with the monitor map, an OSD map without OSDs
/// and the first entities, durable when this returns.
///
/// # Errors
/// See [`MkfsError`]; an existing store is never touched.
pub fn mkfs(options: &MkfsOptions) -> Result<(), MkfsError> {
    if options.monmap.fsid.is_nil() || options.monmap.by_rank().next().is_none() {
        return Err(MkfsError::Monmap);
    }
    std::fs::create_dir_all(&options.data_dir)
        .map_err(|source| MkfsError::Directory { path: options.data_dir.clone(), source })?;
    let path = RedbLog::path(&options.data_dir);
    let (mut log, recovered) = RedbLog::open(&path)?;
    if recovered.snapshot.is_some() || !recovered.entries.is_empty() {
        return Err(MkfsError::Exists(options.data_dir.clone()));
    }
    let entry = first_entry(options);
    // What cannot be replayed is not written.
    MonState::first(&entry)?;
    log.append_now(&entry)?;
    // The file is durable; its name in the directory has to be, too.
    std::fs::File::open(&options.data_dir)
        .and_then(|dir| dir.sync_all())
        .map_err(|source| MkfsError::Directory { path: options.data_dir.clone(), source })
}

pub(crate) fn first_entry(options: &MkfsOptions) -> MonEntry {
    let osdmap = OsdMap::new(options.monmap.fsid, options.created);
    let mut changes =
        vec![change::monmap(&options.monmap), change::osdmap_full(osdmap.encode(CANONICAL_FEATURES).into())];
    for (name, entry) in options.keyring.iter() {
        if let Some(key) = &entry.key {
            let mut entity = EntityAuth::new(key.clone(), entry.caps.clone());
            entity.pending_key.clone_from(&entry.pending_key);
            changes.push(change::entity_set(name, &entity));
        }
    }
    MonEntry { index: 1, changes }
}
