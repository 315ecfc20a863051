//! The file that says that the OSD can be reached, and where.

use std::{fs, io, path::Path};

use sepiola_wire::{EntityAddrVec, EntityName, Uuid};
use serde_json::json;

/// Writes one line of JSON, in the form that monitors write theirs:
/// `{"name":"osd.0","pid":1,"fsid":"..","addrs":["v2:127.0.0.1:6800/1"]}`. It appears in one step, so
/// whoever waits for it never reads half of it.
pub(crate) fn write(path: &Path, name: &EntityName, fsid: Uuid, addrs: &EntityAddrVec) -> io::Result<()> {
    let pid = std::process::id();
    let addrs: Vec<_> = addrs.0.iter().map(ToString::to_string).collect();
    let line = json!({"name": name.to_string(), "pid": pid, "fsid": fsid.to_string(), "addrs": addrs});
    let temporary = path.with_extension(format!("{pid}.tmp"));
    fs::write(&temporary, format!("{line}\n"))?;
    fs::rename(temporary, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sepiola_wire::{EntityAddr, OsdId};

    #[test]
    fn one_line_says_who_and_where() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("osd.3.ready");
        let addr = EntityAddr::msgr2("127.0.0.1:6801".parse().unwrap(), 9);
        write(&path, &EntityName::osd(OsdId(3)), Uuid::nil(), &addr.into()).unwrap();
        let line: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(line["name"], "osd.3");
        assert_eq!(line["addrs"][0], "v2:127.0.0.1:6801/9");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "nothing but the file is left");
    }
}
