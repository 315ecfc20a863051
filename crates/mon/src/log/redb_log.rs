//! The log of a single monitor, in one `redb` file.
//!
//! Two tables: `log` (index to entry) and `snapshot` (one record). An append is one transaction with one
//! flush; storing a snapshot replaces the record and empties the covered part of `log` in one transaction,
//! so a crash leaves either the old pair or the new one.

use std::{
    fs::OpenOptions,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use prost::Message;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use sepiola_proto::{MonEntry, MonSnapshot};

use super::{Leadership, LogError, MonLog};

const LOG: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("log");
const SNAPSHOT: TableDefinition<'_, u8, &[u8]> = TableDefinition::new("snapshot");
const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");

const FORMAT: u64 = 1;

/// Replay stays in the milliseconds, and the file in the megabytes, with at most this much behind the
/// last snapshot.
const SNAPSHOT_AFTER_ENTRIES: u64 = 512;
const SNAPSHOT_AFTER_BYTES: usize = 4 << 20;

/// A log in one file, for a monitor without peers.
#[derive(Debug)]
pub struct RedbLog {
    db: Arc<Database>,
    last: u64,
    entries_since_snapshot: u64,
    bytes_since_snapshot: usize,
}

/// What a store held when it was opened.
#[derive(Debug, Default)]
pub struct Recovered {
    /// The newest snapshot.
    pub snapshot: Option<MonSnapshot>,
    /// The entries behind it, in order.
    pub entries: Vec<MonEntry>,
}

impl RedbLog {
    /// The store's file in a monitor's data directory.
    pub fn path(data_dir: &Path) -> PathBuf {
        data_dir.join("store.redb")
    }

    /// Opens the store at `path`, creating it if it is missing, and reads what it holds. Takes the file's
    /// lock: a second monitor on the same store fails here.
    pub fn open(path: &Path) -> Result<(Self, Recovered), LogError> {
        create_private(path).map_err(redb::StorageError::Io)?;
        let db = Database::builder().set_cache_size(8 << 20).create(path)?;
        let tx = db.begin_write()?;
        let found = tx.open_table(META)?.get("format")?.map(|v| v.value());
        match found {
            None => {
                tx.open_table(META)?.insert("format", FORMAT)?;
                tx.open_table(LOG)?;
                tx.open_table(SNAPSHOT)?;
                tx.commit()?;
            }
            Some(found) if found > FORMAT => return Err(LogError::Format { found, known: FORMAT }),
            Some(_) => tx.abort()?,
        }

        let mut recovered = Recovered::default();
        let mut log =
            RedbLog { db: Arc::new(db), last: 0, entries_since_snapshot: 0, bytes_since_snapshot: 0 };
        let tx = log.db.begin_read()?;
        if let Some(record) = tx.open_table(SNAPSHOT)?.get(0)? {
            let snapshot = MonSnapshot::decode(record.value())
                .map_err(|_| LogError::Corrupt("the snapshot cannot be decoded"))?;
            log.last = snapshot.index;
            recovered.snapshot = Some(snapshot);
        }
        for record in tx.open_table(LOG)?.iter()? {
            let (index, bytes) = record?;
            let entry = MonEntry::decode(bytes.value())
                .map_err(|_| LogError::Corrupt("a log entry cannot be decoded"))?;
            if index.value() != log.last + 1 || entry.index != index.value() {
                return Err(LogError::Corrupt("the log has a gap"));
            }
            log.note_append(entry.index, bytes.value().len());
            recovered.entries.push(entry);
        }
        drop(tx);
        Ok((log, recovered))
    }

    /// [`MonLog::append`] on the calling thread, for programs without a runtime.
    pub fn append_now(&mut self, entry: &MonEntry) -> Result<(), LogError> {
        self.check_order(entry)?;
        let bytes = entry.encode_to_vec();
        write_entry(&self.db, entry.index, &bytes)?;
        self.note_append(entry.index, bytes.len());
        Ok(())
    }

    fn check_order(&self, entry: &MonEntry) -> Result<(), LogError> {
        if entry.index == self.last + 1 {
            Ok(())
        } else {
            Err(LogError::OutOfOrder { last: self.last, got: entry.index })
        }
    }

    fn note_append(&mut self, index: u64, bytes: usize) {
        self.last = index;
        self.entries_since_snapshot += 1;
        self.bytes_since_snapshot += bytes;
    }
}

fn write_entry(db: &Database, index: u64, bytes: &[u8]) -> Result<(), LogError> {
    let tx = db.begin_write()?;
    tx.open_table(LOG)?.insert(index, bytes)?;
    Ok(tx.commit()?)
}

/// The store holds every key of the cluster: only its owner may read it, from its first moment on.
fn create_private(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Runs database work where it may block, so that the runtime's threads go on serving connections.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LogError> + Send + 'static,
) -> Result<T, LogError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| LogError::Stopped)?
}

