//! Commands for just this OSD: `ceph tell osd.N ...`.

use bytes::Bytes;
use sepiola_cephx::caps::OsdAccess;
use sepiola_messages::{Command, CommandReply};
use sepiola_messenger::VERSION;
use sepiola_wire::Errno;
use serde_json::Value;

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
        let command = serde_json::from_str(&text).unwrap_or_default();
        match argument(&command, "prefix") {
            Some("get_command_descriptions") => success(DESCRIPTIONS.into()),
            Some("version") => success(format!("{{\"version\":\"{VERSION}\"}}")),
            // Older tools send the second word as an argument.
            Some("pg") if argument(&command, "cmd") == Some("query") => self.tell_of_pg(&command),
            Some("query") => self.tell_of_pg(&command),
            Some(_) => failure(Errno::EINVAL, "command not known"),
            None => failure(Errno::EINVAL, "invalid json"),
        }
    }
}

impl Osd {
    fn tell_of_pg(&self, command: &Value) -> CommandReply {
        match argument(command, "pgid").map(|pgid| self.query_pg(pgid)) {
            Some(Some(pg)) => success(pg.to_string()),
            Some(None) => failure(Errno::ENOENT, "i don't have that pgid"),
            None => failure(Errno::EINVAL, "no pgid specified"),
        }
    }
}

/// What `ceph` needs to know to parse a command line.
const DESCRIPTIONS: &str = concat!(
    r#"{"cmd000":{"sig":["get_command_descriptions"],"help":"list available commands","module":"osd","#,
    r#""perm":"r","flags":0},"cmd001":{"sig":["version"],"help":"report version of OSD","module":"osd","#,
    r#""perm":"r","flags":0},"cmd002":{"sig":["query",{"name":"pgid","type":"CephPgid"}],"#,
    r#""help":"show details of a specific pg","module":"osd","perm":"r","flags":0}}"#,
);

fn success(output: String) -> CommandReply {
    CommandReply { result: 0, status: String::new(), output: Bytes::from(output) }
}

fn failure(errno: Errno, status: &str) -> CommandReply {
    CommandReply { result: errno.to_wire(), status: status.to_owned(), output: Bytes::new() }
}

fn argument<'a>(command: &'a Value, name: &str) -> Option<&'a str> {
    command.get(name)?.as_str()
}
