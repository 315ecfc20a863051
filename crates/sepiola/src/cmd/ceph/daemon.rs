//! `daemon NAME|PATH COMMAND`: asks a daemon on this machine through its admin socket.

use std::{
    io::{Read, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Map, Value};

use super::{CephArgs, DESCRIBE, bind, describe, invalid, print, with_format};
use crate::{
    connect::ConfigOptions,
    failure::{CmdResult, Failure},
};

/// A daemon that does not answer for so long is stuck.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longer answers are none.
const MAX_ANSWER: u32 = 1 << 30;

/// The socket of `target`: a path, or a daemon's name, which the configuration has a path for.
pub fn find(target: &str, args: &CephArgs, options: &ConfigOptions) -> Result<PathBuf, Failure> {
    if target.contains('/') {
        return Ok(target.into());
    }
    let name = target
        .parse()
        .map_err(|_| invalid(format!("daemon: `{target}` is neither a path nor a daemon such as osd.0")))?;
    let config = args.connect.config_for(name, options)?;
    let path = config.text("admin_socket");
    path.map(PathBuf::from)
        .ok_or_else(|| invalid(format!("daemon: no admin_socket for {target} in ceph.conf")))
}

/// Sends a command and prints the answer.
pub fn ask(socket: &Path, words: &[String], args: &CephArgs) -> CmdResult {
    let unreachable = |e: std::io::Error| {
        invalid(format!("admin_socket {}: {e}", socket.display()))
            .hint("is the daemon running on this machine?")
    };
    let described = request(socket, DESCRIBE).map_err(unreachable)?;
    let command = match describe::parse(&described) {
        Ok(descriptions) if words.first().is_some_and(|w| w == "help") && words.len() > 1 => {
            return bind::help(&words[1..].join(" "), &descriptions);
        }
        Ok(descriptions) => bind::bind(words, &descriptions)?,
        // It does not tell what it has: it has to judge itself.
        Err(_) => Map::from_iter([("prefix".to_owned(), Value::from(words.join(" ")))]),
    };
    let mut answer = request(socket, &with_format(command, args.format)).map_err(unreachable)?;
    if !answer.ends_with(b"\n") {
        answer.push(b'\n');
    }
    print(args, &answer)
}

/// A request ends with NUL; the answer begins with its length.
fn request(socket: &Path, command: &str) -> std::io::Result<Vec<u8>> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(command.as_bytes())?;
    stream.write_all(b"\0")?;
    let mut len = [0; 4];
    stream.read_exact(&mut len)?;
    let len = u32::from_be_bytes(len);
    if len > MAX_ANSWER {
        return Err(std::io::Error::other("an answer of impossible length"));
    }
    let mut answer = Vec::new();
    stream.take(len.into()).read_to_end(&mut answer)?;
    Ok(answer)
}