impl MonLog for RedbLog {
    fn leadership(&self) -> Leadership {
        Leadership::Leader
    }

    async fn append(&mut self, entry: MonEntry) -> Result<(), LogError> {
        self.check_order(&entry)?;
        let bytes = entry.encode_to_vec();
        let size = bytes.len();
        let db = self.db.clone();
        blocking(move || write_entry(&db, entry.index, &bytes)).await?;
        self.note_append(self.last + 1, size);
        Ok(())
    }

    fn wants_snapshot(&self) -> bool {
        self.entries_since_snapshot >= SNAPSHOT_AFTER_ENTRIES
            || self.bytes_since_snapshot >= SNAPSHOT_AFTER_BYTES
    }

    async fn store_snapshot(&mut self, snapshot: MonSnapshot) -> Result<(), LogError> {
        let index = snapshot.index;
        if index > self.last {
            return Err(LogError::OutOfOrder { last: self.last, got: index });
        }
        let db = self.db.clone();
        blocking(move || {
            let bytes = snapshot.encode_to_vec();
            let tx = db.begin_write()?;
            tx.open_table(SNAPSHOT)?.insert(0, bytes.as_slice())?;
            tx.open_table(LOG)?.retain_in(..=index, |_, _| false)?;
            Ok(tx.commit()?)
        })
        .await?;
        self.entries_since_snapshot = self.last - index;
        self.bytes_since_snapshot = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use sepiola_proto::{MonChange, mon_change::Change};

    use super::*;

    fn entry(index: u64) -> MonEntry {
        MonEntry { index, changes: vec![MonChange { change: Some(Change::GlobalIdBound(index * 10)) }] }
    }

    #[tokio::test]
    async fn what_was_appended_is_there_after_a_drop_without_close() {
        let dir = tempfile::tempdir().unwrap();
        let path = RedbLog::path(dir.path());
        let (mut log, recovered) = RedbLog::open(&path).unwrap();
        assert!(recovered.snapshot.is_none() && recovered.entries.is_empty());
        for i in 1..=3 {
            log.append(entry(i)).await.unwrap();
        }
        drop(log);
        let (mut log, recovered) = RedbLog::open(&path).unwrap();
        assert_eq!(recovered.entries, (1..=3).map(entry).collect::<Vec<_>>());
        log.append(entry(4)).await.unwrap();
    }

    #[tokio::test]
    async fn a_snapshot_replaces_what_it_covers_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = RedbLog::path(dir.path());
        let (mut log, _) = RedbLog::open(&path).unwrap();
        for i in 1..=5 {
            log.append(entry(i)).await.unwrap();
        }
        let snapshot = MonSnapshot { index: 3, global_id_bound: 30, ..Default::default() };
        log.store_snapshot(snapshot.clone()).await.unwrap();
        drop(log);
        let (mut log, recovered) = RedbLog::open(&path).unwrap();
        assert_eq!(recovered.snapshot, Some(snapshot));
        assert_eq!(recovered.entries, vec![entry(4), entry(5)]);
        assert!(log.store_snapshot(MonSnapshot { index: 6, ..Default::default() }).await.is_err());
    }

    #[tokio::test]
    async fn an_entry_out_of_order_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (mut log, _) = RedbLog::open(&RedbLog::path(dir.path())).unwrap();
        assert!(matches!(log.append(entry(2)).await, Err(LogError::OutOfOrder { last: 0, got: 2 })));
        log.append(entry(1)).await.unwrap();
        assert!(matches!(log.append(entry(1)).await, Err(LogError::OutOfOrder { last: 1, got: 1 })));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn only_the_owner_can_read_the_store() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = RedbLog::path(dir.path());
        let _log = RedbLog::open(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[tokio::test]
    async fn a_store_that_is_open_cannot_be_opened_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = RedbLog::path(dir.path());
        let (_log, _) = RedbLog::open(&path).unwrap();
        assert!(RedbLog::open(&path).is_err());
    }
}
