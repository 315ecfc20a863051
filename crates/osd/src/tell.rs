//! Commands for just this OSD: `ceph tell osd.N ...`.

use bytes::Bytes;
use sepiola_cephx::caps::OsdAccess;
use sepiola_messages::{Command, CommandReply};
use sepiola_wire::Errno;

use crate::{core::Osd, session::Session};

impl Osd {
    /// Answers a command.
    pub(crate) fn tell(&self, session: &Session, command: &Command) -> CommandReply {
        if command.fsid != self.view().map().fsid() && !command.fsid.is_nil() {
            return failure(Errno::EINVAL, "wrong cluster");
        }
        // Commands touch no object: any right on all of the OSD will do.
        let nothing = Default::default();
        let allowed = session.peer.caps.is_allow_all()
            || session.peer.caps.allows_osd(&OsdAccess {
                pool_name: "",
                application_metadata: &nothing,
                nspace: b"",
                object: b"",
                read: true,
                write: false,
                classes: &[],
                addr: session.peer.addr.socket.map(|socket| socket.ip()),
            });
        if !allowed {
            return failure(Errno::EPERM, "access denied");
        }
        let text = command.cmd.concat();
        match prefix(&text).as_deref() {
            Some("get_command_descriptions") => success(DESCRIPTIONS.into()),
            Some("version") => {
                let version = env!("CARGO_PKG_VERSION");
                success(format!("{{\"version\":\"sepiola version {version}\"}}"))
            }
            Some(_) => failure(Errno::EOPNOTSUPP, "command not known"),
            None => failure(Errno::EINVAL, "command is not a JSON object with a prefix"),
        }
    }
}

/// What `ceph` needs to know to parse a command line.
const DESCRIPTIONS: &str = concat!(
    r#"{"cmd000":{"sig":["get_command_descriptions"],"help":"list available commands","module":"osd","#,
    r#""perm":"r","flags":0},"cmd001":{"sig":["version"],"help":"report version of OSD","module":"osd","#,
    r#""perm":"r","flags":0}}"#,
);

fn success(output: String) -> CommandReply {
    CommandReply { result: 0, status: String::new(), output: Bytes::from(output) }
}

fn failure(errno: Errno, status: &str) -> CommandReply {
    CommandReply { result: errno.to_wire(), status: status.to_owned(), output: Bytes::new() }
}

/// The command's name.
fn prefix(text: &str) -> Option<String> {
    let command: serde_json::Value = serde_json::from_str(text).ok()?;
    Some(command.get("prefix")?.as_str()?.to_owned())
}
