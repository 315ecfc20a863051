//! Commands for just this OSD: `ceph tell osd.N ...`.

use bytes::Bytes;
use sepiola_cephx::caps::{ClassCall, OsdAccess};
use sepiola_messages::{Command, CommandReply};
use sepiola_messenger::{VERSION, merge_descriptions, render};
use sepiola_wire::Errno;
use serde_json::{Value, json};

use crate::{core::Osd, session::Session};

impl Osd {
    /// Answers a command.
    pub(crate) fn tell(&self, session: &Session, command: &Command) -> CommandReply {
        if command.fsid != self.view().map().fsid() && !command.fsid.is_nil() {
            return failure(Errno::EINVAL, "wrong cluster");
        }
        let text = command.cmd.concat();
        let command = serde_json::from_str(&text).unwrap_or_default();
        match argument(&command, "prefix") {
            // What there is to ask is no secret.
            Some("get_command_descriptions") => success(self.descriptions()),
            _ if !may_everything(session) => failure(Errno::EPERM, "access denied"),
            Some("version") if self.commands.get().is_none() => {
                success(json!({ "version": VERSION }).to_string())
            }
            // Older tools send the second word as an argument.
            Some("pg") if argument(&command, "cmd") == Some("query") => self.tell_of_pg(&command),
            Some("query") => self.tell_of_pg(&command),
            Some(_) => self.tell_daemon(&command),
            None => failure(Errno::EINVAL, "invalid json"),
        }
    }
}

impl Osd {
    /// Asks whoever runs this OSD.
    fn tell_daemon(&self, command: &Value) -> CommandReply {
        let unknown = || failure(Errno::EINVAL, "command not known");
        let prefix = argument(command, "prefix").unwrap_or_default();
        let Some(commands) = self.commands.get().filter(|c| c.knows(prefix)) else { return unknown() };
        match commands.run(command) {
            None => unknown(),
            Some(Ok(answer)) => success(render(&answer, command)),
            Some(Err((errno, text))) => failure(errno, &text),
        }
    }

    fn descriptions(&self) -> String {
        let others = self.commands.get().map(|commands| commands.descriptions()).unwrap_or_default();
        merge_descriptions(&own_descriptions(), &others).to_string()
    }

    fn tell_of_pg(&self, command: &Value) -> CommandReply {
        match argument(command, "pgid").map(|pgid| self.query_pg(pgid)) {
            Some(Some(pg)) => success(pg.to_string()),
            Some(None) => failure(Errno::ENOENT, "i don't have that pgid"),
            None => failure(Errno::EINVAL, "no pgid specified"),
        }
    }
}

/// Whether the peer is allowed `*`, as real OSDs ask for. Nothing less covers a class that no OSD lists and no
/// grant can name.
fn may_everything(session: &Session) -> bool {
    let unnamed = ClassCall { class: "\0", method: "\0", read: true, write: true, allow_listed: false };
    session.peer.caps.allows_osd(&OsdAccess {
        // No grant for some pools, namespaces or objects covers these names.
        pool_name: "\0",
        application_metadata: &Default::default(),
        nspace: b"\0",
        object: b"",
        read: true,
        write: true,
        classes: &[unnamed],
        addr: session.peer.addr.socket.map(|socket| socket.ip()),
    })
}

/// What `ceph` needs to know to parse a command line.
fn own_descriptions() -> Value {
    let described = |signature: Value, help: &str| json!({ "sig": signature, "help": help, "module": "osd", "perm": "r", "flags": 0 });
    let query = "all that the primary knows of a pg";
    let pgid = |required: &str| json!({ "name": "pgid", "type": "CephPgid", "req": required });
    // As older tools put it.
    let of_pg = json!(["pg", pgid("true"), { "name": "cmd", "type": "CephChoices", "strings": "query" }]);
    json!({
        "cmd000": described(json!(["get_command_descriptions"]), "these commands and their arguments, for programs"),
        "cmd001": described(json!(["version"]), "what version this OSD is"),
        "cmd002": described(json!(["query", pgid("false")]), query),
        "cmd003": described(of_pg, query),
    })
}

fn success(output: String) -> CommandReply {
    CommandReply { result: 0, status: String::new(), output: Bytes::from(output) }
}

fn failure(errno: Errno, status: &str) -> CommandReply {
    CommandReply { result: errno.to_wire(), status: status.to_owned(), output: Bytes::new() }
}

fn argument<'a>(command: &'a Value, name: &str) -> Option<&'a str> {
    command.get(name)?.as_str()
}
