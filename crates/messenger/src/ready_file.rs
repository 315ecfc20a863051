//! The file that says that a daemon can be reached, and where.

use std::{fs, io, path::Path};

use sepiola_wire::{EntityAddrVec, Uuid};
use serde_json::{Value, json};

/// One line of JSON: `{"name":"mon.a","pid":1,"fsid":"..","addrs":["v2:127.0.0.1:3300/0"]}`. It appears in
/// one step, so whoever waits for it never reads half of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyFile {
    /// The daemon.
    pub name: String,
    /// Its process.
    pub pid: u32,
    /// Its cluster.
    pub fsid: Uuid,
    /// Where it listens.
    pub addrs: EntityAddrVec,
}

impl ReadyFile {
    /// For this process.
    pub fn new(name: String, fsid: Uuid, addrs: EntityAddrVec) -> Self {
        ReadyFile { name, pid: std::process::id(), fsid, addrs }
    }

    /// Writes the file in place of one that may be there.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let addrs: Vec<_> = self.addrs.0.iter().map(ToString::to_string).collect();
        let line = json!({"name": self.name, "pid": self.pid, "fsid": self.fsid.to_string(), "addrs": addrs});
        let temporary = path.with_extension(format!("{}.tmp", self.pid));
        fs::write(&temporary, format!("{line}\n"))?;
        fs::rename(temporary, path)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// What the system says; `InvalidData` if it is no ready file.
    pub fn read(path: &Path) -> io::Result<Self> {
        let bad = || io::Error::new(io::ErrorKind::InvalidData, "not a ready file");
        let value: Value = serde_json::from_slice(&fs::read(path)?)?;
        let text = |key: &str| value[key].as_str().ok_or_else(bad);
        let addrs = value["addrs"].as_array().ok_or_else(bad)?;
        let addrs = addrs.iter().map(|a| a.as_str().and_then(|a| a.parse().ok()).ok_or_else(bad));
        Ok(ReadyFile {
            name: text("name")?.to_owned(),
            pid: value["pid"].as_u64().and_then(|pid| pid.try_into().ok()).ok_or_else(bad)?,
            fsid: text("fsid")?.parse().map_err(|_| bad())?,
            addrs: EntityAddrVec(addrs.collect::<io::Result<_>>()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ready");
        let addr: sepiola_wire::EntityAddr = "v2:127.0.0.1:3300/0".parse().unwrap();
        let ready = ReadyFile::new("mon.a".into(), Uuid::from_bytes([7; 16]), addr.into());
        ready.write(&path).unwrap();
        assert_eq!(ReadyFile::read(&path).unwrap(), ready);
        fs::write(&path, "{}").unwrap();
        assert!(ReadyFile::read(&path).is_err());
    }
}
